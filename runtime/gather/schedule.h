// What the ranks agree on when a plan of gathers is made: who sends which elements to whom, where
// they land, and how each pair of ranks does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <stripline/gather_plan.h>
#include <stripline/indexed_list.h>

#include "base/result.h"
#include "runtime/gather/choices.h"
#include "runtime/gather/in_step.h"
#include "runtime/gather/inspector.h"
#include "runtime/gather/packing.h"
#include "runtime/rma/turns.h"

namespace stripline::gathers {

/// How elements of an owner get here.
enum class Delivery : uint8_t {
  sent,     ///< by the owner, or by a rank that has them from it
  fetched,  ///< by this rank, from the owner's array, when it is notified that it may
  shared,   ///< copied from the memory of a rank of this node, when they are there
};

/// Elements that readers pass on, beside others that the owner sends itself.
struct HotPart {
  uint64_t elements = 0;
  rank_t source = 0;
  rma::Landing landing;
  rma::TurnCredit credit;  ///< as Incoming::credit
  bool here = false;       ///< in the gather in progress
};

/// What this rank receives of an owner.
struct Incoming {
  rank_t owner = 0;
  rank_t source = 0;  ///< who sends, or whose memory is read
  Delivery delivery = Delivery::sent;
  bool bound = false;      ///< all between the first and the last element that is read
  bool copied = false;     ///< one piece, which its owner packs, so as not to wait for an answer
  bool compared = false;   ///< in some gathers as without a model: sent, and not copied
  uint64_t first = 0;      ///< of the elements that a turn brings, the first one of this owner
  uint64_t elements = 0;   ///< that come
  rma::Landing landing;    ///< in this rank's segment; its flags say when what is fetched may be
  rma::TurnCredit credit;  ///< asked for where this rank tells the source nothing
  std::optional<HotPart> hot;  ///< the last ones of the elements; the others come by themselves
  std::optional<GroupChoice> passed_on;  ///< the owner's, if readers pass on some of it or all
  // For what is not sent:
  std::vector<uint32_t> places;  ///< at the source; none: all elements from there_first on
  /// The same in this rank's segment, where an owner that is to send them reads them.
  std::span<const uint32_t> listed;
  uint64_t there_first = 0;
  uint64_t runs = 0;
  size_t fetch_source = 0;  ///< among Schedule::fetch_sources
  rma::Landing there;       ///< of what is shared: where it lands at the source
  // For what is fetched through a network, where it is not one run: the places, there and here.
  std::optional<indexed_list> list;
  std::optional<indexed_list> here_list;
  future fetch;
  bool fetching = false;
  // For the gather in progress:
  bool others_here = false;  ///< what is not hot
  bool here = false;

  Selection selection() const {
    return {.places = listed.empty() ? std::span<const uint32_t>(places) : listed,
            .first = there_first,
            .elements = elements,
            .runs = runs};
  }
};

/// A rank whose memory this one reads, and which waits until it has.
struct FetchSource {
  rank_t rank = 0;
  rma::TurnCredit done;
  uint32_t fetches = 0;   ///< in each gather
  uint32_t compared = 0;  ///< of these, that are sent instead in some
  uint32_t left = 0;      ///< in the one in flight
};

/// A rank that reads this one's memory.
struct FetchedBy {
  global_ptr<uint64_t> done;  ///< here: after how many gathers it has
  bool compared = false;      ///< in some gathers it is sent all that it reads in others
};

/// What this rank sends to a reader.
struct Outgoing {
  rank_t reader = 0;
  bool fetched = false;          ///< by the reader, which is notified that it may
  bool copied = false;           ///< packed though it is one piece
  bool compared = false;         ///< in some gathers as without a model: sent, and not copied
  global_ptr<uint32_t> listed;   ///< the places, at the reader, until they are asked for
  std::optional<size_t> of;      ///< of the incoming elements of this number, when they are here
  bool hot = false;              ///< of these the hot ones
  std::vector<uint32_t> places;  ///< none: all elements from the first one on
  uint64_t first = 0;
  uint64_t elements = 0;
  uint64_t runs = 0;
  rma::TurnSender sender;
  global_ptr<uint64_t> credit;  ///< here; null if the reader tells this rank something

  Selection selection() const {
    return {.places = places, .first = first, .elements = elements, .runs = runs};
  }
};

/// A value but for its memory, which release_memory() gives back.
struct Schedule {
  /// Slots are those of what comes: numbers of different elements, or distances from the first one.
  /// The places of owners are forgotten.
  Inspection inspection;
  std::vector<uint32_t> numbers;   ///< GatherCore::numbers()
  std::vector<Incoming> incoming;  ///< beside the owners of the inspection but the first
  std::vector<FetchSource> fetch_sources;
  std::vector<Outgoing> outgoing;  ///< the next rank first, so that not all send to the same one
  std::vector<FetchedBy> fetched_by;
  bool in_order = true;            ///< what comes need not be looked after before all is here
  global_ptr<std::byte> memory;    ///< null: none
  global_ptr<std::byte> received;  ///< a turn's elements of all owners; two turns
  uint64_t turn_bytes = 0;
  GatherStatistics statistics;
  std::optional<OwnerChoice> largest;  ///< none: nothing comes
  std::optional<Compared> compared;    ///< none: all gathers are carried out alike
};

/// Collective. Errors: as GatherPlan::create().
Result<Schedule> agree(Context& context, const detail::GatherRequest& request,
                       const GatherOptions& options, CallSite site);

void release_memory(Context& context, const Schedule& schedule);

}  // namespace stripline::gathers
