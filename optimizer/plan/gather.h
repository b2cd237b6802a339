// How the elements of a distributed array that another rank needs travel to it, where the same ones
// are needed again and again (a[b[i]] in an iteration). Their owner sends them by one put, which
// takes either
//
//   pack    the elements themselves, gathered into contiguous memory first, or
//   bound   everything from the first to the last of them, straight from where it lies.
//
// Which of them is faster depends on how dense the elements lie, how fast the owner gathers, and on
// the network; it is decided for every ordered pair of ranks by itself (Su, Optimizing Irregular
// Data Accesses for Cluster and Multicore Architectures, 2010, chapter 4). With N elements of w
// bytes in R runs, which span S bytes,
//
//   T(pack) = pack(R, N w, S) + put(N w)      T(bound) = put(S) + L
//
// where L is for the answer, on networks that carry flags with data: until then the program's array
// must stay as it is, and iterations go on when it may change, while copies are kept for two of
// them. One piece is packed there, too, where that takes less than an answer. Elsewhere flags
// follow the answers, and nothing is added. Where stores reach the other rank, the owner copies
// into its memory:
//
//   T(pack) = pack(R, N w, S)                 T(bound) = pack(1, S, S)
//
// Elements of k arrays travel together, side by side: they are always gathered,
//
//   T(pack) = pack(k N, k N w, k S) + put(k N w)      T(bound) = pack(k S / w, k S, k S) + put(k S)
//
// An owner with r readers serves them one after another; the last one waits for r - 1 times the
// gathering, or the gap between puts, whichever takes longer. There are other methods then:
//
// pull       the reader is notified that it may, and fetches the elements: where loads reach them,
//              readers gather at the same time; elsewhere it asks, and the owner gathers;
//   broadcast  r readers that need the same elements pass them on, down a binomial tree of d =
//              ceil(log2(r + 1)) steps: pack(R, N w, S) + d put(N w). Each may need B elements
//              besides, which the owner sends it after the d that it sends itself; then that is
//              pack(R, N w, S) + d gap(N w) + pack(B, B w, S) + put(B w), and the others after the
//              first, if it takes longer. Readers that get as much of q owners pass on a message of
//              each of the others meanwhile: (q - 1) gap(N w) more, so that nothing is saved where
//              all ranks read of all;
//   share      m ranks of a node, which need M elements together, N of them different, get each of
//              these once, and copy what they need:
//              pack(R, N w, S) + put(N w) + pack(M / m, M w / m, S), against m messages of
//              M w / m bytes, each gathered.
//
// Before the first gather, elements that are packed are named to their owner: a put of 4 bytes for
// each. Where an inspection is made for few gathers, each of them has its part of that, and what
// needs no numbers (bound, pull) is ahead.
//
// What the reader does with them takes equally long. That other pairs are served at the same time
// is left out, but for ranks that share a NIC.
#pragma once

#include <cstdint>

#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/decision.h"
#include "optimizer/plan/methods.h"
#include "optimizer/plan/surroundings.h"

namespace stripline::plan {

/// What one rank, or the ranks of a node together, need of another one.
struct GatherRequest {
  uint64_t elements = 1;       ///< N, all different; at least 1
  uint64_t element_bytes = 8;  ///< w
  uint64_t runs = 1;           ///< R, of elements side by side
  uint64_t span_bytes = 8;     ///< S; at least N w
  uint64_t vectors = 1;        ///< k arrays, of each of which the same elements are needed
  bool by_stores = false;      ///< stores of the owner reach the memory of who needs them
  uint32_t readers = 1;        ///< r, ranks that the owner serves
  bool alike = false;          ///< these need the same elements
  uint64_t besides = 0;        ///< elements that each of them needs besides; if they are alike
  uint32_t owners = 1;         ///< q, of which each of them gets as much, this one included
  uint32_t node_ranks = 1;     ///< m, ranks of one node that need elements of the owner
  uint64_t node_elements = 0;  ///< M, what each of these needs, added up; if there are several
  /// Ranks of the reader's node copy what they need from where the elements come to it: they have
  /// to be sent, those that are needed and no others.
  bool copied_on = false;
  uint64_t uses = 0;  ///< gathers that its inspection is made for; 0: as many as it does not count
  static constexpr Fact kFacts = Fact::nic_ranks | Fact::flag_with_data;
  Surroundings surroundings;
  bool operator==(const GatherRequest&) const = default;

  /// The part that is needed alike, if that is distinguished.
  uint64_t bytes() const { return elements * element_bytes * vectors; }
  uint64_t all_span_bytes() const { return span_bytes * vectors; }
};

/// A decision. Seconds are from the owner's beginning until the elements are there and it may go
/// on.
struct GatherDecision {
  const GatherMethod method = GatherMethod::pack;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< 0 without a model
  const double baseline_s = 0;   ///< of what is done without a model; 0 without one
  const double gain_low = 0;     ///< as StripPlan's
  bool operator==(const GatherDecision&) const = default;
};

using GatherRecord = Record<GatherMethod, GatherMethod>;

/// The decision for a pair of ranks, or an owner and a node. Elements that all lie side by side go
/// as they lie, which moves the same bytes, unless a copy or a get is surely faster; others are
/// packed without a model (`path` null, or without puts), and where no other method is surely
/// faster by more than the margin of the model. Pure, allocates nothing.
GatherDecision plan_gather(const GatherRequest& request, const CompiledPath* path) noexcept;
/// The same, with a record of what was considered.
GatherDecision plan_gather(const GatherRequest& request, const CompiledPath* path,
                           GatherRecord& record);

/// The decision of a caller who asks for a method: where the request does not allow it, elements
/// are packed.
GatherDecision force_gather(const GatherRequest& request, const CompiledPath* path,
                            GatherMethod method) noexcept;

/// False for a method that does not do what is asked.
bool allows(const GatherRequest& request, GatherMethod method) noexcept;

/// What a method is predicted to take, in seconds, at ends of the parameters' intervals. The path
/// holds puts, unless stores reach. Infinity for what the path does not tell.
double predict_gather(const GatherRequest& request, const CompiledPath& path, GatherMethod method,
                      const Ends& ends = {}) noexcept;

/// What `reads` reads take if each is a blocking get of an element, in seconds: what a program does
/// without gathers. 0 if the path does not give it.
double one_by_one_s(const GatherRequest& request, const CompiledPath& path,
                    uint64_t reads) noexcept;

}  // namespace stripline::plan
