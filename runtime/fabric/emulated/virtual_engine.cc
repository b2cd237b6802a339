#include "runtime/fabric/emulated/virtual_engine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <linux/futex.h>
#include <sched.h>
#include <sstream>
#include <sys/syscall.h>
#include <thread>
#include <time.h>
#include <unistd.h>

namespace stripline::fabric {
namespace {

double thread_cpu_s() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// What two consecutive reads differ by; a thread clock costs most of a microsecond to read.
double calibrate_read_s() {
  std::array<double, 101> differences{};
  for (double& difference : differences) {
    const double begin = thread_cpu_s();
    difference = thread_cpu_s() - begin;
  }
  std::nth_element(differences.begin(), differences.begin() + 50, differences.end());
  return differences[50];
}

void futex_wait(std::atomic<uint32_t>& word, uint32_t value) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, value, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

class VirtualEngine final : public RankEngine {
 public:
  VirtualEngine(ProfileRequest request, const OpenOptions& options, SharedRegion region)
      : RankEngine(std::move(request), options, std::move(region)),
        read_s_(compute_mode() == ComputeMode::measured ? calibrate_read_s() : 0),
        spins_(options.ranks <= std::thread::hardware_concurrency()) {}

  ~VirtualEngine() override {
    if (!connected()) return;
    enter();
    drain();
    RankControl& mine = region().control(rank());
    mine.left = 1;
    mine.next_s = kNever;
    // Somebody must notice if all that are left wait for this rank.
    for (Rank other = 0; other < ranks(); ++other) {
      if (region().control(other).left == 0) {
        pass_turn(first_in_line(other));
        return;
      }
    }
  }

 protected:
  void enter() override {
    if (compute_mode() == ComputeMode::none) return;
    const double spent = thread_cpu_s() - left_cpu_s_ - read_s_;
    if (spent > 0) clock_s_ += spent * profile().compute_scale;
  }

  void leave() override {
    if (compute_mode() == ComputeMode::measured) left_cpu_s_ = thread_cpu_s();
  }

  double clock() override { return clock_s_; }
  void charge(double seconds) override { clock_s_ += seconds; }

  void run_events() override {
    RankControl& mine = region().control(rank());
    mine.entry_s = clock_s_;
    take_turn(clock_s_);
  }

  void idle(double wake_s) override {
    RankControl& mine = region().control(rank());
    mine.waiting = 1;
    mine.wake_s = wake_s;
    take_turn(kNever);
    mine.waiting = 0;
    clock_s_ = std::max(clock_s_, mine.wake_s);
  }

  void poke(Rank target, double time_s) override {
    RankControl& control = region().control(target);
    if (control.waiting == 0) return;
    control.wake_s = std::min(control.wake_s, time_s);
    control.next_s = std::min(control.next_s, time_s);
  }

  double attended_at(Rank target, double time_s) override {
    const RankControl& control = region().control(target);
    return control.waiting != 0 ? time_s : std::max(time_s, control.entry_s);
  }

  void started() override {
    // Rank 0 begins; the others are parked at time zero, which an all-zero region says already.
    if (rank() == 0) region().control(0).go.store(1, std::memory_order_release);
    wait_for_turn();
    leave();
  }

 private:
  // Returns when this rank is the first of all to act: at `limit_s`, or, while it waits, at its
  // wake-up time. Carries out own events that come before.
  void take_turn(double limit_s) {
    RankControl& mine = region().control(rank());
    while (true) {
      const double act_s = mine.waiting != 0 ? mine.wake_s : limit_s;
      mine.next_s = std::min(act_s, next_event_s());
      const Rank next = first_in_line(rank());
      if (region().control(next).next_s == kNever) fail_deadlock();
      if (next != rank()) {
        pass_turn(next);
        wait_for_turn();
        continue;
      }
      if (next_event_s() <= act_s) {
        carry_out_next();
        continue;
      }
      return;
    }
  }

  // The rank that acts first; `preferred` if nobody ever does.
  Rank first_in_line(Rank preferred) {
    Rank first = preferred;
    double first_s = kNever;
    for (Rank other = 0; other < ranks(); ++other) {
      const RankControl& control = region().control(other);
      if (control.left == 0 && control.next_s < first_s) {
        first = other;
        first_s = control.next_s;
      }
    }
    return first;
  }

  void pass_turn(Rank next) {
    std::atomic<uint32_t>& go = region().control(next).go;
    go.store(1, std::memory_order_release);
    futex_wake(go);
  }

  // Turns are short, and waking a processor that rests takes longer than most of them.
  void wait_for_turn() {
    std::atomic<uint32_t>& go = region().control(rank()).go;
    if (spins_) {
      const auto end = std::chrono::steady_clock::now() + kSpin;
      while (go.load(std::memory_order_acquire) == 0 && std::chrono::steady_clock::now() < end) {
        ::sched_yield();  // to ranks of other jobs
      }
    }
    while (go.load(std::memory_order_acquire) == 0) futex_wait(go, 0);
    go.store(0, std::memory_order_relaxed);
  }

  [[noreturn]] void fail_deadlock() {
    std::ostringstream text;
    text << "deadlock on the virtual clock: every rank waits and nothing is under way (";
    for (Rank other = 0; other < ranks(); ++other) {
      const RankControl& control = region().control(other);
      if (other > 0) text << ", ";
      text << "rank " << other;
      if (control.left != 0) {
        text << " has left";
      } else {
        text << " since " << control.entry_s << " s";
      }
    }
    text << "); a message or flag that a rank waits for is never sent";
    fail(Error(ErrorCode::aborted, text.str()));
  }

  static constexpr std::chrono::microseconds kSpin{30};

  double clock_s_ = 0;
  double left_cpu_s_ = 0;
  double read_s_;
  bool spins_;  // each rank can have a processor of its own
};

}  // namespace

std::unique_ptr<RankEngine> make_virtual_engine(ProfileRequest request, const OpenOptions& options,
                                                SharedRegion region) {
  return std::make_unique<VirtualEngine>(std::move(request), options, std::move(region));
}

}  // namespace stripline::fabric
