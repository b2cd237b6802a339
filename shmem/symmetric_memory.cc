#include "shmem/symmetric_memory.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "shmem/collectives.h"

namespace stripline::shmem {
namespace {

std::byte* address_of(World& world, std::optional<uint64_t> offset) {
  return offset ? world.heap_begin() + *offset : nullptr;
}

// The offset of a block of the heap.
uint64_t offset_of(const char* call, World& world, const void* block) {
  const auto offset = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(block) -
                                            reinterpret_cast<uintptr_t>(world.heap_begin()));
  const Turn turn(world);
  if (!world.heap().size_of(offset)) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "0x%" PRIxPTR, reinterpret_cast<uintptr_t>(block));
    world.fail(std::string(call) + " of " + text.data() +
               ", which shmem_malloc has not returned, or which has been freed");
  }
  return offset;
}

// PEs that asked for different sizes would have all blocks after this one at different offsets.
std::string size_text(size_t bytes) { return std::to_string(bytes) + " bytes"; }

void* allocate_at(const char* call, size_t bytes, size_t alignment, bool zeroed) {
  World& here = world(call);
  if (bytes == 0) return nullptr;
  std::byte* block = nullptr;
  {
    const Turn turn(here);
    block = address_of(here, here.heap().allocate(bytes, alignment));
  }
  if (zeroed && block != nullptr) std::memset(block, 0, bytes);
  barrier_all(call, size_text(bytes).c_str());
  return block;
}

}  // namespace

void* allocate(const char* call, size_t bytes) {
  return allocate_at(call, bytes, Heap::kAlignment, false);
}

void* allocate_zeroed(const char* call, size_t count, size_t element_bytes) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes)) bytes = SIZE_MAX;
  return allocate_at(call, bytes, Heap::kAlignment, true);
}

void* allocate_aligned(const char* call, size_t alignment, size_t bytes) {
  const bool is_power = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!is_power || alignment > world(call).heap_alignment()) return nullptr;
  return allocate_at(call, bytes, alignment, false);
}

void* allocate_with_hints(const char* call, size_t bytes, long) { return allocate(call, bytes); }

void deallocate(const char* call, void* block) {
  World& here = world(call);
  if (block == nullptr) return;
  const uint64_t offset = offset_of(call, here, block);
  barrier_all(call);  // no PE uses it any more
  const Turn turn(here);
  here.heap().free(offset);
}

void* reallocate(const char* call, void* block, size_t bytes) {
  if (block == nullptr) return allocate(call, bytes);
  if (bytes == 0) {
    deallocate(call, block);
    return nullptr;
  }
  World& here = world(call);
  const uint64_t offset = offset_of(call, here, block);
  barrier_all(call, size_text(bytes).c_str());
  std::byte* moved = static_cast<std::byte*>(block);
  {
    const Turn turn(here);
    Heap& heap = here.heap();
    const size_t before = *heap.size_of(offset);
    if (!heap.resize(offset, bytes)) {
      moved = address_of(here, heap.allocate(bytes));
      if (moved != nullptr) {
        std::memcpy(moved, block, std::min(before, bytes));
        heap.free(offset);
      }
    }
  }
  barrier_all(call);
  return moved;
}

}  // namespace stripline::shmem
