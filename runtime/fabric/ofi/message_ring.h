// A queue of messages from one process to another in memory that both map: one writer, one reader,
// no lock. A message lies in one piece, so that it is read where it is.
//
// The memory is zeroed to begin with. Positions count bytes from the beginning of the world; the
// place in the buffer is the position modulo its size. A message is led by one word that says how
// long it is, and zero where none is yet: the writer clears the word behind a message before it
// sets the one that leads it. So a reader that waits looks at the line in which the message will
// be, and a short one crosses from core to core with the word that announces it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace stripline::fabric::ofi {

/// The memory of one ring: 64 KiB in all, a multiple of every page size in use, so that each can be
/// mapped by itself.
struct RingMemory {
  static constexpr size_t kLine = 64;  ///< messages begin at its multiples
  static constexpr size_t kBufferBytes = (size_t{64} << 10) - kLine;
  /// The largest message: several fit, so that writer and reader overlap.
  static constexpr size_t kLargest = kBufferBytes / 4 - 2 * kLine;

  alignas(kLine) std::atomic<uint64_t> read;  ///< position of the first message not yet read
  alignas(kLine) std::byte buffer[kBufferBytes];

  /// The word that leads a message, by its position.
  std::atomic_ref<uint64_t> word(uint64_t position) {
    return std::atomic_ref(*reinterpret_cast<uint64_t*>(buffer + position % kBufferBytes));
  }
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(RingMemory) == size_t{64} << 10);

namespace ring_detail {
/// A word is 0, or the length of a message and one, or this: go on at the beginning of the buffer.
inline constexpr uint64_t kSkip = ~uint64_t{0};
constexpr uint64_t padded(size_t bytes) {
  return (bytes + sizeof(uint64_t) + RingMemory::kLine - 1) / RingMemory::kLine * RingMemory::kLine;
}
}  // namespace ring_detail

/// The sending end. One thread.
class RingWriter {
 public:
  RingWriter() = default;
  explicit RingWriter(RingMemory* memory) : memory_(memory) {}

  explicit operator bool() const { return memory_ != nullptr; }

  /// False if there is no room now. At most RingMemory::kLargest bytes.
  bool write(std::span<const std::byte> message) {
    const uint64_t bytes = ring_detail::padded(message.size());
    const uint64_t to_end = RingMemory::kBufferBytes - written_ % RingMemory::kBufferBytes;
    const uint64_t skipped = bytes > to_end ? to_end : 0;
    // With the word behind it.
    if (!has_room(skipped + bytes + RingMemory::kLine)) return false;
    const uint64_t begin = written_ + skipped;
    memory_->word(begin + bytes).store(0, std::memory_order_relaxed);
    if (!message.empty()) {
      std::memcpy(memory_->buffer + begin % RingMemory::kBufferBytes + sizeof(uint64_t),
                  message.data(), message.size());
    }
    memory_->word(begin).store(message.size() + 1, std::memory_order_release);
    // The reader is not there yet: it waits before what is skipped.
    if (skipped > 0) memory_->word(written_).store(ring_detail::kSkip, std::memory_order_release);
    written_ = begin + bytes;
    return true;
  }

 private:
  bool has_room(uint64_t bytes) {
    if (written_ + bytes - read_ <= RingMemory::kBufferBytes) return true;
    read_ = memory_->read.load(std::memory_order_acquire);
    return written_ + bytes - read_ <= RingMemory::kBufferBytes;
  }

  RingMemory* memory_ = nullptr;
  uint64_t written_ = 0;
  uint64_t read_ = 0;  // as last seen
};

/// The receiving end. One thread.
class RingReader {
 public:
  explicit RingReader(RingMemory* memory) : memory_(memory) {}

  bool empty() {
    word_ = memory_->word(read_).load(std::memory_order_acquire);
    if (word_ != ring_detail::kSkip) return word_ == 0;
    // What follows was published before.
    read_ += RingMemory::kBufferBytes - read_ % RingMemory::kBufferBytes;
    word_ = memory_->word(read_).load(std::memory_order_acquire);
    return false;
  }

  /// The first message; valid until pop(). Only after empty() said no.
  std::span<const std::byte> front() {
    return {memory_->buffer + read_ % RingMemory::kBufferBytes + sizeof(uint64_t), word_ - 1};
  }

  /// Gives its room back. Only after empty() said no.
  void pop() {
    read_ += ring_detail::padded(word_ - 1);
    memory_->read.store(read_, std::memory_order_release);
  }

 private:
  RingMemory* memory_;
  uint64_t read_ = 0;
  uint64_t word_ = 0;  // that leads the first message
};

}  // namespace stripline::fabric::ofi
