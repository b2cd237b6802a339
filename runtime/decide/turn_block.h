// Executions that one rank has decided on for all (group_execution.h), in the form in which it
// announces them: turns, each of one or more executions by the same arm of two. The longer turns
// are, the less it matters what announcing them takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/decide/group_execution.h"

namespace stripline::decide {

struct TurnBlock {
  static_assert(kMostAhead <= 32, "arms has a bit for each turn");

  uint32_t arms = 0;  ///< a bit for each turn: kBaseline or 1
  uint32_t turns = 0;
  uint32_t length_log2 = 0;  ///< of a turn, in executions
  Arm rest = 1;              ///< of executions behind the turns

  uint64_t executions() const { return uint64_t{turns} << length_log2; }
  /// The turn that an execution, counted from 0, belongs to.
  uint64_t turn_of(uint64_t execution) const { return execution >> length_log2; }
  Arm arm_of(uint64_t execution) const {
    if (execution >= executions()) return rest;
    return static_cast<Arm>(arms >> turn_of(execution) & 1U);
  }

  /// The block as one word, and back.
  uint64_t word() const {
    return arms | uint64_t{turns} << kTurnsShift | uint64_t{length_log2} << kLengthShift |
           uint64_t{rest} << kRestShift;
  }
  static TurnBlock of(uint64_t word) {
    return {.arms = static_cast<uint32_t>(word),
            .turns = static_cast<uint32_t>(word >> kTurnsShift & kByteMask),
            .length_log2 = static_cast<uint32_t>(word >> kLengthShift & kByteMask),
            .rest = static_cast<Arm>(word >> kRestShift & kByteMask)};
  }

 private:
  static constexpr uint32_t kTurnsShift = 32;
  static constexpr uint32_t kLengthShift = 40;
  static constexpr uint32_t kRestShift = 48;
  static constexpr uint64_t kByteMask = 0xff;
};

/// What was decided on, with turns of this length. Plans by the baseline are those of guards.
template <typename Plan, size_t kArms>
TurnBlock block_of(const GroupExecution<Plan, kArms>& decided, uint32_t length_log2, Arm rest) {
  TurnBlock block{.turns = decided.count(), .length_log2 = length_log2, .rest = rest};
  for (uint32_t turn = 0; turn < block.turns; ++turn) {
    const bool is_baseline = decided.plan(turn).reason == plan::Reason::guarded;
    if (!is_baseline) block.arms |= uint32_t{1} << turn;
  }
  return block;
}

/// The turns of the block are over, and their times known: what is compared is one execution.
template <typename Plan, size_t kArms>
void finish(GroupExecution<Plan, kArms>& decided, const TurnBlock& block) {
  const double scale = 1 / static_cast<double>(uint64_t{1} << block.length_log2);
  decided.finish(
      block.turns, [scale](uint32_t) { return scale; }, [](Trace&, uint32_t) {});
}

}  // namespace stripline::decide
