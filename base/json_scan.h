// Goes over JSON value by value without reading what is in them, by brackets and quotes alone: for
// what is passed on as it came, or read by parts. Whether it is JSON, whoever reads the parts finds
// out.
#pragma once

#include <cstddef>
#include <string_view>

namespace stripline {

/// Not thread-safe. The text must outlive it, and what it returns.
class JsonScan {
 public:
  explicit JsonScan(std::string_view text) : text_(text) {}

  /// True if the next character but spaces is this one, which is then behind.
  bool take(char c);
  /// True if only spaces follow.
  bool at_end();
  /// The next value, or the name of a member with its quotes: an object or an array to its closing
  /// bracket, a string to its closing quote, anything else up to what follows. Empty: there is
  /// none, or it has no end.
  std::string_view value();

 private:
  void skip_spaces();
  bool skip_string();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace stripline
