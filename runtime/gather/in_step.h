// The method that pairs of ranks go by in each gather of a plan, of two: the one that the tuned
// model says is faster, or the baseline. All ranks change it in step. One of them decides for all,
// the one that receives the most by such methods, by the times of its own gathers
// (runtime/decide/group_execution.h), and announces it some gathers ahead: no start() waits.
//
// Gathers follow each other in blocks. A block has turns, each of one or more gathers by the same
// arm, which are timed; then kUntimed gathers by the arm in use, in which the next block is
// announced. A rank takes the announcement at the end of the last gather of a block, and waits
// there if the rank that decides is not that far. That one waits, before it announces a block, for
// ranks that have not begun the block two before. Block 0 has no turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <stripline/context.h>

#include "runtime/decide/group_execution.h"
#include "runtime/decide/turn_block.h"
#include "runtime/gather/choices.h"
#include "runtime/gather/gather_state.h"
#include "runtime/rma/turns.h"

namespace stripline::gathers {

/// What ranks have agreed on when a plan is made, if there is something to compare.
struct Compared {
  rank_t decider = 0;
  decide::Arm first = 1;          ///< of block 0
  std::vector<uint64_t> offsets;  ///< by rank: of its words (InStep::words())
  /// On the rank that decides: the pair of which it receives the most.
  std::optional<OwnerChoice> largest{};
};

class InStep {
 public:
  /// Arm 1 is what the model says; kBaseline the other one.
  static constexpr size_t kArms = 2;

  /// Zeroed words that each rank has in its segment, until end() has returned.
  static constexpr size_t words(rank_t ranks) { return kOwnWords + ranks; }

  /// `site`: where the plan was made.
  InStep(Context& context, Compared compared, CallSite site);
  ~InStep();
  InStep(const InStep&) = delete;
  InStep& operator=(const InStep&) = delete;

  /// The arm of the next gather, or of the one in progress.
  decide::Arm arm() const { return block_.arm_of(gathers_); }
  /// True if ended() is to be given the time of gathers.
  bool decides() const { return decides_; }
  /// A gather is over, and took this long from start() to the end of wait().
  void ended(double seconds, CallSite site);
  /// No gather follows: waits until no other rank writes to this rank's words. Twice: nothing.
  void end(CallSite site);

  /// As a mechanism (runtime/decide/group_execution.h).
  plan::GatherDecision make(decide::Arm arm, double /*compute_s*/) const;

 private:
  // Announced words that are used in turn, and their flags; behind them one word for each rank, the
  // number of the block that it has begun.
  static constexpr size_t kOwnWords = 4;
  static constexpr uint64_t kUntimed = 2;

  global_ptr<uint64_t> word(rank_t rank, size_t number) const {
    return global_ptr<uint64_t>(rank, compared_.offsets[rank]) +
           static_cast<std::ptrdiff_t>(number);
  }
  rma::Landing news_of(rank_t rank) const;
  bool is_announced() const;
  decide::Arm in_use() const { return place_->race().in_use(); }
  void claim_place();
  void announce(CallSite site);
  void take(CallSite site);

  Context& context_;
  const Compared compared_;
  const bool decides_;
  bool ended_ = false;
  uint64_t number_ = 0;   // of the block
  uint64_t gathers_ = 0;  // of the block that are over
  decide::TurnBlock block_;
  rma::TurnCredit begun_;  // at the rank that decides

  // The rank that decides.
  std::shared_ptr<GatherSite> place_;
  bool takes_place_ = false;  // else another plan of the place compares, and this one follows
  std::optional<const plan::GatherDecision> given_;
  decide::GroupExecution<plan::GatherDecision, kArms> turns_;
  double seconds_ = 0;  // of the turn in progress
  bool announced_ = false;
  decide::TurnBlock next_;
  std::vector<rma::TurnSender> others_;
};

}  // namespace stripline::gathers
