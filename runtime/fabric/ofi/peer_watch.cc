#include "runtime/fabric/ofi/peer_watch.h"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stripline::fabric::ofi {

void PeerWatch::add(uint32_t rank, pid_t pid) {
  if (!epoll_) epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  // A descriptor of a process becomes readable when the process ends, also while it is a zombie,
  // and is not fooled by a reused process number.
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) {
    if (errno == ESRCH) ended_.push_back(rank);
    return;
  }
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u32 = rank;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, process.get(), &event) == 0) {
    processes_.push_back(std::move(process));
  }
}

std::optional<uint32_t> PeerWatch::poll() {
  if (!ended_.empty()) {
    const uint32_t rank = ended_.back();
    ended_.pop_back();
    return rank;
  }
  if (processes_.empty()) return std::nullopt;
  epoll_event event{};
  if (epoll_wait(epoll_.get(), &event, 1, 0) != 1) return std::nullopt;
  const uint32_t rank = event.data.u32;  // the struct is packed
  return rank;
}

}  // namespace stripline::fabric::ofi
