// The tiles of a cut as the planner needs them: how many bytes in how many runs. Where they only
// grow with the granule, they are known of all granules once they are known of two. For the files
// of this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "optimizer/access/nest.h"
#include "optimizer/plan/strip_shape.h"

namespace stripline::plan::detail {

using access::Cut;
using access::Group;
using access::Mode;
using access::Nest;
using access::Tiling;

// How often the outermost `loops` loops run together.
inline uint64_t iterations(const Nest& nest, uint32_t loops) {
  uint64_t product = 1;
  for (uint32_t loop = 0; loop < loops; ++loop) {
    product = saturating_multiply(product, nest.counts[loop]);
  }
  return product;
}

// The nearest cut that a nest can have.
inline Cut within(const Nest& nest, const Cut& cut) {
  const uint32_t loop = std::clamp(cut.loop, outermost_cut(nest), nest.depth - 1);
  const Cut near{loop, std::clamp<uint64_t>(cut.granule, 1, nest.counts[loop])};
  return within_pieces(nest, near) ? near : Cut{loop, 1};
}

// Steps of a loop, each time that it is gone through.
inline uint64_t steps_each_time(const Nest& nest, const Cut& cut) {
  return (nest.counts[cut.loop] + cut.granule - 1) / cut.granule;
}

// A group of access::tile().
struct Tile {
  Mode mode = Mode::read;
  uint8_t reference = 0;  // the first one of the group
  uint32_t hold = 0;
  uint64_t runs = 1;
  uint64_t run_bytes = 0;
  uint64_t extent_bytes = 0;  // from the first byte to the last
  uint64_t count = 1;         // of such tiles, in the whole nest

  uint64_t bytes() const { return runs * run_bytes; }
  bool contiguous() const { return runs == 1; }
};

// A cut and the tiles it makes.
struct Tiles {
  Cut cut;
  uint64_t steps = 1;
  double full = 1;  // the mean step as a part of a full one: the last of a loop may be shorter
  access::Few<Tile, access::kMaxReferences> tile;

  uint32_t groups() const { return static_cast<uint32_t>(tile.size()); }

  // Sets what follows from the cut and from how long tiles are held.
  void count(const Nest& nest, const Cut& made) {
    cut = made;
    const uint64_t each = steps_each_time(nest, cut);
    steps = saturating_multiply(iterations(nest, cut.loop), each);
    full = static_cast<double>(nest.counts[cut.loop]) / static_cast<double>(cut.granule * each);
    for (Tile& one : tile) one.count = one.hold > cut.loop ? steps : iterations(nest, one.hold);
  }
};

inline Tiles tiles_of(const Nest& nest, const Cut& cut, const Tiling& tiling) {
  Tiles tiles;
  for (const Group& group : tiling.group) {
    tiles.tile.emplace_back(Tile{.mode = group.mode,
                                 .reference = group.member[0],
                                 .hold = group.hold,
                                 .runs = group.tile.runs(),
                                 .run_bytes = group.tile.run_bytes,
                                 .extent_bytes = group.tile.extent().bytes()});
  }
  tiles.count(nest, cut);
  return tiles;
}

// The tiles of a cut, or nothing where the nest cannot be cut so.
inline std::optional<Tiles> tiles_of(const Nest& nest, const Cut& cut,
                                     access::Failure* why = nullptr) {
  const auto tiled = access::tile(nest, cut);
  if (const auto* failure = std::get_if<access::Failure>(&tiled)) {
    if (why != nullptr) *why = *failure;
    return std::nullopt;
  }
  return tiles_of(nest, cut, std::get<Tiling>(tiled));
}

// The tiles of all cuts at one loop.
class TileGrowth {
 public:
  TileGrowth(const Nest& nest, uint32_t loop) : nest_(nest), loop_(loop) {
    if (nest.counts[loop] < 2 || !within_pieces(nest, {loop, 2})) return;
    const auto of_one = access::tile(nest, {loop, 1});
    const auto of_two = access::tile(nest, {loop, 2});
    const auto* one = std::get_if<Tiling>(&of_one);
    const auto* two = std::get_if<Tiling>(&of_two);
    if (one == nullptr || two == nullptr || one->groups() != two->groups()) return;
    one_ = tiles_of(nest, {loop, 1}, *one);
    grows_ = true;
    bool regions = false;
    for (uint32_t g = 0; g < one->groups(); ++g) {
      growth_[g] = growth_of(one->group[g], two->group[g]);
      grows_ = grows_ && growth_[g].known;
      writes_ = writes_ || access::writes(one->group[g].mode);
      const bool grows = one->group[g].hold > loop;
      regions = regions || (grows && !two->group[g].tile.contiguous());
    }
    if (regions) grows_ = grows_ && are_separate(*one);
  }

  // The tiles of single iterations; null if nothing is known of how they grow.
  const Tiles* one() const { return one_ ? &*one_ : nullptr; }
  // Bytes that a tile has more with each iteration, and whether it is one region nevertheless.
  uint64_t more_bytes(uint32_t g) const { return growth_[g].bytes; }
  bool contiguous(uint32_t g) const { return growth_[g].contiguous; }

  // True if the tiles of a cut are known from those of others.
  bool knows(uint64_t granule) const {
    // The last step of a loop counts as a full one (access::tile()), and may then write what the
    // next one does.
    return grows_ && (!writes_ || nest_.counts[loop_] % granule == 0);
  }

  // Sets the tiles of a cut as tiles_of() does, but at once where they only grow. False where the
  // nest cannot be cut so.
  bool tiles(uint64_t granule, Tiles& tiles) const {
    if (!knows(granule)) {
      const auto cut = tiles_of(nest_, {loop_, granule});
      if (cut) tiles = *cut;
      return cut.has_value();
    }
    tiles.tile = one_->tile;
    for (uint32_t g = 0; g < tiles.groups(); ++g) {
      Tile& tile = tiles.tile[g];
      tile.run_bytes += (granule - 1) * growth_[g].run_bytes;
      tile.runs += (granule - 1) * growth_[g].runs;
      tile.extent_bytes += (granule - 1) * growth_[g].extent_bytes;
    }
    tiles.count(nest_, {loop_, granule});
    return true;
  }

 private:
  // With each iteration more.
  struct Growth {
    bool known = false;
    bool contiguous = false;
    uint64_t bytes = 0;
    uint64_t run_bytes = 0;
    uint64_t runs = 0;
    uint64_t extent_bytes = 0;
  };

  Growth growth_of(const Group& one, const Group& two) const {
    const access::Lmad& small = one.tile;
    const access::Lmad& large = two.tile;
    Growth growth;
    growth.contiguous = large.contiguous();
    growth.bytes = two.bytes() - std::min(one.bytes(), two.bytes());
    if (one.hold != two.hold || one.members != two.members) return growth;
    if (one.hold <= loop_) {
      growth.known = true;
    } else if (small.contiguous() && large.contiguous()) {
      growth.known = true;
      growth.run_bytes = growth.extent_bytes = growth.bytes;
    } else if (one.members == 1) {
      // Tiles of several references may come to overlap as they grow.
      learn_regions(small, large, growth);
    }
    return growth;
  }

  // True if no two groups can become one as they grow.
  bool are_separate(const Tiling& tiling) const {
    for (uint32_t g = 0; g < tiling.groups(); ++g) {
      const Group& one = tiling.group[g];
      for (uint32_t h = 0; h < g; ++h) {
        const Group& other = tiling.group[h];
        if (one.mode == other.mode && one.hold == other.hold &&
            one.stride_bytes[loop_] == other.stride_bytes[loop_]) {
          return false;
        }
      }
    }
    return true;
  }

  // The loop makes the runs of a reference longer, or one of the dimensions, or is one of its own.
  // It stays so if, up to the loop's count, no dimension beyond comes to continue what has grown
  // (access::canonical()), nor do runs come to overlap.
  void learn_regions(const access::Lmad& small, const access::Lmad& large, Growth& growth) const {
    const uint64_t count = nest_.counts[loop_];
    const bool adds = large.dims.size() == small.dims.size() + 1;
    if (!adds && large.dims.size() != small.dims.size()) return;
    size_t place = 0;  // the dimension that grows
    while (place < small.dims.size() && small.dims[place] == large.dims[place]) ++place;
    access::Lmad largest = large;
    size_t beyond = place + 1;
    uint64_t end = 0;  // where what has grown continues
    if (place < large.dims.size() && large.run_bytes == small.run_bytes) {
      access::Dimension& dim = largest.dims[place];
      const uint64_t before = adds ? 1 : small.dims[place].count;
      if (dim.count <= before || (adds && dim.count != 2)) return;
      if (!adds && dim.stride_bytes != small.dims[place].stride_bytes) return;
      const uint64_t more = dim.count - before;
      const auto stride = static_cast<uint64_t>(dim.stride_bytes);
      dim.count = before + (count - 1) * more;
      end = dim.count * stride;
      growth.runs = small.runs() / before * more;
      growth.extent_bytes = more * stride;
    } else if (place == large.dims.size() && large.run_bytes > small.run_bytes) {
      growth.run_bytes = growth.extent_bytes = large.run_bytes - small.run_bytes;
      largest.run_bytes = end = small.run_bytes + (count - 1) * growth.run_bytes;
      beyond = 0;
    } else {
      return;
    }
    const auto rest = small.dims.begin() + static_cast<std::ptrdiff_t>(place + (adds ? 0 : 1));
    if (place < large.dims.size() &&
        !std::equal(rest, small.dims.end(),
                    large.dims.begin() + static_cast<std::ptrdiff_t>(place) + 1)) {
      return;
    }
    if (beyond < largest.dims.size() &&
        static_cast<uint64_t>(largest.dims[beyond].stride_bytes) <= end) {
      return;
    }
    growth.known = access::runs_are_distinct(largest);
  }

  const Nest& nest_;
  uint32_t loop_;
  std::optional<Tiles> one_;
  bool grows_ = false;
  bool writes_ = false;
  std::array<Growth, access::kMaxReferences> growth_;  // NOLINT(*-member-init): of one_'s tiles
};

}  // namespace stripline::plan::detail
