#include "runtime/array/halo_layout.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::array {
namespace {

// A cube of 8^3 elements of 8 bytes on each rank of a periodic grid, with edges and corners.
std::vector<HaloPart> cubes(PerDimension<uint32_t> grid, uint64_t together_bytes) {
  HaloPart part{.interior = {8, 8, 8, 1},
                .width = {1, 1, 1, 0},
                .grid = grid,
                .periodic = {1, 1, 1, 0},
                .corners = 1,
                .element_bytes = 8,
                .together_bytes = together_bytes};
  return std::vector<HaloPart>(size_t{grid[0]} * grid[1] * grid[2], part);
}

TEST(HaloLayoutTest, BordersToOneRankTravelTogether) {
  const auto parts = cubes({1, 1, 2, 1}, 4096);
  const HaloLayout layout(3, parts);
  const auto parcels = layout.incoming(0);
  ASSERT_EQ(parcels.size(), 1U);
  EXPECT_EQ(parcels[0].source, 1U);
  // The nine directions up and the nine down: two faces, eight edges, eight corners.
  EXPECT_EQ(parcels[0].directions.size(), 18U);
  EXPECT_EQ(parcels[0].bytes, 2U * 64 * 8 + 8 * 8 * 8 + 8 * 8);
}

TEST(HaloLayoutTest, ALargeBorderTravelsAlone) {
  const auto parts = cubes({1, 1, 2, 1}, 576);  // a face has 512, all edges and corners 576
  const HaloLayout layout(3, parts);
  const auto parcels = layout.incoming(1);
  ASSERT_EQ(parcels.size(), 3U);
  EXPECT_EQ(std::count_if(parcels.begin(), parcels.end(),
                          [](const HaloParcel& one) { return one.directions.size() == 1; }),
            2);
}

TEST(HaloLayoutTest, EachDirectionLandsOnceAndApart) {
  for (const uint64_t together : {0U, 100U, 600U, 1U << 20}) {
    const auto parts = cubes({2, 2, 3, 1}, together);
    const HaloLayout layout(3, parts);
    for (rank_t rank = 0; rank < parts.size(); ++rank) {
      std::set<size_t> directions;
      std::set<size_t> numbers;
      size_t end = 0;
      const auto parcels = layout.incoming(rank);
      for (const HaloParcel& parcel : parcels) {
        EXPECT_NE(parcel.source, rank);
        EXPECT_GE(parcel.offset, end);
        EXPECT_EQ(parcel.offset % kHaloAlignment, 0U);
        end = parcel.offset + parcel.bytes;
        EXPECT_TRUE(numbers.insert(parcel.number()).second);
        size_t bytes = 0;
        for (const size_t direction : parcel.directions) {
          EXPECT_EQ(layout.neighbour(rank, direction), parcel.source);
          EXPECT_EQ(layout.neighbour(parcel.source, layout.opposite(direction)), rank);
          EXPECT_TRUE(directions.insert(direction).second);
          bytes += layout.border_bytes(rank, direction);
        }
        EXPECT_EQ(parcel.bytes, bytes);
      }
      EXPECT_LE(end, HaloLayout::landing_bytes(parcels));
      EXPECT_EQ(directions.size(), 26U);
    }
  }
}

}  // namespace
}  // namespace stripline::array
