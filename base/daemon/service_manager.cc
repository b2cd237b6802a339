#include "base/daemon/service_manager.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>

#include "base/printable.h"
#include "base/subprocess.h"

namespace stripline {

ServiceManager ServiceManager::from_environment() {
  constexpr const char* kVariable = "NOTIFY_SOCKET";
  const char* socket = std::getenv(kVariable);  // NOLINT(concurrency-mt-unsafe): before threads
  ServiceManager manager(socket == nullptr ? "" : socket);
  ::unsetenv(kVariable);  // NOLINT(concurrency-mt-unsafe)
  return manager;
}

Status ServiceManager::ready(std::string_view status) const {
  return tell("READY=1\nSTATUS=" + printable_line(status));
}

// systemd 253 wants to know from when on the reload counts; earlier ones ignore it.
Status ServiceManager::reloading() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const long long microseconds =
      static_cast<long long>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
  return tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

Status ServiceManager::stopping(std::string_view status) const {
  return tell("STOPPING=1\nSTATUS=" + printable_line(status));
}

Status ServiceManager::tell(const std::string& state) const {
  if (socket_.empty()) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof address.sun_path) {
    return Error(ErrorCode::invalid_argument, "NOTIFY_SOCKET is too long: '" + socket_ + "'");
  }
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const ssize_t sent = ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
  if (sent == static_cast<ssize_t>(state.size())) return {};
  return Error(ErrorCode::unavailable, "cannot tell the service manager at '" + socket_ +
                                           "': " + std::generic_category().message(errno));
}

}  // namespace stripline
