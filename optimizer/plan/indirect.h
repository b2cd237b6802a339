// How a loop reads elements of a distributed array through an index, a[b[i]], where the same ones
// are hardly read again: an inspector that pays in an iteration over the same elements
// (gather.h) would not. The loop either
//
//   goes one by one: each element of another rank is a blocking get, or
//   goes in blocks of B iterations: what a block reads is collected first, each element once, and
//   fetched by one transfer of many regions (vis.h) from each owner, while the block before is
//   computed (the strip-mined and skewed inspector-executor of Alvanos et al., Combining Static and
//   Dynamic Data Coalescing in UPC, 2015).
//
// Large blocks have few messages, with many elements each, but nothing to hide the first one
// behind; small ones the opposite. With n iterations of k reads, of which a share is of other
// ranks, q of them, and w bytes an element,
//
//   T(one by one) = n (C + reads of others x get(w))
//   T(B) = first fetch + (blocks - 1) max(fetch(B), B C) + B C + blocks x (inspection(B) +
//   overhead)
//
// fetch(B) is what one transfer of many regions is predicted to take (vis.h), and the CPU time of
// those of the other owners. The inspection goes through its lists a fixed number of times, each of
// which takes what packing as much in cache does. What an element takes to be written back, where a
// loop modifies it, is taken to be what fetching it took. That all ranks do the same is left out,
// but for those that share a NIC.
#pragma once

#include <cstdint>

#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/decision.h"
#include "optimizer/plan/surroundings.h"

namespace stripline::plan {

/// Maximum number of reads of a block, those of a rank's own elements included: their places and
/// elements are to stay in a cache.
inline constexpr uint64_t kMostIndirectReads = uint64_t{1} << 16;

/// Reads of a block where nothing is known (Alvanos et al., section 4: MAX_FETCH).
inline constexpr uint64_t kUsualIndirectReads = 4096;

/// A loop of one rank.
struct IndirectRequest {
  uint64_t iterations = 1;          ///< n
  uint32_t reads = 1;               ///< k, in an iteration
  uint64_t element_bytes = 8;       ///< w
  uint32_t remote_percent = 100;    ///< of the reads
  uint32_t owners = 1;              ///< q, other ranks whose elements are read
  uint32_t distinct_percent = 100;  ///< different elements of those of other ranks in a block
  uint64_t span_bytes = 8;          ///< of the elements of one owner
  double compute_s = 0;             ///< of all iterations, but for reading
  bool modifies = false;            ///< elements are written back
  static constexpr Fact kFacts = Fact::nic_ranks | Fact::target_polls_only | Fact::service_delay;
  Surroundings surroundings;
  bool operator==(const IndirectRequest&) const = default;
};

/// One method to carry the loop out.
struct IndirectCandidate {
  uint64_t block = 0;  ///< iterations; 0: one by one
  /// Blocks are fetched, and written back, by the methods that the model chooses (vis.h); else as
  /// without a model.
  bool tunes_lists = true;
  bool operator==(const IndirectCandidate&) const = default;
};

/// A decision. Seconds are of the whole loop.
struct IndirectPlan {
  const uint64_t block = 0;        ///< as IndirectCandidate's
  const bool tunes_lists = false;  ///< likewise
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< 0 without a model
  const double baseline_s = 0;   ///< of baseline_of_indirect(); 0 without a model
  const double gain_low = 0;     ///< as StripPlan's
  bool operator==(const IndirectPlan&) const = default;
};

using IndirectRecord = Record<IndirectCandidate, IndirectCandidate>;

/// The plan of a loop. Without a model (`path` null, or without gets) in blocks of
/// kUsualIndirectReads, fetched as without one, which is the baseline; otherwise in blocks that are
/// fetched as the model says, of this size or another one, or one by one, where that is surely
/// faster by more than the margin of the model. Pure, allocates nothing.
IndirectPlan plan_indirect(const IndirectRequest& request, const CompiledPath* path) noexcept;
/// The same, with a record of what was considered.
IndirectPlan plan_indirect(const IndirectRequest& request, const CompiledPath* path,
                           IndirectRecord& record);

/// The loop as without a model, as a guard has it carried out in place of another plan.
IndirectPlan baseline_of_indirect(const IndirectRequest& request,
                                  const CompiledPath* path) noexcept;

/// The plan of a candidate that was not decided on by its time.
IndirectPlan force_indirect(const IndirectRequest& request, const CompiledPath* path,
                            const IndirectCandidate& candidate, Reason reason) noexcept;

/// What a candidate is predicted to take, in seconds of the whole loop, at ends of the parameters'
/// intervals. `path` holds gets.
double predict_indirect(const IndirectRequest& request, const CompiledPath& path,
                        const IndirectCandidate& candidate, const Ends& ends = {}) noexcept;

/// True if two candidates fetch what a block reads by different methods.
bool fetch_differently(const IndirectRequest& request, const CompiledPath& path,
                       const IndirectCandidate& a, const IndirectCandidate& b) noexcept;

/// The block of a loop of which nothing is known.
uint64_t usual_indirect_block(const IndirectRequest& request) noexcept;

/// The largest block of a loop.
uint64_t most_indirect_block(const IndirectRequest& request) noexcept;

}  // namespace stripline::plan
