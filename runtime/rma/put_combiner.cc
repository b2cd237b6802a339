#include "runtime/rma/put_combiner.h"

#include <algorithm>
#include <utility>

#include "runtime/fabric/atomic_apply.h"

namespace stripline::rma {

namespace {

// In flight at once: one is filled, one travels, one is stored, and one is answered.
constexpr size_t kLargeBuffers = 4;

// What a parcel is noted by: its buffer, and from this bit on the lowest one of its generation.
constexpr unsigned kParityShift = 32;

}  // namespace

PutCombiner::PutCombiner(am::ActiveMessages& messages, am::Bulk& bulk, fabric::Fabric& fabric,
                         std::span<std::byte> segment, Rank ranks, fabric::FailureHandler fail)
    : messages_(messages),
      bulk_(bulk),
      fabric_(fabric),
      segment_(segment),
      fail_(std::move(fail)),
      peers_(ranks) {
  for (uint32_t parity = 0; parity < handlers_.size(); ++parity) {
    const std::string name = parity == 0 ? "combined puts" : "combined puts, odd";
    handlers_[parity] = messages_.serve(
        name, am::Purpose::work, [this, parity](Rank source, std::span<const std::byte> entries) {
          store(source, entries);
          messages_.send(source, done_[parity], {}, {});
        });
    done_[parity] = messages_.serve(
        name + " done", am::Purpose::answer,
        [this, parity](Rank source, std::span<const std::byte>) { take_answer(source, parity); });
  }
  parcels_ = bulk_.open(
      "combined puts", am::Purpose::work,
      [this](const am::Bulk::Parcel& parcel) {
        store(parcel.source, parcel.body);
        bulk_.give_back(parcel.source, parcel.slot);
      },
      [this](Rank target, uint32_t slot, uint64_t note) {
        const uint64_t index = note & ((uint64_t{1} << kParityShift) - 1);
        // The buffer may be in use again, or replaced by start().
        if (index < large_buffers_.size()) {
          Buffer& buffer = large_buffers_[index];
          if (buffer.target == target && buffer.slot == slot) buffer.slot = kNoSlot;
        }
        take_answer(target, static_cast<uint32_t>(note >> kParityShift));
      });
}

size_t PutCombiner::largest_message_bytes() const {
  const size_t message = messages_.max_payload_bytes();
  return bulk_.notifies() ? std::max(message, bulk_.room(0)) : message;
}

void PutCombiner::start(const Rule& rule) {
  if (!has_sent()) messages_.wait([this] { return has_sent(); });
  rule_ = rule;
  max_delay_s_ = rule.max_delay_s;
  // A length has kLengthBits, also where one entry fills the message.
  message_bytes_ = std::min({rule.message_bytes, messages_.max_payload_bytes(), kLargestEntry});
  // Where two puts do not fit into a message there is nothing to combine.
  max_put_bytes_ = std::min(rule.max_put_bytes, message_bytes_ / 2 - kWordBytes);
  large_bytes_ = std::min({rule.message_bytes, bulk_.room(0), kLargestEntry});
  buffers_.clear();
  memory_.clear();
  large_buffers_.clear();
  large_memory_.clear();
  free_ = nullptr;
  free_large_ = nullptr;
  if (max_put_bytes_ == 0) return;
  size_t for_large = kLargeBuffers * large_bytes_;
  // Large buffers are for few peers, small ones for many.
  if (!bulk_.notifies() || large_bytes_ <= message_bytes_ || for_large > rule.budget_bytes / 2) {
    for_large = 0;
  }
  buffers_.resize(std::max<size_t>((rule.budget_bytes - for_large) / message_bytes_, 1));
  const auto list = [](std::vector<Buffer>& buffers, size_t capacity, Buffer*& free) {
    for (Buffer& buffer : buffers) {
      buffer.capacity = capacity;
      buffer.newer = free;
      free = &buffer;
    }
  };
  list(buffers_, message_bytes_, free_);
  if (for_large == 0) return;
  large_buffers_ = std::vector<Buffer>(kLargeBuffers);
  list(large_buffers_, large_bytes_, free_large_);
}

PutCombiner::Buffer& PutCombiner::take_small() {
  if (free_ == nullptr) {
    ++statistics_.crowded;
    // The oldest small one: there are more of them than of large ones, and all are in use.
    const Buffer* oldest = oldest_;
    while (oldest->capacity != message_bytes_) oldest = oldest->newer;
    send(oldest->target);
  }
  if (memory_.empty()) memory_.resize(buffers_.size() * message_bytes_);
  Buffer& buffer = *free_;
  free_ = buffer.newer;
  buffer.memory = memory_.data() + static_cast<size_t>(&buffer - buffers_.data()) * message_bytes_;
  return buffer;
}

// Null if none is free, or the target cannot be reached so.
PutCombiner::Buffer* PutCombiner::take_large(Rank target) {
  collect_sent();
  if (free_large_ == nullptr || !bulk_.notifies(target)) return nullptr;
  if (large_memory_.empty()) large_memory_.resize(large_buffers_.size() * large_bytes_);
  Buffer* const buffer = free_large_;
  free_large_ = buffer->newer;
  buffer->memory =
      large_memory_.data() + static_cast<size_t>(buffer - large_buffers_.data()) * large_bytes_;
  return buffer;
}

PutCombiner::Buffer& PutCombiner::open(Rank target) {
  Buffer* const large = peers_[target].fills_messages ? take_large(target) : nullptr;
  Buffer& buffer = large != nullptr ? *large : take_small();
  buffer.used = 0;
  buffer.run.head = kNoRun;
  buffer.target = target;
  buffer.opened_s = fabric_.now_s();
  buffer.newer = nullptr;
  buffer.older = newest_;
  (newest_ == nullptr ? oldest_ : newest_->newer) = &buffer;
  newest_ = &buffer;
  peers_[target].open = &buffer;
  return buffer;
}

void PutCombiner::unlink(Buffer& buffer) {
  (buffer.older == nullptr ? oldest_ : buffer.older->newer) = buffer.newer;
  (buffer.newer == nullptr ? newest_ : buffer.newer->older) = buffer.older;
}

// The buffer is closed before the message is sent: sending makes progress, and handlers that run
// meanwhile must find a consistent state.
void PutCombiner::send(Rank target) {
  Peer& peer = peers_[target];
  Buffer& buffer = *peer.open;
  peer.open = nullptr;
  peer.fills_messages =
      buffer.used + std::max(kWordBytes + max_put_bytes_, kFirstAtomicBytes) > message_bytes_;
  unlink(buffer);
  const uint32_t parity = peer.generation % 2;
  ++peer.unanswered[parity];
  ++statistics_.messages;
  if (buffer.used > message_bytes_) {
    land(buffer, parity);
    return;
  }
  messages_.send(target, handlers_[parity], {}, {buffer.memory, buffer.used});
  Buffer*& free = buffer.capacity == message_bytes_ ? free_ : free_large_;
  buffer.newer = free;
  free = &buffer;
}

void PutCombiner::land(Buffer& buffer, uint32_t parity) {
  const Rank target = buffer.target;
  // Slots are given back to this class and to the others that use them.
  if (!bulk_.has_free(target)) {
    messages_.wait([this, target] { return bulk_.has_free(target); });
  }
  buffer.slot = bulk_.acquire(target);
  ++statistics_.landed;
  buffer.newer = sending_;
  sending_ = &buffer;
  bulk_.put(
      parcels_, target, buffer.slot, {}, {buffer.memory, buffer.used},
      static_cast<uint64_t>(&buffer - large_buffers_.data()) | uint64_t{parity} << kParityShift);
}

void PutCombiner::collect_sent() {
  for (Buffer** link = &sending_; *link != nullptr;) {
    Buffer& buffer = **link;
    if (buffer.slot != kNoSlot && !bulk_.is_sent(buffer.target, buffer.slot)) {
      link = &buffer.newer;
      continue;
    }
    *link = buffer.newer;
    buffer.slot = kNoSlot;
    buffer.newer = free_large_;
    free_large_ = &buffer;
  }
}

// From the newest on: the ranks that were written last are sent to first, so that ranks that write
// to all others in the same order do not all send to the same one. Those that have to wait for a
// slot come last.
void PutCombiner::flush() {
  for (Buffer* buffer = newest_; buffer != nullptr;) {
    Buffer* const older = buffer->older;
    if (!lacks_slot(*buffer)) send(buffer->target);
    buffer = older;
  }
  while (newest_ != nullptr) send(newest_->target);
}

// A call that only makes progress does not wait for slots.
void PutCombiner::flush_older_than(double time_s) {
  for (Buffer* buffer = oldest_; buffer != nullptr && buffer->opened_s <= time_s;) {
    Buffer* const newer = buffer->newer;
    if (!lacks_slot(*buffer)) send(buffer->target);
    buffer = newer;
  }
}

bool PutCombiner::is_answered(Rank target, uint32_t generation) {
  Peer& peer = peers_[target];
  if (generation == peer.generation) {
    if (peer.unanswered[(generation + 1) % 2] != 0) return false;  // of the one before
    if (peer.unanswered[generation % 2] == 0) return true;
    ++peer.generation;
    return false;
  }
  // One ends only when those before it have been answered.
  return peer.generation - generation > 1 || peer.unanswered[generation % 2] == 0;
}

void PutCombiner::take_answer(Rank source, uint32_t parity) {
  if (parity > 1 || peers_[source].unanswered[parity] == 0) {
    fail_(Error(ErrorCode::data_loss,
                "rank " + std::to_string(source) + " answered combined puts that it was not sent"));
  }
  --peers_[source].unanswered[parity];
}

void PutCombiner::store(Rank source, std::span<const std::byte> entries) {
  while (!entries.empty()) {
    uint64_t word = 0;
    if (entries.size() >= kWordBytes) std::memcpy(&word, entries.data(), kWordBytes);
    const uint64_t offset = word >> kOffsetShift;
    const size_t bytes = word & kLargestEntry;
    const bool is_atomic = (word & kAtomicEntry) != 0;
    if (entries.size() < kWordBytes + bytes || offset > segment_.size() ||
        (!is_atomic && bytes > segment_.size() - offset)) {
      fail_malformed(source, std::to_string(bytes) + " bytes at offset " + std::to_string(offset));
    }
    if (is_atomic) {
      carry_out(source, offset, entries.subspan(kWordBytes, bytes));
    } else {
      std::memcpy(segment_.data() + offset, entries.data() + kWordBytes, bytes);
    }
    entries = entries.subspan(kWordBytes + bytes);
  }
}

void PutCombiner::carry_out(Rank source, uint64_t offset, std::span<const std::byte> run) {
  uint32_t head = kNoRun;
  if (run.size() >= sizeof head) std::memcpy(&head, run.data(), sizeof head);
  fabric::AtomicRequest request;
  const bool own_operands = (head & kOwnOperands) != 0;
  const size_t first = sizeof head + (own_operands ? 0 : sizeof request.operand);
  const size_t step = sizeof(int32_t) + (own_operands ? sizeof request.operand : 0);
  const uint32_t op = head & ((1U << kTypeShift) - 1);
  const uint32_t type = (head & ~kOwnOperands) >> kTypeShift;
  if (run.size() < first || (run.size() - first) % step != 0 || op >= fabric::kAtomicOps ||
      type >= fabric::kAtomicTypes) {
    fail_malformed(source, "atomic operations of " + std::to_string(run.size()) + " bytes");
  }
  request.op = static_cast<fabric::AtomicOp>(op);
  request.type = static_cast<fabric::AtomicType>(type);
  const size_t unit = fabric::bytes_of(request.type);
  if (!own_operands) std::memcpy(&request.operand, run.data() + sizeof head, sizeof(uint64_t));
  for (size_t at = first; at < run.size(); at += step) {
    int32_t distance = 0;
    std::memcpy(&distance, run.data() + at, sizeof distance);
    if (own_operands) {
      std::memcpy(&request.operand, run.data() + at + sizeof distance, sizeof(uint64_t));
    }
    // What would lie before the segment is far behind it.
    const uint64_t variable = offset + static_cast<uint64_t>(int64_t{distance}) * unit;
    if (variable % unit != 0 || variable > segment_.size() - unit) {
      fail_malformed(source, "an atomic operation at offset " + std::to_string(variable));
    }
    fabric::apply_atomic(request, segment_.data() + variable);
  }
}

void PutCombiner::fail_malformed(Rank source, const std::string& what) const {
  fail_(Error(ErrorCode::data_loss, "rank " + std::to_string(source) +
                                        " sent combined puts that are not well formed (" + what +
                                        ")"));
}

}  // namespace stripline::rma
