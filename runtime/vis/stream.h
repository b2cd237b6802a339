// The stream of bytes that a packed transfer is: gathering it, scattering it, and writing the
// places of a list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <stripline/work.h>

#include "optimizer/plan/vis.h"
#include "runtime/vis/copy_rows.h"
#include "runtime/vis/cursor.h"
#include "runtime/vis/regions.h"
#include "runtime/vis/wire.h"

namespace stripline::vis {

// Less of a region than this does not begin a message's last place.
inline constexpr uint64_t kSmallestPart = plan::kLeastPackedBytes;

// The next bytes of the stream: where they are if they are contiguous, otherwise packed into `out`.
// Copies are added to `work`, if there is one, here and below.
inline std::span<const std::byte> gather(SideCursor& cursor, const std::byte* memory,
                                         uint64_t bytes, std::byte* out, Work* work) {
  const std::byte* const begin = out;
  for (uint64_t left = bytes; left > 0;) {
    const Run run = cursor.next(left);
    if (run.count == 1 && run.bytes == bytes) return {memory + run.offset, bytes};
    copy_rows(out, static_cast<int64_t>(run.bytes), memory + run.offset, run.stride, run.count,
              run.bytes);
    count_copy(work, run.count, run.bytes);
    out += run.count * run.bytes;
    left -= run.count * run.bytes;
  }
  return {begin, bytes};
}

inline void scatter(SideCursor& cursor, std::span<const std::byte> data, std::byte* memory,
                    Work* work) {
  while (!data.empty()) {
    const Run run = cursor.next(data.size());
    copy_rows(memory + run.offset, run.stride, data.data(), static_cast<int64_t>(run.bytes),
              run.count, run.bytes);
    count_copy(work, run.count, run.bytes);
    data = data.subspan(run.count * run.bytes);
  }
}

// Writes the words of a list's places; what goes on where the last place ended becomes part of it.
class PlaceWriter {
 public:
  explicit PlaceWriter(std::byte* out) : out_(out) {}

  /// What a place at `offset` takes beside its data.
  size_t overhead(uint64_t offset) const {
    return place_ != nullptr && offset == next_offset_ ? 0 : wire::kWordBytes;
  }
  void add(uint64_t offset, uint64_t bytes) {
    if (overhead(offset) != 0) {
      place_ = out_;
      place_offset_ = offset;
      out_ += wire::kWordBytes;
    }
    next_offset_ = offset + bytes;
    const uint64_t word = wire::word_of(place_offset_, next_offset_ - place_offset_);
    std::memcpy(place_, &word, sizeof word);
  }
  void add(uint64_t offset, uint64_t bytes, const std::byte* data) {
    add(offset, bytes);
    copy_rows(out_, 0, data, 0, 1, bytes);
    out_ += bytes;
  }
  std::byte* end() const { return out_; }

 private:
  std::byte* out_;
  std::byte* place_ = nullptr;
  uint64_t place_offset_ = 0;
  uint64_t next_offset_ = 0;
};

/// Writes the next regions of a list, {word, data}, from `first` to at most `limit`; returns the
/// end.
inline std::byte* write_list(RegionCursor& list, std::byte* first, const std::byte* limit,
                             Work* work) {
  PlaceWriter places(first);
  while (!list.done()) {
    Region region = list.peek(UINT64_MAX);
    const size_t overhead = places.overhead(region.offset);
    const auto room = static_cast<uint64_t>(limit - places.end());
    if (room < overhead + std::min<uint64_t>(region.bytes, kSmallestPart)) break;
    region.bytes = std::min<uint64_t>(region.bytes, room - overhead);
    places.add(region.offset, region.bytes, region.memory);
    count_copy(work, 1, region.bytes);
    list.skip(region.bytes);
  }
  return places.end();
}

/// Writes the words of the next regions of a list, of at most `bytes` together, from `first` to at
/// most `limit`; returns the end, and takes what they have from `bytes`.
inline std::byte* write_list_places(RegionCursor& list, uint64_t& bytes, std::byte* first,
                                    const std::byte* limit) {
  PlaceWriter places(first);
  while (bytes > 0 && !list.done()) {
    const Region region = list.peek(bytes);
    if (places.end() + places.overhead(region.offset) > limit) break;
    places.add(region.offset, region.bytes);
    list.skip(region.bytes);
    bytes -= region.bytes;
  }
  return places.end();
}

/// The next bytes of a list's stream, as gather() above.
inline std::span<const std::byte> gather(RegionCursor& list, uint64_t bytes, std::byte* out,
                                         Work* work) {
  const std::byte* const begin = out;
  for (uint64_t left = bytes; left > 0;) {
    const Region region = list.peek(left);
    list.skip(region.bytes);
    if (region.bytes == bytes) return {region.memory, bytes};
    copy_rows(out, 0, region.memory, 0, 1, region.bytes);
    count_copy(work, 1, region.bytes);
    out += region.bytes;
    left -= region.bytes;
  }
  return {begin, bytes};
}

/// Copies data to the next regions of a list.
inline void scatter(RegionCursor& list, std::span<const std::byte> data, Work* work) {
  while (!data.empty()) {
    const Region region = list.peek(data.size());
    copy_rows(region.memory, 0, data.data(), 0, 1, region.bytes);
    count_copy(work, 1, region.bytes);
    list.skip(region.bytes);
    data = data.subspan(region.bytes);
  }
}

}  // namespace stripline::vis
