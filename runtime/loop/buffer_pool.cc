#include "runtime/loop/buffer_pool.h"

#include <algorithm>
#include <bit>
#include <sys/mman.h>

#include "base/host_memory.h"

namespace stripline::detail {

void BufferPool::Buffer::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, alignment);
}

uint64_t BufferPool::room() const {
  uint64_t in_use = 0;
  for (const auto& buffer : buffers_) in_use += buffer->users > 0 ? buffer->capacity : 0;
  if (in_use == 0) return most_room();
  return in_use < budget_ ? std::bit_floor((budget_ - in_use) / 2) : 0;
}

template <typename Suits, typename Better>
BufferPool::Buffer* BufferPool::best(const Suits& suits, const Better& better) const {
  Buffer* found = nullptr;
  for (const auto& buffer : buffers_) {
    if (buffer->users > 0 || !suits(*buffer)) continue;
    if (found == nullptr || better(*buffer, *found)) found = buffer.get();
  }
  return found;
}

BufferPool::Use BufferPool::acquire(uint64_t bytes) {
  const auto is_free = [](const Buffer& one) { return one.contents.empty(); };
  const auto smaller = [](const Buffer& a, const Buffer& b) { return a.capacity < b.capacity; };
  const auto larger = [](const Buffer& a, const Buffer& b) { return a.capacity > b.capacity; };
  const auto older = [](const Buffer& a, const Buffer& b) { return a.last_use < b.last_use; };

  uint64_t capacity = std::max(bytes, std::min(kLeastBytes, budget_));
  const auto fits = [&](const Buffer& one) {
    return one.capacity >= bytes && one.capacity / kMostWaste <= capacity;
  };
  if (Buffer* const known =
          best([&](const Buffer& one) { return is_free(one) && fits(one); }, smaller)) {
    return {*this, *known};
  }
  // A larger one takes the place of one that has become too small.
  if (const Buffer* const small =
          best([&](const Buffer& one) { return is_free(one) && one.capacity < bytes; }, larger)) {
    remove(*small);
  }
  while (bytes_ + capacity > budget_ || buffers_.size() >= kMostBuffers) {
    Buffer* const oldest = best([](const Buffer&) { return true; }, older);
    if (oldest == nullptr) {
      if (bytes_ + capacity > budget_) capacity = bytes;
      break;
    }
    statistics_.evicted_regions += oldest->contents.size();
    oldest->contents.clear();
    if (fits(*oldest)) return {*this, *oldest};
    remove(*oldest);
  }
  auto made = std::make_unique<Buffer>();
  made->memory = allocate(capacity);
  if (made->memory == nullptr) return {};
  made->capacity = capacity;
  bytes_ += capacity;
  ++statistics_.allocations;
  statistics_.most_bytes = std::max(statistics_.most_bytes, bytes_);
  buffers_.push_back(std::move(made));
  return {*this, *buffers_.back()};
}

// Large buffers ask for huge pages: loops that go through them with strides then find most of their
// addresses in the TLB, and who copies into them has fewer pages to look up.
BufferPool::Buffer::Memory BufferPool::allocate(uint64_t bytes) {
  const bool large = bytes >= kHugePageBytes;
  const std::align_val_t alignment{large ? kHugePageBytes : kAlignment};
  auto* const memory = static_cast<std::byte*>(::operator new[](bytes, alignment, std::nothrow));
  if (large && memory != nullptr) {  // where they are off, small ones do
    ::madvise(memory, bytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
  }
  return Buffer::Memory(memory, Buffer::Free(alignment));
}

void BufferPool::give_back(Buffer& buffer) {
  buffer.last_use = ++clock_;
  if (--buffer.users == 0 && bytes_ > budget_) remove(buffer);
}

void BufferPool::remove(const Buffer& buffer) {
  bytes_ -= buffer.capacity;
  std::erase_if(buffers_, [&](const auto& one) { return one.get() == &buffer; });
}

}  // namespace stripline::detail
