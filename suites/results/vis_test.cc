#include "optimizer/plan/vis.h"

#include <gtest/gtest.h>

#include <stripline/context.h>

#include "runtime/bootstrap/fabrics_under_test.h"
#include "suites/results/fabrics.h"

namespace stripline::suites::results {
namespace {

TEST(VisCampaigns, TakeMessagesToCarryWhatJobsDo) {
  const auto all = networks({}, true);
  ASSERT_TRUE(all.ok());
  for (const Network& network : *all) {
    const bootstrap::FabricUnderTest fabric{"", network.fabric,
                                            network.emulated() ? "virtual" : "real"};
    const Status ran = bootstrap::run_ranks(bootstrap::group_on(fabric, 2), [&](Context& context) {
      EXPECT_EQ(context.am_max_bytes(), plan::kUsualMessageBytes) << network.fabric;
    });
    EXPECT_TRUE(ran.ok()) << ran.error().message();
  }
}

}  // namespace
}  // namespace stripline::suites::results
