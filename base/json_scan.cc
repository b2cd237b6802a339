#include "base/json_scan.h"

#include <algorithm>

namespace stripline {

bool JsonScan::take(char c) {
  skip_spaces();
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonScan::at_end() {
  skip_spaces();
  return at_ == text_.size();
}

std::string_view JsonScan::value() {
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

void JsonScan::skip_spaces() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
}

bool JsonScan::skip_string() {
  for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\') ++at_;
  }
  at_ = std::min(at_, text_.size());
  if (at_ == text_.size()) return false;
  ++at_;
  return true;
}

}  // namespace stripline
