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
struct Rounding {
  explicit Rounding(const StripRequest& request)
      : granule(granule_bytes(request)),
        line(granule > (uint64_t{1} << 32)
                 ? granule
                 : granule * (kCacheLineBytes / std::gcd(granule, kCacheLineBytes))) {}
  uint64_t operator()(uint64_t bytes) const {
    return round_up(std::max(bytes, granule), bytes >= 16 * line ? line : granule);
  }
  uint64_t granule;
  uint64_t line;
};

// The strip sizes to try, from large to small: whole blocks where that is a decomposition, a half,
// a third, a quarter of a block and every power of two below, the largest messages below each
// protocol switch, and what fills a small buffer.
class Sizes {
 public:
  Sizes(const StripRequest& request, uint64_t halo, std::span<const uint64_t> breakpoints)
      : block_(block_bytes(request)), blocks_(blocks_of(request)), rounding_(request) {
    if (blocks_ > 1 || request.own_bytes > 0) sizes_[count_++] = block_;
    for (uint64_t power = std::bit_floor(std::max<uint64_t>(block_ / 2, 1)); power > 0;
         power /= 2) {
      const uint64_t bytes = even(rounding_(power));
      if (usable(bytes) && (count_ == 0 || bytes < sizes_[count_ - 1])) sizes_[count_++] = bytes;
      if (power <= rounding_.granule) break;
    }
    for (uint64_t parts = 2; parts <= 4; ++parts) {
      insert(rounding_((block_ + parts - 1) / parts));
      if (request.max_buffer_bytes / 2 < block_) {
        const uint64_t room = request.max_buffer_bytes / parts;
        insert((room > halo ? room - halo : 0) / rounding_.granule * rounding_.granule);
      }
    }
    size_t switches = 0;
    for (size_t i = breakpoints.size(); i > 0 && switches < kMaxSwitches; --i) {
      const uint64_t largest = breakpoints[i - 1] - 1;
      if (largest <= halo || largest - halo >= block_) continue;
      const uint64_t below = (largest - halo) / rounding_.granule * rounding_.granule;
      insert(below, below);
      ++switches;
    }
  }

  const uint64_t* begin() const { return sizes_.data(); }
  const uint64_t* end() const { return sizes_.data() + count_; }

 private:
  static constexpr size_t kMaxSwitches = 8;

  bool usable(uint64_t bytes) const {
    return bytes > 0 && bytes < block_ &&
           strips_per_block(block_, bytes) <= std::max<uint64_t>(kMaxStrips / blocks_, 2);
  }
  // Strips of about the same size throughout, instead of a short last one, which might even travel
  // by another protocol and overtake.
  uint64_t even(uint64_t bytes) const {
    if (bytes == 0 || bytes >= block_) return bytes;
    const uint64_t parts = strips_per_block(block_, bytes);
    return rounding_((block_ + parts - 1) / parts);
  }
  void insert(uint64_t bytes, uint64_t limit = std::numeric_limits<uint64_t>::max()) {
    if (const uint64_t same = even(bytes); same <= limit) bytes = same;
    if (!usable(bytes)) return;
    size_t place = 0;
    while (place < count_ && sizes_[place] > bytes) ++place;
    if (place < count_ && sizes_[place] == bytes) return;
    for (size_t i = count_; i > place; --i) sizes_[i] = sizes_[i - 1];
    sizes_[place] = bytes;
    ++count_;
  }

  uint64_t block_;
  uint64_t blocks_;
  Rounding rounding_;
  std::array<uint64_t, 1 + 64 + 6 + kMaxSwitches> sizes_;  // NOLINT: filled up to count_
  size_t count_ = 0;
};

}  // namespace stripline::plan::detail
