// Messages between two ranks inside of collective operations: every message names its team, the
// number of the operation and a step of it, and goes to the receive that awaits it.
//
// * Small messages are sent at once. What arrives before its receive is kept; the sender has at
//   most kWindowBytes of unreceived data at one peer, headers included, and waits beyond
//   that. That is all the memory that a peer can make this rank hold.
// * Large ones wait until the receiver has said where it wants them. One-sided puts store them in
//   its segment, if they are to go there, else in slots of memory for this purpose, from where they
//   are copied: piece by piece, two slots in turn. Where there is no slot left, and below a size,
//   they travel in active messages straight to their place.
// * Where the network notifies a target of a put, messages of medium size go as parcels of the bulk
//   transport (am::Bulk), in one network latency, and stay in their slots until they are
//   received.
// * Ranks of one node that read each other's memory say where a large message lies, and the
//   receiver copies it, once.
//
// What all ranks have found out together decides whether a pair of ranks uses the last two.
//
// It cannot deadlock if each rank receives from each peer in the order in which the peer sends, and
// the operation would end if every send waited for its receive: credits come back whenever a
// message is received, and what a rank waits for is always the oldest that the peer has not got rid
// of. One large receive per peer may be outstanding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/am/active_messages.h"
#include "runtime/am/bulk.h"
#include "runtime/fabric/shortcuts.h"
#include "runtime/sync/group.h"

namespace stripline::sync {

class Transfers {
 public:
  /// Unreceived data of one sender at one receiver; at least twice an eager message.
  static constexpr size_t kWindowBytes = size_t{64} << 10;
  /// Bytes of one slot.
  static constexpr size_t kSlotBytes = size_t{128} << 10;

  /// What a receive is matched by.
  struct Key {
    uint64_t sequence = 0;
    uint32_t team = 0;
    uint32_t step = 0;
    bool operator==(const Key&) const = default;
  };

  /// A receive that has been posted; stays where it is until it has been waited for.
  struct Receive {
    Key key;
    Rank source = 0;
    std::span<std::byte> data;
    Call call;            // of a large message, as the rest
    size_t asked = 0;     // bytes whose place the sender knows
    size_t received = 0;  // and of those, the ones that are here
    bool done = true;
    Receive* next = nullptr;
  };

  /// What it needs of the bulk transport, alone: what comes early stays in its slot.
  static constexpr am::Bulk::Config kBulk{
      .name = "collective bulk", .slots = {.most_slots = 2, .most_slot_bytes = kSlotBytes + 64}};

  /// `bulk` is of kBulk, `slots` a part of the fabric's segment. `fail` ends the job.
  Transfers(am::ActiveMessages& messages, am::Bulk& bulk, Groups& groups, fabric::Fabric& fabric,
            std::span<std::byte> slots, Rank me, Rank ranks, fabric::FailureHandler fail);

  /// After ActiveMessages::start().
  void start();

  /// Says whether every rank reads the memory of all others of its node. The same on every rank,
  /// between the same collective operations; none is in flight.
  void read_within_nodes(bool read) { reads_ = read && shortcuts_ != nullptr; }

  // `source` and `target` are ranks of the job, and not this one. `call` is the operation that the
  // message belongs to.

  void post(const Call& call, const Key& key, Rank source, std::span<std::byte> data,
            Receive& receive);
  /// Returns when the data are there. Makes progress meanwhile.
  void wait(Receive& receive);
  /// Announces to the target what send() will send, with the same arguments: targets that know it
  /// can read at the same time. Nothing else is sent to that target between.
  void announce(const Call& call, const Key& key, Rank target, std::span<const std::byte> data);
  /// Returns when `data` may be changed.
  void send(const Call& call, const Key& key, Rank target, std::span<const std::byte> data);

  /// Memory that one peer's early messages can take.
  size_t buffer_bytes_per_peer() const { return kWindowBytes; }
  /// What early messages take now, of all peers.
  size_t early_bytes() const { return early_bytes_; }

 private:
  enum class Type : uint8_t {
    eager,     // the data
    announce,  // a large message waits for its receive; and where it lies. Followed by an Offer
    ready,     // the receive of a large message has been posted; followed by its place
    part,      // a piece of a large message, at offset `value`
    done,      // a large message has been put
    returned,  // only returns window
    parcel,    // a message of medium size
    taken,     // what was announced has been read
  };
  static constexpr uint8_t kTypes = 8;
  // Small, because most messages are.
  struct Header {
    uint64_t bytes_and_root;  // of the call: bytes modulo 2^44, then the root
    uint32_t sequence;        // modulo 2^32, as `received`
    uint32_t team;
    uint32_t step;
    uint32_t received;  // window bytes of the target that this rank has received
    Collective kind;
    uint8_t algorithm;
    Type type;
    uint8_t emptied;  // slots of the target, as am::Bulk::take_owed() says
    uint8_t reserved[4];
  };
  static_assert(sizeof(Header) == 32);
  static constexpr int kRootShift = 44;
  static constexpr uint64_t kNoPlace = ~uint64_t{0};

  struct Early {
    Key key;
    std::vector<std::byte> data;
  };
  struct Request {
    uint64_t total = 0;         // bytes of the message
    uint64_t offset = 0;        // where in it the piece begins that is to come to `place`
    uint64_t bytes = 0;         // and its length
    uint64_t place = kNoPlace;  // offset in the segment of the receiver
  };
  struct Ready {
    Key key;
    Request request;
  };
  // A piece of a large message, in the memory of the sender.
  struct Offer {
    uint64_t total = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint64_t address = 0;
  };
  // A parcel that waits for its receive.
  struct Waiting {
    bool full = false;
    Key key;
    std::span<const std::byte> data;
  };
  // What a large message may have in flight at a time: the slots of its receive.
  static constexpr size_t kPieces = 2;
  struct Slot {
    std::span<std::byte> memory;
    Receive* receive = nullptr;  // null: free
    size_t offset = 0;
    size_t bytes = 0;
  };
  // A piece of a large message that is being put.
  struct Flight {
    fabric::Counter counter;
    uint64_t offset = 0;
    bool active = false;
    bool complete() const { return active && counter.pending == 0; }
  };
  struct Peer {
    uint32_t sent = 0;                 // window bytes, modulo 2^32, as the next three
    uint32_t released = 0;             // of those, received by the peer
    uint32_t received = 0;             // of the peer's, by this rank
    uint32_t returned = 0;             // of those, reported to the peer
    std::array<Ready, kPieces> ready;  // the first `ready_count`, in the order in which they came
    size_t ready_count = 0;
    std::vector<Early> early;
    Key announced;  // the last large message the peer wants to send
    Offer offer;    // and the piece of it to be read next; total 0: none
    Key told;       // what this rank has announced to the peer
    Key taken;      // what the peer has read of that
    std::array<Waiting, kBulk.slots.most_slots> waiting;  // by slot
  };

  static uint32_t charge(size_t bytes) { return static_cast<uint32_t>(bytes + sizeof(Header)); }
  bool is_eager(size_t bytes) const { return bytes <= eager_bytes_; }
  bool reads(Rank peer) const { return reads_ && shortcuts_->shares_node(peer); }
  bool goes_as_parcel(Rank peer, size_t bytes) const {
    return bytes > eager_bytes_ && bytes <= bulk_.room(sizeof(Header)) && bulk_.notifies(peer);
  }
  Header header(Type type, const Call& call, const Key& key, Rank peer);
  void on_message(Rank source, std::span<const std::byte> payload);
  void take_eager(Rank source, const Key& key, std::span<const std::byte> data);
  void take_part(Rank source, const Key& key, uint64_t offset, std::span<const std::byte> data);
  void put_in_place(Rank source, Receive& receive, std::span<const std::byte> data);
  void give_back(Rank peer, size_t bytes);
  void ask(Receive& receive, size_t bytes, uint64_t place);
  void ask_into(Receive& receive, Slot& slot);
  void take_announce(Rank source, const Key& key, const Offer& offer);
  void read(Receive& receive, const Offer& offer);
  void send_read(const Call& call, const Key& key, Rank target, std::span<const std::byte> data);
  void offer(const Call& call, const Key& key, Rank target, std::span<const std::byte> data,
             size_t offset);
  void take_parcel(const am::Bulk::Parcel& parcel);
  void send_parcel(const Call& call, const Key& key, Rank target, std::span<const std::byte> data);
  std::optional<Key> saw(const Header& header, Rank source);
  void take_ready(Rank source, const Ready& ready);
  void take_done(Rank source, const Key& key, uint64_t offset);
  void send_large(const Call& call, const Key& key, Rank target, std::span<const std::byte> data);
  void send_parts(const Call& call, const Key& key, Rank target, std::span<const std::byte> data,
                  uint64_t offset, uint64_t bytes);
  Receive* find(Rank source, const Key& key);
  void finish(Receive& receive);
  uint64_t place_of(std::span<std::byte> data) const;
  void fail_lengths(const Call& call, Rank source, size_t sent, Rank target, size_t expected) const;
  void malformed(Rank source) const { fail_malformed(fail_, source, me_); }

  am::ActiveMessages& messages_;
  uint16_t handler_ = 0;
  am::Bulk& bulk_;
  uint32_t parcels_ = 0;  // channel of the bulk transport
  Groups& groups_;
  fabric::Fabric& fabric_;
  fabric::Shortcuts* shortcuts_;
  std::span<std::byte> segment_;  // all that peers can put into
  Rank me_;
  fabric::FailureHandler fail_;
  size_t eager_bytes_ = 0;
  bool reads_ = false;
  std::vector<Peer> peers_;
  Receive* posted_ = nullptr;
  std::vector<Slot> slots_;
  size_t early_bytes_ = 0;
  std::vector<std::vector<std::byte>> spare_;  // of early messages, to be used again
};

}  // namespace stripline::sync
