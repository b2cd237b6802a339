#include "server/core/sessions/run_load.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

AttemptFacts node(uint32_t run, const std::string& name, const std::string& host,
                  const std::string& in_use, const std::string& own) {
  return {{1, run},
          1,
          name,
          {{"host.boot", host},
           {"load.average", "8.1"},
           {"load.running", "7"},
           {"load.in_use", in_use},
           {"load.own", own},
           {"load.stolen", "0.01"},
           {"load.processors", "2"}}};
}

TEST(RunLoad, RanksOfAllNodesOfAHostAreOurs) {
  const auto quiet = load_of_run(
      std::vector{node(1, "a", "h", "1.98", "0.97"), node(1, "b", "h", "1.99", "0.98")});
  ASSERT_TRUE(quiet);
  EXPECT_NEAR(quiet->others, 0.04, 1e-9);
  EXPECT_FALSE(quiet->busy());
  const auto busy = load_of_run(
      std::vector{node(1, "a", "h", "2.00", "0.40"), node(1, "b", "h", "2.00", "0.41")});
  EXPECT_NEAR(busy->others, 1.19, 1e-9);
  EXPECT_TRUE(busy->busy());
  EXPECT_EQ(run_load_text(*busy),
            "load 8.1 on nodes/a, where others kept 1.2 of 2 processors busy");
}

TEST(RunLoad, TheBusiestHostCounts) {
  const auto load =
      load_of_run(std::vector{node(1, "a", "h", "1.0", "0.97"), node(1, "b", "i", "2.0", "0.5")});
  EXPECT_EQ(load->node, "b");
  EXPECT_TRUE(load->busy());
}

TEST(RunLoad, ProcessorsToSpareAndStolenTime) {
  AttemptFacts spare = node(1, "a", "h", "9", "1");
  spare.facts["load.processors"] = "64";
  EXPECT_FALSE(load_of_run(std::vector{spare})->busy());
  spare.facts["load.stolen"] = "0.2";
  EXPECT_TRUE(load_of_run(std::vector{spare})->busy());
}

TEST(RunLoad, AgentsOfBeforeSayNothing) {
  EXPECT_FALSE(load_of_run(std::vector<AttemptFacts>{}));
  AttemptFacts old = node(1, "a", "h", "1", "1");
  std::erase_if(old.facts, [](const auto& fact) { return fact.first.starts_with("load."); });
  EXPECT_FALSE(load_of_run(std::vector{old}));
  AttemptFacts wrong = node(1, "a", "h", "much", "1");
  wrong.facts["load.average"] = "-3";
  EXPECT_FALSE(load_of_run(std::vector{wrong}));
  EXPECT_EQ(
      loads_of_runs(std::vector{node(2, "a", "h", "1", "1"), old, node(1, "b", "h", "1", "1")})
          .size(),
      2U);
}

}  // namespace
}  // namespace stripline::server
