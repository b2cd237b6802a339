#include "base/address_key.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <netinet/in.h>

namespace stripline {

std::string address_key(const std::string& address) {
  in6_addr six{};
  if (::inet_pton(AF_INET6, address.c_str(), &six) != 1 || IN6_IS_ADDR_V4MAPPED(&six)) {
    return address;
  }
  constexpr size_t kNetworkBytes = 8;
  std::fill(std::begin(six.s6_addr) + kNetworkBytes, std::end(six.s6_addr), uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(AF_INET6, &six, text.data(), text.size());
}

}  // namespace stripline
