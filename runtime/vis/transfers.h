// Transfers of many regions between this rank's memory and another rank's segment, in flight.
//
// Four methods (optimizer/plan/vis.h chooses):
//   pipelined     one operation of the fabric per region, `window` of them in flight
//   native_iov    the same with operations of up to Info::iov_limit regions
//   bounding_box  one get of everything from the first to the last byte, then copies
//   packed        active messages of up to `chunk_bytes`. A put packs, sends, and is unpacked by
//                 the handler at the target, which says when it is done. A get asks for one message
//                 of data at a time, which the handler at the target packs. While one message is
//                 unpacked, the next one travels and the one after it is packed. Chunks larger than
//                 a message go as parcels, or answers, of the bulk transport (am::Bulk).
//
// start() begins what the window allows and returns; the rest is begun whenever this rank makes
// progress (am::Background). Of the transfers from or to one rank only the oldest kConcurrent are
// begun, and later ones wait; those with other ranks do not wait for them.
// Handlers pack or unpack one message, and answer with at most one.
//
// A put may have a signal: a flag at the target, raised when all data are visible there. Of a
// packed one, every message has it along, and the target raises it when it has unpacked the last of
// them. What goes to its place without the target's help is completed first, and the flag follows,
// since no fabric has to keep puts in order.
//
// Memory. Per peer: nothing beyond the credits of active messages. Per rank: two messages, for each
// slot of the bulk transport as much again where chunks are packed, kBoxes bounding boxes of at
// most kMaxBoxBytes, for which transfers wait, and 24 bytes for each
// region of a list of pieces.
//
// One thread at a time, as the runtime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/plan/vis.h"
#include "runtime/am/active_messages.h"
#include "runtime/am/bulk.h"
#include "runtime/fabric/fabric.h"
#include "runtime/vis/cursor.h"
#include "runtime/vis/regions.h"
#include "runtime/vis/strided.h"
#include "runtime/vis/wire.h"

namespace stripline::vis {

using fabric::Rank;
using plan::Direction;

class Transfers final : public am::Background {
 public:
  /// Transfers from or to one rank that are begun at the same time.
  static constexpr uint32_t kConcurrent = 8;
  /// Bounding boxes in use at the same time.
  static constexpr uint32_t kBoxes = 8;
  /// Largest bounding box.
  static constexpr size_t kMaxBoxBytes = size_t{1} << 20;

  /// What happened so far, by plan::VisMethod, for tests and reports.
  struct MethodStatistics {
    uint64_t puts = 0;        ///< transfers
    uint64_t gets = 0;        ///< transfers
    uint64_t bytes = 0;       ///< of data
    uint64_t operations = 0;  ///< operations of the fabric, or messages with data or requests
  };
  struct Statistics {
    std::array<MethodStatistics, plan::kVisMethods> methods;
    uint64_t local = 0;       ///< transfers within this rank
    uint64_t contiguous = 0;  ///< transfers of one region
    uint32_t boxes = 0;       ///< bounding boxes in use at the same time, at most
    MethodStatistics& of(plan::VisMethod method) { return methods[static_cast<size_t>(method)]; }
    const MethodStatistics& of(plan::VisMethod method) const {
      return methods[static_cast<size_t>(method)];
    }
  };

  /// What chunks need of the bulk transport: slots of which from about this size on operations run
  /// at the bandwidth of networks in use.
  static constexpr am::Bulk::Config kBulk{.name = "bulk",
                                          .slots = {.most_slots = plan::kLandingSlots,
                                                    .most_slot_bytes = plan::kLandingSlotBytes,
                                                    .twins = true},
                                          .returns_at_once = true};

  /// `segment` is what the program has of the fabric's; `bulk` is of kBulk. `fail` ends the job.
  Transfers(am::ActiveMessages& messages, am::Bulk& bulk, fabric::Fabric& fabric,
            std::span<std::byte> segment, Rank ranks, fabric::FailureHandler fail);

  /// The largest chunk of packed transfers. Valid after ActiveMessages::start().
  size_t max_chunk_bytes() const {
    return std::max(messages_.max_payload_bytes(), bulk_.slot_bytes());
  }

  /// Begins a transfer of a normal shape of at least one region, from or to `local` + its local
  /// offsets, or of a list of at least one region, all of them of bytes > 0 and within the segment
  /// of `target`, which is another rank. `plan`: of a method that plan::vis_allowed() allows for
  /// what this rank has room for; another one ends the job. `done.pending` goes up by at least one
  /// at once and down to where it was when the transfer is complete (as Fabric::put says); it
  /// drains when messages are served. Memory of the data stays until then. A put with a `signal` is
  /// complete when its flag is visible, too, and has `done` for itself. `source_free`, if given,
  /// becomes true when all of a put has been copied, if that is before it is complete. Not inside
  /// of handlers.
  void start(Direction direction, Rank target, Strided shape, std::byte* local,
             const plan::VisPlan& plan, fabric::Counter& done,
             const std::optional<fabric::Signal>& signal = {}, bool* source_free = nullptr);
  void start(Direction direction, Rank target, RegionList regions, const plan::VisPlan& plan,
             fabric::Counter& done, const std::optional<fabric::Signal>& signal = {},
             bool* source_free = nullptr);

  /// A put with a signal, of one region, that a slot has room for: one network latency where puts
  /// notify their target that they have landed.
  size_t largest_signalled_chunk() const {
    constexpr size_t kHead = sizeof(wire::Head) + sizeof(wire::Signal) + wire::kWordBytes;
    return bulk_.notifies() ? bulk_.room(kHead) : 0;
  }
  bool takes_signalled_chunk(Rank target, size_t bytes) const {
    return bytes <= largest_signalled_chunk() && bulk_.notifies(target);
  }
  /// Starts one that it takes, as start().
  void put_signalled_chunk(Rank target, const Region& region, const fabric::Signal& signal,
                           fabric::Counter& done, bool& source_free);

  bool ready() const override;
  void advance() override;

  Statistics& statistics() { return statistics_; }

 private:
  struct Box {
    std::unique_ptr<std::byte[]> memory;  // NOLINT(*-avoid-c-arrays): not to be zeroed
    size_t capacity = 0;
  };

  // What travels through a slot of the bulk transport, or counts as if it did.
  struct Chunk {
    enum class State : uint8_t {
      free,
      moving,  // to or from its place, by a put or get of the fabric
      bulk,    // by the bulk transport, which tells of it
    };
    State state = State::free;
    uint64_t begin = 0;  // where in the stream
    uint64_t bytes = 0;  // of data
    RegionCursor list;   // where a list's bytes go
    Box scratch;
    fabric::Counter moving;
  };

  static constexpr uint32_t kNone = UINT32_MAX;

  struct Peer {
    uint32_t begun = 0;            // transfers listed in beginning_
    uint32_t first_later = kNone;  // those that wait until one of them is not any more
    uint32_t last_later = kNone;
  };

  // Found by messages through its index, the token.
  struct Transfer {
    uint32_t token = 0;
    Direction direction = Direction::put;
    Rank target = 0;
    plan::VisMethod method = plan::VisMethod::pipelined;
    uint32_t window = 1;
    fabric::Counter* done = nullptr;  // null: complete, or not in use
    bool beginning = false;           // listed in beginning_, or waiting to be
    uint32_t next = kNone;            // that waits, of the same target
    bool strided = true;
    Strided shape;
    std::byte* local = nullptr;
    RegionList regions;
    uint64_t total = 0;
    std::optional<fabric::Signal> signal;  // of a put, until it is in flight
    bool* source_free = nullptr;           // of a put, until it is; null: no one asks

    // What comes next, by region: pipelined, native_iov, packed lists.
    PairCursor pairs;
    RegionCursor list;

    // bounding_box
    bool asked = false;
    Extent extent;
    Box box;
    fabric::Counter in_box;

    // packed
    uint64_t chunk_bytes = 0;  // strided: of data in a message; lists: of a message
    uint32_t in_flight = 0;    // messages without an answer
    uint32_t pieces = 0;       // messages or chunks so far
    uint64_t begun = 0;        // bytes sent or asked for
    uint64_t landed = 0;       // bytes that came
    Side remote_side;          // strided, as is local_at
    Side local_side;
    SideCursor local_at;       // where the next bytes are packed from or unpacked to
    RegionCursor landing;      // of lists
    uint16_t unannounced = 0;  // messages of a put since one that asked for an answer
    bool lands = false;        // by chunks, in slots, not by messages
    bool one_place = false;    // at the target the stream is contiguous
    uint64_t place = 0;        // where it begins there
    std::array<Chunk, plan::kLandingSlots> chunks;  // by slot
  };

  Transfer& create(Direction direction, Rank target, const plan::VisPlan& plan,
                   fabric::Counter& done, const std::optional<fabric::Signal>& signal,
                   bool* source_free);
  void begin(Transfer& transfer);
  void list(Transfer& transfer);
  void unlist(size_t place);
  bool can_advance(const Transfer& transfer) const;
  // Begins what can be begun now; true when nothing is left to begin.
  bool step(Transfer& transfer);
  static void tell_source_free(Transfer& transfer);
  void send_flag(Transfer& transfer);
  void complete(Transfer& transfer);
  void release(Transfer& transfer);
  void count_operation(const Transfer& transfer) { ++statistics_.of(transfer.method).operations; }

  // transfers.cc: by operations of the fabric
  bool step_direct(Transfer& transfer);
  static bool has_regions(const Transfer& transfer);
  static Region next_region(Transfer& transfer);
  bool step_box(Transfer& transfer);
  void scatter_box(const Transfer& transfer);

  // packed.cc
  bool fits_packed(const Transfer& transfer) const;
  void check_method(const Transfer& transfer) const;
  uint64_t largest_message() const;
  void prepare_packed(Transfer& transfer);
  bool step_packed(Transfer& transfer);
  static size_t head_bytes(const Transfer& transfer);
  static std::byte* write_head(const Transfer& transfer, wire::Head head, uint64_t end,
                               std::byte* out);
  static wire::Head strided_head(const Transfer& transfer, uint8_t flags);
  void send_strided_put(Transfer& transfer);
  void send_list_put(Transfer& transfer);
  void send_strided_get(Transfer& transfer);
  void send_list_get(Transfer& transfer);
  void send(Transfer& transfer, uint16_t handler, wire::Head head, size_t head_bytes,
            std::span<const std::byte> body);
  static bool is_one_message(const Transfer& transfer);
  void announce(Transfer& transfer, wire::Head& head);
  void unpack(Transfer& transfer, std::span<const std::byte> data);

  // landing.cc
  size_t slot_room(const Transfer& transfer) const;
  bool lands(const Transfer& transfer) const;
  bool can_advance_landing(const Transfer& transfer) const;
  bool may_begin_chunk(const Transfer& transfer) const;
  bool step_landing(Transfer& transfer);
  void begin_chunk_put(Transfer& transfer);
  void put_in_one_place(Transfer& transfer, Chunk& chunk, std::span<const std::byte> data);
  void put_parcel(Transfer& transfer, uint32_t slot, std::span<const std::byte> data);
  void begin_chunk_get(Transfer& transfer);
  void ask_for_chunk(Transfer& transfer, uint32_t slot);
  void unpack_chunk(Transfer& transfer, const Chunk& chunk, std::span<const std::byte> data);
  void free_chunk(Transfer& transfer, Chunk& chunk);
  void take_chunk_done(uint32_t token, uint32_t slot);
  void take_chunk(uint32_t token, uint32_t slot, std::span<const std::byte> data);
  Box take_scratch();

  // packed.cc
  Transfer& find(Rank source, uint64_t token, Direction direction);
  void serve_put(Rank source, std::span<const std::byte> message);
  wire::Head unpack_put(Rank source, std::span<const std::byte> message,
                        std::optional<std::span<const std::byte>> data);
  void count_for_signal(Rank source, uint32_t token, const wire::Signal& signal);
  void serve_get(Rank source, std::span<const std::byte> message);
  void take_done(Rank source, std::span<const std::byte> message);
  void take_data(Rank source, std::span<const std::byte> message);
  void fail_malformed(Rank source, const char* what) const;

  // A put with a signal of which not everything is unpacked here.
  struct Arriving {
    Rank source = 0;
    uint32_t token = 0;
    uint32_t unpacked = 0;  // messages
    uint32_t messages = 0;  // of all; 0: not known yet
  };

  am::ActiveMessages& messages_;
  uint16_t put_ = 0;  // handlers
  uint16_t put_done_ = 0;
  uint16_t get_ = 0;
  uint16_t data_ = 0;
  am::Bulk& bulk_;
  uint32_t chunks_ = 0;  // channel of the bulk transport
  fabric::Fabric& fabric_;
  std::span<std::byte> segment_;
  fabric::FailureHandler fail_;
  std::deque<Transfer> transfers_;  // by token; grows to the most ever in flight
  std::vector<uint32_t> tokens_;    // of transfers that are free
  std::vector<Peer> peers_;
  std::vector<uint32_t> beginning_;  // transfers with something left to begin, oldest first
  bool advancing_ = false;
  std::vector<Box> scratch_;  // for chunks; not in use
  std::vector<Box> boxes_;    // not in use
  uint32_t boxes_in_use_ = 0;
  std::vector<Region> pieces_;       // of one native operation
  std::vector<std::byte> outgoing_;  // a message that this rank sends
  std::vector<std::byte> answer_;    // a message that a handler sends
  std::vector<Arriving> arriving_;   // few: of a peer, at most about kConcurrent
  wire::Part part_;                  // what a handler was asked for
  SideCursor served_;
  Statistics statistics_;
};

}  // namespace stripline::vis
