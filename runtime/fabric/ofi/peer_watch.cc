#include "runtime/fabric/ofi/peer_watch.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process_state.h"

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
  processes_.push_back({rank, pid});
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u32 = rank;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, process.get(), &event) == 0) {
    descriptors_.push_back(std::move(process));
  }
}

std::optional<uint32_t> PeerWatch::poll() {
  if (!ended_.empty()) {
    const uint32_t rank = ended_.back();
    ended_.pop_back();
    return rank;
  }
  if (descriptors_.empty()) return std::nullopt;
  epoll_event event{};
  if (epoll_wait(epoll_.get(), &event, 1, 0) != 1) return std::nullopt;
  const uint32_t rank = event.data.u32;  // the struct is packed
  return rank;
}

std::optional<PeerWatch::Stopped> PeerWatch::stopped(double now_s, double for_s) {
  for (size_t looks = std::min(kLooks, processes_.size()); looks > 0; --looks) {
    Process& process = processes_[next_];
    if (++next_ == processes_.size()) next_ = 0;
    const auto found = process_state(process.pid);
    if (!found || !found->stopped()) {
      process.stopped_at_s = kRuns;
    } else if (process.stopped_at_s == kRuns) {
      process.stopped_at_s = now_s;
    } else if (now_s - process.stopped_at_s >= for_s) {
      return Stopped{process.rank, process.pid};
    }
  }
  return std::nullopt;
}

}  // namespace stripline::fabric::ofi
