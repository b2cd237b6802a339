#include "agent/server_address.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <netdb.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace stripline::agent {
namespace {

Result<std::vector<SocketAddress>> look_up(const HostAndPort& server, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = found; failure == 0 && entry != nullptr; entry = entry->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    addresses.push_back(address);
  }
  if (addresses.empty()) {
    return Error(ErrorCode::unavailable,
                 "cannot find the host '" + server.host + "': " + ::gai_strerror(failure));
  }
  return addresses;
}

}  // namespace

std::vector<SocketAddress> in_turn(std::vector<SocketAddress> addresses, size_t attempt) {
  if (addresses.empty()) return addresses;
  const auto first = static_cast<std::ptrdiff_t>(attempt % addresses.size());
  std::rotate(addresses.begin(), addresses.begin() + first, addresses.end());
  return addresses;
}

struct AddressLookup::Shared {
  UniqueFd event_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::optional<Result<std::vector<SocketAddress>>> result;

  void set(Result<std::vector<SocketAddress>> found) {
    const std::lock_guard lock(mutex);
    result = std::move(found);
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(event_fd.get(), &one, sizeof one);
  }
};

AddressLookup::AddressLookup(const HostAndPort& server) : shared_(std::make_shared<Shared>()) {
  if (auto numeric = look_up(server, AI_NUMERICHOST | AI_NUMERICSERV); numeric.ok()) {
    shared_->set(std::move(numeric));
    return;
  }
  // No one waits for a resolver that hangs: the thread owns all that it uses.
  std::thread([shared = shared_, server] {
    shared->set(look_up(server, AI_ADDRCONFIG | AI_NUMERICSERV));
  }).detach();
}

int AddressLookup::event_fd() const { return shared_->event_fd.get(); }

std::optional<Result<std::vector<SocketAddress>>> AddressLookup::result() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->result;
}

}  // namespace stripline::agent
