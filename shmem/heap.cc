#include "shmem/heap.h"

#include <algorithm>
#include <iterator>

namespace stripline::shmem {
namespace {

uint64_t up_to_unit(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Heap::Heap(uint64_t bytes) : bytes_(bytes / kAlignment * kAlignment), free_bytes_(bytes_) {
  if (bytes_ > 0) free_[0] = bytes_;
}

std::optional<uint64_t> Heap::allocate(uint64_t bytes, uint64_t alignment) {
  if (bytes > bytes_) return std::nullopt;  // also what would overflow below
  const uint64_t room = up_to_unit(std::max<uint64_t>(bytes, 1), kAlignment);
  const uint64_t unit = std::max(alignment, kAlignment);
  if (unit > bytes_) return std::nullopt;
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    const auto [begin, size] = *block;
    const uint64_t place = up_to_unit(begin, unit);
    if (place - begin > size || size - (place - begin) < room) continue;
    free_.erase(block);
    if (place > begin) free_[begin] = place - begin;
    if (place + room < begin + size) free_[place + room] = begin + size - (place + room);
    blocks_[place] = {.asked = bytes, .room = room};
    free_bytes_ -= room;
    return place;
  }
  return std::nullopt;
}

bool Heap::resize(uint64_t offset, uint64_t bytes) {
  Block& block = blocks_.at(offset);
  if (bytes > bytes_) return false;
  const uint64_t room = up_to_unit(std::max<uint64_t>(bytes, 1), kAlignment);
  if (room > block.room) {
    const auto next = free_.find(offset + block.room);
    const uint64_t more = room - block.room;
    if (next == free_.end() || next->second < more) return false;
    const uint64_t left = next->second - more;
    free_.erase(next);
    if (left > 0) free_[offset + room] = left;
    free_bytes_ -= more;
  } else if (room < block.room) {
    give_back(offset + room, block.room - room);
  }
  block = {.asked = bytes, .room = room};
  return true;
}

bool Heap::free(uint64_t offset) {
  const auto block = blocks_.find(offset);
  if (block == blocks_.end()) return false;
  const uint64_t room = block->second.room;
  blocks_.erase(block);
  give_back(offset, room);
  return true;
}

std::optional<uint64_t> Heap::size_of(uint64_t offset) const {
  const auto block = blocks_.find(offset);
  if (block == blocks_.end()) return std::nullopt;
  return block->second.asked;
}

bool Heap::holds(uint64_t offset, uint64_t bytes) const {
  const auto after = blocks_.upper_bound(offset);
  if (after == blocks_.begin()) return false;
  const auto& [begin, block] = *std::prev(after);
  return offset - begin <= block.asked && bytes <= block.asked - (offset - begin);
}

void Heap::give_back(uint64_t offset, uint64_t bytes) {
  free_bytes_ += bytes;
  auto next = free_.lower_bound(offset);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      free_.erase(before);
    }
  }
  if (next != free_.end() && offset + bytes == next->first) {
    bytes += next->second;
    free_.erase(next);
  }
  free_[offset] = bytes;
}

}  // namespace stripline::shmem
