#include "runtime/fabric/emulated/real_engine.h"

#include <algorithm>
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

// Seconds per byte of a copy that misses the caches; the best of a few, as a limit should be.
double copy_s_per_byte() {
  constexpr size_t kBytes = size_t{8} << 20;
  const std::vector<char> source(kBytes, 1);
  std::vector<char> destination(kBytes, 2);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 4; ++i) {
    const double begin = monotonic_s();
    std::memcpy(destination.data(), source.data(), kBytes);
    best = std::min(best, monotonic_s() - begin);
  }
  // Keeps the copy alive.
  return destination[kBytes / 2] == 1 ? best / static_cast<double>(kBytes) : 0;
}

class RealEngine final : public RankEngine {
 public:
  RealEngine(ProfileRequest request, const OpenOptions& options, SharedRegion region)
      : RankEngine(std::move(request), options, std::move(region)) {}

  ~RealEngine() override {
    if (connected()) drain();
  }

 protected:
  // A slower CPU than the host's: computing between calls is drawn out by spinning.
  void enter() override {
    if (profile().compute_scale > 1 && left_s_ > 0) {
      charge((monotonic_s() - left_s_) * (profile().compute_scale - 1));
    }
  }
  void leave() override { left_s_ = monotonic_s(); }
  double clock() override { return monotonic_s(); }

  void charge(double seconds) override {
    const double end = monotonic_s() + seconds;
    while (monotonic_s() < end) {
    }
  }

  void run_events() override {
    while (next_event_s() <= monotonic_s()) carry_out_next();
  }

  void idle(double wake_s) override {
    // Spins: the latencies to reproduce are far below what the kernel's timers resolve. Returns
    // after each look, as messages of others arrive unannounced.
    const double now = monotonic_s();
    const double next = std::min(wake_s, next_event_s());
    constexpr double kSpinBelow_s = 20e-6;
    if (next - now > kSpinBelow_s) ::sched_yield();
  }

  void poke(Rank /*target*/, double /*time_s*/) override {}

  // A real target attends whenever it polls; the emulation cannot foresee when.
  double attended_at(Rank /*target*/, double time_s) override { return time_s; }

  void started() override {}

  void lock_nics() override {
    std::atomic<uint32_t>& lock = region().nic_lock();
    while (lock.exchange(1, std::memory_order_acquire) != 0) ::sched_yield();
  }
  void unlock_nics() override { region().nic_lock().store(0, std::memory_order_release); }

  bool copies_early() const override { return true; }

 private:
  double left_s_ = 0;
};

}  // namespace

Status check_reproducible(const ProfileRequest& request, Rank ranks) {
  const Profile& profile = request.profile;
  if (request.compute == ComputeMode::none) {
    return Error(ErrorCode::invalid_argument,
                 "compute=none makes computation free, which only the virtual clock can; use "
                 "--clock virtual");
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
  const double copy = copy_s_per_byte();
  if (profile.smallest_G() < kCopyHeadroom * copy) {
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
