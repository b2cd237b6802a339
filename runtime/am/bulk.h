// Data larger than an active message, sent from rank to rank without asking for room.
//
// Behind the program's segment every rank has a landing zone: some slots for each other rank. The
// sender owns its slots at the receiver: a free slot is the credit to fill it. So no one has to
// ask, and what peers can make a rank hold is its slots. A parcel is what comes in a slot: a head,
// which says what it is, and a body. Where the network tells a target of puts (fabric::Shortcuts),
// both go by one such put: one network latency. Elsewhere the body is put, and a message with
// the head follows once it is there. The receiver handles a parcel as it handles a message, may
// keep it in its slot, and gives the slot back when it is done with it, which tells the sender that
// it is.
//
// Answers. In the other direction, a rank may ask for data (by an active message of its own, which
// names a slot that it has acquired), and the holder of the slot answers through it: into a twin of
// the slot at the rank that asked, by a put that tells of itself; or, where there are none, in the
// slot, from where the rank that asked gets it. Whoever asks holds the slot until then, so that
// handlers can answer without a credit.
//
// Why it cannot deadlock: only the program waits for slots, never a handler; what handlers answer
// has room where it goes, and is put as soon as they have returned (Background). Users that keep
// parcels until the program has come to them must not share slots with users whose parcels are
// handled as they come, since the program may wait for the latter first.
//
// One thread at a time, as the fabric.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/am/active_messages.h"
#include "runtime/am/slot_layout.h"
#include "runtime/fabric/fabric.h"
#include "runtime/fabric/shortcuts.h"

namespace stripline::am {

class Bulk final : public Background {
 public:
  struct Config {
    std::string_view name;         ///< of these slots, for messages of failure
    SlotLayout::Rule slots;        ///< with twins: for answers, too
    bool returns_at_once = false;  ///< else when the sender has no slot left, or with take_owed()
  };
  /// What leads a parcel in its slot.
  static constexpr size_t kLeadBytes = 8;

  struct Parcel {
    Rank source = 0;
    uint32_t slot = 0;
    std::span<const std::byte> head;  ///< valid during the call only
    std::span<const std::byte> body;  ///< until the slot is given back
  };
  /// Runs as handlers do. Gives the slot back, at once or later.
  using Arrived = std::function<void(const Parcel&)>;
  /// The slot is free again, and what was sent through it not needed any more. In handlers, or
  /// where progress is made.
  using Returned = std::function<void(Rank target, uint32_t slot, uint64_t note)>;
  /// The slot is free again; `body` is valid during the call.
  using Answered = std::function<void(Rank target, uint32_t slot, uint64_t note,
                                      std::span<const std::byte> body)>;

  /// `memory` is a part of the fabric's segment, at the same offset and as long on every rank.
  /// `fail` ends the job.
  Bulk(ActiveMessages& messages, fabric::Fabric& fabric, std::span<std::byte> memory, Rank rank,
       Rank ranks, const Config& config, fabric::FailureHandler fail);

  /// A kind of parcels, on every rank in the same order. `returned` may be null.
  uint32_t open(std::string_view name, Purpose purpose, Arrived arrived, Returned returned);
  /// The same for a user that is made later: nothing may arrive until serve() has been called,
  /// which it may be again.
  uint32_t open(std::string_view name, Purpose purpose) { return open(name, purpose, {}, {}); }
  void serve(uint32_t channel, Arrived arrived, Returned returned) {
    channels_[channel].arrived = std::move(arrived);
    channels_[channel].returned = std::move(returned);
  }
  /// The same for answers that this rank has asked for.
  void take_answers(Answered answered) { answered_ = std::move(answered); }

  /// Says whether puts may tell their target that they have landed. The same on every rank, between
  /// the same uses.
  void use_notified_puts(bool use) { notifies_ = use && shortcuts_ != nullptr; }
  /// True if parcels go by one put each: to ranks of other nodes, and to `peer`.
  bool notifies() const { return notifies_; }
  bool notifies(Rank peer) const { return notifies_ && !shortcuts_->shares_node(peer); }

  size_t slot_bytes() const { return layout_.slot_bytes(); }
  uint32_t slots() const { return layout_.slots(); }
  /// The largest body behind a head of this size.
  size_t room(size_t head_bytes) const {
    return slot_bytes() - std::min(slot_bytes(), kLeadBytes + head_bytes);
  }

  // --- the sender --------------------------------------------------------------------------------

  bool has_free(Rank target) const { return free_[target] != 0; }
  /// One of this rank's slots at `target`, which has a free one.
  uint32_t acquire(Rank target) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(free_[target]));
    free_[target] &= ~(1U << slot);
    return slot;
  }
  /// Gives up a slot that was acquired and not used.
  void release(Rank target, uint32_t slot) { free_[target] |= 1U << slot; }

  /// Sends a parcel of at most slot_bytes(), its lead included, through a slot that was acquired.
  /// The head is copied; the body stays until is_sent(). Not inside of handlers.
  void put(uint32_t channel, Rank target, uint32_t slot, std::span<const std::byte> head,
           std::span<const std::byte> body, uint64_t note);
  /// True if the network has let go of the body, until the slot is used again.
  bool is_sent(Rank target, uint32_t slot) const {
    return lane(target, slot).moving.pending == 0 && lane(target, slot).state != State::moving;
  }

  /// Before asking `target` for an answer through a slot that was acquired.
  void expect(Rank target, uint32_t slot, uint64_t note);
  /// Memory of this rank for slot_bytes(), as long as it has the slot.
  std::span<std::byte> twin_of(Rank target, uint32_t slot) const {
    return memory_.subspan(layout_.twin(rank_, target, slot), slot_bytes());
  }

  // --- the receiver ------------------------------------------------------------------------------

  /// The memory of a slot that `source` has here.
  std::span<std::byte> memory_of(Rank source, uint32_t slot) const {
    return memory_.subspan(layout_.slot(source, rank_, slot), slot_bytes());
  }
  /// Inside of handlers: answers with data that stay as they are until is_idle(). They may lie in
  /// the slot.
  void answer(Rank source, uint32_t slot, std::span<const std::byte> body);
  /// True if nothing of this rank is in flight on behalf of others.
  bool is_idle() const { return answers_.empty(); }

  /// This rank is done with a parcel.
  void give_back(Rank source, uint32_t slot);
  /// Slots, a bit each, of which the caller tells `peer` by a message of its own, where
  /// take_returned() takes them.
  uint8_t take_owed(Rank peer) { return std::exchange(owed_[peer], uint8_t{0}); }
  void take_returned(Rank target, uint32_t which);

  /// Where they are in the target's segment: a slot, and the twin of one that `target` has here.
  uint64_t offset_of(Rank target, uint32_t slot) const {
    return base_ + layout_.slot(rank_, target, slot);
  }
  uint64_t twin_offset_of(Rank target, uint32_t slot) const {
    return base_ + layout_.twin(target, rank_, slot);
  }

  bool ready() const override;
  void advance() override;

 private:
  // What leads a parcel in its slot; and, of one that was put without telling, its message.
  struct Lead {
    uint32_t head_bytes;
    uint32_t body_bytes;
  };
  struct Notice {
    uint32_t slot;
    uint32_t body_bytes;
  };
  static_assert(sizeof(Lead) == kLeadBytes && sizeof(Notice) == kLeadBytes);
  struct Returns {
    uint32_t slots;
    uint32_t reserved;
  };

  // Where a slot of this rank at another one stands.
  enum class State : uint8_t {
    unused,
    moving,     // the body is put, and a message is to follow
    delivered,  // the receiver has the parcel
    returned,   // it has given the slot back, and the network has not let go of the body
    asked,      // for an answer
    packed,     // the answer is in the slot
    fetching,   // it is in transit to the twin
  };
  struct Lane {
    State state = State::unused;
    uint32_t channel = 0;
    uint32_t body_bytes = 0;
    uint64_t note = 0;
    fabric::Counter moving;
    std::vector<std::byte> head;  // behind a Lead
  };
  // One of the slots that this rank has to look after.
  struct Slot {
    Rank target = 0;
    uint32_t slot = 0;
  };
  struct Channel {
    uint16_t notice = 0;  // handler
    Landing landing;
    Arrived arrived;
    Returned returned;
  };
  struct Answer {
    Rank source = 0;
    uint32_t slot = 0;
    Lead lead{};
    std::span<const std::byte> body;
    fabric::Counter sent;
  };

  Lane& lane(Rank target, uint32_t slot) { return lanes_[size_t{target} * slots() + slot]; }
  const Lane& lane(Rank target, uint32_t slot) const {
    return lanes_[size_t{target} * slots() + slot];
  }
  void look_after(Rank target, uint32_t slot);
  bool can_advance(const Slot& one) const;
  bool step(const Slot& one);
  void put_answers();
  void take_landed(Rank source, uint32_t channel, uint32_t slot);
  void take_notice(Rank source, uint32_t channel, std::span<const std::byte> message);
  void take_landed_answer(Rank source, uint32_t slot);
  void take_answer_notice(Rank source, std::span<const std::byte> message);
  void finish_return(Rank target, uint32_t slot);
  void finish_answer(Rank target, uint32_t slot, std::span<const std::byte> body);
  void fail_malformed(Rank source, const char* what) const;

  ActiveMessages& messages_;
  fabric::Fabric& fabric_;
  fabric::Shortcuts* shortcuts_;
  std::span<std::byte> memory_;
  uint64_t base_;  // where it begins in every segment
  SlotLayout layout_;
  Rank rank_;
  std::string name_;
  bool returns_at_once_;
  fabric::FailureHandler fail_;
  bool notifies_ = false;
  uint16_t returns_ = 0;  // handlers
  uint16_t answer_notice_ = 0;
  Landing landed_answer_;
  Answered answered_;
  std::vector<Channel> channels_;
  std::vector<uint32_t> free_;  // of this rank's slots, by target, a bit each
  std::vector<uint8_t> owed_;   // slots of others that are free again and not given back, likewise
  std::vector<Lane> lanes_;     // by target and slot
  std::vector<Slot> watched_;
  std::deque<Answer> answers_;  // the first `answers_put_` of them have been put
  size_t answers_put_ = 0;
  bool advancing_ = false;
};

}  // namespace stripline::am
