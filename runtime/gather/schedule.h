// What the ranks agree on when a plan of gathers is made: who sends which elements to whom, where
// they land, and how each pair of ranks does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stripline/gather_plan.h>

#include "base/result.h"
#include "optimizer/model/paths.h"
#include "optimizer/plan/gather.h"
#include "runtime/gather/inspector.h"
#include "runtime/gather/packing.h"
#include "runtime/rma/turns.h"

namespace stripline::gathers {

/// What an owner sends to this rank.
struct Incoming {
  rank_t owner = 0;
  bool bound = false;      ///< all between the first and the last element that is read
  uint64_t first = 0;      ///< of the elements that a turn brings, the first one of this owner
  uint64_t elements = 0;   ///< that come
  rma::Landing landing;    ///< in this rank's segment
  rma::TurnCredit credit;  ///< asked for where this rank sends nothing to the owner
  bool here = false;       ///< in the gather under way
};

/// What this rank sends to a reader.
struct Outgoing {
  rank_t reader = 0;
  std::vector<uint32_t> places;  ///< none: all elements from the first one on
  uint64_t first = 0;
  uint64_t elements = 0;
  uint64_t runs = 0;
  rma::TurnSender sender;
  global_ptr<uint64_t> credit;  ///< here; null if the reader sends to this rank

  Selection selection() const {
    return {.places = places, .first = first, .elements = elements, .runs = runs};
  }
};

/// How the owner that sends most to this rank was chosen to send, for traces.
struct LargestChoice {
  plan::GatherRequest request;
  plan::GatherDecision decision;
  model::Path path = model::Path::network;
};

/// A value but for its memory, which release_memory() gives back.
struct Schedule {
  /// Slots are those of what comes: numbers of different elements, or distances from the first one.
  /// The places of owners are forgotten.
  Inspection inspection;
  std::vector<uint32_t> numbers;   ///< GatherCore::numbers()
  std::vector<Incoming> incoming;  ///< beside the owners of the inspection but the first
  std::vector<Outgoing> outgoing;  ///< the next rank first, so that not all send to the same one
  global_ptr<std::byte> memory;    ///< null: none
  global_ptr<std::byte> received;  ///< a turn's elements of all owners; two turns
  uint64_t turn_bytes = 0;
  GatherStatistics statistics;
  LargestChoice largest;
};

/// Collective. Errors: as GatherPlan::create().
Result<Schedule> agree(Context& context, const detail::GatherRequest& request,
                       const GatherOptions& options, CallSite site);

void release_memory(Context& context, const Schedule& schedule);

}  // namespace stripline::gathers
