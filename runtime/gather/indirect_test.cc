// Loops over random indices against the same loops over the whole array.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/indirect.h>
#include <stripline/team.h>

#include "base/random.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

class Indirect : public bootstrap::RanksTest {};

struct Body {
  double x = 0;
  double y = 0;
  uint64_t number = 0;
  double mass = 0;
};
Body body_of(uint64_t element, uint64_t round) {
  return {static_cast<double>(element) + 0.5, static_cast<double>(round), hash_of(element, round),
          -static_cast<double>(element)};
}

// Elements that one iteration after the other reads: anywhere, in a narrow part, of one rank, the
// same one again and again.
std::vector<uint64_t> index_to_read(uint64_t elements, size_t count, uint64_t seed) {
  SplitMix64 random(seed);
  const uint64_t width =
      std::array<uint64_t, 4>{elements, std::max<uint64_t>(1, elements / 20),
                              std::max<uint64_t>(1, elements / 3), 1}[random.next() % 4];
  const uint64_t begin = random.next() % (elements - width + 1);
  std::vector<uint64_t> index(count);
  for (uint64_t& element : index) element = begin + random.next() % width;
  return index;
}

const std::array<std::optional<uint64_t>, 5> kBlocks = {std::nullopt, 0, 1, 7, 1000};

template <typename Layout>
void read_and_compare(Context& context, uint64_t elements, Layout layout, uint64_t seed) {
  auto bodies = shared_array<Body, Layout>::create(context, elements, layout);
  auto numbers = shared_array<uint32_t, Layout>::create(context, elements, layout);
  ASSERT_TRUE(bodies.ok() && numbers.ok());
  for (uint64_t round = 0; round < kBlocks.size(); ++round) {
    for (size_t i = 0; i < bodies->local_span().size(); ++i) {
      bodies->local_span()[i] = body_of(bodies->index_of(i), round);
      numbers->local_span()[i] = static_cast<uint32_t>(hash_of(numbers->index_of(i), round, 1));
    }
    context.barrier();
    const uint64_t mine = hash_of(seed, context.rank_me(), round);
    const size_t count = mine % 5 == 0 ? 0 : mine % 200;  // none on some ranks
    const std::vector<uint64_t> index = index_to_read(elements, count, mine);
    const auto other = [&](int64_t i) { return (static_cast<uint64_t>(i) * 31 + mine) % elements; };
    std::vector<int64_t> order;
    for_each_indirect(
        context, range(0, static_cast<int64_t>(count)),
        IndirectOptions{.any_order = round % 2 == 1, .block = kBlocks[round]},
        [&](int64_t i, const Body& whole, double x, uint64_t number, uint32_t also, uint32_t that) {
          const uint64_t element = index[static_cast<size_t>(i)];
          const Body expected = body_of(element, round);
          order.push_back(i);
          ASSERT_EQ(whole.x, expected.x) << "iteration " << i;
          ASSERT_EQ(whole.mass, expected.mass);
          ASSERT_EQ(x, body_of(other(i), round).x);
          ASSERT_EQ(number, body_of(other(i), round).number);
          ASSERT_EQ(also, static_cast<uint32_t>(hash_of(element, round, 1)));
          ASSERT_EQ(that, static_cast<uint32_t>(hash_of(other(i), round, 1)));
        },
        read(*bodies, index), read(*bodies, other, &Body::x, &Body::number), read(*numbers, index),
        read(*numbers, other));
    if (round % 2 == 1) std::ranges::sort(order);
    std::vector<int64_t> all(count);
    std::iota(all.begin(), all.end(), 0);
    ASSERT_EQ(order, all) << "round " << round;
    context.barrier();
  }
  numbers->destroy();
  bodies->destroy();
}

TEST_P(Indirect, ReadsAreThoseOfAPlainLoop) {
  for (const rank_t ranks : {1U, 2U, 3U, 7U}) {
    on_ranks(ranks, [ranks](Context& context) {
      read_and_compare(context, 600, blocked(600, ranks), 1);
      read_and_compare(context, 601, cyclic{}, 2);
      read_and_compare(context, 64, indefinite{ranks - 1}, 3);
    });
  }
}

// One rank after the other changes elements, which the others see.
TEST_P(Indirect, ModifiedElementsAreThoseOfAPlainLoop) {
  constexpr uint64_t kElements = 200;
  on_ranks(3, [](Context& context) {
    using Array = shared_array<uint64_t, cyclic>;
    auto made = Array::create(context, kElements);
    ASSERT_TRUE(made.ok());
    Array& x = *made;
    for (size_t i = 0; i < x.local_span().size(); ++i) x.local_span()[i] = x.index_of(i);
    std::vector<uint64_t> expected(kElements);
    std::iota(expected.begin(), expected.end(), 0);
    context.barrier();
    for (uint64_t round = 0; round < kBlocks.size(); ++round) {
      for (rank_t turn = 0; turn < context.rank_n(); ++turn) {
        // Few elements, which block after block changes again.
        const std::vector<uint64_t> index = index_to_read(kElements, 300, hash_of(round, turn));
        const auto next = [&](int64_t i) {
          return (index[static_cast<size_t>(i)] + 1 + static_cast<uint64_t>(i) % 5) % kElements;
        };
        for (size_t i = 0; i < index.size(); ++i) {
          expected[index[i]] = 3 * expected[index[i]] + expected[next(static_cast<int64_t>(i))];
        }
        if (turn == context.rank_me()) {
          for_each_indirect(
              context, range(0, 300), IndirectOptions{.block = kBlocks[round]},
              [](int64_t, uint64_t& value, uint64_t other) { value = 3 * value + other; },
              modify(x, index), read(x, next));
        }
        context.barrier();
      }
      for (size_t i = 0; i < x.local_span().size(); ++i) {
        ASSERT_EQ(x.local_span()[i], expected[x.index_of(i)]) << "round " << round;
      }
      context.barrier();
    }
    x.destroy();
  });
}

TEST_P(Indirect, MembersAreModifiedAlone) {
  on_ranks(2, [](Context& context) {
    auto x = shared_array<Body, cyclic>::create(context, 40);
    ASSERT_TRUE(x.ok());
    for (size_t i = 0; i < x->local_span().size(); ++i) {
      x->local_span()[i] = body_of(x->index_of(i), 0);
    }
    context.barrier();
    // Each rank those of the other one.
    const auto theirs = [&](int64_t i) {
      return 2 * static_cast<uint64_t>(i) + 1 - context.rank_me();
    };
    for (const auto block : kBlocks) {
      for_each_indirect(
          context, range(0, 20), IndirectOptions{.block = block},
          [](int64_t, double& mass) { mass += 1; }, modify(*x, theirs, &Body::mass));
      context.barrier();
    }
    for (size_t i = 0; i < x->local_span().size(); ++i) {
      const Body expected = body_of(x->index_of(i), 0);
      ASSERT_EQ(x->local_span()[i].mass, expected.mass + kBlocks.size());
      ASSERT_EQ(x->local_span()[i].number, expected.number);
    }
    x->destroy();
  });
}

TEST_P(Indirect, RangesHaveStepsAndBodiesMayRead) {
  on_ranks(2, [](Context& context) {
    auto x = shared_array<int, cyclic>::create(context, 100);
    ASSERT_TRUE(x.ok());
    for (size_t i = 0; i < x->local_span().size(); ++i) {
      x->local_span()[i] = static_cast<int>(x->index_of(i));
    }
    context.barrier();
    int expected = 99;
    for_each_indirect(
        context, range(99, -1, -3), IndirectOptions{.block = 4},
        [&](int64_t i, int value) {
          ASSERT_EQ(value, expected);
          ASSERT_EQ(x->read(static_cast<uint64_t>(99 - i)), 99 - expected);
          expected -= 3;
        },
        read(*x, [](int64_t i) { return i; }));
    EXPECT_EQ(expected, -3);
    context.barrier();
    x->destroy();
  });
}

// The block after the one that throws is in flight, to memory that the next loop may use for
// something else.
TEST_P(Indirect, NothingIsInFlightAfterABodyThatHasThrown) {
  on_ranks(2, [](Context& context) {
    auto x = shared_array<uint64_t, cyclic>::create(context, 2000);
    auto y = shared_array<uint64_t, cyclic>::create(context, 2000);
    ASSERT_TRUE(x.ok() && y.ok());
    for (size_t i = 0; i < x->local_span().size(); ++i) {
      x->local_span()[i] = x->index_of(i);
      y->local_span()[i] = 5000 + y->index_of(i);
    }
    context.barrier();
    std::vector<uint64_t> index(600);  // of the other rank
    for (size_t i = 0; i < index.size(); ++i) index[i] = 1 - context.rank_me() + 2 * i;
    const auto in_flight = [&] { return context.state().operations.slots().in_use(); };
    const uint32_t before = in_flight();
    for (const uint64_t block : {1, 7, 100}) {
      for (const int64_t last : {0, 3, 599}) {
        int64_t ran = 0;
        const auto body = [&](int64_t i, uint64_t a, uint64_t b) {
          EXPECT_EQ(a, index[static_cast<size_t>(i)]);
          EXPECT_EQ(b, a + 5000);
          ++ran;
          if (i == last) throw std::runtime_error("enough");
        };
        EXPECT_THROW(for_each_indirect(context, range(0, 600), IndirectOptions{.block = block},
                                       body, read(*x, index), read(*y, index)),
                     std::runtime_error);
        EXPECT_EQ(ran, last + 1);
        EXPECT_LE(in_flight(), before);
        uint64_t sum = 0;
        for_each_indirect(
            context, range(0, 600), IndirectOptions{.block = block},
            [&](int64_t, uint64_t a) { sum += a; }, read(*x, index));
        EXPECT_EQ(sum, std::accumulate(index.begin(), index.end(), uint64_t{0}));
      }
    }
    context.barrier();
    x->destroy();
    y->destroy();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Indirect, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class IndirectDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(IndirectDeathTest, ElementsExist) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = shared_array<int, cyclic>::create(context, 10);
                         for_each_indirect(
                             context, range(0, 5), [](int64_t, int) {},
                             read(*x, [](int64_t i) { return i + 8; }));
                       }),
              ::testing::ExitedWithCode(2), "reads element 10 of an array of 10 in iteration 2");
}

// One element of another rank in many blocks, of which the next one is fetched while this one is
// written back: what is fetched is patched, and is no mistake of the program.
TEST_F(IndirectDeathTest, DebugModeTakesElementsThatSeveralBlocksModify) {
  const auto in_debug_mode = [] {
    bootstrap::ThreadGroupOptions options =
        bootstrap::group_on(bootstrap::fabrics_under_test()[1], 2);
    options.context.debug = true;
    const Status ran = bootstrap::run_ranks(options, [](Context& context) {
      for (const std::optional<uint64_t>& block : kBlocks) {
        for (const uint64_t distinct : {1, 3, 50}) {
          auto x = shared_array<double>::create(context, 200);
          for (double& mine : x->local_span()) mine = 0;
          context.barrier();
          std::vector<uint64_t> index(300);
          for (size_t i = 0; i < index.size(); ++i) {
            index[i] = (context.rank_me() + 1) % 2 + 2 * (i % distinct);
          }
          for_each_indirect(
              context, range(0, 300), IndirectOptions{.block = block},
              [](int64_t, double& value, const double&) { value += 1; }, modify(*x, index),
              read(*x, index));
          context.barrier();
          const auto mine = x->local_span();
          if (std::accumulate(mine.begin(), mine.end(), 0.0) != 300) std::_Exit(3);
          context.barrier();
          x->destroy();
        }
      }
    });
    std::_Exit(ran.ok() ? 0 : 1);
  };
  EXPECT_EXIT(in_debug_mode(), ::testing::ExitedWithCode(0), "");
}

TEST_F(IndirectDeathTest, LoopsThatCannotBeAreNamedWithTheirPlace) {
  using Function = std::function<void(int64_t, int)>;
  const auto goes = [](int64_t step, const Function& body, const uint32_t* index) {
    on_ranks(2, [&](Context& context) {
      auto x = shared_array<int, cyclic>::create(context, 10);
      for_each_indirect(context, range(0, 2, step), body, read(*x, std::span(index, 2)));
    });
  };
  const Function body = [](int64_t, int) {};
  const std::array<uint32_t, 2> index = {3, 4};
  EXPECT_EXIT(goes(1, body, index.data()), ::testing::ExitedWithCode(0), "");
  const std::string place = "indirect_test.cc:[0-9]+: for_each_indirect";
  EXPECT_EXIT(goes(0, body, index.data()), ::testing::ExitedWithCode(2),
              place + ": a loop from 0 to 2 with step 0 never ends");
  EXPECT_EXIT(goes(1, nullptr, index.data()), ::testing::ExitedWithCode(2),
              place + " with an empty std::function");
  EXPECT_EXIT(goes(1, body, nullptr), ::testing::ExitedWithCode(2),
              place + " through an index of 2 entries at a null pointer");
  EXPECT_EXIT(on_ranks(2,
                       [&](Context& context) {
                         auto x = shared_array<int, cyclic>::create(context, 10);
                         for_each_indirect(context, range(0, 2), body,
                                           read(*x, std::function<int64_t(int64_t)>()));
                       }),
              ::testing::ExitedWithCode(2), place + " with an empty std::function");
}

TEST_F(IndirectDeathTest, ListsHaveAnEntryForEachIteration) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = shared_array<int, cyclic>::create(context, 10);
                         const std::vector<uint32_t> index = {1, 2, 3};
                         for_each_indirect(
                             context, range(0, 5), [](int64_t, int) {}, read(*x, index));
                       }),
              ::testing::ExitedWithCode(2), "is in iteration 3 of an index of 3 entries");
}

TEST_F(IndirectDeathTest, WhatIsModifiedIsNamedAlikeInAllReads) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = shared_array<Body, cyclic>::create(context, 10);
                         const std::vector<uint32_t> index = {1, 2, 3};
                         for_each_indirect(
                             context, range(0, 3), [](int64_t, double&, const Body&) {},
                             modify(*x, index, &Body::mass), read(*x, index));
                       }),
              ::testing::ExitedWithCode(2), "names other members of it in another read");
}

}  // namespace
}  // namespace stripline
