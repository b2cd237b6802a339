#include "runtime/loop/attention.h"

#include <gtest/gtest.h>

#include "runtime/loop/exact_costs.h"

namespace stripline::detail {
namespace {

int looks_in(Attention attention, int steps) {
  int looks = 0;
  for (int i = 0; i < steps; ++i) looks += attention.due() ? 1 : 0;
  return looks;
}

TEST(Attention, LooksTakeASmallPartOfTheLoop) {
  const plan::StripCosts costs = exact_costs("emulated:modern-rdma,compute=none,jitter=off");
  const double look_s = costs.strip_overhead(cost::Corner::nominal);
  ASSERT_GT(look_s, 0);
  fabric::Info info;
  info.goes_on_without_calls = true;
  for (const double step_s : {look_s / 10, look_s, 10 * look_s}) {
    const int steps = 100000;
    const int looks = looks_in(Attention(info, &costs, step_s), steps);
    EXPECT_GT(looks, 0);
    EXPECT_LE(looks * look_s, 0.0051 * steps * step_s);
    EXPECT_GE(looks * look_s, 0.004 * steps * step_s);
  }
  for (const double times : {101.0, 130.0, 199.0}) {  // two steps take a little more than enough
    const int looks = looks_in(Attention(info, &costs, times * look_s), 1000);
    EXPECT_EQ(looks, 500) << times;
  }
  EXPECT_EQ(looks_in(Attention(info, &costs, 1000 * look_s), 10), 10) << "long steps";
}

TEST(Attention, LooksAfterEveryStepWhereTransfersNeedCallsOrNothingIsKnown) {
  const plan::StripCosts costs = exact_costs("emulated:modern-rdma,compute=none,jitter=off");
  fabric::Info info;
  EXPECT_EQ(looks_in(Attention(info, &costs, 1e-9), 10), 10);
  info.goes_on_without_calls = true;
  EXPECT_EQ(looks_in(Attention(info, nullptr, 1e-9), 10), 10);
  EXPECT_EQ(looks_in(Attention(info, &costs, 0), 10), 10);
  EXPECT_EQ(looks_in(Attention(), 10), 10);
}

TEST(Attention, WhoHasWaitedHasLooked) {
  const plan::StripCosts costs = exact_costs("emulated:modern-rdma,compute=none,jitter=off");
  fabric::Info info;
  info.goes_on_without_calls = true;
  Attention attention(info, &costs, costs.strip_overhead(cost::Corner::nominal) * 50);
  EXPECT_FALSE(attention.due());
  EXPECT_FALSE(attention.due());
  attention.has_looked();
  EXPECT_FALSE(attention.due());
  EXPECT_FALSE(attention.due());
  EXPECT_FALSE(attention.due());
  EXPECT_TRUE(attention.due());
}

}  // namespace
}  // namespace stripline::detail
