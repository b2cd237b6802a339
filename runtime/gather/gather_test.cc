// gather(x, index): values, and what places in the program keep.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/gather.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/gather/testing/gather_fixtures.h"

namespace stripline {
namespace {

using gathers::value_of;

class OneCall : public bootstrap::RanksTest {};

template <typename T>
void expect_values(const gathered<T>& values, const std::vector<uint64_t>& index, uint64_t round) {
  ASSERT_EQ(values.size(), index.size());
  for (size_t i = 0; i < index.size(); ++i) ASSERT_EQ(values[i], value_of<T>(index[i], round));
}

TEST_P(OneCall, GivesTheValuesAndInspectsWhenTheIndexChanges) {
  for (const rank_t ranks : {1U, 2U, 3U, 7U}) {
    on_ranks(ranks, [ranks](Context& context) {
      auto x = shared_array<double, block_cyclic<>>::create(context, 500, blocked(500, ranks));
      ASSERT_TRUE(x.ok());
      std::vector<uint64_t> index = gathers::index_of_rank(500, context.rank_me(), 1);
      uint64_t inspections = 0;
      for (uint64_t round = 0; round < 6; ++round) {
        gathers::fill(*x, round);
        if (round == 4 && context.rank_me() == ranks - 1) {  // one rank's, by one entry
          index.push_back(round);
        }
        const auto values = gather(*x, index);
        expect_values(values, index, round);
        inspections = values.inspections();
      }
      EXPECT_EQ(inspections, 2U);
      context.barrier();
    });
  }
}

TEST_P(OneCall, VersionsStandForTheIndex) {
  on_ranks(3, [](Context& context) {
    auto x = shared_array<uint64_t, cyclic>::create(context, 90);
    ASSERT_TRUE(x.ok());
    std::vector<uint64_t> index = gathers::index_of_rank(90, context.rank_me(), 1);
    for (uint64_t round = 0; round < 6; ++round) {
      gathers::fill(*x, round);
      const uint64_t version = round / 3;
      if (round == 3) index = gathers::index_of_rank(90, context.rank_me(), 2);
      const auto values = gather(*x, index, version);
      expect_values(values, index, round);
      EXPECT_EQ(values.inspections(), version + 1);
    }
    context.barrier();
  });
}

// One place in the program, for arrays of several types.
template <typename Array>
auto gather_here(const Array& x, const std::vector<uint64_t>& index) {
  return gather(x, index);
}

TEST_P(OneCall, EveryPlaceAndTypeKeepsItsOwn) {
  on_ranks(2, [](Context& context) {
    auto x = shared_array<uint64_t, cyclic>::create(context, 40);
    auto y = shared_array<uint32_t, cyclic>::create(context, 40);
    ASSERT_TRUE(x.ok() && y.ok());
    gathers::fill(*x, 1);
    gathers::fill(*y, 1);
    const std::vector<uint64_t> one = {1, 2, 39};
    const std::vector<uint64_t> other = {7, 8};
    for (int round = 0; round < 3; ++round) {
      const auto here = gather(*x, one);
      const auto there = gather(*x, other);
      const auto of_x = gather_here(*x, one);
      const auto of_y = gather_here(*y, other);
      expect_values(here, one, 1);
      expect_values(there, other, 1);
      expect_values(of_x, one, 1);
      expect_values(of_y, other, 1);
      for (const uint64_t inspections :
           {here.inspections(), there.inspections(), of_x.inspections(), of_y.inspections()}) {
        EXPECT_EQ(inspections, 1U);
      }
    }
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, OneCall, ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel());

class OneCallDeathTest : public bootstrap::RanksDeathTest {};

// Calls on one line are one place.
TEST_F(OneCallDeathTest, DebugModeFindsReadsOfValuesThatAreReplaced) {
  const auto in_debug_mode = [](bool replaces) {
    auto options = bootstrap::group_on(bootstrap::fabrics_under_test()[1], 2);
    options.context.debug = true;
    const Status ran = bootstrap::run_ranks(options, [replaces](Context& context) {
      auto x = shared_array<int, cyclic>::create(context, 4);
      const std::vector<std::vector<uint64_t>> indices = {{0, 1, 2}, {3}};
      std::vector<gathered<int>> values;
      for (const auto& index : indices) {
        values.push_back(gather(*x, index));
        static_cast<void>(values.back()[0]);
      }
      if (replaces) static_cast<void>(values.front()[0]);
      context.barrier();
    });
    std::_Exit(ran.ok() ? 0 : 1);
  };
  EXPECT_EXIT(in_debug_mode(false), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(in_debug_mode(true), ::testing::ExitedWithCode(2),
              "gather_test.cc:[0-9]+: gather: values are read that the next gather of this line");
}

TEST_F(OneCallDeathTest, ReadsNoEntriesThatTheIndexHasNot) {
  const auto reads_beyond = [](bool debug) {
    auto options = bootstrap::group_on(bootstrap::fabrics_under_test()[1], 2);
    options.context.debug = debug;
    const Status ran = bootstrap::run_ranks(options, [](Context& context) {
      auto x = shared_array<int, cyclic>::create(context, 4);
      const auto values = gather(*x, std::vector<uint64_t>{0, 1});
      if (context.rank_me() == 0) static_cast<void>(values[2]);
      context.barrier();
    });
    std::_Exit(ran.ok() ? 0 : 1);
  };
  EXPECT_EXIT(reads_beyond(false), ::testing::ExitedWithCode(2),
              "of entry 2, but the index has 2, counted from 0");
  EXPECT_EXIT(reads_beyond(true), ::testing::ExitedWithCode(2),
              "gather_test.cc:[0-9]+: gather: the value of entry 2 is read, but the index has 2");
}

TEST_F(OneCallDeathTest, NamesThePlaceOfAnIndexThatNamesNoElement) {
  EXPECT_EXIT(
      on_ranks(2,
               [](Context& context) {
                 auto x = shared_array<int, cyclic>::create(context, 4);
                 gather(*x, std::vector<uint64_t>{1, 4});
               }),
      ::testing::ExitedWithCode(2),
      "gather_test.cc:[0-9]+: gather: .*entry 1 of the index is element 4 of an array of 4");
}

}  // namespace
}  // namespace stripline
