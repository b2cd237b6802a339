#include "runtime/fabric/emulated/real_engine.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sched.h>
#include <sstream>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace stripline::fabric {
namespace {

// Copies must hide behind the transfers they emulate; at a tenth they disturb by at most that.
constexpr double kCopyHeadroom = 10;

double monotonic_s() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Seconds per byte of a copy that misses the caches: the best of many, as neighbours can only slow
// it, or the first that takes no longer than `enough`.
double copy_s_per_byte(double enough) {
  constexpr size_t kBytes = size_t{8} << 20;
  constexpr int kMostCopies = 40;
  const std::vector<char> source(kBytes, 1);
  std::vector<char> destination(kBytes, 2);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kMostCopies && best > enough; ++i) {
    const double begin = monotonic_s();
    std::memcpy(destination.data(), source.data(), kBytes);
    // The use of what was copied keeps the copy alive.
    const double seconds = destination[kBytes / 2] == 1 ? monotonic_s() - begin : 0;
    best = std::min(best, seconds / static_cast<double>(kBytes));
  }
  return best;
}

// What two consecutive reads of the clock differ by.
double calibrate_read_s() {
  std::array<double, 101> differences{};
  for (double& difference : differences) {
    const double begin = monotonic_s();
    difference = monotonic_s() - begin;
  }
  std::nth_element(differences.begin(), differences.begin() + 50, differences.end());
  return differences[50];
}

// The emulated CPU has a time of its own, cpu_s_, which is also what the program reads: it goes
// on by what the program computes and what calls cost, and jumps to what it waits for. The host's
// clock is ahead of it by what the emulation itself takes, until the next cost makes up for that:
// it is spent by spinning until the host's clock shows the CPU's time.
class RealEngine final : public RankEngine {
 public:
  RealEngine(ProfileRequest request, const OpenOptions& options, SharedRegion region)
      : RankEngine(std::move(request), options, std::move(region)), read_s_(calibrate_read_s()) {}

  ~RealEngine() override {
    if (connected()) drain();
  }

 protected:
  // A slower CPU than the host's: computing between calls is drawn out by spinning.
  void enter() override {
    const double now = monotonic_s();
    const double spent = left_s_ == 0 ? 0 : std::max(0.0, now - left_s_ - read_s_);
    cpu_s_ = std::max(cpu_s_ + spent * profile().compute_scale, now - kMostBehind_s);
    waiting_ = false;
    spin();
  }
  void leave() override { left_s_ = monotonic_s(); }
  double clock() override { return cpu_s_; }

  void charge(double seconds) override {
    cpu_s_ += seconds;
    spin();
  }

  void run_events() override {
    collect_grants();
    for (looked_s_ = monotonic_s(); next_event_s() <= looked_s_; looked_s_ = monotonic_s()) {
      if (waiting_) cpu_s_ = std::max(cpu_s_, next_event_s());
      carry_out_next();
    }
  }

  void idle(double wake_s) override {
    // There was nothing for the CPU to do until then.
    cpu_s_ = std::max(cpu_s_, std::min(looked_s_, wake_s));
    waiting_ = true;
    // The caller looks again at once: the latencies to reproduce are far below what the kernel's
    // timers resolve, messages of others arrive unannounced, and a processor that is given to a
    // neighbour comes back late. There is one for every rank.
  }

  void poke(Rank /*target*/, double /*time_s*/) override {}
  void summon(Rank /*target*/, double /*time_s*/) override {}

  // A real target attends whenever it polls; the emulation cannot foresee when.
  double attended_at(Rank /*target*/, double time_s) override { return time_s; }
  void occupy(Rank /*target*/, double /*time_s*/, double /*seconds*/) override {}

  void started() override {}

  void lock_nics() override {
    std::atomic<uint32_t>& lock = region().nic_lock();
    while (lock.exchange(1, std::memory_order_acquire) != 0) ::sched_yield();
  }
  void unlock_nics() override { region().nic_lock().store(0, std::memory_order_release); }

  bool copies_early() const override { return true; }

 private:
  // More than the emulation of a call takes; where the host took the processor away for longer,
  // that is time lost.
  static constexpr double kMostBehind_s = 2e-6;

  // Until the CPU's time has come. The NIC works meanwhile.
  void spin() {
    for (double now = monotonic_s(); now < cpu_s_; now = monotonic_s()) {
      collect_grants();
      if (next_event_s() <= now) carry_out_next();
    }
  }

  double read_s_;
  double cpu_s_ = 0;
  double left_s_ = 0;
  double looked_s_ = 0;   // events up to then have been carried out
  bool waiting_ = false;  // nothing to do but to wait for events
};

}  // namespace

Status check_reproducible(const ProfileRequest& request, Rank ranks) {
  const Profile& profile = request.profile;
  if (request.compute == ComputeMode::none) {
    return Error(ErrorCode::invalid_argument,
                 "compute=none makes computation free, which only the virtual clock can; use "
                 "--clock virtual");
  }
  if (request.compute == ComputeMode::declared) {
    return Error(ErrorCode::invalid_argument,
                 "compute=declared goes by what programs say they compute, and not by what they "
                 "do, which only the virtual clock can; use --clock virtual");
  }
  if (request.compute != ComputeMode::measured) {
    return Error(ErrorCode::invalid_argument,
                 "compute traces are of the virtual clock; use --clock virtual");
  }
  if (request.host_delays_seed) {
    return Error(
        ErrorCode::invalid_argument,
        "host_delays is for the virtual clock, which must not notice; use --clock virtual");
  }
  if (profile.compute_scale < 1) {
    return Error(ErrorCode::failed_precondition,
                 "profile '" + profile.name +
                     "' computes faster than this host, which only the virtual clock reproduces; "
                     "use --clock virtual");
  }
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (static_cast<long>(ranks) > cores) {
    return Error(ErrorCode::failed_precondition,
                 "profile '" + profile.name + "' with " + std::to_string(ranks) +
                     " ranks cannot run in real time on " + std::to_string(cores) +
                     " cores; use --clock virtual, or fewer ranks");
  }
  if (profile.get.needs_target || profile.put.needs_target) {
    return Error(ErrorCode::failed_precondition,
                 "profile '" + profile.name +
                     "' has operations that wait for their target's attention, which only the "
                     "virtual clock reproduces; use --clock virtual");
  }
  const double enough = profile.smallest_G() / kCopyHeadroom;
  const double copy = copy_s_per_byte(enough);
  if (copy > enough) {
    std::ostringstream text;
    text << "profile '" << profile.name << "' moves a byte in " << profile.smallest_G()
         << " s, which this host cannot reproduce in real time: its memory copy takes " << copy
         << " s a byte and must be at least " << kCopyHeadroom
         << " times faster; use --clock virtual";
    return Error(ErrorCode::failed_precondition, text.str());
  }
  return {};
}

std::unique_ptr<RankEngine> make_real_engine(ProfileRequest request, const OpenOptions& options,
                                             SharedRegion region) {
  return std::make_unique<RealEngine>(std::move(request), options, std::move(region));
}

}  // namespace stripline::fabric
