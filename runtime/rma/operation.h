// A one-sided operation of the program from the call until the call returns: what all of them begin
// and end with. One thread at a time, one check of the bounds, one answer to the question whether
// loads and stores reach the target, a completion slot if the fabric completes it later. Observers
// (observers.h) are notified of operations here, and nowhere else.
//
//   rma::Operation operation(context, {"rput", site}, rma::Access::put, destination, bytes,
//   source); if (std::byte* const there = operation.there()) {
//     ... copy ...
//   } else {
//     ... start it, with operation.counter(Kind::put) ...
//   }
//   return operation.finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <stripline/context.h>

#include "runtime/rma/context_state.h"
#include "runtime/rma/observers.h"

namespace stripline::rma {

/// Ends the job unless private memory of an operation that moves bytes is somewhere.
inline void check_private(const detail::ContextState& state, const Call& call,
                          const std::byte* memory, size_t bytes) {
  if (memory != nullptr || bytes == 0) [[likely]]
    return;
  state.fail(Error(ErrorCode::invalid_argument, text(call) + " of " + byte_count_text(bytes) +
                                                    " with a null pointer for this rank's side"));
}

/// Ends the job unless there is a place for what a load or a comparing swap fetches, which alone
/// says what has happened.
inline void check_result(const detail::ContextState& state, const Call& call, fabric::AtomicOp op,
                         const void* previous) {
  if (previous != nullptr || (op != fabric::AtomicOp::load && op != fabric::AtomicOp::compare_swap))
      [[likely]]
    return;
  state.fail(Error(ErrorCode::invalid_argument,
                   text(call) +
                       " with a null pointer for the value that the variable held, which load and "
                       "compare_swap store there"));
}

class Operation {
 public:
  /// Ends the job unless `bytes` from `place` on are in their rank's segment and no handler is
  /// running. `memory` is this rank's side: what a put reads, or what a get or a fetching atomic
  /// operation writes; null if there is none, or it may change at once.
  Operation(Context& context, const Call& call, Access access, global_ptr<const std::byte> place,
            size_t bytes, const std::byte* memory);
  /// A message, which is of no memory of the target. Ends the job unless there is such a rank.
  Operation(Context& context, const Call& call, rank_t target, size_t bytes);
  /// One of many regions of a rank, which the caller has checked, and whose regions it names by
  /// touches() where is_observed().
  Operation(Context& context, const Call& call, Access access, rank_t target);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// It is about this word of the same rank, too, with an atomic access. Who sees the word knows
  /// all of the operation to be complete. Ends the job as the constructor does, or if the word is
  /// not aligned.
  void raises(const Call& call, uint64_t offset);

  rank_t target() const { return target_; }
  uint64_t offset() const { return offset_; }

  /// Where loads and stores reach the first byte; null: the fabric has to carry it out.
  std::byte* there() const { return there_; }

  /// Where what is fetched goes: `memory`, or where debug mode keeps it until it is complete.
  std::byte* destination() const;

  /// What the fabric is to count, in a slot of this kind. At most once.
  fabric::Counter& counter(CompletionSlots::Kind kind);
  /// The slot of counter().
  uint32_t slot() const { return slot_; }

  /// True if somebody wants to know.
  bool is_observed() const { return observed_ != nullptr; }
  void touches(uint64_t offset, uint64_t bytes, std::byte* memory);
  /// How the regions are transferred.
  void planned(const detail::TracedCall& plan);

  /// It has been started. The future is ready if it is complete.
  future finish();
  /// The same for one without a future, which a fence completes, or nothing.
  void finish_without_future();

 private:
  void observe(const Call& call, Access access, bool many_regions);

  detail::ContextState& state_;
  const Exclusion::Guard inside_;
  Context& context_;
  const rank_t target_;
  const uint64_t offset_;
  const size_t bytes_;
  std::byte* there_ = nullptr;
  std::byte* const memory_;
  const bool is_get_;
  bool has_slot_ = false;
  uint32_t slot_ = 0;
  std::unique_ptr<Observation> observed_;  // null in most programs
};

}  // namespace stripline::rma
