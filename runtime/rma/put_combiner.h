// Combining: small puts without a handle to one destination travel together in one message, and so
// do atomic operations whose result no one wants, until a fence, a full buffer, or their age sends
// them. They are unordered until a fence, so that no one can tell the difference but by a clock;
// what a network charges per message is paid once for hundreds of them. As in conveyors (Maley and
// DeVinney 2019) and Chapel's CopyAggregation, but below the API.
//
// Wire form of a message: entries {word: offset << 20 | atomic << 19 | bytes, data}. A put that
// continues the entry before it is appended to it and costs no word of its own. An atomic entry has
// operations of one operator and type, on variables at distances from the offset: {head, operand,
// distance, ...}, or, with operands of their own, {head, distance, operand, ...}; so each of many
// increments takes 4 bytes. The target answers each message when what is in it is visible.
//
// A rank that goes on putting to a peer after it has filled an active message continues in a large
// buffer, which travels as a parcel of the bulk transport (am::Bulk) where that is one put. Where a
// message costs as much as some thousand bytes, as over sockets, the puts of a burst take half of
// the time or less.
//
// Memory: buffers of Rule::budget_bytes, small and large ones together, however many peers there
// are; when the small ones are used up, the oldest is sent. Latency: a put leaves at the latest
// Rule::max_delay_s after the first of its message plus the time to this rank's next call that
// makes progress; one in a large buffer, too, unless all slots at the target are in use.
//
// One thread at a time, as the runtime.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/am/active_messages.h"
#include "runtime/am/bulk.h"
#include "runtime/fabric/fabric.h"

namespace stripline::rma {

using fabric::Rank;

class PutCombiner {
 public:
  /// Defaults for networks that charge a message as much as some hundred bytes, and whose messages
  /// travel for some tens of microseconds. A model knows better (tuning.h); the budget is a policy.
  struct Rule {
    size_t max_put_bytes = 64;              ///< larger puts travel alone; 0: all do
    size_t message_bytes = SIZE_MAX;        ///< at most largest_message_bytes()
    double max_delay_s = 50e-6;             ///< age at which a message leaves
    size_t budget_bytes = size_t{1} << 20;  ///< of all buffers together
  };

  /// For tests and reports.
  struct Statistics {
    uint64_t puts = 0;      ///< that were combined
    uint64_t atomics = 0;   ///< atomic operations, likewise
    uint64_t messages = 0;  ///< that they travelled in
    uint64_t landed = 0;    ///< of those, as parcels
    uint64_t crowded = 0;   ///< messages sent early because the pool was used up
  };

  /// `bulk` gives its slots back at once; `fail` ends the job.
  PutCombiner(am::ActiveMessages& messages, am::Bulk& bulk, fabric::Fabric& fabric,
              std::span<std::byte> segment, Rank ranks, fabric::FailureHandler fail);

  /// After ActiveMessages::start(); again, only while nothing is held, with another rule or when
  /// Bulk::notifies() is another. Makes progress while the network reads from buffers.
  void start(const Rule& rule);

  /// What start() was given.
  const Rule& rule() const { return rule_; }

  /// True if a put of this size is combined.
  bool takes(size_t bytes) const { return bytes <= max_put_bytes_; }

  /// Copies a put that takes(bytes); `target` is another rank, the range lies within its segment.
  /// May send a message, and then makes progress while there is no room for it.
  void put(Rank target, uint64_t offset, const std::byte* source, size_t bytes) {
    ++statistics_.puts;
    Peer& peer = peers_[target];
    Buffer* buffer = peer.open;
    if (buffer != nullptr) [[likely]] {
      if (offset == buffer->next_offset && buffer->used + bytes <= buffer->capacity) {
        append(*buffer, source, bytes);
        return;
      }
      if (buffer->used + kWordBytes + bytes > buffer->capacity) {
        send(target);
        buffer = nullptr;
      }
    }
    if (buffer == nullptr) buffer = &open(target);
    begin_entry(*buffer, offset);
    append(*buffer, source, bytes);
  }

  /// True if atomic() may be called.
  bool takes_atomics() const { return takes(sizeof(uint64_t)); }

  /// Keeps an atomic operation that is no load, on a variable that is aligned and within the
  /// segment of `target`, another rank. As put().
  void atomic(Rank target, uint64_t offset, const fabric::AtomicRequest& request) {
    ++statistics_.atomics;
    const uint32_t head = static_cast<uint32_t>(request.op) | static_cast<uint32_t>(request.type)
                                                                  << kTypeShift;
    Buffer* buffer = peers_[target].open;
    if (buffer != nullptr) [[likely]] {
      if (continue_run(*buffer, head, offset, request.operand)) [[likely]]
        return;
      if (buffer->used + kFirstAtomicBytes > buffer->capacity) {
        send(target);
        buffer = nullptr;
      }
    }
    if (buffer == nullptr) buffer = &open(target);
    begin_run(*buffer, head, offset, request);
  }

  /// Sends what is held for one rank, or for all.
  void flush(Rank target) {
    if (peers_[target].open != nullptr) send(target);
  }
  void flush();
  /// Sends what has reached its age. Cheap when nothing is held.
  void flush_old() {
    if (oldest_ != nullptr) flush_older_than(fabric_.now_s() - max_delay_s_);
  }

  /// Messages to `target` whose puts are not known to be visible yet.
  uint32_t unanswered(Rank target) const {
    return peers_[target].unanswered[0] + peers_[target].unanswered[1];
  }

  /// What is_answered() is asked with for the messages that have been sent to `target` so far.
  uint32_t generation(Rank target) const { return peers_[target].generation; }
  /// True if the puts of all messages that were sent to `target` before generation() returned this
  /// are visible. Messages that are sent meanwhile do not defer that, however many there are: they
  /// are of a later generation as soon as those of the one before have been answered.
  bool is_answered(Rank target, uint32_t generation);

  /// True if the network has let go of all buffers, which may be later than that their puts are
  /// visible.
  bool has_sent() {
    collect_sent();
    return sending_ == nullptr;
  }

  /// The most that travels together, on networks.
  size_t largest_message_bytes() const;

  const Statistics& statistics() const { return statistics_; }
  /// Memory that buffers may take.
  size_t budget_bytes() const {
    return buffers_.size() * message_bytes_ + large_buffers_.size() * large_bytes_;
  }

 private:
  static constexpr unsigned kOffsetShift = 20;
  static constexpr unsigned kLengthBits = 19;
  static constexpr uint64_t kAtomicEntry = uint64_t{1} << kLengthBits;
  static constexpr size_t kLargestEntry = (size_t{1} << kLengthBits) - 1;
  static constexpr size_t kWordBytes = sizeof(uint64_t);

  // The head of an atomic entry: the operator, the type, and whether each operation has an operand
  // of its own.
  static constexpr unsigned kTypeShift = 8;
  static constexpr uint32_t kOwnOperands = uint32_t{1} << 16U;
  static constexpr uint32_t kNoRun = UINT32_MAX;
  static constexpr size_t kFirstAtomicBytes =
      kWordBytes + sizeof(uint32_t) + sizeof(uint64_t) + sizeof(int32_t);

  static constexpr uint64_t kNowhere = UINT64_MAX;
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  // Atomic operations that the last entry consists of.
  struct AtomicRun {
    uint32_t head = kNoRun;  // kNoRun: it is a put
    unsigned unit_shift = 0;
    uint64_t offset = 0;
    uint64_t operand = 0;
  };

  struct Buffer {
    std::byte* memory = nullptr;
    size_t capacity = 0;
    size_t used = 0;
    size_t entry = 0;          // where the last entry's word is
    uint64_t next_offset = 0;  // of a put that would continue it
    AtomicRun run;
    Rank target = 0;
    double opened_s = 0;
    Buffer* newer = nullptr;  // in the list of open ones, by age; or the next free or sending one
    Buffer* older = nullptr;
    uint32_t slot = kNoSlot;  // of large ones, while they are sent
  };

  struct Peer {
    Buffer* open = nullptr;
    // By the lowest bit of the generation: of the current one, and of the one before.
    std::array<uint32_t, 2> unanswered{};
    uint32_t generation = 0;
    bool fills_messages = false;  // the last one was full
  };

  // The word of an entry without its length; append() counts that up.
  static void begin_entry(Buffer& buffer, uint64_t offset) {
    const uint64_t word = offset << kOffsetShift;
    buffer.entry = buffer.used;
    write(buffer, &word, kWordBytes);
    buffer.next_offset = offset;
    buffer.run.head = kNoRun;
  }
  static void append(Buffer& buffer, const std::byte* source, size_t bytes) {
    write(buffer, source, bytes);
    buffer.next_offset += bytes;
    add_to_word(buffer, bytes);
  }
  static void write(Buffer& buffer, const void* source, size_t bytes) {
    std::memcpy(buffer.memory + buffer.used, source, bytes);
    buffer.used += bytes;
  }
  static void add_to_word(Buffer& buffer, uint64_t addend) {
    uint64_t word = 0;
    std::memcpy(&word, buffer.memory + buffer.entry, kWordBytes);
    word += addend;
    std::memcpy(buffer.memory + buffer.entry, &word, kWordBytes);
  }

  // False if the operation needs an entry of its own.
  static bool continue_run(Buffer& buffer, uint32_t head, uint64_t offset, uint64_t operand) {
    const AtomicRun& run = buffer.run;
    if ((run.head & ~kOwnOperands) != head) return false;
    const bool own_operands = (run.head & kOwnOperands) != 0;
    if (!own_operands && operand != run.operand) return false;
    const int64_t units = static_cast<int64_t>(offset - run.offset) >> run.unit_shift;
    const auto distance = static_cast<int32_t>(units);
    const size_t bytes = sizeof distance + (own_operands ? sizeof operand : 0);
    if (distance != units || buffer.used + bytes > buffer.capacity) return false;
    write(buffer, &distance, sizeof distance);
    if (own_operands) write(buffer, &operand, sizeof operand);
    add_to_word(buffer, bytes);
    return true;
  }
  // There is room for kFirstAtomicBytes. Operations of the same kind as those of the last entry,
  // but for their operand, have operands of their own from here on.
  static void begin_run(Buffer& buffer, uint32_t head, uint64_t offset,
                        const fabric::AtomicRequest& request) {
    const bool own_operands = buffer.run.head == head;
    const uint32_t written = head | (own_operands ? kOwnOperands : 0U);
    const int32_t distance = 0;
    begin_entry(buffer, offset);
    buffer.next_offset = kNowhere;
    buffer.run = {written, fabric::bytes_of(request.type) == sizeof(uint64_t) ? 3U : 2U, offset,
                  request.operand};
    write(buffer, &written, sizeof written);
    if (!own_operands) write(buffer, &request.operand, sizeof request.operand);
    write(buffer, &distance, sizeof distance);
    if (own_operands) write(buffer, &request.operand, sizeof request.operand);
    add_to_word(buffer, kAtomicEntry + kFirstAtomicBytes - kWordBytes);
  }

  Buffer& open(Rank target);
  Buffer& take_small();
  Buffer* take_large(Rank target);
  void send(Rank target);
  void land(Buffer& buffer, uint32_t parity);
  void collect_sent();
  void flush_older_than(double time_s);
  // Sending it would have to wait for a slot.
  bool lacks_slot(const Buffer& buffer) const {
    return buffer.used > message_bytes_ && !bulk_.has_free(buffer.target);
  }
  void unlink(Buffer& buffer);
  void take_answer(Rank source, uint32_t parity);
  void store(Rank source, std::span<const std::byte> entries);
  void carry_out(Rank source, uint64_t offset, std::span<const std::byte> run);
  void fail_malformed(Rank source, const std::string& what) const;

  am::ActiveMessages& messages_;
  std::array<uint16_t, 2> handlers_{};  // by the lowest bit of the generation
  std::array<uint16_t, 2> done_{};      // their answers
  am::Bulk& bulk_;
  uint32_t parcels_ = 0;  // channel of the bulk transport
  fabric::Fabric& fabric_;
  std::span<std::byte> segment_;
  fabric::FailureHandler fail_;
  Rule rule_;
  size_t max_put_bytes_ = 0;
  size_t message_bytes_ = 0;  // of small buffers
  size_t large_bytes_ = 0;
  double max_delay_s_ = 0;
  std::vector<Peer> peers_;
  std::vector<std::byte> memory_;  // of all buffers; allocated when the first one is opened
  std::vector<Buffer> buffers_;
  std::vector<std::byte> large_memory_;
  std::vector<Buffer> large_buffers_;
  Buffer* free_ = nullptr;
  Buffer* free_large_ = nullptr;
  Buffer* sending_ = nullptr;
  Buffer* oldest_ = nullptr;
  Buffer* newest_ = nullptr;
  Statistics statistics_;
};

}  // namespace stripline::rma
