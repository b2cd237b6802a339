// Cells, faces and the places of sweeps fit together across the ranks.
#include "suites/kernels/nas/adi_layout.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace stripline::suites::nas {
namespace {

constexpr AdiWidths kWidths = {.forward = 3, .backward = 2};

AdiLayout layout_of(int points, uint32_t ranks, uint32_t rank) {
  return {*AdiPartition::create(points, ranks, rank), kWidths};
}

TEST(AdiPartition, HasEachCellOnceAndOneOfEachRankInEverySlice) {
  for (const uint32_t ranks : {1U, 4U, 9U, 16U}) {
    std::set<std::array<int, 3>> places;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const auto partition = *AdiPartition::create(30, ranks, rank);
      for (int c = 0; c < partition.cells_per_axis(); ++c) {
        const AdiCell& cell = partition.cell(c);
        EXPECT_EQ(partition.owner(cell.at), rank);
        EXPECT_EQ(cell.at[2], c);
        EXPECT_TRUE(places.insert(cell.at).second);
        for (int axis = 0; axis < 3; ++axis)
          EXPECT_EQ(partition.cell_in_slice(axis, cell.at[static_cast<size_t>(axis)]), c);
      }
    }
    EXPECT_EQ(places.size() * places.size(), size_t{ranks} * ranks * ranks);
  }
}

TEST(AdiPartition, RefusesWhatItCannotDivide) {
  EXPECT_FALSE(AdiPartition::create(12, 0, 0).ok());
  EXPECT_FALSE(AdiPartition::create(12, 2, 0).ok());
  EXPECT_FALSE(AdiPartition::create(12, 4, 4).ok());
  EXPECT_TRUE(AdiPartition::create(12, 9, 0).ok());
  EXPECT_FALSE(AdiPartition::create(12, 16, 0).ok());
}

/// The number of the point of the grid at (i, j, k) of the cell.
double number(const AdiLayout& layout, const AdiCell& cell, int i, int j, int k) {
  const int n = layout.partition().points();
  return ((cell.low[2] + k) * n + cell.low[1] + j) * n + cell.low[0] + i;
}

TEST(AdiLayout, FacesBringWhatTheNeighboursHave) {
  constexpr uint32_t kRanks = 9;
  constexpr int kPoints = 13;  // slices of 5, 4 and 4
  std::vector<std::vector<double>> memory;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    const AdiLayout layout = layout_of(kPoints, kRanks, rank);
    memory.emplace_back(layout.shared_doubles(), -1);
    for (int c = 0; c < 3; ++c) {
      const AdiCell& cell = layout.partition().cell(c);
      for (int k = 0; k < cell.size[2]; ++k) {
        for (int j = 0; j < cell.size[1]; ++j) {
          for (int i = 0; i < cell.size[0]; ++i) {
            std::fill_n(memory[rank].begin() +
                            static_cast<ptrdiff_t>(layout.point(c, i, j, k) * kComponents),
                        kComponents, number(layout, cell, i, j, k));
          }
        }
      }
    }
  }
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    const AdiLayout layout = layout_of(kPoints, kRanks, rank);
    for (const AdiFace& face : layout.faces()) {
      const auto place = [](const AdiRegion& region, size_t a, size_t b) {
        return region.begin + a * region.stride[0] + b * region.stride[1];
      };
      for (size_t b = 0; b < face.target.count[1]; ++b) {
        for (size_t a = 0; a < face.target.count[0]; ++a) {
          std::copy_n(memory[face.peer].data() + place(face.source, a, b), face.source.run,
                      memory[rank].data() + place(face.target, a, b));
        }
      }
    }
    for (int c = 0; c < 3; ++c) {
      const AdiCell& cell = layout.partition().cell(c);
      for (int k = -2; k < cell.size[2] + 2; ++k) {
        for (int j = -2; j < cell.size[1] + 2; ++j) {
          for (int i = -2; i < cell.size[0] + 2; ++i) {
            int outside = 0;
            bool in_grid = true;
            for (size_t axis = 0; axis < 3; ++axis) {
              const int at = std::array{i, j, k}[axis];
              if (at < 0 || at >= cell.size[axis]) ++outside;
              if (cell.low[axis] + at < 0 || cell.low[axis] + at >= kPoints) in_grid = false;
            }
            const double expected = outside <= 1 && in_grid ? number(layout, cell, i, j, k) : -1;
            for (size_t m = 0; m < kComponents; ++m) {
              ASSERT_EQ(memory[rank][layout.point(c, i, j, k) * kComponents + m], expected)
                  << rank << ": cell " << c << " at " << i << ' ' << j << ' ' << k;
            }
          }
        }
      }
    }
  }
}

TEST(AdiLayout, SweepsHavePlacesOfTheirOwnThatTheirPeersName) {
  constexpr uint32_t kRanks = 9;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    const AdiLayout layout = layout_of(14, kRanks, rank);
    std::map<size_t, size_t> places = {{0, layout.points() * kComponents}};  // begin, end
    for (int axis = 0; axis < 3; ++axis) {
      for (int stage = 0; stage < 3; ++stage) {
        for (const bool forward : {true, false}) {
          const auto step_of = [&](const AdiLayout& whose, int at) {
            return forward ? whose.forward(axis, at) : whose.backward(axis, at);
          };
          const AdiSweepStep step = step_of(layout, stage);
          EXPECT_EQ(step.stage, stage);
          EXPECT_EQ(step.width, forward ? 3U : 2U);
          EXPECT_EQ(step.lines, layout.lines(step.cell, axis).lines);
          EXPECT_EQ(step.receives, stage != (forward ? 0 : 2));
          EXPECT_EQ(step.sends, stage != (forward ? 2 : 0));
          const int up = forward ? 1 : -1;
          if (step.receives) {
            const AdiSweepStep theirs = step_of(layout_of(14, kRanks, step.from), stage - up);
            EXPECT_EQ(theirs.to, rank);
            EXPECT_EQ(theirs.to_in, step.in);
            EXPECT_EQ(theirs.out, step.from_out);
            EXPECT_EQ(theirs.lines, step.lines);
            EXPECT_TRUE(places.emplace(step.in, step.in + step.lines * step.width).second);
          }
          if (step.sends) {
            const AdiSweepStep theirs = step_of(layout_of(14, kRanks, step.to), stage + up);
            EXPECT_EQ(theirs.from, rank);
            EXPECT_EQ(theirs.from_out, step.out);
            EXPECT_TRUE(places.emplace(step.out, step.out + step.lines * step.width).second);
          }
        }
      }
    }
    EXPECT_EQ(places.size(), 1U + 3 * 2 * 4);
    size_t end = 0;
    for (const auto& [from, to] : places) {
      EXPECT_GE(from, end);
      end = to;
    }
    EXPECT_LE(end, layout.shared_doubles());
  }
}

TEST(AdiLayout, BlocksCoverTheLinesOnceWhereverTheyAreDivided) {
  const AdiLayout layout = layout_of(14, 4, 1);
  for (int axis = 0; axis < 3; ++axis) {
    const AdiLines lines = layout.lines(0, axis);
    std::vector<size_t> whole;
    lines.for_each_block(0, lines.lines, 1, [&](size_t first, size_t count, size_t done) {
      EXPECT_EQ(count, 1U);
      EXPECT_EQ(done, whole.size());
      whole.push_back(first);
    });
    EXPECT_EQ(std::set(whole.begin(), whole.end()).size(), lines.lines);
    for (size_t piece = 2; piece <= lines.lines; piece += 5) {
      std::vector<size_t> pieces;
      for (size_t begin = 0; begin < lines.lines; begin += piece) {
        lines.for_each_block(begin, std::min(begin + piece, lines.lines), 4,
                             [&](size_t first, size_t count, size_t done) {
                               EXPECT_LE(count, 4U);
                               EXPECT_EQ(begin + done, pieces.size());
                               for (size_t n = 0; n < count; ++n) {
                                 pieces.push_back(first + n * static_cast<size_t>(lines.next_a));
                               }
                             });
      }
      EXPECT_EQ(pieces, whole);
    }
  }
}

}  // namespace
}  // namespace stripline::suites::nas
