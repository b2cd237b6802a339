#include "base/printable.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace stripline {
namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: the text does not begin with a character of UTF-8
};

Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  uint32_t code = lead & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[bytes] || code > 0x10ffff || surrogate) return {};
  return {code, bytes};
}

bool is_control(uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

// Marks, embeddings, overrides and isolates of bidirectional text, and separators of lines.
bool reorders(uint32_t code) {
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string shown(std::string_view text, bool one_line) {
  std::string out;
  out.reserve(text.size());
  std::array<char, 12> escape{};  // "\\u" and all digits that an integer may have
  while (!text.empty()) {
    const Character next = first_character(text);
    const size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    const bool layout = !one_line && (next.code == '\n' || next.code == '\t');
    if (next.bytes == 0) {
      std::snprintf(escape.data(), escape.size(), "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(text.front())));
      out += escape.data();
    } else if (!layout && (is_control(next.code) || reorders(next.code))) {
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(next.code));
      out += escape.data();
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return shown(text, false); }

std::string printable_line(std::string_view text) { return shown(text, true); }

}  // namespace stripline
