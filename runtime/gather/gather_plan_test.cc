// Gathers of random index sets against the elements of the whole array.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/cached_gather.h>
#include <stripline/gather_plan.h>
#include <stripline/indirect.h>
#include <stripline/sparse_matrix.h>
#include <stripline/team.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/gather/testing/gather_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using gathers::random_index;
using gathers::Triple;
using gathers::value_of;

class Gather : public bootstrap::RanksTest {};

struct Case {
  std::vector<uint64_t> index;
  GatherOptions options;
  uint32_t rounds = 5;
  bool by_steps = false;
  bool jitter = false;
};

template <typename T, typename Layout>
void gather_and_compare(Context& context, shared_array<T, Layout>& x, const Case& one) {
  ASSERT_OK_AND_ASSIGN(auto made, GatherPlan<T>::create(x, one.index, one.options));
  GatherPlan<T> plan = std::move(made);
  ASSERT_EQ(plan.size(), one.index.size());
  for (uint32_t round = 0; round < one.rounds; ++round) {
    gathers::fill(x, round);
    if (one.jitter && round % context.rank_n() == context.rank_me()) context.compute_for(2e-4);
    if (one.by_steps) {
      plan.start(x);
      if (one.jitter && round % 3 == 1) context.progress();
      plan.wait();
      for (size_t i = 0; i < one.index.size(); ++i) {
        ASSERT_EQ(plan[i], value_of<T>(one.index[i], round)) << "round " << round << ", read " << i;
      }
    } else {
      std::vector<uint32_t> visits(one.index.size(), 0);
      plan.for_each(x, [&](size_t i, const T& value) {
        ++visits[i];
        ASSERT_EQ(value, value_of<T>(one.index[i], round)) << "round " << round << ", read " << i;
      });
      ASSERT_TRUE(std::ranges::all_of(visits, [](uint32_t count) { return count == 1; }));
    }
  }
  const GatherStatistics& said = plan.statistics();
  EXPECT_EQ(said.reads, one.index.size());
  EXPECT_LE(said.elements + said.own_reads, said.reads);
}

template <typename T, typename Layout>
void random_gathers(Context& context, uint64_t elements, Layout layout, uint64_t seed) {
  auto x = shared_array<T, Layout>::create(context, elements, layout);
  ASSERT_TRUE(x.ok()) << x.error().message();
  for (const auto method : {GatherMethod::best, GatherMethod::pack, GatherMethod::bound}) {
    Case one{.index = gathers::index_of_rank(elements, context.rank_me(), seed),
             .options = {.method = method}};
    one.by_steps = seed % 2 == 0;
    one.jitter = true;
    gather_and_compare(context, *x, one);
  }
  x->destroy();
}

TEST_P(Gather, RandomIndexSetsOfAllLayouts) {
  for (const rank_t ranks : {1U, 2U, 3U, 7U}) {
    on_ranks(ranks, [ranks](Context& context) {
      random_gathers<double>(context, 1000, blocked(1000, ranks), 1);
      random_gathers<uint32_t>(context, 1003, cyclic{}, 2);
      random_gathers<Triple>(context, 997, block_cyclic<16>{}, 3);
      random_gathers<uint8_t>(context, 64, indefinite{ranks - 1}, 4);
    });
  }
}

TEST_P(Gather, AnOwnerThatReadsNothingDoesNotRunAheadOfItsReaders) {
  // Rank 0 is read by all and reads nothing: nothing but credits holds it back.
  on_ranks(4, [](Context& context) {
    auto x = shared_array<uint64_t, block_cyclic<>>::create(context, 400, blocked(400, 4));
    ASSERT_TRUE(x.ok());
    Case one{.index = {}, .rounds = 40, .by_steps = true, .jitter = true};
    if (context.rank_me() != 0) one.index = random_index(100, 50, context.rank_me());
    gather_and_compare(context, *x, one);
    x->destroy();
  });
}

TEST_P(Gather, SeveralPlansAndArraysOfOneShapeAtATime) {
  on_ranks(3, [](Context& context) {
    using Array = shared_array<uint64_t, cyclic>;
    auto x = Array::create(context, 90);
    auto y = Array::create(context, 90);
    ASSERT_TRUE(x.ok() && y.ok());
    for (size_t i = 0; i < x->local_span().size(); ++i) {
      x->local_span()[i] = x->index_of(i);
      y->local_span()[i] = 1000 + y->index_of(i);
    }
    const std::vector<uint64_t> index = random_index(90, 60, context.rank_me());
    auto one = GatherPlan<uint64_t>::create(*x, index);
    auto other = GatherPlan<uint64_t>::create(*x, index);
    ASSERT_TRUE(one.ok() && other.ok());
    one->start(*x);
    other->start(*y);
    other->wait();
    one->wait();
    for (size_t i = 0; i < index.size(); ++i) {
      ASSERT_EQ((*one)[i], index[i]);
      ASSERT_EQ((*other)[i], 1000 + index[i]);
    }
    one->start(*y);
    one->wait();
    for (size_t i = 0; i < index.size(); ++i) ASSERT_EQ((*one)[i], 1000 + index[i]);
    context.barrier();
    y->destroy();
    x->destroy();
  });
}

TEST_P(Gather, ElementsTravelOnceAndTheBoundIsWhole) {
  on_ranks(2, [](Context& context) {
    auto x = shared_array<double, block_cyclic<>>::create(context, 200, blocked(200, 2));
    ASSERT_TRUE(x.ok());
    const uint64_t other = context.rank_me() == 0 ? 100 : 0;
    const std::vector<uint64_t> index = {other + 90, other + 10, other + 10, other + 11, 0, 199};
    auto pack = GatherPlan<double>::create(*x, index, {.method = GatherMethod::pack});
    auto bound = GatherPlan<double>::create(*x, index, {.method = GatherMethod::bound});
    ASSERT_TRUE(pack.ok() && bound.ok());
    EXPECT_EQ(pack->statistics().elements, 4U);
    EXPECT_EQ(pack->statistics().own_reads, 1U);
    EXPECT_EQ(pack->statistics().bytes_received, 4 * sizeof(double));
    EXPECT_EQ(pack->statistics().bytes_sent, 4 * sizeof(double));
    const uint64_t span = context.rank_me() == 0 ? 90 : 91;  // to 199, and from 0
    EXPECT_EQ(bound->statistics().bytes_received, span * sizeof(double));
    EXPECT_EQ(bound->statistics().bound_owners, 1U);
  });
}

TEST_P(Gather, AscendingIndicesOfWholeRangesAreToldAsIntervals) {
  for (const rank_t ranks : {1U, 2U, 3U, 7U}) {
    on_ranks(ranks, [ranks](Context& context) {
      const auto of_layout = [&](auto layout) {
        constexpr uint64_t kElements = 400;
        auto x = shared_array<uint64_t, decltype(layout)>::create(context, kElements, layout);
        ASSERT_TRUE(x.ok());
        // An interval that overlaps those of other ranks, some elements twice.
        Case one{.index = {}, .by_steps = true};
        const uint64_t first = kElements / ranks * context.rank_me() / 2;
        for (uint64_t i = first; i < first + 150; ++i) {
          one.index.insert(one.index.end(), 1 + i % 2, i);
        }
        gather_and_compare(context, *x, one);
        ASSERT_OK_AND_ASSIGN(auto plan, GatherPlan<uint64_t>::create(*x, one.index));
        EXPECT_EQ(plan.statistics().elements_told, 0U);
        EXPECT_EQ(plan.statistics().bound_owners, plan.statistics().owners);
        // With gaps, that are sent as well, by force.
        std::erase_if(one.index, [](uint64_t i) { return i % 3 == 1; });
        one.options.method = GatherMethod::bound;
        gather_and_compare(context, *x, one);
        ASSERT_OK_AND_ASSIGN(auto forced, GatherPlan<uint64_t>::create(*x, one.index, one.options));
        EXPECT_EQ(forced.statistics().elements_told, 0U);
        context.barrier();
      };
      of_layout(blocked(400, ranks));
      of_layout(cyclic{});
      of_layout(block_cyclic<16>{});
    });
  }
}

TEST_P(Gather, CachedOnesAreInspectedAgainWhenAnIndexChanges) {
  on_ranks(3, [](Context& context) {
    using Array = shared_array<uint64_t, cyclic>;
    ASSERT_OK_AND_ASSIGN(auto x, Array::create(context, 90));
    CachedGather<uint64_t> by_index;
    CachedGather<uint64_t> by_version;
    std::vector<uint64_t> index = random_index(90, 60, context.rank_me());
    for (uint32_t round = 0; round < 9; ++round) {
      gathers::fill(x, round);
      if (round % 3 == 2 && context.rank_me() == 1) {  // one rank alone
        index = random_index(90, 40 + round, round);
      }
      ASSERT_TRUE(by_index.gather(x, index).ok());
      ASSERT_TRUE(by_version.gather(x, index, (round + 1) / 3).ok());
      ASSERT_EQ(by_index.size(), index.size());
      ASSERT_EQ(by_version.size(), index.size());
      for (size_t i = 0; i < index.size(); ++i) {
        ASSERT_EQ(by_index[i], value_of<uint64_t>(index[i], round));
        ASSERT_EQ(by_version[i], value_of<uint64_t>(index[i], round));
      }
    }
    EXPECT_EQ(by_index.inspections(), 4U);
    EXPECT_EQ(by_version.inspections(), 4U);
    index = {90};
    EXPECT_EQ(by_index.gather(x, index).error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(by_index.size(), 0U);
    context.barrier();
  });
}

TEST_P(Gather, CachedOnesAreInspectedAgainWhenTheLayoutChanges) {
  on_ranks(2, [](Context& context) {
    auto x = shared_array<uint64_t, block_cyclic<>>::create(context, 40, blocked(40, 2));
    auto y = shared_array<uint64_t, block_cyclic<>>::create(context, 40, {3});
    ASSERT_TRUE(x.ok() && y.ok());
    gathers::fill(*x, 1);
    gathers::fill(*y, 2);
    const std::vector<uint64_t> index = {39, 3, 4, 20};
    CachedGather<uint64_t> values;
    for (int round = 0; round < 2; ++round) {
      ASSERT_TRUE(values.gather(*x, index, 7).ok());
      for (size_t i = 0; i < 4; ++i) ASSERT_EQ(values[i], value_of<uint64_t>(index[i], 1));
      ASSERT_TRUE(values.gather(*y, index, 7).ok());
      for (size_t i = 0; i < 4; ++i) ASSERT_EQ(values[i], value_of<uint64_t>(index[i], 2));
    }
    EXPECT_EQ(values.inspections(), 4U);
    context.barrier();
  });
}

// What release() says ends with the next gather, whose end says it again: rank 0, which reads
// nothing itself, waits for that before its memory goes.
TEST_P(Gather, CachedOnesAreReleasedMoreThanOnce) {
  on_ranks(3, [](Context& context) {
    auto x = shared_array<uint64_t, block_cyclic<>>::create(context, 90, blocked(90, 3));
    ASSERT_TRUE(x.ok());
    std::vector<uint64_t> index;
    if (context.rank_me() != 0) index = random_index(30, 20, context.rank_me());
    {
      CachedGather<uint64_t> values;
      for (uint64_t round = 0; round < 4; ++round) {
        gathers::fill(*x, round);
        ASSERT_TRUE(values.gather(*x, index, 1).ok());
        for (size_t i = 0; i < index.size(); ++i) {
          ASSERT_EQ(values[i], value_of<uint64_t>(index[i], round));
        }
        if (round % 2 == 0) values.release();
      }
    }
    context.barrier();
  });
}

// A body that throws on one rank leaves nothing in flight, there or elsewhere.
TEST_P(Gather, CanBeUsedAgainAfterABodyHasThrown) {
  on_ranks(3, [](Context& context) {
    auto x = shared_array<uint64_t, cyclic>::create(context, 90);
    ASSERT_TRUE(x.ok());
    const std::vector<uint64_t> index = {1, 50, 20, 33, 89, 4};
    ASSERT_OK_AND_ASSIGN(auto plan, GatherPlan<uint64_t>::create(*x, index));
    for (uint64_t round = 0; round < 4; ++round) {
      gathers::fill(*x, round);
      size_t seen = 0;
      const auto visit = [&](size_t i, uint64_t value) {
        EXPECT_EQ(value, value_of<uint64_t>(index[i], round));
        if (++seen == round && context.rank_me() == 1) throw std::runtime_error("not this one");
      };
      if (round > 0 && context.rank_me() == 1) {
        EXPECT_THROW(plan.for_each(*x, visit), std::runtime_error);
      } else {
        plan.for_each(*x, visit);
        EXPECT_EQ(seen, index.size());
      }
    }
    context.barrier();
  });
}

// It ends with the Context, on all ranks in the order in which they were made.
TEST_P(Gather, MayOutliveItsContext) {
  std::array<std::optional<GatherPlan<uint64_t>>, 4> kept;
  on_ranks(2, [&](Context& context) {
    auto x = shared_array<uint64_t, cyclic>::create(context, 10);
    ASSERT_TRUE(x.ok());
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_OK_AND_ASSIGN(auto plan,
                           GatherPlan<uint64_t>::create(*x, std::vector<uint64_t>{0, 1, 2}));
      plan.for_each(*x, [](size_t, uint64_t) {});
      kept[2 * i + context.rank_me()].emplace(std::move(plan));
    }
    context.barrier();
  });
}

TEST_P(Gather, RefusesOnAllRanksWhatNamesNoElement) {
  on_ranks(3, [](Context& context) {
    auto x = shared_array<int, cyclic>::create(context, 10);
    ASSERT_TRUE(x.ok());
    const std::vector<uint64_t> index = {3, context.rank_me() == 1 ? 10U : 9U};
    auto plan = GatherPlan<int>::create(*x, index);
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().code(), ErrorCode::invalid_argument);
    const std::string expected = context.rank_me() == 1
                                     ? "entry 1 of the index is element 10 of an array of 10"
                                     : "what another rank gives is refused there";
    EXPECT_NE(plan.error().message().find(expected), std::string::npos) << plan.error().message();
  });
}

TEST_P(Gather, RefusesOnAllRanksAnIndexThatIsNull) {
  on_ranks(2, [](Context& context) {
    auto x = shared_array<int, cyclic>::create(context, 10);
    ASSERT_TRUE(x.ok());
    const std::vector<uint64_t> entries = {3, 9};
    const bool mine = context.rank_me() == 1;
    const std::span<const uint64_t> index(mine ? nullptr : entries.data(), entries.size());
    const std::string expected = mine ? "the index of 2 entries is at a null pointer"
                                      : "what another rank gives is refused there";
    auto plan = GatherPlan<int>::create(*x, index);
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(plan.error().message().find(expected), std::string::npos) << plan.error().message();
    CachedGather<int> values;
    const Status gathered = values.gather(*x, index);
    ASSERT_FALSE(gathered.ok());
    EXPECT_NE(gathered.error().message().find(expected), std::string::npos);
  });
}

TEST_P(Gather, RefusesOnAllRanksWhatHasNoRoom) {
  on_ranks(2, [](Context& context) {
    constexpr uint64_t kElements = 800000;  // 3.2 MB of 8 on each rank, and twice as much to land
    auto x =
        shared_array<double, block_cyclic<>>::create(context, kElements, blocked(kElements, 2));
    ASSERT_TRUE(x.ok());
    std::vector<uint64_t> index;
    if (context.rank_me() == 0) {
      for (uint64_t i = kElements / 2; i < kElements; ++i) index.push_back(i);
    }
    auto plan = GatherPlan<double>::create(*x, index);
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().code(), ErrorCode::resource_exhausted) << plan.error().message();
    // Nothing is left behind: a smaller one has room.
    index.resize(std::min<size_t>(index.size(), 1000));
    EXPECT_TRUE(GatherPlan<double>::create(*x, index).ok());
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Gather, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class GatherDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(GatherDeathTest, StartsOneGatherAtATime) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = shared_array<int, cyclic>::create(context, 4);
                         auto plan = GatherPlan<int>::create(*x, std::vector<uint64_t>{1});
                         plan->start(*x);
                         plan->start(*x);
                       }),
              ::testing::ExitedWithCode(2), "while a gather of this plan is in progress");
}

TEST_F(GatherDeathTest, RefusesArraysThatWereNotMade) {
  const auto refused = [](const char* message, const auto& call) {
    EXPECT_EXIT(on_ranks(2, [&](Context& context) { call(context); }), ::testing::ExitedWithCode(2),
                std::string("gather_plan_test.cc:[0-9]+: ") + message +
                    " of a shared_array that refers to no array");
  };
  refused("GatherPlan::create", [](Context&) {
    (void)GatherPlan<int>::create(shared_array<int, cyclic>(), std::vector<uint64_t>{});
  });
  refused("GatherPlan::start", [](Context& context) {
    auto x = shared_array<int, cyclic>::create(context, 4);
    auto plan = GatherPlan<int>::create(*x, std::vector<uint64_t>{1});
    plan->start(shared_array<int, cyclic>());
  });
  refused("SparseMatrix::create", [](Context&) {
    (void)SparseMatrix<double>::create(shared_array<double>(), std::vector<size_t>{0},
                                       std::vector<uint64_t>{}, std::vector<double>{});
  });
  refused("gather", [](Context&) { (void)gather(shared_array<int>(), std::vector<uint64_t>{}); });
  refused("for_each_indirect", [](Context& context) {
    const shared_array<int> none;
    for_each_indirect(
        context, range(0, 0), [](int64_t, int) {}, read(none, [](int64_t i) { return i; }));
  });
}

TEST_F(GatherDeathTest, ReadsNoValuesThatItHasNot) {
  using Plan = GatherPlan<int>;
  const auto refused = [](const char* message, const auto& read, bool gathers = true) {
    EXPECT_EXIT(on_ranks(2,
                         [&](Context& context) {
                           const auto x = shared_array<int, cyclic>::create(context, 4);
                           auto plan = Plan::create(*x, std::vector<uint64_t>{0, 1, 2});
                           if (gathers) plan->start(*x);
                           plan->wait();
                           if (context.rank_me() == 0) read(*plan);
                           context.barrier();
                         }),
                ::testing::ExitedWithCode(2), message);
  };
  refused("GatherPlan::operator.. of entry 3, but the index has 3, counted from 0",
          [](Plan& plan) { (void)plan[3]; });
  refused("GatherPlan::value of entry 3, but the index has 3",
          [](Plan& plan) { (void)plan.value(0, 3); });
  refused("GatherPlan::value of array 1, but the plan was made for 1",
          [](Plan& plan) { (void)plan.value(1, 0); });
  refused(
      "GatherPlan::operator.. before anything was gathered", [](Plan& plan) { (void)plan[0]; },
      false);
  const auto moved = [&](const char* name, const auto& call) {
    refused((std::string(name) + " of an object that has been moved from").c_str(),
            [&](auto& plan) {
              const auto other = std::move(plan);
              call(plan);  // NOLINT(bugprone-use-after-move)
            });
  };
  moved("GatherPlan::operator..", [](Plan& plan) { (void)plan[0]; });
  moved("GatherPlan::value", [](Plan& plan) { (void)plan.value(0, 0); });
  moved("GatherPlan::size", [](Plan& plan) { (void)plan.size(); });
  moved("GatherPlan::statistics", [](Plan& plan) { (void)plan.statistics(); });
}

TEST_F(GatherDeathTest, CachedOnesReadNothingBeforeAGather) {
  EXPECT_EXIT((void)CachedGather<int>()[0], ::testing::ExitedWithCode(2),
              "CachedGather::operator.. of a CachedGather that has gathered nothing");
  EXPECT_EXIT((void)CachedGather<int>().statistics(), ::testing::ExitedWithCode(2),
              "gather_plan_test.cc:[0-9]+: CachedGather::statistics of a CachedGather that has "
              "gathered nothing");
}

TEST_F(GatherDeathTest, RefusesMethodsThatDoNotExist) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = shared_array<int, cyclic>::create(context, 4);
                         auto plan =
                             GatherPlan<int>::create(*x, std::vector<uint64_t>{1},
                                                     {.method = static_cast<GatherMethod>(17)});
                         if (!plan.ok()) std::_Exit(report(plan.error()));
                       }),
              ::testing::ExitedWithCode(2), "GatherOptions::method is 17");
}

TEST_F(GatherDeathTest, RefusesFunctionsAndListsThatAreNot) {
  using Array = shared_array<int, cyclic>;
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = Array::create(context, 4);
                         auto plan = GatherPlan<int>::create(*x, std::vector<uint64_t>{1});
                         plan->for_each(*x, std::function<void(size_t, int)>());
                       }),
              ::testing::ExitedWithCode(2),
              "gather_plan_test.cc:[0-9]+: GatherPlan::for_each with an empty std::function");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = Array::create(context, 4);
                         auto plan = GatherPlan<int>::create(*x, std::vector<uint64_t>{1});
                         plan->start(std::span(static_cast<const Array* const*>(nullptr), 1));
                       }),
              ::testing::ExitedWithCode(2),
              "gather_plan_test.cc:[0-9]+: GatherPlan::start of arrays whose pointers are at a "
              "null pointer");
}

TEST_F(GatherDeathTest, RefusesToFreeWhatItGathers) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = shared_array<int, cyclic>::create(context, 4);
                         auto plan = GatherPlan<int>::create(*x, std::vector<uint64_t>{0, 1});
                         plan->start(*x);
                         x->destroy();
                       }),
              ::testing::ExitedWithCode(2),
              "delete_symmetric_array of an array that is in use since "
              ".*gather_plan_test.cc:[0-9]+: GatherPlan::start");
}

TEST_F(GatherDeathTest, DebugModeFindsPlansThatGoInAnotherOrder) {
  const auto in_debug_mode = [](bool differs) {
    bootstrap::ThreadGroupOptions options =
        bootstrap::group_on(bootstrap::fabrics_under_test()[1], 2);
    options.context.debug = true;
    const Status ran = bootstrap::run_ranks(options, [differs](Context& context) {
      auto x = shared_array<int, cyclic>::create(context, 4);
      std::optional<GatherPlan<int>> one(*GatherPlan<int>::create(*x, std::vector<uint64_t>{0}));
      std::optional<GatherPlan<int>> other(*GatherPlan<int>::create(*x, std::vector<uint64_t>{1}));
      if (differs && context.rank_me() == 1) {
        other.reset();
        one.reset();
      } else {
        one.reset();
        other.reset();
      }
      context.barrier();
    });
    std::_Exit(ran.ok() ? 0 : 1);
  };
  EXPECT_EXIT(in_debug_mode(false), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      in_debug_mode(true), ::testing::ExitedWithCode(2),
      "rank 0 is in end of a GatherPlan, plan 1 .*, rank 1 is in end of a GatherPlan, plan 2");
}

TEST_F(GatherDeathTest, DebugModeFindsStoresMeanwhile) {
  const auto in_debug_mode = [](bool stores) {
    bootstrap::ThreadGroupOptions options =
        bootstrap::group_on(bootstrap::fabrics_under_test()[1], 2);
    options.context.debug = true;
    const Status ran = bootstrap::run_ranks(options, [stores](Context& context) {
      auto x = shared_array<int, cyclic>::create(context, 7);
      for (int& mine : x->local_span()) mine = 1;
      auto plan = GatherPlan<int>::create(*x, std::vector<uint64_t>{0, 1});
      for (int step = 0; step < 3; ++step) {
        plan->start(*x);
        if (stores && step == 1) x->local_span()[2] = 3;
        plan->wait();
        x->local_span()[2] = step;
      }
    });
    std::_Exit(ran.ok() ? 0 : 1);
  };
  EXPECT_EXIT(in_debug_mode(false), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(in_debug_mode(true), ::testing::ExitedWithCode(2),
              "elements changed since the gather");
}

// Ranks that do not gather alike: what one of them does before the others' second gather.
void in_different_phases(
    const std::function<void(Context&, GatherPlan<int>&, shared_array<int, cyclic>&)>& odd) {
  bootstrap::ThreadGroupOptions options =
      bootstrap::group_on(bootstrap::fabrics_under_test()[1], 3);
  options.context.debug = true;
  const Status ran = bootstrap::run_ranks(options, [&odd](Context& context) {
    auto x = shared_array<int, cyclic>::create(context, 6);
    for (int& mine : x->local_span()) mine = 1;
    const std::vector<uint64_t> index = {0, 1, 2};
    auto plan = GatherPlan<int>::create(*x, index);
    auto other = GatherPlan<int>::create(*x, index);
    plan->for_each(*x, [](size_t, int) {});
    if (context.rank_me() == 1) odd(context, *other, *x);
    plan->for_each(*x, [](size_t, int) {});
    context.barrier();
  });
  std::_Exit(ran.ok() ? 0 : 1);
}

TEST_F(GatherDeathTest, DebugModeFindsRanksThatGatherByDifferentPlans) {
  EXPECT_EXIT(
      in_different_phases(
          [](Context&, GatherPlan<int>& other, shared_array<int, cyclic>& x) { other.start(x); }),
      ::testing::ExitedWithCode(2),
      "GatherPlan::start, gather . of plan . at .*, rank . is in GatherPlan::start, gather .");
}

TEST_F(GatherDeathTest, DebugModeFindsRanksThatGatherMoreOftenThanOthers) {
  EXPECT_EXIT(in_different_phases([](Context& context, GatherPlan<int>&,
                                     shared_array<int, cyclic>&) { context.barrier(); }),
              ::testing::ExitedWithCode(2), "the ranks disagree on .*GatherPlan::start");
}

TEST_F(GatherDeathTest, TakesArraysOfItsShape) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = shared_array<int, cyclic>::create(context, 4);
                         auto y = shared_array<int, cyclic>::create(context, 5);
                         auto plan = GatherPlan<int>::create(*x, std::vector<uint64_t>{1});
                         plan->start(*y);
                       }),
              ::testing::ExitedWithCode(2), "the plan was made for 4");
}

}  // namespace
}  // namespace stripline
