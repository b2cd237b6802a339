// Builds a document from the events of nlohmann's parser. The library's own means to look at a
// document while it is read, a callback, walks an array again after each object in it, so that a
// list of n objects costs n^2 steps. Include from base/json.cc and its test.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace stripline {

/// A SAX handler (nlohmann::json_sax) whose work is one step for each event. `Document` is an
/// nlohmann::basic_json with sorted keys. Stops the parser at the first of: nesting beyond
/// `max_depth`, a key that its object has already, and what the parser itself refuses.
template <typename Document>
class JsonReader {
 public:
  using number_integer_t = typename Document::number_integer_t;
  using number_unsigned_t = typename Document::number_unsigned_t;
  using number_float_t = typename Document::number_float_t;
  using string_t = typename Document::string_t;
  using binary_t = typename Document::binary_t;

  explicit JsonReader(size_t max_depth) : max_depth_(max_depth) {}

  /// The document, once the parser has returned true.
  Document take() && { return std::move(root_); }
  /// Why the parser has returned false, "JSON is nested deeper than 64 levels".
  const std::string& problem() const { return problem_; }

  bool null() { return put(Document(nullptr)); }
  bool boolean(bool value) { return put(Document(value)); }
  bool number_integer(number_integer_t value) { return put(Document(value)); }
  bool number_unsigned(number_unsigned_t value) { return put(Document(value)); }
  bool number_float(number_float_t value, const string_t& /*text*/) { return put(Document(value)); }
  bool string(string_t& value) { return put(Document(std::move(value))); }
  bool binary(binary_t& /*value*/) {
    return fail("not valid JSON: it holds binary data");
  }  // not in JSON texts

  bool start_object(size_t /*size*/) { return open(Document::object()); }
  bool start_array(size_t /*size*/) { return open(Document::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(string_t& name) {
    const auto [member, added] = open_.back()->emplace(std::move(name), nullptr);
    if (!added) return fail("the key '" + member.key() + "' stands twice in one JSON object");
    member_ = &*member;
    return true;
  }

  template <typename Exception>
  bool parse_error(size_t byte, const string_t& /*token*/, const Exception& error) {
    // The only other error of the parser is a number that no double can hold.
    return fail(error.id == kOutOfRange ? "not valid JSON: it holds a number that is out of range"
                                        : "not valid JSON at byte " + std::to_string(byte) +
                                              "; the file is malformed or truncated");
  }

 private:
  static constexpr int kOutOfRange = 406;  // nlohmann's number for it

  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  // Where the next value belongs: the document itself, the member whose key was read, or the end of
  // the open array.
  Document* place(Document value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_object()) {
      *member_ = std::move(value);
      return member_;
    }
    auto& elements = open_.back()->template get_ref<typename Document::array_t&>();
    elements.push_back(std::move(value));
    return &elements.back();
  }

  bool put(Document value) {
    place(std::move(value));
    return true;
  }

  bool open(Document container) {
    if (open_.size() >= max_depth_) {
      return fail("JSON is nested deeper than " + std::to_string(max_depth_) + " levels");
    }
    open_.push_back(place(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const size_t max_depth_;
  Document root_;
  // Only the last element of an open array is open itself, so that arrays may move what they hold.
  std::vector<Document*> open_;
  Document* member_ = nullptr;
  std::string problem_;
};

}  // namespace stripline
