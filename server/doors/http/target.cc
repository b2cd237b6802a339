#include "server/doors/http/target.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hex.h"

namespace stripline::server::http {
namespace {

// "%2F" as '/', in a query also '+' as a space. No text that we know holds a zero byte.
std::optional<std::string> decoded(std::string_view text, bool in_query) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char byte = text[i];
    if (byte == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      byte = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (byte == '+' && in_query) {
      byte = ' ';
    }
    if (byte == '\0') return std::nullopt;
    bytes += byte;
  }
  return bytes;
}

std::string_view cut(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

}  // namespace

std::optional<Target> parse_target(std::string_view text) {
  Target target;
  for (const std::string_view scheme : std::array<std::string_view, 2>{"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    text.remove_prefix(scheme.size());
    const size_t end = std::min(text.find_first_of("/?"), text.size());
    target.authority = text.substr(0, end);
    text.remove_prefix(end);
    if (target.authority.empty()) return std::nullopt;
    break;
  }
  text = text.substr(0, text.find('#'));
  const std::string_view path = cut(text, '?');
  if (!path.empty() && path.front() != '/') return std::nullopt;
  if (path.empty() && target.authority.empty()) return std::nullopt;
  auto plain = decoded(path.empty() ? "/" : path, false);
  if (!plain) return std::nullopt;
  target.path = std::move(*plain);
  while (!text.empty()) {
    std::string_view value = cut(text, '&');
    const std::string_view name = cut(value, '=');
    auto plain_name = decoded(name, true);
    auto plain_value = decoded(value, true);
    if (!plain_name || !plain_value) return std::nullopt;
    if (!plain_name->empty()) target.query.emplace(std::move(*plain_name), std::move(*plain_value));
  }
  return target;
}

}  // namespace stripline::server::http
