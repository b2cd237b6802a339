// How the blocking puts and gets of a program are carried out between two barriers
// (<stripline/bulk.h>; Chen, Optimizing PGAS Programs for Cluster Architectures, 2007, chapter 7).
// In a phase of c seconds of computing, with P puts of n bytes and G gets of m bytes,
//
//   blocking        c + P (o + 2 L + G n + r) + G (o + 2 L + G m + r)
//   puts            P (copy(n) + o + r) in place of the puts' part, and at the end what of their
//                   transfers is not over by then, P gap(n), and the last one's 2 L
//   gets            G (o + r + copy(m)) in place of the gets' part, and what of 2 L + G gap(m) the
//                   computing before the gets does not hide
//
// What the processor does for the first message, or the last one, hides nothing: a phase with one
// call whose result it needs at once takes no less by any method. That many messages to one target
// may take longer when they are not waited for is not predicted; it is measured while the program
// runs (runtime/decide/visits.h).
//
// Where puts are not waited for, each call is compared with those in flight, too. With W operations
// in flight at a time, a gap is at least a round trip over W. Ranks that share a NIC have gaps as
// many times as long. Copies are those of the model's section `bulk`, or those of packing where it
// has none. What is copied is so because the program may change the source of a put as soon as that
// has returned, and because what was fetched too early must not show where the program has its own
// data; puts whose source stays are not copied.
#pragma once

#include <cstdint>

#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/decision.h"
#include "optimizer/plan/methods.h"
#include "optimizer/plan/surroundings.h"

namespace stripline::plan {

/// Puts or gets in flight to one rank at a time where the model says neither with how many a stream
/// is fast nor how many the network takes before issuing blocks: Chen, section 7.2.2.
inline constexpr uint32_t kUsualBulkInFlight = 64;

/// What a rank does in a phase.
struct BulkRequest {
  uint64_t puts = 0;
  uint64_t put_bytes = 0;  ///< of each, in the mean
  uint64_t gets = 0;
  uint64_t get_bytes = 0;
  double compute_s = 0;  ///< beside the puts and gets
  double lead_s = 0;     ///< the part of it before the gets, in the mean over them
  /// The program leaves the sources of puts as they are until the next synchronisation.
  bool stable_sources = false;
  uint64_t buffer_bytes = uint64_t{8} << 20;  ///< for copies, half of it for those of puts
  uint32_t in_flight = kUsualBulkInFlight;    ///< at a time, at most, to one rank
  static constexpr Fact kFacts = Fact::nic_ranks;
  Surroundings surroundings;
  bool operator==(const BulkRequest&) const = default;
};

/// A decision. Seconds are those of a phase, from one barrier to the next one's beginning.
struct BulkPlan {
  const BulkMethod method = BulkMethod::both;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< 0 without a model
  const double baseline_s = 0;   ///< of waiting for each call; 0 without a model
  const double gain_low = 0;     ///< as StripPlan's
  bool operator==(const BulkPlan&) const = default;
};

using BulkRecord = Record<BulkMethod, BulkMethod>;

/// The plan of a phase. Without a model (`path` null, or without puts and gets): both, as far as
/// the phase has them. With one, blocking, what the program does by itself, unless another method
/// is surely faster by more than the margin. Pure, allocates nothing.
BulkPlan plan_bulk(const BulkRequest& request, const CompiledPath* path) noexcept;
/// The same, with a record of what was considered.
BulkPlan plan_bulk(const BulkRequest& request, const CompiledPath* path, BulkRecord& record);

/// False for a method that is about what the phase does not do.
bool allows(const BulkRequest& request, BulkMethod method) noexcept;

/// What is done without a model.
BulkMethod usual_bulk(const BulkRequest& request) noexcept;

/// What a method is predicted to take, in seconds, at ends of the parameters' intervals. `path`
/// knows puts and gets.
double predict_bulk(const BulkRequest& request, const CompiledPath& path, BulkMethod method,
                    const Ends& ends = {}) noexcept;

/// Operations that may be in flight to one rank at a time: with how many a stream is known to be
/// fast (model section `bulk`), else what the network is known to take before issuing blocks, else
/// kUsualBulkInFlight.
uint32_t bulk_in_flight(const CompiledPath* path) noexcept;
/// Gets of more bytes are not made ahead: their copy is not known to be shorter than waiting.
uint64_t max_bulk_get_bytes(const CompiledPath* path) noexcept;

}  // namespace stripline::plan
