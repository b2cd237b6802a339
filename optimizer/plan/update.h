// How updates of other ranks' memory, cell = op(cell, value), reach their cells (Su, chapter 5):
//
// * cell_locks: lock, read, write and unlock, four round trips each. What programs do by hand.
// * owner_locks: one lock for all that a rank has for an owner, whose cells are read together,
//   updated, and written together.
// * provider, messages: an atomic operation each, by the fabric or by active message.
// * buffers: written into a buffer for each destination, which leaves as one message when it is
//   full, and at the end of the epoch; the owner applies what comes. Updates of one cell may be
//   merged in the buffer first. Where ranks times buffers take more memory than there is, or
//   messages would be nearly empty, they travel in two hops or three, over the rows and columns of
//   a grid or cube of ranks, so that a rank has few destinations.
//
// Every rank is taken to do the same. With U updates of its own that are out of reach, n items that
// leave it (U, or fewer where they are merged), M messages of S bytes, and h times the mean load at
// the busiest owner, buffers take
//
//   T = max(U in + f n in + M (o + r + a) + h (n apply + M (s + a)), h M gap, W) +
//       hops (o + L + G S)
//
// where f of the items are forwarded, `in` is what it takes to write or merge one, and `a` what two
// small messages do, by which a rank says that something has come and its owner that it is done.
// W is what messages wait for those before them: as many as an owner has slots for a rank, or as a
// rank has in flight, leave together, and the next ones when those have come back, which on a slow
// network takes longer than all else.
// Updates of its own cells a rank carries out at once, whatever the method, one `apply` each. What
// all methods have in common is left out: the program's own work, and the barrier at the end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "optimizer/cost/link_costs.h"
#include "optimizer/cost/octave_table.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/decision.h"
#include "optimizer/plan/methods.h"
#include "optimizer/plan/surroundings.h"
#include "optimizer/plan/update_encoding.h"

namespace stripline::plan {

/// The smallest and largest buffer that is considered; powers of two between them.
inline constexpr uint64_t kLeastUpdateBufferBytes = 1024;
inline constexpr uint64_t kMostUpdateBufferBytes = uint64_t{64} << 10;
/// Buffers beside those that are filled: some travel while others are packed.
inline constexpr uint32_t kSpareUpdateBuffers = 4;
/// A buffer in which fewer than one update in this number was merged says that merging does not
/// pay: most of those that follow do without.
inline constexpr uint32_t kMergesWorthwhile = 16;
/// By a candidate that sums up, updates of an owner's cells are summed up in an array that stands
/// for a part of its memory, where each of them gets this number of updates, and the array has no
/// more than this number of cells for each update: those that were updated are looked for.
inline constexpr uint32_t kUpdatesOfASum = 2;
inline constexpr uint32_t kCellsForAnUpdate = 8;
/// Where updates are merged, a table of positions goes with a buffer, which takes as much again.
inline constexpr uint64_t kMergingUpdateBuffers = 2;
/// The size of a cell's address in a message of pairs.
inline constexpr uint32_t kUpdateAddressBytes = 4;
inline constexpr uint32_t kMostUpdateHops = 3;

/// The updates that a rank makes from one end of an epoch to the next.
struct UpdateRequest {
  uint64_t updates = 1;
  uint64_t cells = 0;  ///< different ones among those that are updated; 0: as many as updates
  uint64_t span_bytes = uint64_t{1} << 20;  ///< of each owner's memory that they are among
  uint32_t item_bytes = 8;                  ///< of a cell, and of a value
  uint32_t ranks = 2;                       ///< that own cells, and make such updates
  uint32_t local_percent = 0;               ///< of the updates, of cells in reach of this rank
  uint32_t hottest_percent = 0;  ///< of all updates, to the busiest owner; 0: all owners alike
  bool one_value = false;        ///< all of them have the same value: it travels once a message
  bool separate = false;         ///< updates of one cell must not be merged
  bool ordered = false;          ///< updates of one rank must arrive in its order
  bool no_identity = false;      ///< no value of the operator leaves a cell as it is
  bool sums = false;             ///< updates may be summed up in arrays before they are sent
  bool fetches = false;          ///< the old value comes back
  bool provider = false;         ///< the fabric has this as an atomic operation
  bool buffers_only = false;     ///< the caller has no other method
  uint32_t most_hops = kMostUpdateHops;
  /// Ranks of a node that reach each other's memory: as many on each one, but for the last, and
  /// numbered one after the other; 1: they do not, or are placed otherwise.
  uint32_t node_ranks = 1;
  /// What one message takes: no buffer is larger.
  uint64_t message_bytes = kMostUpdateBufferBytes;
  /// Memory for buffers that the plan may use.
  uint64_t max_buffer_bytes = ~uint64_t{0};
  static constexpr Fact kFacts = Fact::nic_ranks | Fact::target_polls_only | Fact::service_delay;
  Surroundings surroundings;
  bool operator==(const UpdateRequest&) const = default;

  uint64_t remote() const { return updates - updates * local_percent / 100; }
};

/// One method to carry them out. The members after `method` are those of buffers.
struct UpdateCandidate {
  UpdateMethod method = UpdateMethod::buffers;
  bool merges = false;
  uint32_t hops = 1;
  uint64_t buffer_bytes = 0;  ///< of one destination
  /// One of the hops is within a node: the first one, to the rank there that sends to the owner's
  /// node, or the last one from the last node, which may have fewer ranks.
  bool by_nodes = false;
  /// Updates of an owner's cells are summed up in an array before they are merged, as far as that
  /// pays (kUpdatesOfASum): only those that go straight to their owners.
  bool sums = false;
  bool operator==(const UpdateCandidate&) const = default;
};

/// A decision. Seconds are of an epoch.
struct UpdatePlan {
  const UpdateCandidate candidate;
  const uint64_t memory_bytes = 0;  ///< of all buffers of this rank
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< 0 without a model
  const double baseline_s = 0;   ///< of baseline_of_update(); 0 without a model
  const double gain_low = 0;     ///< as StripPlan's
  bool operator==(const UpdatePlan&) const = default;
};

/// What the planner needs of a tuned model, compiled once per path. Immutable; safe to share
/// between threads.
class UpdateCosts {
 public:
  /// The model is valid (model/validate.h); `path` is one of its network.
  UpdateCosts(const model::TunedModel& model, const model::PathModel& path);

  /// True if the model holds puts and active messages, and what updates take of a processor.
  bool has_buffers() const { return has_buffers_; }
  bool has_locks() const { return has_locks_; }
  bool has_provider() const { return provider_.has_value(); }
  bool has_messages() const { return messages_.has_value(); }

  const cost::LinkCosts& am() const { return am_; }
  const cost::LinkCosts& get() const { return get_; }
  const cost::LinkCosts& put() const { return put_; }
  /// Messages to other ranks of a node; those of the path itself where the model has no other.
  const cost::LinkCosts& node_am() const { return node_am_ ? *node_am_ : am_; }
  const cost::LinkCosts& node_put() const { return node_put_ ? *node_put_ : put_; }
  bool has_node() const { return node_put_.has_value(); }
  double append(uint64_t span_bytes, cost::Corner corner) const {
    return append_[static_cast<size_t>(corner)].at(span_bytes);
  }
  double merge(uint64_t span_bytes, cost::Corner corner) const {
    return merge_[static_cast<size_t>(corner)].at(span_bytes);
  }
  /// What finds no update of its cell in the buffer; as merge() where the model does not say.
  double miss(uint64_t span_bytes, cost::Corner corner) const {
    return miss_[static_cast<size_t>(corner)].at(span_bytes);
  }
  bool has_misses() const { return has_misses_; }
  double apply(uint64_t span_bytes, cost::Corner corner) const {
    return apply_[static_cast<size_t>(corner)].at(span_bytes);
  }
  /// One atomic operation of a stream. Only if has_provider(), has_messages().
  double provider(cost::Corner corner) const { return cost::at_corner(*provider_, corner); }
  double messages(cost::Corner corner) const { return cost::at_corner(*messages_, corner); }
  double minimum_gain() const { return minimum_gain_; }

 private:
  using Tables = std::array<cost::OctaveTable, cost::kCorners>;
  template <typename ParameterOf>
  static Tables compile(const model::TunedModel& model, const ParameterOf& parameter_of);

  bool has_buffers_;
  bool has_locks_;
  cost::LinkCosts am_;
  cost::LinkCosts get_;
  cost::LinkCosts put_;
  std::optional<cost::LinkCosts> node_am_;  // with node_put_, or neither
  std::optional<cost::LinkCosts> node_put_;
  Tables append_;
  Tables merge_;
  Tables miss_;
  Tables apply_;
  bool has_misses_ = false;
  std::optional<model::Parameter> provider_;
  std::optional<model::Parameter> messages_;
  double minimum_gain_;
};

/// Destinations of a rank whose updates make `hops` hops, 1 to kMostUpdateHops: the other ranks of
/// the rows of a grid that has as many dimensions, which are about equally long. `row`: the length
/// of the first one, that of a node; 1: it is as long as the others.
uint32_t update_destinations(uint32_t ranks, uint32_t hops, uint32_t row = 1) noexcept;
/// The dimensions of that grid, of which the first ones may be longer by one; 1 beyond `hops`.
std::array<uint32_t, kMostUpdateHops> update_grid(uint32_t ranks, uint32_t hops,
                                                  uint32_t row = 1) noexcept;
/// True if a grid whose first rows are this long has as many dimensions.
bool update_grid_has_row(uint32_t ranks, uint32_t hops, uint32_t row) noexcept;
/// The length of the first row that a candidate asks for.
inline uint32_t update_row(const UpdateRequest& request, const UpdateCandidate& candidate) {
  return candidate.by_nodes ? request.node_ranks : 1;
}

/// Buffers of a rank whose updates make `hops` hops: of each destination, of its own cells, of
/// each destination again for what others send on through it, where there are several hops, and
/// spare ones.
uint32_t update_buffers(uint32_t ranks, uint32_t hops, uint32_t row = 1) noexcept;
/// What a message and the memory of a request leave for a buffer of such a candidate.
uint64_t largest_update_buffer(const UpdateRequest& request,
                               const UpdateCandidate& candidate) noexcept;

/// How updates are encoded that are merged in a buffer, if they fall at random: what the engine can
/// expect of plan_encoding(), which decides for each message.
struct ExpectedEncoding {
  UpdateEncoding encoding = UpdateEncoding::pairs;
  double item_bytes = 0;  ///< of the message, for each update in it
  double cells = 1;       ///< that are applied for each
};
/// `density`: the part of the cells that have an update, from 0 to 1.
ExpectedEncoding expected_encoding(double density, bool has_identity,
                                   const EncodingCosts& costs) noexcept;

/// What encodings of a message of `message_bytes` take by the model. What is laid out costs the
/// processor as much as what is merged.
EncodingCosts encoding_costs(const UpdateRequest& request, const UpdateCosts& costs,
                             uint64_t message_bytes) noexcept;

/// The plan for updates: the baseline without a model (`costs` null, or without buffers), and where
/// no other method is surely faster by more than the margin. Pure, allocates nothing.
UpdatePlan plan_update(const UpdateRequest& request, const UpdateCosts* costs) noexcept;

/// What a program has set of how its updates travel; 0 and automatic: nothing.
struct UpdateSetting {
  UpdateMethod method = UpdateMethod::automatic;
  uint32_t hops = 0;
  uint64_t buffer_bytes = 0;
};
/// The baseline but for what is set, as far as the request allows it; without a model.
/// Reason::forced.
UpdatePlan set_update(const UpdateRequest& request, const UpdateSetting& set) noexcept;

/// What is done without a model: buffers as large as messages and the memory allow, merged and
/// summed up where updates may be, in more than one hop where that leaves less than a quarter of a
/// message.
UpdatePlan baseline_of_update(const UpdateRequest& request, const UpdateCosts* costs) noexcept;

/// The plan of a given method, with its time: if the caller asks for it, or for another reason.
UpdatePlan force_update(const UpdateRequest& request, const UpdateCosts* costs,
                        const UpdateCandidate& candidate, Reason reason = Reason::forced) noexcept;

/// Methods to race while the program runs (runtime/decide/race.h), beside the baseline: of each
/// method, and of buffers that sum up, merge or do neither, the one that is predicted to be the
/// fastest, if it does not take more than kRivalFactor times as long as the fastest of all, the
/// baseline included; and buffers of other sizes that take no more than kSizeFactor times as long.
/// The fastest comes first. Returns how many of `rivals` were set; none without a model.
inline constexpr double kRivalFactor = 2;
inline constexpr double kSizeFactor = 1.25;
inline constexpr size_t kMostUpdateRivals = 5;
size_t rivals_of_update(const UpdateRequest& request, const UpdateCosts* costs,
                        std::span<UpdateCandidate, kMostUpdateRivals> rivals) noexcept;

/// At a corner of the parameters. `costs` must hold what the method needs (possible_update()).
double predict_update(const UpdateRequest& request, const UpdateCosts& costs,
                      const UpdateCandidate& candidate,
                      cost::Corner corner = cost::Corner::nominal) noexcept;
/// False for a method that the request or its memory does not allow, or the model does not know.
bool possible_update(const UpdateRequest& request, const UpdateCosts* costs,
                     const UpdateCandidate& candidate) noexcept;

/// Candidates; none is pruned.
using UpdateRecord = Record<UpdateCandidate, UpdateCandidate>;

/// The same plan, with a record of what was considered.
UpdatePlan plan_update(const UpdateRequest& request, const UpdateCosts* costs,
                       UpdateRecord& record);

}  // namespace stripline::plan
