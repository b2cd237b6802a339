// What a rank sends to another one in every round of something that is repeated: the borders of a
// grid, the elements of a gather. The receiver keeps two places for it, which are used in turn,
// each with a flag.
//
// A sender may fill a place again when the receiver has begun the round after the one that was
// there: until then its program may read it. Where the two send to each other, what the receiver
// has sent in that round, for which the sender has waited, says so, and no message is needed.
// Elsewhere the receiver tells it, by a word at the sender: its credit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stripline/context.h>

#include "runtime/rma/context_state.h"

namespace stripline::rma {

/// Where what one rank sends lands. Puts of two turns are not ordered, and have flags of their own;
/// those of one turn are ordered by the round between them, so that its flag goes up by one each
/// time.
struct Landing {
  global_ptr<std::byte> first;  ///< the place of even rounds
  uint64_t turn_bytes = 0;      ///< from there to that of odd ones
  global_ptr<uint64_t> flags;   ///< two words

  static constexpr size_t turn_of(uint64_t round) { return round % 2; }
  /// What the flag of a round is raised to.
  static constexpr uint64_t value_of(uint64_t round) { return round / 2 + 1; }

  global_ptr<std::byte> place(uint64_t round) const {
    return first + static_cast<std::ptrdiff_t>(turn_of(round) * turn_bytes);
  }
  global_ptr<uint64_t> flag(uint64_t round) const {
    return flags + static_cast<std::ptrdiff_t>(turn_of(round));
  }
};

/// The end of the rank that sends.
class TurnSender {
 public:
  TurnSender() = default;
  explicit TurnSender(const Landing& there) : there_(there) {}
  const Landing& there() const { return there_; }

  /// Sends `bytes` of them, which stay as they are until wait_source().
  void send(Context& context, uint64_t round, const std::byte* data, size_t bytes, CallSite site) {
    begin(round, site) = context.rput_signal<std::byte>(
        data, there_.place(round), bytes, there_.flag(round), Landing::value_of(round), site);
  }
  /// The same of what `pack(to)` leaves at `to`: in the receiver's memory where stores reach it,
  /// else in memory that is kept here until the turn comes again: wait_source() need not wait for
  /// it.
  template <typename Pack>
  void send_packed(Context& context, uint64_t round, size_t bytes, const Pack& pack,
                   CallSite site) {
    const global_ptr<std::byte> place = there_.place(round);
    std::byte* const reached = context.state().memory.reachable(place.where());
    if (reached == nullptr) {
      const size_t turn = Landing::turn_of(round);
      begin(round, site);
      packed_[turn].resize(bytes);
      pack(packed_[turn].data());
      send(context, round, packed_[turn].data(), bytes, site);
      reads_callers_memory_[turn] = false;
      return;
    }
    pack(reached + place.offset());
    send(context, round, nullptr, 0, site);
  }
  /// The place of the future of a put that is begun otherwise, with the flag of the round.
  future& begin(uint64_t round, CallSite site) {
    const size_t turn = Landing::turn_of(round);
    puts_[turn].wait(site);  // that of the round before the last has long been answered
    reads_callers_memory_[turn] = true;
    return puts_[turn];
  }

  void wait_source(uint64_t round, CallSite site) const {
    const size_t turn = Landing::turn_of(round);
    if (reads_callers_memory_[turn]) puts_[turn].wait_source(site);
  }
  /// Until nothing is in flight.
  void wait(CallSite site) const {
    for (const future& put : puts_) put.wait(site);
  }

 private:
  Landing there_;
  std::array<future, 2> puts_;
  std::array<bool, 2> reads_callers_memory_{};
  std::array<std::vector<std::byte>, 2> packed_;
};

/// A receiver's word at a rank to which it sends nothing: how many rounds it has begun, before
/// which it has read what the others brought.
class TurnCredit {
 public:
  /// None is asked for.
  TurnCredit() = default;
  /// `word` is at the sender.
  explicit TurnCredit(global_ptr<uint64_t> word) : word_(word) {}

  void give(Context& context, uint64_t rounds, CallSite site) {
    if (word_.is_null()) return;
    put_.wait(site);  // signals are not ordered
    put_ = context.rput_signal<std::byte>(nullptr, word_.reinterpret<std::byte>(), 0, word_, rounds,
                                          site);
  }
  void wait(CallSite site) const { put_.wait(site); }

 private:
  global_ptr<uint64_t> word_;
  future put_;
};

}  // namespace stripline::rma
