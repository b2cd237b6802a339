// Gathers of several arrays at a time against the elements of each.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/gather_plan.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/gather/testing/gather_fixtures.h"

namespace stripline {
namespace {

using gathers::value_of;

class SeveralArrays : public bootstrap::RanksTest {};

template <typename T, typename Layout>
void gather_and_compare(Context& context, uint64_t elements, Layout layout, uint32_t vectors,
                        uint64_t seed) {
  using Array = shared_array<T, Layout>;
  std::vector<Array> arrays;
  for (uint32_t v = 0; v < vectors; ++v) {
    auto array = Array::create(context, elements, layout);
    ASSERT_TRUE(array.ok()) << array.error().message();
    arrays.push_back(*array);
  }
  std::vector<const Array*> xs;
  for (const Array& array : arrays) xs.push_back(&array);
  const std::vector<uint64_t> index = gathers::index_of_rank(elements, context.rank_me(), seed);
  for (const auto method : {GatherMethod::best, GatherMethod::pack, GatherMethod::bound}) {
    auto plan =
        GatherPlan<T>::create(arrays.front(), index, {.method = method, .vectors = vectors});
    ASSERT_TRUE(plan.ok()) << plan.error().message();
    EXPECT_EQ(plan->statistics().bytes_received % (vectors * sizeof(T)), 0U);
    for (uint64_t round = 0; round < 3; ++round) {
      const auto expected = [&](uint32_t v, size_t i) {
        return value_of<T>(index[i], round * 100 + v);
      };
      for (uint32_t v = 0; v < vectors; ++v) gathers::fill(arrays[v], round * 100 + v);
      size_t visits = 0;
      if (round == 1) {
        plan->for_each(xs, [&](size_t i, const gathered_values<T>& values) {
          ++visits;
          for (uint32_t v = 0; v < vectors; ++v) ASSERT_EQ(values[v], expected(v, i));
        });
        ASSERT_EQ(visits, index.size());
        continue;
      }
      plan->start(xs);
      plan->wait();
      for (size_t i = 0; i < index.size(); ++i) {
        ASSERT_EQ((*plan)[i], expected(0, i));
        for (uint32_t v = 0; v < vectors; ++v) ASSERT_EQ(plan->value(v, i), expected(v, i));
      }
    }
  }
  context.barrier();
  while (!arrays.empty()) {
    arrays.back().destroy();
    arrays.pop_back();
  }
}

TEST_P(SeveralArrays, EachHasItsElements) {
  for (const rank_t ranks : {1U, 2U, 3U, 7U}) {
    on_ranks(ranks, [ranks](Context& context) {
      gather_and_compare<double>(context, 300, blocked(300, ranks), 3, 1);
      gather_and_compare<uint32_t>(context, 301, cyclic{}, 2, 2);
      gather_and_compare<gathers::Triple>(context, 297, block_cyclic<16>{}, 4, 3);
      gather_and_compare<uint8_t>(context, 64, indefinite{ranks - 1}, 5, 4);
    });
  }
}

TEST_P(SeveralArrays, RanksAgreeOnHowMany) {
  on_ranks(3, [](Context& context) {
    auto x = shared_array<int, cyclic>::create(context, 10);
    ASSERT_TRUE(x.ok());
    const std::vector<uint64_t> index = {3};
    auto differ = GatherPlan<int>::create(*x, index, {.vectors = 1 + context.rank_me()});
    ASSERT_FALSE(differ.ok());
    EXPECT_EQ(differ.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(differ.error().message().find("is 1 on one rank and 3 on another"), std::string::npos)
        << differ.error().message();
    auto none = GatherPlan<int>::create(*x, index, {.vectors = 0});
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().code(), ErrorCode::invalid_argument);
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, SeveralArrays,
                         ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel());

class SeveralArraysDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(SeveralArraysDeathTest, AreAsManyAsThePlanWasMadeFor) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto x = shared_array<int, cyclic>::create(context, 4);
                         auto plan =
                             GatherPlan<int>::create(*x, std::vector<uint64_t>{1}, {.vectors = 3});
                         plan->start(std::array{&*x, &*x});
                       }),
              ::testing::ExitedWithCode(2), "of 2 arrays; GatherOptions::vectors of the plan is 3");
}

TEST_F(SeveralArraysDeathTest, AreNotNull) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         using Array = shared_array<int, cyclic>;
                         auto x = Array::create(context, 4);
                         auto plan =
                             GatherPlan<int>::create(*x, std::vector<uint64_t>{1}, {.vectors = 2});
                         plan->start(std::array<const Array*, 2>{&*x, nullptr});
                       }),
              ::testing::ExitedWithCode(2),
              "several_arrays_test.cc:[0-9]+: GatherPlan::start of a null pointer as array 1");
}

TEST_F(SeveralArraysDeathTest, HaveOneShape) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         using Array = shared_array<int, block_cyclic<>>;
                         auto x = Array::create(context, 8, {2});
                         auto y = Array::create(context, 8, {4});
                         auto plan =
                             GatherPlan<int>::create(*x, std::vector<uint64_t>{1}, {.vectors = 2});
                         plan->start(std::array{&*x, &*y});
                       }),
              ::testing::ExitedWithCode(2), "laid out otherwise");
}

}  // namespace
}  // namespace stripline
