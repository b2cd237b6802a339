#include "server/security/node_pattern.h"

#include <string>

#include "server/store/names.h"

namespace stripline::server {
namespace {

constexpr char kAny = '*';
constexpr char kOne = '?';

}  // namespace

bool is_node_pattern(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (c == kAny || c == kOne) c = '0';
  }
  return is_segment(name);
}

// Where a character does not match, the last '*' takes one more.
bool matches_node_pattern(std::string_view pattern, std::string_view node) {
  size_t at = 0;
  size_t star = std::string_view::npos;
  size_t taken = 0;
  for (size_t i = 0; i < node.size();) {
    if (at < pattern.size() && pattern[at] == kAny) {
      star = at++;
      taken = i;
    } else if (at < pattern.size() && (pattern[at] == kOne || pattern[at] == node[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == kAny) ++at;
  return at == pattern.size();
}

}  // namespace stripline::server
