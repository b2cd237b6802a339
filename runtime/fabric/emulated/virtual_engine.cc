#include "runtime/fabric/emulated/virtual_engine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <linux/futex.h>
#include <optional>
#include <random>
#include <sched.h>
#include <span>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "runtime/fabric/crew.h"
#include "runtime/fabric/emulated/thread_cpu_clock.h"

namespace stripline::fabric {
namespace {

constexpr double kNanosecond_s = 1e-9;

void futex_wait(std::atomic<uint32_t>& word, uint32_t value) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, value, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

// Sleeps of this thread, for tests of what must not depend on the host's schedule.
class HostDelays {
 public:
  HostDelays(std::optional<uint64_t> seed, Rank rank)
      : random_(seed.value_or(0) + rank), on_(seed.has_value()) {}

  void sleep() {
    if (!on_) return;
    constexpr uint64_t kOneIn = 8;
    constexpr uint64_t kLongest_us = 60;
    const uint64_t drawn = random_();
    if (drawn % kOneIn != 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(drawn / kOneIn % kLongest_us));
  }

 private:
  std::mt19937_64 random_;
  bool on_;
};

class VirtualEngine final : public RankEngine {
 public:
  VirtualEngine(ProfileRequest request, const OpenOptions& options, SharedRegion region,
                ComputeTrace trace, std::string trace_file, const HostDelays& delays)
      : RankEngine(std::move(request), options, std::move(region)),
        trace_file_(std::move(trace_file)),
        trace_(std::move(trace)),
        delays_(delays),
        measures_(compute_mode() == ComputeMode::measured || compute_mode() == ComputeMode::record),
        spins_(options.ranks <= std::thread::hardware_concurrency()),
        crew_(options.crew) {
    if (compute_mode() == ComputeMode::declared) set_work(&declared_);
  }

  ~VirtualEngine() override {
    if (measures_) restart_thread_cpu_ns();
    if (!connected()) return;
    enter();
    drain();
    close_trace();
    RankControl& mine = region().control(rank());
    mine.left = 1;
    region().next_s()[rank()] = kNever;
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
    if (compute_mode() == ComputeMode::declared) {
      charge_work();
      return;
    }
    const uint64_t spent_ns = measures_ ? measured_ns() : replayed_ns();
    if (compute_mode() == ComputeMode::record) trace_.append(spent_ns);
    // From the same whole numbers in the run that is recorded and in the one that replays it.
    clock_s_ += kNanosecond_s * static_cast<double>(spent_ns) * profile().compute_scale;
  }

  void leave() override {
    if (measures_) left_cpu_ns_ = thread_cpu_ns();
  }

  double clock() override { return clock_s_; }
  void charge(double seconds) override { clock_s_ += seconds; }

  void charge_work() override {
    if (compute_mode() != ComputeMode::declared) return;
    const double seconds = profile().processor->seconds(std::exchange(declared_, {}));
    // Ranks would wait for a clock that goes back, or is at no time.
    if (!(seconds >= 0 && seconds < kNever)) {
      fail(Error(ErrorCode::invalid_argument,
                 "declared work would take " + std::to_string(seconds) +
                     " s; what a program adds to Context::work() is finite and not negative"));
    }
    clock_s_ += seconds;
  }

  void run_events() override {
    RankControl& mine = region().control(rank());
    mine.entry_s = clock_s_;
    take_turn(clock_s_);
    clock_s_ = std::max(clock_s_, mine.served_s);
  }

  void idle(double wake_s) override {
    RankControl& mine = region().control(rank());
    mine.waiting = 1;
    mine.wake_s = wake_s;
    take_turn(kNever);
    mine.waiting = 0;
    clock_s_ = std::max({clock_s_, mine.wake_s, mine.served_s});
  }

  void poke(Rank target, double time_s) override {
    RankControl& control = region().control(target);
    if (control.waiting == 0) return;
    control.wake_s = std::min(control.wake_s, time_s);
    double& next_s = region().next_s()[target];
    next_s = std::min(next_s, time_s);
  }

  void summon(Rank target, double time_s) override {
    double& next_s = region().next_s()[target];
    next_s = std::min(next_s, time_s);
  }

  double attended_at(Rank target, double time_s) override {
    const RankControl& control = region().control(target);
    return control.waiting != 0 ? time_s : std::max(time_s, control.entry_s);
  }

  void occupy(Rank target, double time_s, double seconds) override {
    double& served_s = region().control(target).served_s;
    served_s = std::max(served_s, attended_at(target, time_s)) + seconds;
  }

  void started() override {
    if (measures_) calibrate();
    // Rank 0 begins; the others are parked at time zero, which an all-zero region says already.
    if (rank() == 0) region().control(0).go.store(1, std::memory_order_release);
    wait_for_turn(0);
    leave();
  }

 private:
  uint64_t measured_ns() {
    interval_ns_ = thread_cpu_ns() - left_cpu_ns_;
    return static_cast<uint64_t>(std::max(int64_t{0}, interval_ns_ - nothing_ns_));
  }

  // What is measured where a program does nothing between two calls: reading a clock takes time,
  // and the calls are not for nothing.
  void calibrate() {
    restart_thread_cpu_ns();
    nothing_ns_ = std::numeric_limits<int64_t>::max();  // time stands still meanwhile
    std::array<int64_t, 101> intervals{};
    leave();
    for (int64_t& interval : intervals) {
      now_s();
      interval = interval_ns_;
    }
    std::nth_element(intervals.begin(), intervals.begin() + 50, intervals.end());
    nothing_ns_ = intervals[50];
    trace_ = ComputeTrace(rank(), ranks());
  }

  uint64_t replayed_ns() {
    const std::optional<uint64_t> spent_ns = trace_.next();
    if (!spent_ns) fail_replay("makes more calls than the " + std::to_string(trace_.entries()));
    return *spent_ns;
  }

  void close_trace() {
    if (compute_mode() == ComputeMode::record) {
      const Status written = write_compute_trace(trace_file_, trace_);
      if (!written.ok()) fail(written.error());
    } else if (compute_mode() == ComputeMode::replay && !trace_.at_end()) {
      fail_replay("makes fewer calls than the " + std::to_string(trace_.entries()));
    }
  }

  [[noreturn]] void fail_replay(const std::string& difference) {
    fail(Error(ErrorCode::failed_precondition,
               "this is not the run that was recorded: it " + difference +
                   " into the library that compute trace '" + trace_file_ +
                   "' has; replay the same program with the same arguments, model, profile, "
                   "options and seed"));
  }

  // Returns when this rank is the first of all to act: at `limit_s`, or, while it waits, at its
  // wake-up time. Carries out own events that come before.
  void take_turn(double limit_s) {
    RankControl& mine = region().control(rank());
    while (true) {
      collect_grants();
      const double act_s = mine.waiting != 0 ? mine.wake_s : limit_s;
      region().next_s()[rank()] = std::min(act_s, next_event_s());
      const Rank next = first_in_line(rank());
      if (region().next_s()[next] == kNever) fail_deadlock();
      if (next != rank()) {
        pass_turn(next);
        wait_for_turn(next);
        continue;
      }
      if (next_event_s() <= act_s) {
        carry_out_next();
        continue;
      }
      return;
    }
  }

  // The rank that acts first; `preferred` if none ever does. Nothing happens at ranks that have
  // left.
  Rank first_in_line(Rank preferred) {
    const std::span<const double> next_s = region().next_s();
    Rank first = preferred;
    double first_s = kNever;
    for (Rank other = 0; other < next_s.size(); ++other) {
      if (next_s[other] < first_s) {
        first = other;
        first_s = next_s[other];
      }
    }
    return first;
  }

  void pass_turn(Rank next) {
    delays_.sleep();
    std::atomic<uint32_t>& go = region().control(next).go;
    go.store(1, std::memory_order_release);
    if (crew_ == nullptr) futex_wake(go);
  }

  // Turns are short, and waking a processor that rests takes longer than most of them. `holder` has
  // the turn.
  void wait_for_turn(Rank holder) {
    std::atomic<uint32_t>& go = region().control(rank()).go;
    if (crew_ != nullptr) {
      if (go.load(std::memory_order_relaxed) == 0) crew_->resume(holder);
      // Whoever ends lets anybody run.
      while (go.load(std::memory_order_relaxed) == 0) crew_->yield();
    } else if (spins_) {
      const auto end = std::chrono::steady_clock::now() + kSpin;
      while (go.load(std::memory_order_acquire) == 0 && std::chrono::steady_clock::now() < end) {
        ::sched_yield();  // to ranks of other jobs
      }
    }
    while (go.load(std::memory_order_acquire) == 0) futex_wait(go, 0);  // not in a crew
    go.store(0, std::memory_order_relaxed);
    delays_.sleep();
  }

  [[noreturn]] void fail_deadlock() {
    std::ostringstream text;
    text << "deadlock on the virtual clock: every rank waits and nothing is in flight (";
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
  Work declared_;  // since the last call
  std::string trace_file_;
  ComputeTrace trace_;
  HostDelays delays_;
  bool measures_;
  int64_t left_cpu_ns_ = 0;
  int64_t interval_ns_ = 0;  // measured last
  int64_t nothing_ns_ = 0;   // of that: the measuring
  bool spins_;               // each rank can have a processor of its own
  Crew* crew_;               // null: ranks are processes or threads
};

}  // namespace

std::unique_ptr<RankEngine> make_virtual_engine(ProfileRequest request, const OpenOptions& options,
                                                SharedRegion region, ComputeTrace trace) {
  std::string trace_file = compute_trace_path(request.trace_path, options.rank);
  const HostDelays delays(request.host_delays_seed, options.rank);
  return std::make_unique<VirtualEngine>(std::move(request), options, std::move(region),
                                         std::move(trace), std::move(trace_file), delays);
}

}  // namespace stripline::fabric
