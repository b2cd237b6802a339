// How a loop over remote data is decomposed: one bulk transfer (message vectorisation), or strips
// whose transfers overlap with the computation (message strip-mining; Iancu et al., sections 3 and
// 6.3; Chen, section 5.2). The plan is equation (1) of Iancu et al. as far as contiguous transfers
// at one nest level need it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "optimizer/cost/compute_costs.h"
#include "optimizer/plan/decision.h"
#include "optimizer/plan/methods.h"
#include "optimizer/plan/strip_costs.h"
#include "optimizer/plan/surroundings.h"

namespace stripline::plan {

enum class Schedule : uint8_t {
  vectorised,  ///< blocking; in one piece unless the buffer is smaller than the data
  all_issued,  ///< A: all strips issued up front and retired strip by strip
  pipelined,   ///< B: strip i + burst is issued before strip i is computed on
};
inline constexpr std::array<std::string_view, 3> kScheduleNames = {"vectorised", "A", "B"};
inline std::string_view to_string(Schedule schedule) {
  return kScheduleNames[static_cast<size_t>(schedule)];
}

/// Where the slots of strips begin in the buffers of a job: at cache lines.
inline constexpr uint64_t kUsualSlotAlignment = 64;

/// The loop: `total_bytes` of remote data, in order, each element used by the computation. The data
/// lie in `blocks` contiguous regions, possibly of different ranks; strips do not cross from one
/// into the next.
struct StripRequest {
  Direction direction = Direction::get;
  uint64_t total_bytes = 0;  ///< a multiple of element_bytes
  uint32_t blocks = 1;       ///< at least 1
  /// The largest block, where they differ in size; times are predicted for the mean size. 0,
  /// or less than that: all are equal.
  uint64_t largest_block_bytes = 0;
  /// Ranks that the blocks are of, one after the other; 1 to `blocks`. The loops of other ranks are
  /// taken to read from the same ranks at the same time, so that a get that runs ahead to the next
  /// rank waits among theirs.
  uint32_t peers = 1;
  /// Blocks differ in size. Ranks whose loops have equal ones go in step with each other, one at a
  /// peer at a time; others drift, and find each other's messages before theirs.
  bool uneven = false;
  static constexpr Fact kFacts = Fact::nic_ranks | Fact::target_polls_only | Fact::load;
  Surroundings surroundings;
  uint64_t element_bytes = 8;     ///< at least 1
  uint64_t granule_elements = 1;  ///< strips hold a multiple of this many elements, e.g. a row
  /// A strip of a get also needs this many bytes beyond its end (Chen's k); 0 for puts.
  uint64_t halo_bytes = 0;
  /// The data have a place in this rank's memory, where all of them stay: no buffers.
  bool placed = false;
  /// Memory that the plan may use for buffers. One granule and its halo always fit.
  uint64_t max_buffer_bytes = std::numeric_limits<uint64_t>::max();
  /// Each strip's slot in the buffers begins at a multiple of this many bytes; at least 1.
  uint64_t slot_alignment = 1;
  /// Gets only: bytes of local data that the loop also goes through, while the first transfers are
  /// in flight.
  uint64_t own_bytes = 0;
  /// Seconds of computation on the `total_bytes` by a loop that is not cut, when known (measured,
  /// given); negative: estimated from the three members below. What strips and small buffers save
  /// by staying in a cache is taken off by the planner.
  double compute_s = -1;
  cost::LoopClass loop;      ///< per element
  uint32_t sweeps = 1;       ///< how often each element is used
  uint64_t local_bytes = 0;  ///< footprint of local references; 0: in cache
  bool operator==(const StripRequest&) const = default;
};

/// A decision. `count` operations of `strip_bytes` (the last one may be shorter; halo not counted).
struct StripPlan {
  const Schedule schedule = Schedule::vectorised;
  const Reason reason = Reason::no_model;
  const uint32_t burst = 1;       ///< B_Issue: operations issued ahead; A: count, B: the window
  const uint32_t sync_burst = 1;  ///< B_Sync: operations retired in one step
  /// S; where blocks are not divided, the largest one's, as far as the buffers hold that.
  const uint64_t strip_bytes = 0;
  const uint64_t count = 0;      ///< N
  const double predicted_s = 0;  ///< time of the loop under this plan; 0 without a model
  const double baseline_s = 0;   ///< time of the vectorised loop; 0 without a model
  /// Lower end of the interval of the relative gain of the fastest decomposition over the
  /// vectorised loop: each parameter's interval is propagated and the effects, being independent,
  /// are added as squares. Exceeds the margin in a tuned plan.
  const double gain_low = 0;
  bool operator==(const StripPlan&) const = default;
};

/// One method to run the loop.
struct StripCandidate {
  Schedule schedule = Schedule::vectorised;
  uint64_t strip_bytes = 0;  ///< a multiple of the granule, or at least a block
  uint32_t window = 1;       ///< operations in flight; schedule B only
};

/// Buffers that a schedule has for the steps of a loop; B has `pipelined` of them, if that is not
/// more.
inline uint64_t slots_of(Schedule schedule, uint64_t pipelined, uint64_t steps) {
  if (schedule == Schedule::vectorised) return 1;
  return schedule == Schedule::all_issued || pipelined > steps ? steps : pipelined;
}

/// For strips: those in flight, and for gets the one that is computed on.
inline uint64_t strip_slots(Direction direction, Schedule schedule, uint64_t window,
                            uint64_t strips) {
  return slots_of(schedule, window + (direction == Direction::get ? 1 : 0), strips);
}

/// A strip size whose cheapest schedule cannot be below `bound_s`, which exceeds the best so far.
struct StripPruned {
  uint64_t strip_bytes = 0;
  double bound_s = 0;
};
/// The best is the decomposition whose gain decides. Gets from several ranks may pass over faster
/// candidates that have more in flight.
using StripRecord = Record<StripCandidate, StripPruned>;

/// The plan for a loop. `costs` may be null (no model): vectorise. A decomposition is chosen only
/// if the lower end of its predicted gain exceeds the margin of the model. Pure, allocates
/// nothing.
StripPlan plan_strip(const StripRequest& request, const StripCosts* costs) noexcept;

/// The best decomposition that plan_strip() weighs, and where several are as good within the
/// margin, the one that suffers least where parameters err; unless it is predicted to be slower
/// than the vectorised loop by more than the margin: nullopt, also where its messages and those of
/// other ranks delay each other, so that a rank's own time is not all. Where plan_strip()
/// vectorises, the two tie, as far as the model can tell; but what it does not say, as how a
/// computation profits from strips that stay in its caches, may be more than the margin, so who can
/// measure both should (guard.h). Pure, allocates nothing.
std::optional<StripPlan> tie_of_strip(const StripRequest& request,
                                      const StripCosts* costs) noexcept;

/// The same, with a record of what it considered.
StripPlan plan_strip(const StripRequest& request, const StripCosts* costs, StripRecord& record);

/// The plan that runs a given candidate, with its predicted time (0 without a model). Strip size
/// and window are adjusted to what the request allows: granule, buffer, number of strips.
StripPlan force_strip(const StripRequest& request, const StripCosts* costs,
                      const StripCandidate& candidate, Reason reason = Reason::forced) noexcept;

/// The vectorised loop, as a guard has it carried out in place of another plan.
inline StripPlan baseline_of_strip(const StripRequest& request, const StripCosts* costs) noexcept {
  return force_strip(request, costs, {.schedule = Schedule::vectorised}, Reason::guarded);
}

/// Predicted seconds of a candidate that the request allows, at a corner of the parameters. `costs`
/// must hold the operation.
double predict_strip(const StripRequest& request, const StripCosts& costs,
                     const StripCandidate& candidate, cost::Corner corner) noexcept;

/// Seconds of computation on the remote data if the loop is not cut: compute_s, or the estimate.
double strip_compute_s(const StripRequest& request, const StripCosts& costs,
                       cost::Corner corner) noexcept;

/// The compute_s of a request whose computation was measured to take `measured_s` under `plan`.
double uncut_compute_s(const StripRequest& request, const StripCosts& costs, const StripPlan& plan,
                       double measured_s) noexcept;

/// Buffer bytes that a candidate needs.
uint64_t strip_buffer_bytes(const StripRequest& request, const StripCandidate& candidate) noexcept;

}  // namespace stripline::plan
