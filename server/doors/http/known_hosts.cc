#include "server/doors/http/known_hosts.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>

namespace stripline::server::http {
namespace {

constexpr size_t kQuotedBytes = 64;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return result;
}

// "name", "[::1]" and "10.0.0.1" of "name:80", "[::1]:80" and "10.0.0.1:80".
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) {
    return authority.substr(0, std::min(authority.find(']'), authority.size() - 1) + 1);
  }
  return authority.substr(0, authority.find(':'));
}

bool is_address(std::string_view host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  if (host.starts_with('[') && host.ends_with(']')) {
    return ::inet_pton(AF_INET6, std::string(host.substr(1, host.size() - 2)).c_str(),
                       address.data()) == 1;
  }
  return ::inet_pton(AF_INET, std::string(host).c_str(), address.data()) == 1;
}

// "head:7412" of "https://head:7412"; empty for "null" and whatever else is not an origin of http.
std::string_view authority_of(std::string_view origin) {
  for (const std::string_view scheme : std::array<std::string_view, 2>{"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return {};
}

// What others have written, as far as it is shown.
std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, kQuotedBytes)) shown += c > ' ' && c < '\x7f' ? c : '?';
  return "'" + shown + (text.size() > kQuotedBytes ? "..." : "") + "'";
}

}  // namespace

KnownHosts::KnownHosts(const std::vector<std::string>& names) : names_{"localhost"} {
  for (const std::string& name : names) {
    if (!name.empty()) names_.insert(lower(name));
  }
}

bool KnownHosts::knows(std::string_view authority) const {
  std::string host = lower(host_of(authority));
  if (host.ends_with('.')) host.pop_back();
  return is_address(host) || names_.contains(host);
}

std::optional<Refusal> KnownHosts::refusal(const Request& request) const {
  if (!request.host.empty() && !knows(request.host)) {
    return Refusal{kMisdirected, "this server is not known as " + printable(request.host) +
                                     "; if it is, name it by --http-names"};
  }
  if (request.origin.empty()) return std::nullopt;
  if (const auto page = authority_of(request.origin);
      !page.empty() && lower(page) == lower(request.host)) {
    return std::nullopt;
  }
  return Refusal{kForbidden,
                 "pages of " + printable(request.origin) + " may not ask this server for anything"};
}

}  // namespace stripline::server::http
