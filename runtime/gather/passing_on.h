// What readers of an owner pass on to each other when a plan of gathers is made: all of what
// several of them need alike, or what is hot among it, down binomial trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <stripline/team.h>

#include "runtime/gather/choices.h"
#include "runtime/gather/schedule.h"

namespace stripline::gathers {

/// What every rank announces to every other one, once.
struct Announcement {
  uint64_t wanted = 0;      // elements that it is to send, or that are fetched; 0: none
  uint64_t first = 0;       // of them
  uint64_t listed = 0;      // places that follow; 0: all from the first one on
  uint64_t runs = 0;        // of elements side by side
  uint64_t fetched = 0;     // 1: it is to say when they may be fetched
  uint64_t copied = 0;      // 1: it is to pack them, though they are one piece
  uint64_t hash = 0;        // of which elements
  uint64_t landing = 0;     // offset of the place of the first turn
  uint64_t turn_bytes = 0;  // from there to the other one
  uint64_t flags = 0;       // offset of two words
  uint64_t credit = 0;      // offset of a word for what it says itself
  uint64_t done = 0;        // the same, for when it has fetched
  uint64_t compared = 0;    // 1: they are sent as without a model in some gathers (in_step.h)
  uint64_t places = 0;      // offset of those by which they are sent then; 0: none
  // What is the same for all others.
  uint64_t receives = 0;        // elements of all owners
  uint64_t words = 0;           // offset of InStep::words(); 0: nothing is compared
  uint64_t compared_bytes = 0;  // of all owners
  uint32_t vectors = 0;         // arrays that are gathered
  decide::Arm first_arm = 0;    // if this rank decides
  uint8_t refused = 0;          // 1: there is no plan, since its index or options are refused
  uint8_t out_of_room = 0;      // 1: there is none, since it has no room for what it would receive
  uint8_t packs = 0;            // 1: it needs packed elements of some rank
  uint8_t passes_on = 0;        // 1: what it needs of some rank may be worth passing on
};

/// Words that say what of an owner is here: two turns, and two of what is passed on of it.
inline constexpr size_t kFlagsOfTurns = 2;
inline constexpr size_t kFlags = 2 * kFlagsOfTurns;

class PassingOn {
 public:
  /// `asked`: what each rank has requested; `made`: with what it sends and receives if nothing
  /// is passed on. All outlive it. `may_be_hot`: elements may come in another order than the reader
  /// has asked for.
  PassingOn(const Choices& choices, std::span<const Announcement> asked, uint64_t element_bytes,
            bool may_be_hot, Schedule& made)
      : choices_(choices),
        asked_(asked),
        element_bytes_(element_bytes),
        may_be_hot_(may_be_hot),
        made_(made) {}

  /// Collective: owners decide, and the schedules of all ranks become what that says.
  void agree(const team& all, CallSite site);

 private:
  // Readers of this rank among which something is passed on.
  struct Spread {
    std::vector<size_t> readers;  // numbers of outgoing messages
    std::vector<uint32_t> hot;    // of what these need; none: all of it
    GroupChoice choice;           // that says so
  };

  std::vector<Spread> alike() const;
  std::optional<Spread> hot_beside(const std::vector<Spread>& alike) const;
  rma::Landing landing_of(const Spread& spread, rank_t reader) const;
  void announce(const Spread& spread, rank_t me, std::vector<std::vector<uint64_t>>& given) const;
  void send(const std::vector<Spread>& spreads);
  void receive(size_t number, std::span<const uint64_t> words);

  const Choices& choices_;
  const std::span<const Announcement> asked_;
  const uint64_t element_bytes_;
  const bool may_be_hot_;
  Schedule& made_;
};

}  // namespace stripline::gathers
