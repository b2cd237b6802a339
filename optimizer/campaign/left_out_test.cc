#include "optimizer/campaign/left_out.h"

#include <gtest/gtest.h>

namespace stripline::campaign {
namespace {

TEST(LeftOut, AnExperimentIsLeftOutAfterItsSecondFailureUnlessItIsTheLast) {
  const std::map<std::string, int64_t> all = {{"a", 1}, {"b", 1}, {"c", 1}};
  std::map<std::string, uint32_t> failures;
  experiment::LeftOut left_out;
  const auto leaves_out = [&](const std::string& experiment, bool for_good = false) {
    return leave_out(experiment, "it died", for_good, all, failures, left_out);
  };
  EXPECT_FALSE(leaves_out("a"));
  EXPECT_FALSE(leaves_out("b"));
  EXPECT_TRUE(leaves_out("a"));
  EXPECT_FALSE(leaves_out("a"));
  EXPECT_FALSE(leaves_out(""));
  EXPECT_TRUE(leaves_out("c", true));
  EXPECT_FALSE(leaves_out("b"));
  EXPECT_EQ(left_out_text(left_out),
            "; without a, which was left out after it died; without c, which was left out after it "
            "died");
}

}  // namespace
}  // namespace stripline::campaign
