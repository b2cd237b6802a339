#include "server/core/campaigns/campaign_comparison.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

CampaignRecord baseline() {
  CampaignRecord record;
  record.spec = *complete_spec({.fabric = "tcp"});
  record.requirements = {{"micro.latency", 1}, {"micro.flood", 2}};
  return record;
}

TEST(CampaignComparison, TheSameIsComparable) {
  CampaignRecord longer = baseline();
  longer.spec.runs = 20;
  longer.spec.time_budget_s = 900;
  longer.spec.seed = 7;
  EXPECT_TRUE(spec_differences(baseline().spec, longer.spec).empty());
  EXPECT_TRUE(other_experiments(baseline(), longer).empty());
}

TEST(CampaignComparison, FabricsAreWhatIsCompared) {
  CampaignRecord other = baseline();
  other.spec.fabric = "shm";
  const auto differences = spec_differences(baseline().spec, other.spec);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].field, "fabric");
  EXPECT_EQ(differences[0].b, "shm");
  EXPECT_TRUE(other_experiments(baseline(), other).empty());
}

TEST(CampaignComparison, OtherRanksAndOtherVersionsMeasureSomethingElse) {
  CampaignRecord other = baseline();
  other.requirements["micro.flood"] = 3;
  other.requirements["kernel.loop"] = 1;
  EXPECT_EQ(other_experiments(baseline(), other),
            (std::map<std::string, std::string>{{"micro.flood", "versions 2 and 3 of it"}}));
  other.spec.ranks = 4;
  const auto all = other_experiments(baseline(), other);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.at("micro.latency"), "ranks 2 and 4");
}

}  // namespace
}  // namespace stripline::server
