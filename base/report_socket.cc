#include "base/report_socket.h"

#include <cerrno>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>
#include <utility>

namespace stripline {
namespace {

namespace fs = std::filesystem;

fs::path socket_in(const fs::path& folder) { return folder / "reports.sock"; }

std::optional<sockaddr_un> address_of(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path) return std::nullopt;
  text.copy(address.sun_path, text.size());
  return address;
}

UniqueFd new_socket() {
  return UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

const sockaddr* plain(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

bool connects(const UniqueFd& socket, const sockaddr_un& address) {
  return ::connect(socket.get(), plain(address), sizeof address) == 0;
}

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

Status send_report(const std::vector<fs::path>& folders, std::string_view report) {
  for (const fs::path& folder : folders) {
    const auto address = address_of(socket_in(folder));
    const UniqueFd socket = new_socket();
    if (!address || !connects(socket, *address)) continue;
    if (::send(socket.get(), report.data(), report.size(), MSG_NOSIGNAL) >= 0) return {};
    if (errno == EMSGSIZE) {
      return Error(ErrorCode::invalid_argument, "a report of " + std::to_string(report.size()) +
                                                    " bytes is too large for the agent");
    }
    return Error(ErrorCode::unavailable, "the agent takes no report now: " + reason());
  }
  return Error(ErrorCode::not_found,
               "no agent of this host takes reports; docs/admin.md says how one does");
}

Result<ReportSocket> ReportSocket::listen(const fs::path& folder) {
  const fs::path path = socket_in(folder);
  const auto address = address_of(path);
  if (!address) {
    return Error(ErrorCode::unavailable,
                 "no reports of runs are taken: '" + path.string() + "' is too long for a socket");
  }
  const auto refused = [&](const std::string& why) {
    return Error(ErrorCode::unavailable,
                 "no reports of runs are taken at '" + path.string() + "': " + why);
  };
  UniqueFd socket = new_socket();
  if (!socket) return refused(reason());
  if (::bind(socket.get(), plain(*address), sizeof *address) != 0) {
    if (errno != EADDRINUSE) return refused(reason());
    if (connects(new_socket(), *address)) {
      return Error(ErrorCode::already_exists,
                   "another agent takes the reports of runs at '" + path.string() + "'");
    }
    std::error_code ignored;
    fs::remove(path, ignored);  // of one that was killed
    if (::bind(socket.get(), plain(*address), sizeof *address) != 0) return refused(reason());
  }
  constexpr mode_t kAnybody = 0666;  // whatever the agent's umask is
  if (::chmod(path.c_str(), kAnybody) != 0) return refused(reason());
  return ReportSocket(std::move(socket), path);
}

ReportSocket::~ReportSocket() {
  if (!socket_) return;
  std::error_code ignored;
  fs::remove(path_, ignored);
}

std::optional<std::string> ReportSocket::take(size_t most_bytes) const {
  std::string report(most_bytes + 1, '\0');
  while (true) {
    const ssize_t got = ::recv(socket_.get(), report.data(), report.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || static_cast<size_t>(got) > most_bytes) return std::nullopt;
    report.resize(static_cast<size_t>(got));
    return report;
  }
}

}  // namespace stripline
