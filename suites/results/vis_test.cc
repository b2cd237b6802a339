#include "optimizer/plan/vis.h"

#include <gtest/gtest.h>

#include <stripline/context.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/fabric/emulated/testing/profile_file.h"
#include "suites/results/fabrics.h"

namespace stripline::suites::results {
namespace {

TEST(VisCampaigns, TakeMessagesToCarryWhatJobsDo) {
  const auto all = networks({}, true);
  ASSERT_TRUE(all.ok());
  for (const Network& network : *all) {
    const bootstrap::FabricUnderTest fabric{"", network.fabric,
                                            network.emulated() ? "virtual" : "real"};
    bootstrap::on_ranks(bootstrap::group_on(fabric, 2), [&](Context& context) {
      EXPECT_EQ(context.am_max_bytes(), plan::kUsualMessageBytes) << network.fabric;
    });
  }
}

// Models rest on one size, whatever the network would take.
TEST(VisCampaigns, TakeNoLargerMessagesWhereTheNetworkDoes) {
  const fabric::ProfileFile profile("modern-rdma", [](Json& members) {
    Json& largest = members["max_message_bytes"];
    (largest.is_object() ? largest["value"] : largest) = 65536;
  });
  const bootstrap::FabricUnderTest fabric{"", "emulated:" + profile.path(), "virtual"};
  bootstrap::on_ranks(bootstrap::group_on(fabric, 2), [](Context& context) {
    EXPECT_EQ(context.am_max_bytes(), plan::kUsualMessageBytes);
  });
}

}  // namespace
}  // namespace stripline::suites::results
