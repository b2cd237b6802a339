// What the ranks of an emulated job share: one memory object with the state of the network, message
// rings and everybody's segment, in /dev/shm or, for ranks of one process, in its own memory.
// All-zero bytes are its valid initial state, so that ranks may open it in any order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "runtime/fabric/crew.h"
#include "runtime/fabric/fabric.h"

namespace stripline::fabric {

inline constexpr size_t kCacheLine = 64;

/// The NIC of a node, shared by its ranks. Times are absolute, in seconds.
struct alignas(kCacheLine) NicState {
  double transmit_free_s;
  double receive_free_s;
};

/// A link that messages between several nodes share.
struct LinkState {
  double free_s;
};

/// The buffer of a switch at the end of a link: of one that messages share, or of a NIC's.
struct BufferState {
  uint64_t used_bytes;
  uint64_t last_ticket;   ///< of those who had to wait for room, in their order
  uint32_t waiting;       ///< how many do
  uint32_t granted;       ///< 1: the first of them may go on, and has not yet
  double granted_s;       ///< from when on it may
  uint32_t next_granted;  ///< of the same rank, one more than the number of the buffer; 0: none
};

/// The first packet of a rank that waits for room in a buffer.
struct RoomRequest {
  uint64_t ticket;  ///< 0: none waits
  uint64_t bytes;
};

/// What the turn-taking of the virtual clock knows of a rank. Only the rank whose turn it is
/// touches these (and `go`), so that plain members suffice; `go` hands the turn over.
struct alignas(kCacheLine) RankControl {
  std::atomic<uint32_t> go;        ///< futex: 1 when it is this rank's turn
  std::atomic<uint32_t> messages;  ///< in slots that are ready, on both clocks
  uint32_t left;                   ///< has closed its fabric
  uint32_t waiting;                ///< is inside a wait: may be woken earlier than next_s()
  double entry_s;                  ///< its clock when it last entered the library
  double wake_s;                   ///< while waiting: the earliest known reason to look again
  double served_s;                 ///< until then it serves peers
};

/// One message in flight. Written by the sender before it raises `ready`, read by the receiver.
struct MessageSlot {
  std::atomic<uint32_t> ready;  ///< 1: arrival_s and the bytes are valid
  uint32_t size;
  double arrival_s;
  // The bytes follow.
};

/// Single-producer single-consumer ring of one (sender, receiver) pair.
struct alignas(kCacheLine) RingControl {
  std::atomic<uint32_t> head;                      ///< messages ever consumed
  alignas(kCacheLine) std::atomic<uint32_t> tail;  ///< messages ever sent
};

/// The region. Movable; lets it go on destruction.
class SharedRegion {
 public:
  struct Shape {
    std::string job_id;
    uint32_t ranks = 1;
    uint32_t nodes = 1;
    uint32_t links = 0;
    uint32_t buffers = 0;
    uint32_t ring_slots = 16;
    uint32_t max_message_bytes = 8192;
    size_t segment_bytes = 0;
  };

  /// Opens or creates the region and really allocates `rank`'s segment; that of a crew takes memory
  /// as it is used. Errors: resource_exhausted when /dev/shm has no room, failed_precondition when
  /// the region exists with another shape, or belongs to another user or is open to others.
  static Result<SharedRegion> open(const Shape& shape, Rank rank, Crew* crew);

  SharedRegion(SharedRegion&& other) = default;
  SharedRegion& operator=(SharedRegion&&) = delete;
  ~SharedRegion() = default;

  /// Removes the name, once every rank has it mapped. Idempotent.
  void unlink();

  NicState& nic(uint32_t node) const;
  LinkState& link(uint32_t link) const;
  BufferState& buffer(uint32_t buffer) const;
  RoomRequest& room_request(uint32_t buffer, Rank rank) const;
  /// One more than the number of a buffer in which a rank has been granted room; 0: there is none.
  std::atomic<uint32_t>& first_granted(Rank rank) const;
  /// Protects the states of NICs, links and buffers on the real clock, where ranks really run side
  /// by side.
  std::atomic<uint32_t>& nic_lock() const;
  RankControl& control(Rank rank) const;
  /// For each rank, on the virtual clock: nothing happens at it before this time. Side by side,
  /// because whoever gives up its turn looks at all of them.
  std::span<double> next_s() const;
  RingControl& ring(Rank source, Rank target) const;
  MessageSlot& slot(Rank source, Rank target, uint32_t index) const;
  std::span<std::byte> segment(Rank rank) const;
  static std::byte* bytes_of(MessageSlot& slot) {
    return reinterpret_cast<std::byte*>(&slot) + sizeof(MessageSlot);
  }

 private:
  struct Offsets {
    size_t nics, links, buffers, requests, grants, controls, next, rings, slots, slot_stride,
        segments, total;
  };
  static Offsets layout(const Shape& shape);
  SharedRegion(Shape shape, std::shared_ptr<std::byte> memory, std::string name);
  static Result<std::shared_ptr<std::byte>> map(const std::string& name, const Shape& shape,
                                                Rank rank);

  Shape shape_;
  Offsets offsets_{};
  std::shared_ptr<std::byte> memory_;
  std::byte* base_ = nullptr;  // of it
  std::string name_;           // empty: no one else opens it, or it is gone
};

}  // namespace stripline::fabric
