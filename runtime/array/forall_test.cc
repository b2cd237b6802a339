#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/forall.h>

#include "runtime/array/testing/layouts_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// A remainder without the product's arithmetic: 128 bits, so that nothing overflows.
__extension__ using Wide = __int128;
rank_t rank_of(Wide value, rank_t ranks) {
  const Wide remainder = value % ranks;  // NOLINT(clang-analyzer-core.DivideZero): at least 1
  return static_cast<rank_t>(remainder < 0 ? remainder + ranks : remainder);
}

std::vector<int64_t> enumerate(const index_range& loop) {
  std::vector<int64_t> all;
  for (Wide i = loop.lower; loop.step > 0 ? i < loop.upper : i > loop.upper; i += loop.step) {
    all.push_back(static_cast<int64_t>(i));
  }
  return all;
}

std::string text(const index_range& loop) {
  return std::to_string(loop.lower) + " to " + std::to_string(loop.upper) + " by " +
         std::to_string(loop.step);
}

TEST(IndexRange, Counts) {
  for (const int64_t lower : {-5, 0, 3}) {
    for (const int64_t upper : {-7, -5, -4, 0, 1, 3, 11}) {
      for (const int64_t step : {-9, -2, -1, 1, 2, 5, 100}) {
        const index_range loop = range(lower, upper, step);
        EXPECT_EQ(loop.count(), enumerate(loop).size()) << text(loop);
      }
    }
  }
  EXPECT_EQ(range(kMin, kMax).count(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(range(kMax, kMin, -1).count(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(range(kMin, kMax, kMax).count(), 3U);
  EXPECT_EQ(range(kMax, kMin, kMin).count(), 2U);
  EXPECT_EQ(range(kMax - 1, kMax, kMax).count(), 1U);
}

TEST(IterationsOf, AgreeWithTestingEveryIteration) {
  for (const rank_t ranks : {1U, 2U, 3U, 4U, 6U, 12U}) {
    for (const int64_t step : {1, 2, 3, 6, -1, -4, 24}) {
      for (const int64_t a : {0, 1, 2, 3, 4, -1, -3, 12, 18}) {
        for (const int64_t b : {0, 1, 5, -1, -14}) {
          const int64_t lower = step > 0 ? -7 : 31;
          for (const index_range& loop :
               {range(lower, step > 0 ? 31 : -7, step), range(lower, lower + step, step),
                range(lower, lower, step), range(lower, lower - step, step)}) {
            std::vector<std::vector<int64_t>> expected(ranks);
            for (const int64_t i : enumerate(loop)) {
              expected[rank_of(Wide{a} * i + b, ranks)].push_back(i);
            }
            for (rank_t me = 0; me < ranks; ++me) {
              const iterations mine = iterations_of(loop, affinity(a, b), ranks, me);
              std::vector<int64_t> got;
              for (uint64_t k = 0; k < mine.count; ++k) {
                got.push_back(mine.first + static_cast<int64_t>(k) * mine.stride);
              }
              ASSERT_EQ(got, expected[me])
                  << text(loop) << ", " << a << " i + " << b << ", rank " << me << " of " << ranks;
            }
          }
        }
      }
    }
  }
}

// Loops that no one can enumerate: each rank's first and last iterations are its own, nothing
// before or after them is, and the numbers add up.
TEST(IterationsOf, HugeBoundsAndFactors) {
  std::mt19937_64 random(11);
  const auto any = [&random] {
    const int64_t edges[] = {kMin, kMin + 1, -1, 0, 1, kMax - 1, kMax};
    return random() % 3 == 0 ? edges[random() % 7] : static_cast<int64_t>(random());
  };
  for (int repeat = 0; repeat < 3000; ++repeat) {
    const rank_t ranks = 1 + static_cast<rank_t>(random() % (repeat % 2 == 0 ? 12 : kMaxRanks));
    index_range loop = range(any(), any(), any());
    if (repeat % 3 == 0) loop.step = static_cast<int64_t>(random() % 50) - 25;
    if (loop.step == 0) loop.step = 1;
    const affine_affinity affine = affinity(any(), any());
    const auto is_of = [&](Wide i, rank_t rank) {
      // In parts, as the product may need more than 128 bits.
      const Wide residue =
          Wide{rank_of(affine.a, ranks)} * rank_of(i, ranks) + rank_of(affine.b, ranks);
      return rank_of(residue, ranks) == rank;
    };
    uint64_t total = 0;
    const uint64_t all = loop.count();
    const rank_t looked_at = std::min<rank_t>(ranks, 12);
    for (rank_t k = 0; k < looked_at; ++k) {
      const rank_t me = ranks == looked_at ? k : static_cast<rank_t>(random() % ranks);
      const iterations mine = iterations_of(loop, affine, ranks, me);
      total += mine.count;
      if (mine.count == 0) {
        for (uint64_t j = 0; j < std::min<uint64_t>(all, ranks) && j < 40; ++j) {
          ASSERT_FALSE(is_of(Wide{loop.lower} + Wide{loop.step} * j, me));
        }
        continue;
      }
      ASSERT_TRUE(is_of(mine.first, me));
      const Wide skipped = (Wide{mine.first} - loop.lower) / loop.step;
      ASSERT_EQ(Wide{loop.lower} + skipped * loop.step, Wide{mine.first});
      ASSERT_GE(skipped, 0);
      for (Wide j = 0; j < skipped && j < 40; ++j) {
        ASSERT_FALSE(is_of(Wide{loop.lower} + Wide{loop.step} * j, me));
      }
      if (mine.count > 1) {
        const auto second = static_cast<int64_t>(static_cast<uint64_t>(mine.first) +
                                                 static_cast<uint64_t>(mine.stride));
        ASSERT_TRUE(is_of(second, me));
        const Wide period = (Wide{second} - mine.first) / loop.step;
        ASSERT_GT(period, 0);
        for (Wide j = 1; j < period && j < 40; ++j) {
          ASSERT_FALSE(is_of(Wide{mine.first} + Wide{loop.step} * j, me));
        }
        const Wide last = skipped + period * (mine.count - 1);
        ASSERT_LT(last, Wide{all});
        ASSERT_GE(last + period, Wide{all}) << "iterations are missing at the end";
      }
    }
    if (ranks == looked_at) {
      ASSERT_EQ(total, all) << text(loop);
    }
  }
}

TEST(ForEachRun, AgreesWithTestingEveryIteration) {
  array::for_each_distribution([](const auto& elements) {
    using Layout = std::remove_cvref_t<decltype(elements.layout)>;
    if constexpr (!std::is_same_v<Layout, indefinite>) {
      const rank_t ranks = elements.ranks.count();
      const std::vector<place> places = array::deal(400, elements.layout, ranks);
      for (const int64_t step : {0, 1, 2, 3, 5, 7, 16, 40, -1, -2, -5, -16, -39}) {
        for (const uint64_t count : {1U, 2U, 9U, 300U}) {
          const int64_t first = step >= 0 ? 3 : 397;
          const auto fits = static_cast<uint64_t>(step == 0 ? 400 : 396 / std::abs(step));
          const uint64_t n = std::min(count, fits);
          for (rank_t me = 0; me < ranks; ++me) {
            std::vector<uint64_t> expected;
            for (uint64_t j = 0; j < n; ++j) {
              const auto at = static_cast<size_t>(first + step * static_cast<int64_t>(j));
              if (places[at].rank == me) expected.push_back(j);
            }
            std::vector<uint64_t> got;
            detail::for_each_run(elements, me, {first, step}, n, [&](const detail::Run& run) {
              for (uint64_t j = 0; j < run.count; ++j) got.push_back(run.first + j);
            });
            ASSERT_EQ(got, expected) << ranks << " ranks, step " << step << ", rank " << me;
          }
        }
      }
    }
  });
}

class Forall : public bootstrap::RanksTest {};

using Executed = std::vector<int64_t>;

/// The iterations that this rank executes under an affinity.
template <typename Affinity>
Executed executed(Context& ctx, const index_range& loop, const Affinity& affinity) {
  Executed got;
  forall(ctx, loop, affinity, [&got](int64_t i) { got.push_back(i); });
  return got;
}

Executed expected(Context& ctx, const index_range& loop,
                  const std::function<rank_t(int64_t)>& rank) {
  Executed mine;
  for (const int64_t i : enumerate(loop)) {
    if (rank(i) == ctx.rank_me()) mine.push_back(i);
  }
  return mine;
}

const std::vector<index_range> kLoops = {range(0, 40),     range(3, 38, 2),  range(39, -1, -1),
                                         range(37, 5, -3), range(10, 10),    range(20, 7),
                                         range(0, 40, 39), range(12, 13, 50)};

TEST_P(Forall, IntegerAffinities) {
  for (const rank_t ranks : {1U, 2U, 3U, 4U}) {
    on_ranks(ranks, [ranks](Context& ctx) {
      for (const index_range& loop : kLoops) {
        for (const auto& [a, b] : {std::pair<int64_t, int64_t>{1, 0}, {2, 1}, {-3, 5}, {0, 7}}) {
          const auto rank = [a = a, b = b, ranks](int64_t i) { return rank_of(a * i + b, ranks); };
          const Executed mine = expected(ctx, loop, rank);
          EXPECT_EQ(executed(ctx, loop, affinity(a, b)), mine) << text(loop);
          const auto by_test = affinity_by([a = a, b = b](int64_t i) { return a * i + b; });
          EXPECT_EQ(executed(ctx, loop, by_test), mine);
        }
        const auto square = [](int64_t i) { return i * i - 100; };
        EXPECT_EQ(executed(ctx, loop, affinity_by(square)),
                  expected(ctx, loop, [&](int64_t i) { return rank_of(square(i), ranks); }));
        const auto last = [ranks](int64_t i) { return i > 20 ? ranks - 1 : 0; };
        EXPECT_EQ(executed(ctx, loop, rank_by(last)), expected(ctx, loop, last));
        EXPECT_EQ(executed(ctx, loop, every_rank), enumerate(loop));
      }
    });
  }
}

template <typename Layout, typename Ranks = dynamic_ranks>
void check_owners(Context& ctx, const Layout& layout) {
  auto made = shared_array<int64_t, Layout, Ranks>::create(ctx, 130, layout);
  ASSERT_TRUE(made.ok()) << made.error().message();
  const auto& array = *made;
  for (const index_range& loop : kLoops) {
    for (const auto& [a, k] :
         {std::pair<int64_t, int64_t>{1, 0}, {1, 9}, {3, 2}, {-1, 50}, {-2, 129}, {0, 11}}) {
      const auto element = [a = a, k = k](int64_t i) { return static_cast<uint64_t>(a * i + k); };
      const Executed mine =
          expected(ctx, loop, [&](int64_t i) { return array.affinity(element(i)); });
      EXPECT_EQ(executed(ctx, loop, owner_of(array, a, k)), mine) << text(loop);
      // From pointers into the array's middle: elements before them are meant, too.
      for (const uint64_t from : {uint64_t{0}, uint64_t{9}, uint64_t{77}}) {
        const int64_t after = k - static_cast<int64_t>(from);
        EXPECT_EQ(executed(ctx, loop, owner_of(array.ptr(from), array.distribution(), a, after)),
                  mine);
        EXPECT_EQ(executed(ctx, loop,
                           owner_of(array.template ptr<pointer_form::wide>(from),
                                    array.distribution(), a, after)),
                  mine);
      }
    }
  }
  made->destroy();
}

TEST_P(Forall, OwnersOfElements) {
  for (const rank_t ranks : {1U, 2U, 3U}) {
    on_ranks(ranks, [ranks](Context& ctx) {
      check_owners(ctx, cyclic{});
      check_owners(ctx, block_cyclic<4>{});
      check_owners(ctx, block_cyclic<>{7});
      check_owners(ctx, blocked(130, ranks));
      check_owners(ctx, indefinite{ranks - 1});
      if (ranks == 2) {
        check_owners<cyclic, static_ranks<2>>(ctx, {});
        check_owners<block_cyclic<3>, static_ranks<2>>(ctx, {});
      }
    });
  }
}

// Every rank's elements of the loop, no others, and the right index with each.
template <typename Layout>
void check_zip(Context& ctx, const Layout& layout) {
  constexpr uint64_t kSize = 45;
  auto first = shared_array<double, Layout>::create(ctx, kSize, layout);
  auto second = shared_array<int64_t, Layout>::create(ctx, kSize, layout);
  ASSERT_TRUE(first.ok() && second.ok());
  const auto fill = [&] {
    const auto mine = second->local_span();
    for (size_t k = 0; k < mine.size(); ++k) {
      mine[k] = static_cast<int64_t>(second->index_of(k));
      first->local_span()[k] = -1;
    }
  };
  const auto check = [&](const index_range& loop) {
    std::vector<double> wanted(kSize, -1);
    for (const int64_t i : enumerate(loop)) {
      wanted[static_cast<size_t>(i)] = 2 * static_cast<double>(i);
    }
    const auto mine = first->local_span();
    for (size_t k = 0; k < mine.size(); ++k) {
      ASSERT_EQ(mine[k], wanted[first->index_of(k)]) << text(loop) << ", " << first->index_of(k);
    }
  };
  const auto twice = [](double& x, int64_t i) { x = 2 * static_cast<double>(i); };
  for (const index_range& loop : kLoops) {
    fill();
    forall(ctx, loop, zip(*first, *second), twice);
    check(loop);
    fill();
    int64_t wrong = 0;
    forall(ctx, loop, zip(*first, *second), [&wrong](int64_t i, double& x, const int64_t& element) {
      wrong += i != element ? 1 : 0;
      x = 2 * static_cast<double>(i);
    });
    EXPECT_EQ(wrong, 0) << text(loop);
    check(loop);
  }
  fill();
  forall(ctx, zip(*first, *second), twice);
  check(range(0, kSize));
  fill();
  forall(ctx, zip(*first), [](double& x) { x = 3; });
  for (const double x : first->local_span()) ASSERT_EQ(x, 3);
  ctx.barrier();
}

TEST_P(Forall, ElementsThemselves) {
  for (const rank_t ranks : {1U, 2U, 3U}) {
    on_ranks(ranks, [ranks](Context& ctx) {
      check_zip(ctx, cyclic{});
      check_zip(ctx, block_cyclic<4>{});
      check_zip(ctx, block_cyclic<>{7});
      check_zip(ctx, blocked(45, ranks));
      check_zip(ctx, indefinite{ranks - 1});
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Forall, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class ForallDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(ForallDeathTest, AStepOfZero) {
  EXPECT_EXIT(
      on_ranks(2,
               [](Context& ctx) { forall(ctx, range(0, 9, 0), affinity(1, 0), [](int64_t) {}); }),
      ::testing::ExitedWithCode(2), "forall: a loop from 0 to 9 with step 0 never ends");
}

TEST_F(ForallDeathTest, FunctionsThatAreEmpty) {
  const auto no_body = std::function<void(int64_t)>();
  const auto no_rank = std::function<int64_t(int64_t)>();
  const auto body = [](int64_t) {};
  const std::vector<std::pair<const char*, std::function<void(Context&)>>> loops = {
      {"forall", [=](Context& ctx) { forall(ctx, range(0, 9), affinity(1, 0), no_body); }},
      {"forall", [=](Context& ctx) { forall(ctx, range(0, 9), every_rank, no_body); }},
      {"forall",
       [=](Context& ctx) {
         auto array = shared_array<int>::create(ctx, 10);
         forall(ctx, range(0, 9), owner_of(*array), no_body);
       }},
      {"forall",
       [](Context& ctx) {
         auto array = shared_array<int, block_cyclic<2>>::create(ctx, 10);
         forall(ctx, zip(*array), std::function<void(int&)>());
       }},
      {"affinity_by", [=](Context& ctx) { forall(ctx, range(0, 9), affinity_by(no_rank), body); }},
      {"rank_by", [=](Context& ctx) { forall(ctx, range(0, 9), rank_by(no_rank), body); }},
  };
  for (const auto& [name, loop] : loops) {
    EXPECT_EXIT(on_ranks(2, loop), ::testing::ExitedWithCode(2),
                std::string(name) + " with an empty std::function");
  }
}

TEST_F(ForallDeathTest, NullPointersHaveNoOwner) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& ctx) {
                         auto array = shared_array<int>::create(ctx, 10);
                         const decltype(array->ptr(0)) nowhere{};
                         forall(ctx, range(0, 6), owner_of(nowhere, array->distribution()),
                                [](int64_t) {});
                       }),
              ::testing::ExitedWithCode(2), "forall: there are no elements: .* a null pointer");
}

TEST_F(ForallDeathTest, IterationsOfElementsThatDoNotExist) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& ctx) {
                         auto array = shared_array<int>::create(ctx, 10);
                         forall(ctx, range(0, 6), owner_of(*array, 2), [](int64_t) {});
                       }),
              ::testing::ExitedWithCode(2), "iteration 5 is of element 2 \\* 5 \\+ 0");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& ctx) {
                         auto array = shared_array<int, block_cyclic<2>>::create(ctx, 10);
                         forall(ctx, range(0, kMax), zip(*array), [](int&) {});
                       }),
              ::testing::ExitedWithCode(2), "elements are from 0 to below 10");
}

TEST_F(ForallDeathTest, ArraysThatDiffer) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& ctx) {
                         auto first = shared_array<int, block_cyclic<>>::create(ctx, 10, {2});
                         auto second = shared_array<int, block_cyclic<>>::create(ctx, 10, {3});
                         forall(ctx, zip(*first, *second), [](int&, int&) {});
                       }),
              ::testing::ExitedWithCode(2), "differ in size, block or owner");
}

}  // namespace
}  // namespace stripline
