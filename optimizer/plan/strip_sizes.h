// The strip sizes that the planner tries. For the files of this folder.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>

#include "optimizer/plan/strip_shape.h"

namespace stripline::plan::detail {

// Strips start at cache lines where their size allows it.
inline constexpr uint64_t kCacheLineBytes = 64;
inline constexpr uint64_t kMaxStrips = uint64_t{1} << 24;

// What sizes are rounded up to: whole granules, and whole cache lines as well where that is a small
// part of the strip.
class Rounding {
 public:
  explicit Rounding(const StripRequest& request)
      : granule_(granule_bytes(request)), line_(whole_lines(granule_)) {}
  uint64_t up(uint64_t bytes) const {
    const SizeUnit& unit = bytes >= 16 * line_.bytes() ? line_ : granule_;
    return unit.up(std::max(bytes, granule_.bytes()));
  }
  uint64_t down(uint64_t bytes) const { return granule_.down(bytes); }
  uint64_t granule() const { return granule_.bytes(); }

 private:
  static SizeUnit whole_lines(const SizeUnit& granule) {
    if (granule.is_power_of_two()) return SizeUnit(std::max(granule.bytes(), kCacheLineBytes));
    if (granule.bytes() > (uint64_t{1} << 32)) return granule;
    return SizeUnit(std::lcm(granule.bytes(), kCacheLineBytes));
  }

  SizeUnit granule_;
  SizeUnit line_;
};

// The strip sizes to try, from large to small: whole blocks where that is a decomposition, a half,
// a third, a quarter of a block and every power of two below, the largest messages below each
// protocol switch, and what fills a small buffer. Powers of two are made as they are asked for:
// searches end long before the smallest one.
class Sizes {
 public:
  // How many protocol switches are looked at, the last ones, and how many sizes there can be.
  static constexpr size_t kMaxSwitches = 8;
  static constexpr size_t kMost = 1 + 64 + 6 + kMaxSwitches;

  Sizes(const StripRequest& request, const StripShape& shape, std::span<const uint64_t> breakpoints)
      : shape_(shape), block_(shape.block), rounding_(request) {
    const uint64_t halo = shape.halo;
    const uint64_t most_per_block =
        shape.blocks == 1 ? kMaxStrips : std::max<uint64_t>(kMaxStrips / shape.blocks, 2);
    least_ = (block_ + most_per_block - 1) / most_per_block;
    if (shape.blocks > 1 || request.own_bytes > 0) others_[count_++] = block_;
    for (uint64_t parts = 2; parts <= 4; ++parts) {
      insert(rounding_.up((block_ + parts - 1) / parts));
      if (request.max_buffer_bytes / 2 < block_) {
        const uint64_t slot = shape.slots.down(request.max_buffer_bytes / parts);
        const uint64_t fits = rounding_.down(slot > halo ? slot - halo : 0);
        insert(fits, fits);
      }
    }
    size_t switches = 0;
    for (size_t i = breakpoints.size(); i > 0 && switches < kMaxSwitches; --i) {
      const uint64_t largest = breakpoints[i - 1] - 1;
      if (largest <= halo || largest - halo >= block_) continue;
      const uint64_t below = rounding_.down(largest - halo);
      insert(below, below);
      ++switches;
    }
    power_ = std::bit_floor(std::max<uint64_t>(block_ / 2, 1));
    of_power_ = next_of_powers(block_);
  }

  // The next smaller size, the largest one at first; 0 when there is none.
  uint64_t next() {
    const uint64_t other = place_ < count_ ? others_[place_] : 0;
    const uint64_t size = std::max(of_power_, other);
    if (other == size && other > 0) ++place_;
    if (of_power_ == size && size > 0) of_power_ = next_of_powers(size);
    return size;
  }

 private:
  bool usable(uint64_t bytes) const { return bytes > 0 && bytes >= least_ && bytes < block_; }
  // Strips of about the same size throughout, instead of a short last one, which might even travel
  // by another protocol and overtake.
  uint64_t even(uint64_t bytes) const {
    if (bytes == 0 || bytes >= block_) return bytes;
    const uint64_t parts = shape_.strips_per_block(bytes);
    return rounding_.up((block_ + parts - 1) / parts);
  }
  // The largest size below `bound` that comes of the powers of two that are left; 0: none.
  uint64_t next_of_powers(uint64_t bound) {
    while (power_ > 0) {
      const uint64_t bytes = even(rounding_.up(power_));
      power_ = power_ <= rounding_.granule() ? 0 : power_ / 2;
      if (bytes < bound && usable(bytes)) return bytes;
    }
    return 0;
  }
  // Evenly, unless that is more than the limit.
  void insert(uint64_t bytes, uint64_t limit = std::numeric_limits<uint64_t>::max()) {
    if (const uint64_t same = even(bytes); same <= limit) bytes = same;
    if (!usable(bytes)) return;
    size_t place = 0;
    while (place < count_ && others_[place] > bytes) ++place;
    if (place < count_ && others_[place] == bytes) return;
    for (size_t i = count_; i > place; --i) others_[i] = others_[i - 1];
    others_[place] = bytes;
    ++count_;
  }

  const StripShape& shape_;
  const uint64_t block_;
  uint64_t least_ = 0;
  Rounding rounding_;
  std::array<uint64_t, 1 + 6 + kMaxSwitches> others_;  // NOLINT: filled up to count_; descending
  size_t count_ = 0;
  size_t place_ = 0;       // of the next of them
  uint64_t power_ = 0;     // the next power of two
  uint64_t of_power_ = 0;  // the next size that comes of one
};

}  // namespace stripline::plan::detail
