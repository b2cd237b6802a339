// Ghost cells of one to four dimensions, against the cells of the whole grid.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/halo.h>
#include <stripline/team.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

constexpr uint32_t kUntouched = 0xdeadbeef;

class Halo : public bootstrap::RanksTest {};

// What a cell of the whole grid holds in an exchange.
template <size_t N>
uint32_t cell(const std::array<size_t, N>& at, uint32_t round) {
  uint32_t value = round + 1;
  for (const size_t index : at) value = value * 1000003U + static_cast<uint32_t>(index);
  return value;
}

// Part `place` of dimension d has base[d] + place elements.
template <size_t N>
struct Grid {
  std::array<size_t, N> base;
  halo_shape<N> shape;

  size_t begin(size_t d, size_t place) const {
    size_t sum = 0;
    for (size_t before = 0; before < place; ++before) sum += base[d] + before;
    return sum;
  }
  size_t length(size_t d) const { return begin(d, shape.grid[d]); }
};

template <size_t N>
void exchange_and_compare(Context& context, Grid<N> grid, uint32_t rounds, bool jitter) {
  halo_shape<N>& shape = grid.shape;
  std::array<size_t, N> place{};
  rank_t rest = context.rank_me();
  for (size_t d = N; d-- > 0;) {
    place[d] = rest % shape.grid[d];
    rest /= shape.grid[d];
    shape.interior[d] = grid.base[d] + place[d];
  }
  auto halo = halo_exchange<uint32_t, N>::create(context, shape);
  ASSERT_TRUE(halo.ok()) << halo.error().message();
  const auto extents = halo->extents();
  // Calls visit(index, cell of the whole grid or none, whether it is a ghost, dimensions outside).
  const auto each = [&](const auto& visit) {
    std::array<size_t, N> at{};
    for (size_t index = 0; index < halo->elements(); ++index) {
      std::array<size_t, N> global{};
      size_t outside = 0;
      bool exists = true;
      for (size_t d = 0; d < N; ++d) {
        const auto length = static_cast<int64_t>(grid.length(d));
        auto where = static_cast<int64_t>(grid.begin(d, place[d]) + at[d]) -
                     static_cast<int64_t>(shape.width[d]);
        if (at[d] < shape.width[d] || at[d] >= shape.width[d] + shape.interior[d]) ++outside;
        if (where < 0 || where >= length) {
          exists = exists && shape.periodic[d];
          where = (where + length) % length;
        }
        global[d] = static_cast<size_t>(where);
      }
      const bool filled = exists && (outside <= 1 || shape.neighbours == halo_neighbours::all);
      visit(index, global, outside > 0, filled);
      for (size_t d = N; d-- > 0 && ++at[d] == extents[d];) at[d] = 0;
    }
  };
  std::array<std::vector<uint32_t>, 2> arrays;
  for (uint32_t round = 0; round < rounds; ++round) {
    std::vector<uint32_t>& array = arrays[round % 2];
    array.resize(halo->elements());
    each([&](size_t index, const auto& global, bool ghost, bool) {
      array[index] = ghost ? kUntouched : cell<N>(global, round);
    });
    // Ranks come at different times, each one late in its turn.
    if (jitter && round % context.rank_n() == context.rank_me()) context.compute_for(2e-4);
    halo->start(array.data());
    if (jitter && round % 3 == 1) context.progress();
    halo->wait();
    each([&](size_t index, const auto& global, bool ghost, bool filled) {
      const uint32_t expected = ghost && !filled ? kUntouched : cell<N>(global, round);
      ASSERT_EQ(array[index], expected) << "round " << round << ", element " << index;
    });
  }
}

TEST_P(Halo, OneDimension) {
  for (const rank_t ranks : {1U, 2U, 5U}) {
    for (const bool periodic : {false, true}) {
      on_ranks(ranks, [ranks, periodic](Context& context) {
        exchange_and_compare<1>(
            context,
            {.base = {3}, .shape = {.width = {3}, .grid = {ranks}, .periodic = {periodic}}}, 5,
            false);
      });
    }
  }
}

TEST_P(Halo, TwoDimensions) {
  on_ranks(6, [](Context& context) {
    for (const auto neighbours : {halo_neighbours::faces, halo_neighbours::all}) {
      exchange_and_compare<2>(context,
                              {.base = {4, 7},
                               .shape = {.width = {1, 2},
                                         .grid = {2, 3},
                                         .periodic = {true, false},
                                         .neighbours = neighbours}},
                              8, true);
      // Nothing is exchanged in the first dimension.
      exchange_and_compare<2>(
          context,
          {.base = {4, 7},
           .shape = {.width = {0, 2}, .grid = {3, 2}, .periodic = {}, .neighbours = neighbours}},
          3, false);
    }
  });
}

TEST_P(Halo, ThreeAndFourDimensions) {
  on_ranks(4, [](Context& context) {
    for (const auto neighbours : {halo_neighbours::faces, halo_neighbours::all}) {
      exchange_and_compare<3>(context,
                              {.base = {5, 4, 6},
                               .shape = {.width = {1, 1, 1},
                                         .grid = {2, 1, 2},
                                         .periodic = {true, true, false},
                                         .neighbours = neighbours}},
                              6, true);
    }
    exchange_and_compare<4>(context,
                            {.base = {2, 3, 2, 3},
                             .shape = {.width = {1, 1, 2, 1},
                                       .grid = {2, 1, 1, 2},
                                       .periodic = {true, true, true, true},
                                       .neighbours = halo_neighbours::all}},
                            3, false);
  });
}

// Borders of many messages.
TEST_P(Halo, LargeBorders) {
  on_ranks(2, [](Context& context) {
    exchange_and_compare<2>(
        context,
        {.base = {3, 60000}, .shape = {.width = {2, 1}, .grid = {2, 1}, .periodic = {true, false}}},
        3, false);
  });
}

// All that goes to one rank is one message: 18 of the 26 borders here, the others stay.
TEST_P(Halo, BordersToOneRankAreOneMessage) {
  if (GetParam().same_node == "mapped") GTEST_SKIP() << "no messages";
  on_ranks(2, [](Context& context) {
    constexpr uint64_t kRounds = 6;
    auto halo = halo_exchange<double, 3>::create(context, {.interior = {8, 8, 8},
                                                           .width = {1, 1, 1},
                                                           .grid = {1, 1, 2},
                                                           .periodic = {true, true, true},
                                                           .neighbours = halo_neighbours::all});
    ASSERT_TRUE(halo.ok()) << halo.error().message();
    EXPECT_EQ(halo->neighbours(), 26U);
    std::vector<double> array(halo->elements(), context.rank_me());
    context.barrier();
    const auto started = [&] {
      const detail::ContextState& state = context.state();
      return state.job.fabric().info().flag_with_data
                 ? state.job.fabric().traffic().puts
                 : state.operations.messages().statistics().sent;
    };
    const uint64_t before = started();
    for (uint64_t round = 0; round < kRounds; ++round) halo->exchange(array.data());
    EXPECT_EQ(started() - before, kRounds);
    EXPECT_EQ(array.front(), 1 - context.rank_me());
    context.barrier();
  });
}

TEST_P(Halo, MistakesAreTheSameOnAllRanks) {
  on_ranks(4, [](Context& context) {
    const auto message = [&](const halo_shape<2>& shape) -> std::string {
      const auto made = halo_exchange<float, 2>::create(context, shape);
      return made.ok() ? std::string() : made.error().message();
    };
    EXPECT_EQ(message({.interior = {4, 4}, .width = {1, 1}, .grid = {2, 3}}),
              "halo_exchange: a grid of 2 x 3 ranks, but the job has 4");
    EXPECT_NE(
        message(
            {.interior = {4, context.rank_me() == 3 ? 1U : 4U}, .width = {1, 2}, .grid = {2, 2}})
            .find("the interior of rank 3 has 1 elements in dimension 1"),
        std::string::npos);
    EXPECT_NE(
        message(
            {.interior = {context.rank_me() == 1 ? 5U : 4U, 4}, .width = {1, 1}, .grid = {2, 2}})
            .find("the interior of rank 1 has 5 elements in dimension 0, that of rank 0"),
        std::string::npos);
    EXPECT_NE(message({.interior = {4, 4},
                       .width = {1, 1},
                       .grid = {2, 2},
                       .periodic = {context.rank_me() == 2, false}})
                  .find("of rank 2 differ from those of rank 0"),
              std::string::npos);
    EXPECT_NE(message({.interior = {1 << 14, 1 << 14}, .width = {600, 600}, .grid = {2, 2}})
                  .find("cannot allocate"),
              std::string::npos);
    context.barrier();
  });
}

TEST_P(Halo, MayOutliveItsContext) {
  std::array<std::optional<halo_exchange<uint32_t, 1>>, 2> kept;
  on_ranks(2, [&](Context& context) {
    const rank_t me = context.rank_me();
    auto halo = halo_exchange<uint32_t, 1>::create(
        context, {.interior = {4}, .width = {1}, .grid = {2}, .periodic = {true}});
    ASSERT_TRUE(halo.ok()) << halo.error().message();
    std::vector<uint32_t> cells(halo->elements(), me);
    halo->exchange(cells.data());
    EXPECT_EQ(cells.front(), 1 - me);
    kept[me].emplace(std::move(*halo));
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Halo, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class HaloDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(HaloDeathTest, OneExchangeAtATime) {
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         auto halo = halo_exchange<int, 1>::create(
                             context, {.interior = {4}, .width = {1}, .grid = {1}});
                         std::vector<int> array(6);
                         halo->start(array.data());
                         halo->start(array.data());
                       }),
              ::testing::ExitedWithCode(2), "halo_exchange::start while an exchange");
}

TEST_F(HaloDeathTest, ArraysAreThere) {
  const auto with = [](const std::function<void(Context&, halo_exchange<int, 1>&)>& body) {
    on_ranks(1, [&](Context& context) {
      auto halo =
          halo_exchange<int, 1>::create(context, {.interior = {4}, .width = {1}, .grid = {1}});
      body(context, *halo);
    });
  };
  EXPECT_EXIT(with([](Context&, auto& halo) { halo.start(nullptr); }), ::testing::ExitedWithCode(2),
              "halo_test.cc:[0-9]+: halo_exchange::start of a null");
  EXPECT_EXIT(with([](Context& context, auto& halo) {
                const auto array = *context.new_symmetric_array<int>(6);
                halo.start(context.local(array));
                context.delete_symmetric_array(array);
              }),
              ::testing::ExitedWithCode(2),
              "delete_symmetric_array of an array that is in use since .*halo_test.cc:[0-9]+: "
              "halo_exchange::start");
}

TEST_F(HaloDeathTest, HasNoNeighboursOnceItHasBeenMoved) {
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         auto made = halo_exchange<int, 1>::create(
                             context, {.interior = {4}, .width = {1}, .grid = {1}});
                         const auto moved = std::move(*made);
                         (void)made->neighbours();  // NOLINT(bugprone-use-after-move)
                       }),
              ::testing::ExitedWithCode(2),
              "halo_test.cc:[0-9]+: halo_exchange::neighbours of an object that has been moved");
}

TEST_F(HaloDeathTest, StartsBeforeItsContextHasGone) {
  const auto start_late = [] {
    std::optional<halo_exchange<int, 1>> kept;
    const Status ran = bootstrap::run_ranks(
        bootstrap::group_on(fabrics_under_test()[1], 1), [&](Context& context) {
          auto halo =
              halo_exchange<int, 1>::create(context, {.interior = {4}, .width = {1}, .grid = {1}});
          if (halo.ok()) kept.emplace(std::move(*halo));
        });
    std::array<int, 6> cells{};
    if (ran.ok() && kept) kept->start(cells.data());
    std::_Exit(1);
  };
  EXPECT_EXIT(start_late(), ::testing::ExitedWithCode(2),
              "halo_test.cc:[0-9]+: halo_exchange::start, but the Context has gone");
}

}  // namespace
}  // namespace stripline
