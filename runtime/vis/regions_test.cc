#include "runtime/vis/regions.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace stripline::vis {
namespace {

template <typename Piece, typename Make>
std::vector<Piece> split(uint64_t total, std::mt19937_64& random, const Make& make) {
  std::vector<Piece> pieces;
  uint64_t place = 0;
  for (uint64_t left = total; left > 0;) {
    const uint64_t bytes = random() % std::min<uint64_t>(left + 1, 20);
    place += random() % 3 == 0 ? random() % 10 : 0;  // otherwise it touches the one before
    pieces.push_back(make(place, bytes));
    place += bytes;
    left -= bytes;
  }
  if (random() % 2 == 0) pieces.push_back(make(place, 0));
  return pieces;
}

TEST(Regions, MatchingPairsTheSameBytesInTheSameOrder) {
  std::mt19937_64 random(3);
  std::vector<std::byte> memory(10000);
  for (int round = 0; round < 2000; ++round) {
    const uint64_t total = random() % 300;
    const auto remote = split<RemotePiece>(total, random, [](uint64_t place, uint64_t bytes) {
      return RemotePiece{place, bytes};
    });
    const auto local = split<LocalPiece>(total, random, [&](uint64_t place, uint64_t bytes) {
      return LocalPiece{memory.data() + place, bytes};
    });
    ASSERT_EQ(total_bytes(remote), total);
    ASSERT_EQ(total_bytes(local), total);
    std::vector<uint64_t> remote_bytes;
    std::vector<std::byte*> local_bytes;
    for (const RemotePiece& piece : remote) {
      for (uint64_t i = 0; i < piece.bytes; ++i) remote_bytes.push_back(piece.offset + i);
    }
    for (const LocalPiece& piece : local) {
      for (uint64_t i = 0; i < piece.bytes; ++i) local_bytes.push_back(piece.memory + i);
    }
    std::vector<Region> regions;
    match(remote, local, regions);
    size_t at = 0;
    for (size_t i = 0; i < regions.size(); ++i) {
      const Region& region = regions[i];
      ASSERT_GT(region.bytes, 0U);
      // Neighbours that touch on both sides would be one.
      if (i > 0) {
        const Region& before = regions[i - 1];
        ASSERT_FALSE(before.offset + before.bytes == region.offset &&
                     before.memory + before.bytes == region.memory);
      }
      for (uint64_t k = 0; k < region.bytes; ++k, ++at) {
        ASSERT_EQ(region.offset + k, remote_bytes[at]);
        ASSERT_EQ(region.memory + k, local_bytes[at]);
      }
    }
    ASSERT_EQ(at, total);

    if (regions.empty()) continue;
    const RegionList list(regions);
    RegionCursor cursor;
    cursor.start(list);
    for (at = 0; at < total;) {
      ASSERT_FALSE(cursor.done());
      const Region part = cursor.peek(1 + random() % 12);
      ASSERT_EQ(part.offset, remote_bytes[at]);
      ASSERT_EQ(part.memory, local_bytes[at]);
      ASSERT_EQ(part.offset + part.bytes - 1, remote_bytes[at + part.bytes - 1]);
      cursor.skip(part.bytes);
      at += part.bytes;
    }
    ASSERT_TRUE(cursor.done());

    cursor.start(list);
    for (at = 0; at < total;) {
      ASSERT_EQ(cursor.peek(1).offset, remote_bytes[at]);
      ASSERT_EQ(cursor.peek(1).memory, local_bytes[at]);
      ASSERT_EQ(cursor.position(), at);
      const size_t passed = std::min<size_t>(1 + random() % 40, total - at);
      cursor.skip(passed);
      at += passed;
    }
    ASSERT_TRUE(cursor.done());
  }
}

}  // namespace
}  // namespace stripline::vis
