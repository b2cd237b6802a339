#include "base/web/url.h"

#include <algorithm>

#include "base/cut_text.h"
#include "base/printable.h"

namespace stripline::web {
namespace {

constexpr size_t kLongestUrlBytes = 2048;

Error wrong(std::string_view text, const std::string& why) {
  return {ErrorCode::invalid_argument,
          "'" + cut_text(printable_line(std::string(text)), 200) + "' " + why};
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

bool is_host(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_word(c) || c == '-' || c == '.' || c == '_';
  });
}

bool is_address(std::string_view text) {
  return text.find(':') != std::string_view::npos &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string_view::npos &&
         std::stoul(std::string(text)) <= 65535 && std::stoul(std::string(text)) > 0;
}

}  // namespace

bool Url::is_loopback() const {
  const bool is_ipv4 = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host == "::1" || (is_ipv4 && host.starts_with("127."));
}

Result<Url> parse_url(std::string_view text) {
  constexpr std::string_view kTls = "https://";
  constexpr std::string_view kPlain = "http://";
  if (text.size() > kLongestUrlBytes || !is_plain(text)) return wrong(text, "is not a valid URL");
  Url url;
  url.tls = text.starts_with(kTls);
  if (!url.tls && !text.starts_with(kPlain)) {
    return wrong(text, "is not a URL of the form https://HOST/PATH");
  }
  std::string_view rest = text.substr((url.tls ? kTls : kPlain).size());
  const size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  url.authority = rest.substr(0, end);
  rest.remove_prefix(end);
  if (rest.find('#') != std::string_view::npos) return wrong(text, "has a fragment ('#')");
  url.target = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest);
  std::string_view host = url.authority;
  url.port = url.tls ? "443" : "80";
  const size_t bracket = host.starts_with('[') ? host.find(']') : std::string_view::npos;
  const size_t colon = bracket == std::string_view::npos ? host.find(':') : host.find(':', bracket);
  if (colon != std::string_view::npos) {
    url.port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  url.host = host;
  if (!(in_brackets ? is_address(host) : is_host(host)) || !is_port(url.port)) {
    return wrong(text, "names no valid host and port");
  }
  if (!url.tls && !url.is_loopback()) {
    return wrong(text,
                 "is not encrypted: http:// is for issuers on this machine alone; use https://");
  }
  return url;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_word(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return encoded;
}

}  // namespace stripline::web
