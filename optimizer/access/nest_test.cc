#include "optimizer/access/nest.h"

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/test_size.h"

namespace stripline::access {
namespace {

Nest make(const std::vector<uint64_t>& counts, const std::vector<Reference>& references) {
  Nest nest;
  for (const uint64_t count : counts) EXPECT_TRUE(nest.add_loop(count));
  for (const Reference& reference : references) EXPECT_TRUE(nest.add(reference));
  return nest;
}

Reference ref(Mode mode, int64_t base, const std::vector<int64_t>& strides, uint32_t owner = 0) {
  Reference reference{.mode = mode, .owner = owner, .element_bytes = 8, .base = base};
  std::copy(strides.begin(), strides.end(), reference.stride_bytes.begin());
  return reference;
}

// As a program would.
std::variant<Tiling, Failure> cut_up(const Nest& nest, const Cut& cut) {
  if (const auto failure = dependence_of(nest)) return *failure;
  return tile(nest, cut);
}

const Tiling& tiled(const std::variant<Tiling, Failure>& result) {
  if (const auto* failure = std::get_if<Failure>(&result)) ADD_FAILURE() << failure->text();
  return std::get<Tiling>(result);
}

Obstacle obstacle(const std::variant<Tiling, Failure>& result) {
  EXPECT_TRUE(std::holds_alternative<Failure>(result));
  return std::get<Failure>(result).obstacle;
}

TEST(Tile, MatrixTimesVector) {
  // y[i] += a[i][j] * x[j]; 100 x 50.
  const Nest nest = make({100, 50}, {ref(Mode::read, 0, {400, 8}), ref(Mode::read, 1 << 20, {0, 8}),
                                     ref(Mode::update, 2 << 20, {8, 0})});
  // Ten rows at a time: x is fetched once.
  auto result = cut_up(nest, {.loop = 0, .granule = 10});
  const Tiling& rows = tiled(result);
  ASSERT_EQ(rows.groups(), 3U);
  EXPECT_EQ(rows.group[0].hold, 1U);
  EXPECT_EQ(rows.group[0].tile.run_bytes, 4000U);
  EXPECT_TRUE(rows.group[0].tile.contiguous());
  EXPECT_EQ(rows.group[0].stride_bytes[0], 400);
  EXPECT_EQ(rows.group[0].buffer_stride_bytes[0], 400);
  EXPECT_EQ(rows.group[0].buffer_stride_bytes[1], 8);
  EXPECT_EQ(rows.group[1].hold, 0U);
  EXPECT_EQ(rows.group[1].tile.run_bytes, 400U);
  EXPECT_EQ(rows.group[1].buffer_stride_bytes[0], 0);
  EXPECT_EQ(rows.group[1].buffer_stride_bytes[1], 8);
  EXPECT_EQ(rows.group[2].hold, 1U);
  EXPECT_EQ(rows.group[2].tile.run_bytes, 80U);
  // Parts of a row: y[i] is held for all of it.
  result = cut_up(nest, {.loop = 1, .granule = 25});
  const Tiling& parts = tiled(result);
  EXPECT_EQ(parts.group[0].hold, 2U);
  EXPECT_EQ(parts.group[0].tile.run_bytes, 200U);
  EXPECT_EQ(parts.group[1].hold, 0U);
  EXPECT_EQ(parts.group[2].hold, 1U);
  EXPECT_EQ(parts.group[2].tile.run_bytes, 8U);
}

TEST(Tile, ColumnsAreStrided) {
  const Nest nest = make({100, 50}, {ref(Mode::read, 0, {8, 800})});  // by columns of 50 rows
  const auto result = cut_up(nest, {.loop = 0, .granule = 4});
  const Group& group = tiled(result).group[0];
  EXPECT_EQ(group.tile.run_bytes, 32U);
  ASSERT_EQ(group.tile.dims.size(), 1U);
  EXPECT_EQ(group.tile.dims[0], (Dimension{800, 50}));
  EXPECT_EQ(group.buffer_stride_bytes[0], 8);
  EXPECT_EQ(group.buffer_stride_bytes[1], 32);
  EXPECT_EQ(group.bytes(), 1600U);
}

TEST(Tile, NeighboursShareWhatTheyNeed) {
  // a[i - 1] + a[i] + a[i + 1] -> b[i], forwards and backwards.
  for (const int64_t step : {8, -8}) {
    const Nest nest =
        make({98}, {ref(Mode::read, 1000 - 8, {step}), ref(Mode::read, 1000, {step}),
                    ref(Mode::read, 1000 + 8, {step}), ref(Mode::write, 1 << 20, {step})});
    const auto result = cut_up(nest, {.loop = 0, .granule = 10});
    const Tiling& tiling = tiled(result);
    ASSERT_EQ(tiling.groups(), 2U);
    EXPECT_EQ(tiling.group[0].members, 3U);
    EXPECT_EQ(tiling.group[0].tile.run_bytes, 96U);
    EXPECT_EQ(tiling.group[0].buffer_stride_bytes[0], step);
    EXPECT_EQ(tiling.group[0].buffer_offset[2] - tiling.group[0].buffer_offset[0], 16);
  }
}

TEST(Tile, SaysWhatPreventsIt) {
  const auto cut = Cut{.loop = 0, .granule = 4};
  // a[i] = a[i - 1]: a recurrence.
  EXPECT_EQ(obstacle(cut_up(make({10}, {ref(Mode::write, 8, {8}), ref(Mode::read, 0, {8})}), cut)),
            Obstacle::dependence);
  // a[i] = a[i + 1] and a[i] = f(a[i]) are none.
  tiled(cut_up(make({10}, {ref(Mode::write, 0, {8}), ref(Mode::read, 8, {8})}), cut));
  tiled(cut_up(make({10}, {ref(Mode::write, 0, {8}), ref(Mode::read, 0, {8})}), cut));
  // The same element again and again is a sum, which is an update.
  EXPECT_EQ(obstacle(cut_up(
                make({10, 5}, {ref(Mode::write, 0, {8, 0}), ref(Mode::read, 0, {8, 0})}), cut)),
            Obstacle::dependence);
  tiled(cut_up(make({10, 5}, {ref(Mode::update, 0, {8, 0})}), cut));
  // b[i] and b[i + 1] both written.
  const auto twice = cut_up(make({10}, {ref(Mode::write, 0, {8}), ref(Mode::write, 8, {8})}), cut);
  EXPECT_EQ(obstacle(twice), Obstacle::overwritten);
  EXPECT_EQ(std::get<Failure>(twice).text(),
            "reference 0 and reference 1 may write the same bytes");
  // Pieces of two ranks do not conflict.
  tiled(cut_up(make({10}, {ref(Mode::write, 0, {8}), ref(Mode::write, 8, {8}, 1)}), cut));
  // b[i + j]: steps write the same elements.
  EXPECT_EQ(obstacle(cut_up(make({10, 5}, {ref(Mode::write, 0, {8, 8})}), cut)),
            Obstacle::overwritten);
  // Rows read, columns of the same matrix written.
  EXPECT_EQ(obstacle(cut_up(
                make({10, 10}, {ref(Mode::read, 0, {80, 8}), ref(Mode::write, 0, {8, 80})}), cut)),
            Obstacle::dependence);
  Nest full = make({2, 2, 2, 2, 2, 2}, {});
  EXPECT_FALSE(full.add_loop(2));
}

TEST(Tile, IsWithinAPieceOfADistributedArray) {
  // Each of four ranks has three rows of five: b[k][i][j], all read, and c[i][j] added to.
  const std::vector<Piece> pieces{{2, 1000}, {3, 1000}, {0, 1000}, {1, 1000}};
  Nest nest =
      make({4, 3, 5}, {ref(Mode::read, 80, {0, 40, 8}), ref(Mode::update, 1 << 20, {0, 40, 8})});
  nest.reference[0].pieces = pieces;
  EXPECT_EQ(outermost_cut(nest), 0U);
  auto result = cut_up(nest, {.loop = 0, .granule = 1});
  const Group& group = tiled(result).group[0];
  EXPECT_EQ(group.hold, 1U);
  EXPECT_EQ(group.tile.base, 80);
  EXPECT_EQ(group.tile.run_bytes, 120U);
  EXPECT_EQ(tiled(result).group[1].hold, 0U);
  EXPECT_EQ(obstacle(cut_up(nest, {.loop = 0, .granule = 2})), Obstacle::scattered);

  // Written: each rank's part is another one, unless a rank has two parts in the same place.
  nest.reference[0].mode = Mode::write;
  tiled(cut_up(nest, {.loop = 1, .granule = 2}));
  const std::vector<Piece> twice{{2, 1000}, {3, 1000}, {2, 1040}, {1, 1000}};
  nest.reference[0].pieces = twice;
  EXPECT_EQ(obstacle(cut_up(nest, {.loop = 0, .granule = 1})), Obstacle::overwritten);
  const std::vector<Piece> apart{{2, 1000}, {3, 1000}, {2, 1120}, {1, 1000}};
  nest.reference[0].pieces = apart;
  tiled(cut_up(nest, {.loop = 0, .granule = 1}));

  // What is read at one place of another reference's pieces, and written there.
  nest.add(ref(Mode::read, 1000 + 80 + 32, {0, 40, 8}, 3));
  EXPECT_EQ(obstacle(cut_up(nest, {.loop = 0, .granule = 1})), Obstacle::dependence);
}

using Memory = std::vector<uint8_t>;
using Iteration = std::array<uint64_t, kMaxDepth>;

void for_each_iteration(const Nest& nest, const std::function<void(const Iteration&)>& visit) {
  Iteration at{};
  while (true) {
    visit(at);
    uint32_t loop = nest.depth;
    while (loop > 0 && ++at[loop - 1] == nest.counts[loop - 1]) at[--loop] = 0;
    if (loop == 0) return;
  }
}

constexpr int64_t kBase = 2000;
constexpr int64_t kMemory = 4096;  // of a rank; ranks' memories follow one another
constexpr uint32_t kOwners = 3;

// Where the bases of a reference count from.
int64_t origin(const Reference& reference, const Iteration& at) {
  if (!reference.in_pieces()) return kMemory * reference.owner;
  const Piece& piece = reference.pieces[at[reference.piece_loop]];
  return kMemory * piece.owner + piece.base;
}

int64_t address(const Nest& nest, const Reference& reference, const Iteration& at) {
  int64_t address = origin(reference, at) + reference.base;
  for (uint32_t loop = 0; loop < nest.depth; ++loop) {
    address += reference.stride_bytes[loop] * static_cast<int64_t>(at[loop]);
  }
  return address;
}

// The bytes of a tile in order.
std::vector<int64_t> addresses(const Lmad& tile, int64_t shift) {
  std::vector<int64_t> all;
  const std::function<void(size_t, int64_t)> visit = [&](size_t left, int64_t begin) {
    if (left == 0) {
      for (uint64_t i = 0; i < tile.run_bytes; ++i) all.push_back(begin + static_cast<int64_t>(i));
      return;
    }
    const Dimension& dim = tile.dims[left - 1];
    for (uint64_t i = 0; i < dim.count; ++i) {
      visit(left - 1, begin + dim.stride_bytes * static_cast<int64_t>(i));
    }
  };
  visit(tile.dims.size(), tile.base + shift);
  return all;
}

// What an iteration does: every element written is made of all that were read, and of its place.
using Elements = std::vector<uint8_t*>;
void body(const Nest& nest, const Iteration& at, const Elements& elements) {
  uint32_t sum = 1;
  for (uint32_t loop = 0; loop < nest.depth; ++loop) {
    sum = sum * 31 + static_cast<uint32_t>(at[loop]);
  }
  for (uint32_t r = 0; r < nest.references(); ++r) {
    if (nest.reference[r].mode == Mode::write) continue;
    for (uint32_t b = 0; b < nest.reference[r].element_bytes; ++b) sum = sum * 31 + elements[r][b];
  }
  for (uint32_t r = 0; r < nest.references(); ++r) {
    if (nest.reference[r].mode == Mode::read) continue;
    for (uint32_t b = 0; b < nest.reference[r].element_bytes; ++b) {
      elements[r][b] = static_cast<uint8_t>(sum + r + b);
    }
  }
}

Memory run_plainly(const Nest& nest, Memory memory) {
  for_each_iteration(nest, [&](const Iteration& at) {
    Elements elements;
    for (uint32_t r = 0; r < nest.references(); ++r) {
      elements.push_back(memory.data() + address(nest, nest.reference[r], at));
    }
    body(nest, at, elements);
  });
  return memory;
}

// With all that steps need fetched as early as can be, before anything is stored, and all that they
// write stored at the end, in any order.
Memory run_in_tiles(const Nest& nest, const Cut& cut, const Tiling& tiling, Memory memory,
                    std::mt19937_64& random) {
  struct Buffer {
    std::vector<int64_t> places;
    Memory bytes;
  };
  const Memory before = memory;
  std::vector<std::vector<std::pair<Iteration, Buffer>>> buffers(tiling.groups());
  const auto key_of = [&](const Group& group, const Iteration& at) {
    Iteration key{};
    for (uint32_t loop = 0; loop < group.hold; ++loop) {
      key[loop] = loop == cut.loop ? at[loop] / cut.granule * cut.granule : at[loop];
    }
    return key;
  };
  for_each_iteration(nest, [&](const Iteration& at) {
    Elements elements(nest.references());
    for (uint32_t g = 0; g < tiling.groups(); ++g) {
      const Group& group = tiling.group[g];
      const Iteration key = key_of(group, at);
      auto found = std::find_if(buffers[g].begin(), buffers[g].end(),
                                [&](const auto& one) { return one.first == key; });
      if (found == buffers[g].end()) {
        int64_t shift = origin(nest.reference[group.member[0]], key);
        for (uint32_t loop = 0; loop < group.hold; ++loop) {
          shift += group.stride_bytes[loop] * static_cast<int64_t>(key[loop]);
        }
        Buffer buffer{addresses(group.tile, shift), {}};
        for (const int64_t place : buffer.places) {
          // Beyond the end of a last, shorter tile there may be nothing.
          const bool exists = place >= 0 && place < static_cast<int64_t>(before.size());
          buffer.bytes.push_back(exists && group.mode != Mode::write
                                     ? before[static_cast<size_t>(place)]
                                     : uint8_t{0xdb});
        }
        buffers[g].emplace_back(key, buffer);
        found = buffers[g].end() - 1;
      }
      for (uint32_t m = 0; m < group.members; ++m) {
        int64_t place = group.buffer_offset[m];
        for (uint32_t loop = 0; loop < nest.depth; ++loop) {
          place += group.buffer_stride_bytes[loop] * static_cast<int64_t>(at[loop] - key[loop]);
        }
        ASSERT_EQ(found->second.places.at(static_cast<size_t>(place)),
                  address(nest, nest.reference[group.member[m]], at));
        elements[group.member[m]] = found->second.bytes.data() + place;
      }
    }
    body(nest, at, elements);
  });
  std::vector<std::pair<const Group*, const Buffer*>> puts;
  for (uint32_t g = 0; g < tiling.groups(); ++g) {
    if (tiling.group[g].mode == Mode::read) continue;
    for (const auto& [key, buffer] : buffers[g]) puts.emplace_back(&tiling.group[g], &buffer);
  }
  std::shuffle(puts.begin(), puts.end(), random);
  for (const auto& [group, buffer] : puts) {
    for (size_t i = 0; i < buffer->places.size(); ++i) {
      memory[static_cast<size_t>(buffer->places[i])] = buffer->bytes[i];
    }
  }
  return memory;
}

TEST(Tile, ComputesWhatTheNestDoes) {
  std::mt19937_64 random(11);
  const auto between = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  constexpr int64_t kStrides[] = {-32, -8, -4, 0, 0, 4, 4, 8, 8, 12, 16, 20, 32, 64, 96};
  int cases = 0;
  int merged = 0;
  int in_pieces = 0;
  int failures[5] = {};
  for (int i = 0; i < cases_here(60000); ++i) {
    Nest nest;
    std::vector<Piece> pieces(6);
    for (Piece& piece : pieces) {
      piece = {static_cast<uint32_t>(between(0, kOwners - 1)), 32 * between(-20, 20)};
    }
    if (between(0, 1) == 0) {  // each rank has one
      for (uint32_t k = 0; k < pieces.size(); ++k) pieces[k].owner = (k + 2) % kOwners;
    }
    const int64_t depth = between(1, 3);
    for (int64_t loop = 0; loop < depth; ++loop)
      nest.add_loop(static_cast<uint64_t>(between(1, 6)));
    const int64_t references = between(1, 3);
    for (int64_t r = 0; r < references; ++r) {
      Reference reference;
      if (r > 0 && between(0, 2) > 0) {
        reference = nest.reference[0];
        reference.base += 4 * between(-9, 9);
      } else {
        reference.element_bytes = between(0, 2) == 0 ? 8 : 4;
        reference.base = kBase + 4 * between(-20, 20);
        for (int64_t loop = 0; loop < depth; ++loop) {
          reference.stride_bytes[static_cast<size_t>(loop)] =
              kStrides[between(0, std::size(kStrides) - 1)];
        }
      }
      if (i % 3 == 0 && between(0, 2) > 0) {
        reference.pieces = pieces;
        reference.piece_loop = static_cast<uint32_t>(between(0, depth - 1));
      }
      reference.owner = static_cast<uint32_t>(between(0, kOwners - 1));
      if (between(0, 3) > 0) reference.owner = 0;
      constexpr Mode kModes[] = {Mode::read, Mode::read, Mode::write, Mode::update};
      reference.mode = kModes[between(0, 3)];
      nest.add(reference);
    }
    Cut cut{.loop = static_cast<uint32_t>(between(0, depth - 1))};
    cut.granule = static_cast<uint64_t>(between(1, static_cast<int64_t>(nest.counts[cut.loop])));
    // Steps of equal length only: what a shorter last one does is the runtime's affair.
    if (nest.counts[cut.loop] % cut.granule != 0) continue;
    const auto result = cut_up(nest, cut);
    if (const auto* failure = std::get_if<Failure>(&result)) {
      ++failures[static_cast<size_t>(failure->obstacle)];
      continue;
    }
    const Tiling& tiling = std::get<Tiling>(result);
    Memory memory(size_t{kOwners} * kMemory);
    for (uint8_t& byte : memory) byte = static_cast<uint8_t>(random());
    const Memory plain = run_plainly(nest, memory);
    const Memory tiles = run_in_tiles(nest, cut, tiling, memory, random);
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_EQ(plain, tiles) << "case " << i;
    ++cases;
    in_pieces += i % 3 == 0 && outermost_cut(nest) > 0 ? 1 : 0;
    for (uint32_t g = 0; g < tiling.groups(); ++g) merged += tiling.group[g].members > 1 ? 1 : 0;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GT(cases, 10000);
  EXPECT_GT(merged, 1000);
  EXPECT_GT(in_pieces, 1000);
  for (const Obstacle obstacle :
       {Obstacle::dependence, Obstacle::overwritten, Obstacle::entangled, Obstacle::scattered}) {
    EXPECT_GT(failures[static_cast<size_t>(obstacle)], 100) << to_string(obstacle);
  }
  EXPECT_EQ(failures[static_cast<size_t>(Obstacle::unknown)], 0);
}

// Fields of structures and elements of arrays, each where its type may be.
TEST(Tile, KeepsElementsWhereTheirTypesMayBe) {
  std::mt19937_64 random(23);
  const auto between = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  constexpr int64_t kSizes[] = {1, 2, 4, 4, 8, 8, 12, 16, 24};
  int alike = 0;  // merged, of one size
  int mixed = 0;  // of several
  for (int i = 0; i < cases_here(20000); ++i) {
    Nest nest;
    const int64_t depth = between(1, 3);
    for (int64_t loop = 0; loop < depth; ++loop)
      nest.add_loop(static_cast<uint64_t>(between(1, 5)));
    std::array<int64_t, kMaxDepth> strides{};
    for (int64_t loop = 0; loop < depth; ++loop)
      strides[static_cast<size_t>(loop)] = 16 * between(-4, 8);
    const int64_t references = between(1, 4);
    std::vector<int64_t> alignments;
    for (int64_t r = 0; r < references; ++r) {
      const int64_t size = kSizes[between(0, std::size(kSizes) - 1)];
      alignments.push_back(size & -size);
      nest.add({.owner = 1,
                .element_bytes = static_cast<uint32_t>(size),
                .base = kBase / 16 * 16 + alignments.back() * between(0, 6),
                .stride_bytes = strides});
    }
    Cut cut{.loop = static_cast<uint32_t>(between(0, depth - 1))};
    cut.granule = static_cast<uint64_t>(between(1, static_cast<int64_t>(nest.counts[cut.loop])));
    const auto result = cut_up(nest, cut);
    if (std::holds_alternative<Failure>(result)) continue;
    for (const Group& group : std::get<Tiling>(result).group) {
      bool of_one_size = true;
      for (uint32_t m = 0; m < group.members; ++m) {
        const int64_t alignment = alignments[group.member[m]];
        EXPECT_EQ(group.buffer_offset[m] % alignment, 0) << "case " << i;
        for (uint32_t loop = 0; loop < nest.depth; ++loop) {
          EXPECT_EQ(group.buffer_stride_bytes[loop] % alignment, 0) << "case " << i;
        }
        of_one_size = of_one_size && nest.reference[group.member[m]].element_bytes ==
                                         nest.reference[group.member[0]].element_bytes;
      }
      if (group.members > 1) ++(of_one_size ? alike : mixed);
    }
    ASSERT_FALSE(HasFailure());
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GT(alike, 1000);
  EXPECT_GT(mixed, 100);
}

}  // namespace
}  // namespace stripline::access
