#include "suites/targets/driver_plan.h"

#include <gtest/gtest.h>

namespace stripline::suites::tune {
namespace {

DriverPlan two_cells() {
  DriverPlan plan;
  const size_t usual = plan.variant({});
  const size_t ring = plan.variant({{"coll_tuned_bcast_algorithm", 4}});
  plan.cells.push_back({.operation = "bcast", .ranks = 4, .bytes = 64, .variants = {usual, ring}});
  plan.cells.push_back({.operation = "alltoall", .ranks = 2, .bytes = 8, .variants = {usual}});
  return plan;
}

TEST(DriverPlan, IsWrittenByRanksAndOperations) {
  DriverPlan plan = two_cells();
  EXPECT_EQ(plan_text(plan),
            "run 0\nseed 1\nrepetitions 20\nbudget 0.010000\nvariant\n"
            "variant coll_tuned_bcast_algorithm=4\n"
            "cell alltoall 2 8 double 0 0\ncell bcast 4 64 double 0 0 1\n");
  EXPECT_EQ(plan.cells[0].operation, "alltoall");
}

TEST(DriverPlan, HasTheNumbersOfTheInstalledVersion) {
  DriverPlan plan = two_cells();
  targets::Renumbering renumbering;
  renumbering.numbers[{"coll_tuned_bcast_algorithm", 4}] = 7;
  EXPECT_NE(plan_text(plan, renumbering).find("\nvariant coll_tuned_bcast_algorithm=7\n"),
            std::string::npos);
  // The plan itself has those of candidates, by which series are found.
  EXPECT_EQ(plan.variants[1].front().second, 4);
}

TEST(DriverPlan, TheSameSelectionIsOneVariant) {
  DriverPlan plan = two_cells();
  EXPECT_EQ(plan.variant({{"coll_tuned_bcast_algorithm", 4}}), 1U);
  EXPECT_EQ(plan.variants.size(), 2U);
}

constexpr const char* kAt =
    R"({"at":{"experiment":"target.bcast","variant":"1","params":{"ranks":4,"bytes":64,"type":"double","in_place":0}}})"
    "\n";
constexpr const char* kSeries =
    R"({"point":{"experiment":"target.bcast","variant":"1","params":{"ranks":4,"bytes":64,"type":"double","in_place":0}},"run":0,"values":[1e-6,2e-6],"timestamps_s":[1,2],"warmup_dropped":1,"stop_reason":"max_reps","verified":true,"note":""})"
    "\n";

TEST(DriverOutput, SeriesAreFoundAgain) {
  DriverPlan plan = two_cells();
  plan_text(plan);
  const auto output = read_driver_output(
      plan, std::string("MPI says hello\n") + kAt + kSeries + "{\"done\":true}\n");
  ASSERT_TRUE(output.ok()) << output.error().message();
  ASSERT_EQ(output->series.size(), 1U);
  EXPECT_EQ(output->series[0].cell, 1U);
  EXPECT_EQ(output->series[0].variant, 1U);
  EXPECT_EQ(output->series[0].values_s.size(), 2U);
  EXPECT_TRUE(output->series[0].verified);
  EXPECT_FALSE(output->unfinished);
  EXPECT_TRUE(output->done);
}

TEST(DriverOutput, HasTheProcessesThatADriverNames) {
  const auto output = read_driver_output(two_cells(), "{\"process\":12}\n{\"process\":13}\n");
  ASSERT_TRUE(output.ok()) << output.error().message();
  EXPECT_EQ(output->processes, (std::vector<int64_t>{12, 13}));
  EXPECT_FALSE(read_driver_output(two_cells(), "{\"process\":\"12\"}\n").ok());
}

TEST(DriverOutput, WhatHungIsKnown) {
  DriverPlan plan = two_cells();
  plan_text(plan);
  // Its last line was cut.
  const auto output = read_driver_output(plan, std::string(kAt) + "{\"point\":{\"exp");
  ASSERT_TRUE(output.ok());
  EXPECT_FALSE(output->done);
  ASSERT_TRUE(output->unfinished);
  EXPECT_EQ(*output->unfinished, (std::pair<size_t, size_t>(1, 1)));
}

TEST(DriverOutput, WhatHungInTurnsMayBeAnyOfThem) {
  DriverPlan plan = two_cells();
  plan_text(plan);
  std::string turns = kAt;
  turns.replace(turns.find("at"), 2, "turns");
  const auto output = read_driver_output(plan, kAt + turns);
  ASSERT_TRUE(output.ok()) << output.error().message();
  ASSERT_TRUE(output->unfinished);
  EXPECT_EQ(output->unfinished->first, 1U);
  EXPECT_TRUE(output->in_turns);
  // Verified for the last time, and finished.
  EXPECT_FALSE(read_driver_output(plan, turns + kAt)->in_turns);
  const auto finished = read_driver_output(plan, turns + kSeries);
  EXPECT_FALSE(finished->in_turns);
  EXPECT_FALSE(finished->unfinished);
}

TEST(DriverOutput, WhatCannotBeSetIsNamed) {
  const auto output = read_driver_output(
      two_cells(), "{\"unsettable\":\"b\"}\n{\"unsettable\":\"b\"}\n{\"done\":true}\n");
  ASSERT_TRUE(output.ok()) << output.error().message();
  EXPECT_EQ(output->unsettable, (std::set<std::string>{"b"}));
  EXPECT_TRUE(output->series.empty());
}

TEST(DriverOutput, RefusesPointsThatWereNotAskedFor) {
  DriverPlan plan = two_cells();
  plan.cells.pop_back();
  plan.cells[0].bytes = 128;
  EXPECT_FALSE(read_driver_output(plan, kSeries).ok());
}

}  // namespace
}  // namespace stripline::suites::tune
