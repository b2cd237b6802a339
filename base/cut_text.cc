#include "base/cut_text.h"

namespace stripline {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

}  // namespace

std::string cut_text(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  // A character has at most four bytes; what is not UTF-8 is cut where it must.
  constexpr size_t kMaxBack = 3;
  size_t end = most;
  while (end > 0 && most - end < kMaxBack && continues_character(text[end])) --end;
  if (continues_character(text[end])) end = most;
  return std::string(text.substr(0, end)) + "... (of " + std::to_string(text.size()) + " bytes)";
}

std::string quoted_text(std::string_view text) {
  return "'" + cut_text(text, kLongestQuoteBytes) + "'";
}

}  // namespace stripline
