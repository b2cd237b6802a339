#include "optimizer/cost/pack_costs.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::cost {
namespace {

using model::example_parameter;

TEST(PackCosts, FollowsTheMeasuredSpans) {
  model::PackModel pack;
  pack.pack = {{4096, example_parameter(10e-9), example_parameter(0.1e-9)},
               {1 << 20, example_parameter(30e-9), example_parameter(0.3e-9)}};
  pack.unpack = {{4096, example_parameter(20e-9), example_parameter(0.2e-9)}};
  const PackCosts costs(pack);
  EXPECT_NEAR(costs.pack(5, 1000, 4096), 5 * 10e-9 + 1000 * 0.1e-9, 1e-15);
  EXPECT_NEAR(costs.pack(5, 1000, 1 << 20), 5 * 30e-9 + 1000 * 0.3e-9, 1e-15);
  EXPECT_NEAR(costs.pack(1, 0, 64 << 10), 20e-9, 1e-15);  // half of the octaves between
  EXPECT_NEAR(costs.unpack(5, 1000, 1 << 30), 5 * 20e-9 + 1000 * 0.2e-9, 1e-15);
  EXPECT_LT(costs.pack(5, 1000, 4096, Corner::low), costs.pack(5, 1000, 4096));
  EXPECT_GT(costs.pack(5, 1000, 4096, Corner::high), costs.pack(5, 1000, 4096));
}

TEST(PackCosts, WithoutKnowledgeIsFree) {
  EXPECT_EQ(PackCosts().pack(10, 1000, 4096), 0);
  EXPECT_EQ(PackCosts(model::PackModel{}).unpack(10, 1000, 4096), 0);
}

}  // namespace
}  // namespace stripline::cost
