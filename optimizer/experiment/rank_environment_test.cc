#include "optimizer/experiment/rank_environment.h"

#include <gtest/gtest.h>

namespace stripline::experiment {
namespace {

TEST(RankEnvironment, SaysHowToMeasureAndInheritsNothingThatChangesFigures) {
  Assignment assignment;
  assignment.fabric = "emulated:opteron-vapi";
  assignment.clock = "virtual";
  assignment.seed = 7;
  const auto environment = rank_environment(assignment);
  EXPECT_EQ(environment.at("STRIPLINE_FABRIC"), "emulated:opteron-vapi");
  EXPECT_EQ(environment.at("STRIPLINE_CLOCK"), "virtual");
  EXPECT_EQ(environment.at("STRIPLINE_SEED"), "7");
  EXPECT_EQ(environment.at("STRIPLINE_SAME_NODE"), "network");
  for (const char* name :
       {"STRIPLINE_MODEL", "STRIPLINE_TUNING", "STRIPLINE_PROGRESS", "STRIPLINE_GUARD",
        "STRIPLINE_LOAD_ESTIMATION", "STRIPLINE_TRACE", "STRIPLINE_DEBUG"}) {
    EXPECT_EQ(environment.at(name), "") << name;
  }
}

}  // namespace
}  // namespace stripline::experiment
