#include "server/testing/deaf_peer.h"

#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>

namespace stripline::server {
namespace {

// A frame of HTTP/2.
std::string frame(char type, char flags, uint32_t stream, const std::string& content) {
  const auto size = static_cast<uint32_t>(content.size());
  std::string text;
  for (const int shift : {16, 8, 0}) text += static_cast<char>((size >> shift) & 0xff);
  text += type;
  text += flags;
  for (const int shift : {24, 16, 8, 0}) text += static_cast<char>((stream >> shift) & 0xff);
  return text + content;
}

// POST, http, and literals without an index: :path, :authority, content-type, and te, which has no
// place in the static table.
std::string headers() {
  const auto field = [](const std::string& name, const std::string& value) {
    return name + static_cast<char>(value.size()) + value;
  };
  return "\x83\x86" + field("\x04", "/no.such.Service/Call") + field("\x01", "a") +
         field("\x0f\x10", "application/grpc") + std::string(1, '\0') + field("\x02te", "trailers");
}

}  // namespace

UniqueFd connect_deaf_peer(int port) {
  UniqueFd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  if (::connect(connection.get(), generic, sizeof address) != 0 ||
      ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0) {
    return {};
  }
  constexpr char kHeaders = 1;
  constexpr char kSettings = 4;
  constexpr char kEndOfStreamAndHeaders = 0x5;
  const std::string call = headers();
  std::string text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(kSettings, 0, 0, "");
  bool taken = true;
  for (uint32_t stream = 1; taken && stream < 2'000'000; stream += 2) {
    text += frame(kHeaders, kEndOfStreamAndHeaders, stream, call);
    if (text.size() < size_t{64} << 10) continue;
    const ssize_t sent = ::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL);
    taken = sent == static_cast<ssize_t>(text.size());
    text.clear();
  }
  return connection;
}

}  // namespace stripline::server
