#include "base/host_name.h"

#include <arpa/inet.h>
#include <array>
#include <ifaddrs.h>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace stripline {
namespace {

/// The bytes of an IPv4 or IPv6 address in network order; empty if `text` is none.
std::string address_bytes(const std::string& text) {
  in6_addr six{};
  in_addr four{};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) {
    return {reinterpret_cast<const char*>(&four), sizeof four};
  }
  if (::inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), &six) == 1) {
    return {reinterpret_cast<const char*>(&six), sizeof six};
  }
  return {};
}

std::string address_bytes(const sockaddr* address) {
  if (address != nullptr && address->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(address);
    return {reinterpret_cast<const char*>(&four->sin_addr), sizeof four->sin_addr};
  }
  if (address != nullptr && address->sa_family == AF_INET6) {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(address);
    return {reinterpret_cast<const char*>(&six->sin6_addr), sizeof six->sin6_addr};
  }
  return {};
}

bool is_own_address(const std::string& bytes) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(all, &::freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (address_bytes(one->ifa_addr) == bytes) return true;
  }
  return false;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

bool is_this_host(std::string_view name) {
  const std::string own = host_name();
  if (name == "localhost" || name == own || name == own.substr(0, own.find('.'))) return true;
  const std::string bytes = address_bytes(std::string(name));
  return !bytes.empty() && is_own_address(bytes);
}

}  // namespace stripline
