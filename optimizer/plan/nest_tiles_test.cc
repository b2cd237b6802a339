#include "optimizer/plan/nest_tiles.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/testing/test_size.h"
#include "optimizer/plan/nest_fixture.h"

namespace stripline::plan::detail {
namespace {

// Loops that go through arrays in order, with gaps, backwards, across, not at all, or over the same
// bytes several times. Several references may share arrays, and come to touch each other.
Nest any_nest(RandomCases& draw) {
  Nest nest;
  const auto depth = static_cast<uint32_t>(1 + draw.below(4));
  for (uint32_t loop = 0; loop < depth; ++loop) nest.add_loop(1 + draw.below(12));
  const uint64_t references = 1 + draw.below(2) * draw.below(3);
  for (uint64_t r = 0; r < references; ++r) {
    access::Reference reference{.mode = static_cast<Mode>(draw.below(2) * draw.below(3)),
                                .owner = 1,
                                .base = static_cast<int64_t>(draw.below(2) << 40) +
                                        static_cast<int64_t>(8 * draw.below(4))};
    int64_t stride = draw.below(6) == 0 ? 4 : 8;
    const bool inner_first = draw.below(3) > 0;
    for (uint32_t k = 0; k < depth; ++k) {
      const uint32_t loop = inner_first ? depth - 1 - k : k;
      if (draw.below(6) == 0) continue;
      reference.stride_bytes[loop] = draw.below(6) == 0 ? -stride : stride;
      const int64_t span = stride * static_cast<int64_t>(nest.counts[loop] - 1);
      stride += span;
      if (draw.below(3) == 0) stride += 8 * static_cast<int64_t>(draw.below(5));
      if (draw.below(4) == 0) stride = span + 8 * static_cast<int64_t>(1 + draw.below(3));
    }
    if (r > 0 && draw.below(2) == 0) {  // as the first one, elsewhere
      reference.stride_bytes = nest.reference[0].stride_bytes;
      reference.mode = nest.reference[0].mode;
    }
    nest.add(reference);
  }
  return nest;
}

// True if all tiles that a step moves are.
bool in_one_piece(const Tiles& tiles) {
  return std::ranges::all_of(tiles.tile, [&](const Tile& tile) {
    return tile.hold <= tiles.cut.loop || tile.contiguous();
  });
}

TEST(TileGrowth, AgreesWithTheAnalysisOfEachCut) {
  RandomCases draw(17);
  int regions = 0;
  int cuts = 0;
  for (int i = 0; i < cases_here(20000); ++i) {
    const Nest nest = any_nest(draw);
    for (uint32_t loop = 0; loop < nest.depth; ++loop) {
      const TileGrowth growth(nest, loop);
      for (uint64_t granule = 1; granule <= nest.counts[loop]; ++granule) {
        const auto expected = tiles_of(nest, {loop, granule});
        Tiles tiles;
        const bool tiled = growth.tiles(granule, tiles);
        ++cuts;
        // References to one piece each become one group when they meet, which the planner need not
        // know.
        if (nest.references() > 1 && tiled && in_one_piece(tiles)) continue;
        ASSERT_EQ(tiled, expected.has_value()) << i << " " << loop << " " << granule;
        if (!tiled) continue;
        if (growth.knows(granule) && !in_one_piece(tiles)) ++regions;
        EXPECT_EQ(tiles.steps, expected->steps);
        EXPECT_EQ(tiles.full, expected->full);
        ASSERT_EQ(tiles.groups(), expected->groups()) << i << " " << loop << " " << granule;
        for (uint32_t g = 0; g < tiles.groups(); ++g) {
          const Tile& tile = tiles.tile[g];
          const Tile& right = expected->tile[g];
          ASSERT_EQ(tile.runs, right.runs) << i << " " << loop << " " << granule;
          ASSERT_EQ(tile.run_bytes, right.run_bytes);
          ASSERT_EQ(tile.extent_bytes, right.extent_bytes);
          ASSERT_EQ(tile.count, right.count);
          ASSERT_EQ(tile.hold, right.hold);
          ASSERT_EQ(tile.mode, right.mode);
          ASSERT_EQ(tile.reference, right.reference);
        }
      }
    }
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GT(regions, cuts / 10);
}

}  // namespace
}  // namespace stripline::plan::detail
