#include "server/core/campaigns/race_plan.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

using Facts = std::map<std::string, std::string>;

TEST(RacePlan, TheNearestFingerprintIsTheMostAlike) {
  const Facts here = {{"cpu.model", "x"}, {"cpu.cores", "32"}, {"fabric", "tcp"}, {"host", "a"}};
  Facts other = here;
  other["host"] = "b";
  EXPECT_EQ(fingerprint_distance(here, other), 0);
  other["cpu.cores"] = "48";
  const double cores = fingerprint_distance(here, other);
  EXPECT_GT(cores, 0);
  EXPECT_LT(cores, 1);
  other["cpu.model"] = "y";
  EXPECT_EQ(fingerprint_distance(here, other), cores + 1);
  other["fabric"] = "shm";
  EXPECT_GT(fingerprint_distance(here, other), 50);
  EXPECT_EQ(fingerprint_distance(here, {}), 0);
}

TEST(RacePlan, WhatItBeginsWithStandsFirst) {
  CampaignPlan plan;
  plan.runs.resize(2);
  for (auto& run : plan.runs) {
    for (int64_t bytes : {1, 2, 3, 4}) {
      run.points.push_back({"micro.latency", "get", {{"bytes", bytes}}});
    }
  }
  begin_with(plan, {1, 3}, "as asked for");
  EXPECT_EQ(plan.least_points, 2U);
  EXPECT_EQ(plan.note, "begins with 2 of 4 points, as asked for");
  for (const auto& run : plan.runs) {
    std::vector<double> sizes;
    for (const auto& point : run.points) {
      sizes.push_back(*experiment::number_param(point, "bytes"));
    }
    EXPECT_EQ(sizes, (std::vector<double>{2, 4, 1, 3}));
  }
  EXPECT_EQ(table_of(plan).points().size(), 4U);
}

}  // namespace
}  // namespace stripline::server
