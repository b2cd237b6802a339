#include "agent/samples_line.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stripline::agent {
namespace {

// Goes over JSON value by value, by brackets and quotes alone.
class ValueScan {
 public:
  explicit ValueScan(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool at_end() {
    skip_spaces();
    return at_ == text_.size();
  }

  // Of a number, true, false or null: up to what follows. Empty: there is none, or it has no end.
  std::string_view value() {
    skip_spaces();
    const size_t begin = at_;
    size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return {};
        if (depth == 0) break;
        continue;
      }
      const bool closes = c == ']' || c == '}';
      if (depth == 0 && (closes || c == ',' || c == ':')) break;
      ++at_;
      if (c == '[' || c == '{') ++depth;
      if (closes && --depth == 0) break;
    }
    return depth == 0 ? text_.substr(begin, at_ - begin) : std::string_view();
  }

 private:
  void skip_spaces() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<std::string_view>> series_of_line(std::string_view line) {
  ValueScan message(line);
  std::string_view type;
  std::string_view list;
  if (!message.take('{')) return std::nullopt;
  do {
    const std::string_view name = message.value();
    if (!message.take(':')) return std::nullopt;
    const std::string_view value = message.value();
    if (value.empty()) return std::nullopt;
    if (name == "\"type\"") type = value;
    if (name == "\"series\"") list = value;
  } while (message.take(','));
  if (!message.take('}') || !message.at_end() || type != "\"samples\"") return std::nullopt;

  ValueScan elements(list);
  std::vector<std::string_view> series;
  if (!elements.take('[')) return std::nullopt;
  if (elements.take(']')) return series;
  do {
    series.push_back(elements.value());
    if (series.back().empty()) return std::nullopt;
  } while (elements.take(','));
  return elements.take(']') ? std::optional(std::move(series)) : std::nullopt;
}

}  // namespace stripline::agent
