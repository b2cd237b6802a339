// A queue of messages from one process to another in memory that both map: one writer, one reader,
// no lock. A message lies in one piece, so that it is read where it is.
//
// The memory is zeroed to begin with. Positions count bytes from the beginning of the world; the
// place in the buffer is the position modulo its size. What is published is ordered by release and
// acquire of the positions alone.
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
  static constexpr size_t kBufferBytes = (size_t{64} << 10) - 128;
  /// The largest message: several fit, so that writer and reader overlap.
  static constexpr size_t kLargest = kBufferBytes / 4;

  alignas(64) std::atomic<uint64_t> written;  ///< position behind the last message
  alignas(64) std::atomic<uint64_t> read;     ///< position of the first message not yet read
  alignas(64) std::byte buffer[kBufferBytes];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(RingMemory) == size_t{64} << 10);

namespace ring_detail {
/// Leads every message; then its bytes, padded to a multiple of the header.
struct Header {
  uint32_t bytes;
  uint32_t skip;  ///< 1: no message, go on at the beginning of the buffer
};
constexpr uint64_t padded(size_t bytes) {
  return (bytes + 2 * sizeof(Header) - 1) / sizeof(Header) * sizeof(Header);
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
    using ring_detail::Header;
    const uint64_t place = written_ % RingMemory::kBufferBytes;
    const uint64_t bytes = ring_detail::padded(message.size());
    const uint64_t to_end = RingMemory::kBufferBytes - place;
    const uint64_t skipped = bytes > to_end ? to_end : 0;
    if (!has_room(skipped + bytes)) return false;
    if (skipped > 0) {
      store(place, Header{0, 1});
      written_ += skipped;
    }
    const uint64_t begin = written_ % RingMemory::kBufferBytes;
    store(begin, Header{static_cast<uint32_t>(message.size()), 0});
    if (!message.empty()) {
      std::memcpy(memory_->buffer + begin + sizeof(Header), message.data(), message.size());
    }
    written_ += bytes;
    memory_->written.store(written_, std::memory_order_release);
    return true;
  }

 private:
  bool has_room(uint64_t bytes) {
    if (written_ + bytes - read_ <= RingMemory::kBufferBytes) return true;
    read_ = memory_->read.load(std::memory_order_acquire);
    return written_ + bytes - read_ <= RingMemory::kBufferBytes;
  }
  void store(uint64_t place, const ring_detail::Header& header) {
    std::memcpy(memory_->buffer + place, &header, sizeof header);
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
    if (read_ == written_ && !look()) return true;
    // What follows a skip was published with it.
    if (header_at(read_).skip != 0) {
      read_ += RingMemory::kBufferBytes - read_ % RingMemory::kBufferBytes;
    }
    return false;
  }

  /// The first message; valid until pop(). Only after empty() said no.
  std::span<const std::byte> front() {
    const ring_detail::Header header = header_at(read_);
    return {memory_->buffer + read_ % RingMemory::kBufferBytes + sizeof header, header.bytes};
  }

  /// Gives its room back. Only after empty() said no.
  void pop() {
    read_ += ring_detail::padded(header_at(read_).bytes);
    memory_->read.store(read_, std::memory_order_release);
  }

 private:
  bool look() {
    written_ = memory_->written.load(std::memory_order_acquire);
    return read_ != written_;
  }
  ring_detail::Header header_at(uint64_t position) const {
    ring_detail::Header header{};
    std::memcpy(&header, memory_->buffer + position % RingMemory::kBufferBytes, sizeof header);
    return header;
  }

  RingMemory* memory_;
  uint64_t read_ = 0;
  uint64_t written_ = 0;  // as last seen
};

}  // namespace stripline::fabric::ofi
