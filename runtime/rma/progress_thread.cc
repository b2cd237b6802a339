#include "runtime/rma/progress_thread.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtime/rma/context_state.h"

namespace stripline::rma {
namespace {

// Looks without a pause at what is said to be there, e.g. the parts of a long message.
constexpr int kMostFruitless = 64;
// Between looks for what the descriptor does not tell of: the first interval after something was
// found, and the longest, to which it grows by doubling.
constexpr double kShortestPause_s = 50e-6;
constexpr double kLongestPause_s = 1e-3;
// Between looks where the descriptor tells of everything: for peers that have ended.
constexpr double kAttention_s = 50e-3;

}  // namespace

Result<std::unique_ptr<ProgressThread>> ProgressThread::start(detail::ContextState& state) {
  const auto watch = state.job.fabric().watch();
  if (!watch) {
    return Error(ErrorCode::unimplemented,
                 "fabric '" + state.job.fabric().info().name +
                     "' cannot be served by a progress thread; unset STRIPLINE_PROGRESS");
  }
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) {
    return Error(ErrorCode::resource_exhausted,
                 std::string("no descriptor for the progress thread: ") +
                     std::system_category().message(errno) +
                     "; raise the limit of open files (ulimit -n)");
  }
  std::unique_ptr<ProgressThread> made(new ProgressThread(state, *watch, std::move(stop)));
  state.job.exclusion().share(true);
  // Signals are the program's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::string refused;
  try {
    made->thread_ = std::thread([thread = made.get()] { thread->run(); });
  } catch (const std::system_error& error) {
    refused = error.what();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!refused.empty()) {
    return Error(ErrorCode::resource_exhausted,
                 "cannot start the progress thread: " + refused +
                     "; raise the limit of processes (ulimit -u), or unset STRIPLINE_PROGRESS");
  }
  pthread_setname_np(made->thread_.native_handle(), "stripline");
  return made;
}

ProgressThread::~ProgressThread() {
  if (thread_.joinable()) {
    stopping_.store(true);
    const uint64_t one = 1;
    // It wakes at the latest after the longest of its intervals.
    [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }
  state_.job.exclusion().share(false);
}

void ProgressThread::run() {
  state_.job.exclusion().serve_here();
  uint64_t calls = 0;   // of the program, when the thread looked last
  bool absent = false;  // the program has not called for a while
  bool armed = false;   // nothing is to be done before something arrives
  int fruitless = 0;    // looks in a row that found nothing, though something was said to be there
  double pause_s = kShortestPause_s;
  while (!stopping_.load(std::memory_order_relaxed)) {
    bool woken = false;
    if (!absent) {
      sleep(kAbsence_s, false);
    } else if (armed || fruitless > kMostFruitless) {
      woken = sleep(armed && watch_.complete ? kAttention_s : pause_s, true);
    }
    if (!state_.job.exclusion().try_enter()) {
      absent = false;
      continue;
    }
    absent = state_.job.exclusion().calls() == calls;
    if (absent) {
      const uint64_t served = statistics_.served;
      armed = serve(woken);
      const bool found = statistics_.served != served;
      fruitless = armed || found ? 0 : fruitless + 1;
      pause_s = found || woken ? kShortestPause_s : std::min(2 * pause_s, kLongestPause_s);
    }
    calls = state_.job.exclusion().calls();  // handlers call as well
    state_.job.exclusion().leave();
  }
}

// True if the thread may wait for something to arrive.
bool ProgressThread::serve(bool woken) {
  const char* const operation = state_.job.activity().name();
  state_.job.activity() = "serving peers while the program computes";
  const uint64_t before = state_.operations.messages().statistics().served;
  if (woken) state_.job.fabric().woken();
  state_.operations.serve();
  const bool armed = state_.job.fabric().prepare_to_wait() && !state_.operations.messages().ready();
  ++statistics_.looks;
  statistics_.served += state_.operations.messages().statistics().served - before;
  state_.job.activity() = operation;
  return armed;
}

// True if something arrived.
bool ProgressThread::sleep(double seconds, bool for_arrivals) const {
  std::array<pollfd, 2> descriptors = {
      {{stop_.get(), POLLIN, 0}, {watch_.descriptor, POLLIN, 0}}};  // of -1 nothing is expected
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
  const nfds_t count = for_arrivals ? 2 : 1;
  return ::ppoll(descriptors.data(), count, &time, nullptr) > 0 && descriptors[1].revents != 0;
}

}  // namespace stripline::rma
