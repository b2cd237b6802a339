// Normal forms and cursors against the enumeration of every byte.
#include "runtime/vis/strided.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "runtime/vis/cursor.h"

namespace stripline::vis {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

// All (remote, local) byte offsets, sorted.
Pairs enumerate(const Strided& shape) {
  Pairs pairs;
  std::vector<uint64_t> index(shape.dimensions.size(), 0);
  for (const Dimension& dimension : shape.dimensions) {
    if (dimension.count == 0) return pairs;
  }
  while (true) {
    int64_t remote = shape.remote;
    int64_t local = shape.local;
    for (size_t i = 0; i < index.size(); ++i) {
      remote += shape.dimensions[i].remote_stride * static_cast<int64_t>(index[i]);
      local += shape.dimensions[i].local_stride * static_cast<int64_t>(index[i]);
    }
    for (uint64_t byte = 0; byte < shape.bytes; ++byte) {
      pairs.emplace_back(remote + static_cast<int64_t>(byte), local + static_cast<int64_t>(byte));
    }
    size_t i = 0;
    while (i < index.size() && ++index[i] == shape.dimensions[i].count) index[i++] = 0;
    if (i == index.size()) break;
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::vector<int64_t> stream_of(const Side& side, uint64_t total, uint64_t start,
                               std::mt19937_64& random) {
  SideCursor cursor;
  cursor.start(side, start);
  std::vector<int64_t> offsets;
  for (uint64_t at = start; at < total;) {
    const uint64_t limit = 1 + random() % (random() % 4 == 0 ? 200 : 9);
    const Run run = cursor.next(std::min(limit, total - at));
    EXPECT_LE(run.count * run.bytes, std::min(limit, total - at));
    for (uint64_t i = 0; i < run.count; ++i) {
      for (uint64_t byte = 0; byte < run.bytes; ++byte) {
        offsets.push_back(run.offset + run.stride * static_cast<int64_t>(i) +
                          static_cast<int64_t>(byte));
      }
    }
    at += run.count * run.bytes;
    if (run.count * run.bytes == 0) break;
  }
  return offsets;
}

Strided random_shape(std::mt19937_64& random) {
  Strided shape;
  shape.remote = static_cast<int64_t>(random() % 1000);
  shape.local = static_cast<int64_t>(random() % 1000);
  shape.bytes = 1 + random() % 8;
  const size_t dimensions = random() % 8;
  uint64_t regions = 1;
  for (size_t i = 0; i < dimensions; ++i) {
    Dimension dimension;
    dimension.count = random() % 16 == 0 ? 0 : 1 + random() % (regions > 300 ? 2 : 5);
    regions *= std::max<uint64_t>(dimension.count, 1);
    const auto stride = [&]() -> int64_t {
      const auto sign = random() % 2 == 0 ? 1 : -1;
      switch (random() % 5) {
        case 0:
          return 0;
        case 1:  // often contiguous
          return sign * static_cast<int64_t>(shape.bytes);
        default:
          return sign * static_cast<int64_t>(random() % 64);
      }
    };
    dimension.remote_stride = stride();
    dimension.local_stride = random() % 2 == 0 ? dimension.remote_stride : stride();
    if (i > 0 && random() % 2 == 0) {  // continues the one before
      const Dimension& before = shape.dimensions[i - 1];
      dimension.remote_stride = before.remote_stride * static_cast<int64_t>(before.count);
      if (random() % 2 == 0) {
        dimension.local_stride = before.local_stride * static_cast<int64_t>(before.count);
      }
    }
    shape.dimensions.push_back(dimension);
  }
  std::shuffle(shape.dimensions.begin(), shape.dimensions.end(), random);
  return shape;
}

TEST(Strided, TheNormalFormPairsTheSameBytes) {
  std::mt19937_64 random(7);
  size_t folded = 0;
  for (int round = 0; round < 3000; ++round) {
    const Strided shape = random_shape(random);
    Strided normal = shape;
    ASSERT_TRUE(normalise(normal));
    const Pairs expected = enumerate(shape);
    ASSERT_EQ(enumerate(normal), expected) << round;
    ASSERT_EQ(normal.bytes == 0, expected.empty());
    folded += normal.dimensions.size() < shape.dimensions.size() ? 1 : 0;
    int64_t before = 0;
    for (const Dimension& dimension : normal.dimensions) {
      ASSERT_GE(dimension.count, 2U);
      ASSERT_GE(dimension.remote_stride, before);
      before = dimension.remote_stride;
    }
    Strided again = normal;
    ASSERT_TRUE(normalise(again));
    ASSERT_EQ(again.dimensions, normal.dimensions);
    if (expected.empty()) continue;
    const Extent extent = remote_extent(normal);
    ASSERT_EQ(extent.low, expected.front().first);
    ASSERT_EQ(extent.high, expected.back().first + 1);
  }
  EXPECT_GT(folded, 1000U);
}

TEST(Strided, CursorsVisitTheSameBytesInTheSameOrder) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 2000; ++round) {
    Strided shape = random_shape(random);
    ASSERT_TRUE(normalise(shape));
    const uint64_t total = shape.total_bytes();
    PairCursor pairs;
    pairs.start(shape);
    Side remote;
    Side local;
    std::vector<int64_t> remote_stream;
    std::vector<int64_t> local_stream;
    while (!pairs.done()) {
      const uint64_t limit = 1 + random() % 4;
      const RunPair run = pairs.next(limit);
      ASSERT_LE(run.count, limit);
      for (uint64_t i = 0; i < run.count; ++i) {
        const auto step = static_cast<int64_t>(i);
        for (uint64_t byte = 0; byte < run.bytes; ++byte) {
          const auto at = static_cast<int64_t>(byte);
          remote_stream.push_back(run.remote + run.remote_stride * step + at);
          local_stream.push_back(run.local + run.local_stride * step + at);
        }
      }
    }
    ASSERT_EQ(remote_stream.size(), total);
    if (total == 0) continue;
    remote_side(shape, remote);
    local_side(shape, local);
    ASSERT_EQ(remote.regions() * remote.bytes, total);
    const uint64_t start = random() % total;
    const auto from = static_cast<std::ptrdiff_t>(start);
    ASSERT_EQ(stream_of(remote, total, start, random),
              std::vector<int64_t>(remote_stream.begin() + from, remote_stream.end()));
    ASSERT_EQ(stream_of(local, total, start, random),
              std::vector<int64_t>(local_stream.begin() + from, local_stream.end()));
  }
}

TEST(Strided, WhatIsContiguousIsOneRegion) {
  Strided shape{100, 0, 8, {{5, 40, 40}, {1, 9, 7}, {5, 8, 8}, {3, -200, -200}}};
  ASSERT_TRUE(normalise(shape));
  EXPECT_EQ(shape.bytes, 600U);
  EXPECT_EQ(shape.remote, -300);
  EXPECT_EQ(shape.local, -400);
  EXPECT_TRUE(shape.dimensions.empty());
}

TEST(Strided, OneSideFoldsWhereTheOtherDoesNot) {
  Strided columns{0, 0, 8, {{10, 8, 800}, {10, 80, 8}}};  // a transposed block
  ASSERT_TRUE(normalise(columns));
  EXPECT_EQ(columns.dimensions.size(), 2U);
  Side remote;
  Side local;
  remote_side(columns, remote);
  local_side(columns, local);
  EXPECT_EQ(remote.bytes, 800U);
  EXPECT_TRUE(remote.dimensions.empty());
  EXPECT_EQ(local.bytes, 8U);
  EXPECT_EQ(local.dimensions.size(), 2U);
}

TEST(Strided, SizesBeyondMemoryAreRefused) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  constexpr uint64_t kMany = std::numeric_limits<uint64_t>::max();
  for (const Dimension& dimension : std::vector<Dimension>{{kMany, 0, 0},
                                                           {kMany, 1, 1},
                                                           {2, kHuge, 0},
                                                           {2, 0, kHuge},
                                                           {2, -kHuge - 1, 0},
                                                           {2, 0, -kHuge - 1},
                                                           {uint64_t{1} << 32, int64_t{1} << 30, 0},
                                                           {uint64_t{1} << 59, 0, 0}}) {
    Strided shape{0, 0, 2, {dimension}};
    EXPECT_FALSE(normalise(shape)) << dimension.count << " " << dimension.remote_stride;
  }
  Strided many{0, 0, 1, DimensionList<Dimension>(64, {3, 0, 0})};
  EXPECT_FALSE(normalise(many));
  Strided far{kHuge, 0, 1, {}};
  EXPECT_FALSE(normalise(far));
  Strided one{0, 0, 1, {{1, kHuge, -kHuge - 1}}};  // no step is taken
  EXPECT_TRUE(normalise(one));
  Strided none{0, 0, 1, {{kMany, kHuge, kHuge}, {0, 0, 0}}};
  EXPECT_TRUE(normalise(none));
  EXPECT_EQ(none.bytes, 0U);
}

}  // namespace
}  // namespace stripline::vis
