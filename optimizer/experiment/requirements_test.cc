#include "optimizer/experiment/requirements.h"

#include <gtest/gtest.h>

#include "optimizer/experiment/catalogue.h"

namespace stripline::experiment {
namespace {

Experiment declared(RankCount rank_count) {
  Experiment e;
  e.name = "kernel.test";
  e.variants = {"a"};
  e.min_ranks = 1;
  e.max_ranks = 64;
  e.rank_count = rank_count;
  return e;
}

std::string why_not(const Experiment& e, uint32_t ranks, const std::string& fabric = "tcp") {
  return unmet_requirement(e, {ranks, fabric}).value_or("");
}

TEST(Requirements, RanksAreInRangeAndDivideTheWork) {
  for (const uint32_t ranks : {1U, 3U, 64U})
    EXPECT_EQ(why_not(declared(RankCount::any), ranks), "");
  EXPECT_NE(why_not(declared(RankCount::any), 65), "");

  for (const uint32_t ranks : {1U, 4U, 9U, 49U}) {
    EXPECT_EQ(why_not(declared(RankCount::square), ranks), "") << ranks;
  }
  EXPECT_EQ(
      why_not(declared(RankCount::square), 2),
      "experiment 'kernel.test' takes a square as its number of ranks, not 2; ask for another "
      "number of ranks");
  for (const uint32_t ranks : {1U, 2U, 64U}) {
    EXPECT_EQ(why_not(declared(RankCount::power_of_two), ranks), "") << ranks;
  }
  EXPECT_EQ(why_not(declared(RankCount::power_of_two), 3),
            "experiment 'kernel.test' takes a power of two as its number of ranks, not 3; ask for "
            "another number of ranks");
}

TEST(Requirements, AnEmulatedNetworkHasNoPathsBesideItAndNoThreads) {
  Experiment on_node = declared(RankCount::any);
  on_node.factors.push_back({factor::kSameNode, "", "", {std::string("mapped")}, {}, {}});
  Experiment served = declared(RankCount::any);
  served.variants.emplace_back(variant::kThread);
  Experiment threads = declared(RankCount::any);
  threads.factors.push_back({factor::kWorkers, "", "", {int64_t{2}}, {}, {}});
  for (const Experiment& e : {on_node, served, threads}) {
    EXPECT_EQ(why_not(e, 2, "tcp"), "");
    EXPECT_NE(why_not(e, 2, "emulated:opteron-vapi").find("emulated:opteron-vapi"),
              std::string::npos);
  }
  EXPECT_EQ(why_not(declared(RankCount::any), 2, "emulated:opteron-vapi"), "");
}

}  // namespace
}  // namespace stripline::experiment
