// How the transfers of a loop nest are carried out: at which loop the nest is cut into steps, how
// many iterations make a step, and when what a step needs is issued and retired. The plan holds all
// fields of equation (1) of Iancu et al.: for each group of references that move together
// (optimizer/access/nest.h) type, arguments, count, granularity, burst of issue, and the loop
// levels and the burst of retirement.
//
// The time of a plan is that of strip.h, a pipeline of steps, with what all groups of a step take
// together: one after another on the CPU and on the NIC, and the longest of their paths. Groups
// that do not change from step to step are fetched once for all of them, and held.
//
// The baseline is what is done without a model: the nest is vectorised, and tiles of many regions
// are moved by the method that is taken without one (vis.h). All candidates move them by the
// methods that the model chooses, the vectorised nest among them: that is a plan like any other,
// which has to gain the margin, and is compared.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "optimizer/access/nest.h"
#include "optimizer/cost/compute_costs.h"
#include "optimizer/model/paths.h"
#include "optimizer/plan/strip.h"
#include "optimizer/plan/strip_costs.h"
#include "optimizer/plan/vis.h"
#include "optimizer/plan/vis_costs.h"

namespace stripline::plan {

/// Different paths to ranks that a nest may use: loads and stores, the network, and more.
inline constexpr size_t kNestLinks = 4;

/// The paths of a running job, as indices of NestRequest::links: loads and stores, then the paths
/// of a model.
inline constexpr uint8_t kLocalLink = 0;
constexpr uint8_t link_by(model::Path path) {
  return static_cast<uint8_t>(1 + static_cast<int>(path));
}
static_assert(1 + model::kPaths <= kNestLinks);

/// A path to some of the ranks.
struct NestLink {
  bool in_reach = false;              ///< loads and stores reach them; nothing is moved
  const StripCosts* strip = nullptr;  ///< null: no model
  const VisCosts* vis = nullptr;      ///< null: no model
  /// What transfers of many regions are given (VisRequest): those members that do not describe one.
  VisRequest many;
};

struct NestRequest {
  access::Nest nest;
  /// The path of each reference: an index of `links`.
  std::array<uint8_t, access::kMaxReferences> link{};
  /// By distributed array whose pieces take different paths: those in reach, as a part of
  /// all. The others take the path that `link` says.
  std::array<double, access::kMaxReferences> in_reach_part{};
  std::array<NestLink, kNestLinks> links{};
  static constexpr Fact kFacts =
      Fact::nic_ranks | Fact::target_polls_only | Fact::alone | Fact::load;
  Surroundings surroundings;
  uint64_t max_buffer_bytes = std::numeric_limits<uint64_t>::max();
  uint64_t slot_alignment = 1;  ///< of tiles in buffers, as StripRequest's
  /// All steps of a loop, a shorter last one, too, move the same groups: where that one would have
  /// others, steps are of equal length.
  bool uniform_steps = false;
  /// Seconds of computation of all iterations, if the nest is not cut; negative: estimated from
  /// `loop`, what an iteration does beside its first remote reference, and `local_bytes`.
  double compute_s = -1;
  cost::LoopClass loop;
  uint64_t local_bytes = 0;
};

/// What is done for one group of the tiling: equation (1).
struct NestTransfer {
  bool moved = false;  ///< false: in reach
  /// Type: one operation for a tile, or many regions by a method of vis.h.
  bool many_regions = false;
  VisMethod method = VisMethod::pipelined;
  uint32_t vis_window = 1;
  uint64_t chunk_bytes = 0;
  VisCandidate put_back{};  ///< how what is read and written is put; the members above: is fetched
  uint64_t count = 0;       ///< N: tiles
  uint64_t bytes = 0;       ///< S: of a tile
  uint32_t burst = 1;       ///< B_Issue: tiles that are in flight
  uint32_t init_level = 0;  ///< loops around the place where a transfer is begun
  uint32_t sync_level = 0;  ///< and where it is known to be complete
  uint32_t sync_burst = 1;  ///< B_Sync: tiles retired at a time

  /// By which method many regions are moved, of references of this mode.
  VisCandidate by(Direction direction, access::Mode mode) const {
    if (direction == Direction::put && access::reads(mode)) return put_back;
    return {method, vis_window, chunk_bytes};
  }
  bool operator==(const NestTransfer&) const = default;
};

/// One method to run the nest.
struct NestCandidate {
  Schedule schedule = Schedule::vectorised;
  access::Cut cut;
  uint32_t window = 1;
  /// Tiles of many regions travel by the methods that the model chooses (vis.h); else as without a
  /// model.
  bool tunes_tiles = true;
};

struct NestPlan {
  const Schedule schedule = Schedule::vectorised;
  const Reason reason = Reason::no_model;
  const access::Cut cut{};
  const uint64_t steps = 1;        ///< over all iterations of the loops around the cut
  const uint32_t window = 1;       ///< steps that are in flight; B only
  const bool tunes_tiles = false;  ///< as NestCandidate's
  const uint32_t groups = 0;       ///< of access::tile() for the cut
  const std::array<NestTransfer, access::kMaxReferences> transfer{};
  const uint64_t buffer_bytes = 0;
  const double predicted_s = 0;  ///< 0 without a model
  const double baseline_s = 0;   ///< of baseline_of_nest(); 0 without a model
  const double gain_low = 0;     ///< as StripPlan's
  /// Why the nest is not cut, nor vectorised: the program makes its accesses one by one.
  const std::optional<access::Failure> obstacle{};

  /// That the plan is of.
  NestCandidate candidate() const { return {schedule, cut, window, tunes_tiles}; }
  /// True if another plan for the nest does the same.
  bool does_as(const NestPlan& other) const {
    return schedule == other.schedule && cut.loop == other.cut.loop &&
           cut.granule == other.cut.granule && window == other.window && transfer == other.transfer;
  }
};

/// A cut whose fastest schedule cannot be below `bound_s`, which is not below the best so far.
struct NestPruned {
  access::Cut cut;
  double bound_s = 0;
};
using NestRecord = Record<NestCandidate, NestPruned>;

/// Slots for what moves from step to step: for the one that is computed on, those in flight to this
/// rank and, where a nest gets and puts, as many in flight from it.
inline uint64_t nest_slots(Schedule schedule, uint64_t window, uint64_t steps, bool gets,
                           bool puts) {
  return slots_of(schedule, 1 + (gets && puts ? 2 * window : window), steps);
}

/// The plan for a nest. The baseline where no model is known of a path that data take. Pure,
/// allocates nothing.
NestPlan plan_nest(const NestRequest& request) noexcept;

/// The same, with a record of what it considered.
NestPlan plan_nest(const NestRequest& request, NestRecord& record);

/// The plan of a nest that is not cut: each iteration is a step, whose accesses are made one by
/// one.
NestPlan uncut_nest(const access::Nest& nest, const access::Failure& obstacle) noexcept;

/// The plan that runs a candidate of a record, without its times.
NestPlan unfold_nest(const NestRequest& request, const NestCandidate& candidate) noexcept;

/// The plan that runs a given candidate, adjusted to what nest and buffers allow.
NestPlan force_nest(const NestRequest& request, const NestCandidate& candidate,
                    Reason reason = Reason::forced) noexcept;

/// The nest as without a model, which a guard has carried out in place of another plan: vectorised,
/// and with tiles of many regions moved as without one.
inline NestPlan baseline_of_nest(const NestRequest& request) noexcept {
  return force_nest(request, {Schedule::vectorised, {0, request.nest.counts[0]}, 1, false},
                    Reason::guarded);
}

/// The baseline with tiles of many regions moved by the methods that the model chooses, which a
/// guard may compare with it where no plan is surely faster; none if that is not predicted to be
/// faster.
std::optional<NestPlan> tie_of_nest(const NestRequest& request) noexcept;

}  // namespace stripline::plan
