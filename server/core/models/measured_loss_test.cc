#include "server/core/models/measured_loss.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

model::FeedbackPlace place(const std::string& where, double measured_s, double simple_s,
                           uint64_t times = 20) {
  model::FeedbackPlace place;
  place.place = where;
  place.what = "get 1 MiB";
  place.choice = "packed";
  place.ranks = 2;
  place.executions = 2 * times;
  place.as_chosen = place.simple = times;
  place.measured_s = measured_s;
  place.simple_s = simple_s;
  return place;
}

FeedbackRecord report(const std::string& run, std::vector<model::FeedbackPlace> places,
                      const std::string& sender = "nodes/a", double time_unix_s = 10) {
  FeedbackRecord record{0, {"tcp", 1}, time_unix_s, sender, {}};
  record.report.run = run;
  record.report.program = "transpose";
  record.report.places = std::move(places);
  return record;
}

TEST(MeasuredLoss, IsOneThatIsSure) {
  EXPECT_NEAR(*loss_of(place("t.cc:1", 2.34, 1)), 1.34, 1e-9);
  EXPECT_FALSE(loss_of(place("t.cc:1", 0.5, 1)));
  EXPECT_FALSE(loss_of(place("t.cc:1", 1.05, 1))) << "as much as noise makes";
  EXPECT_FALSE(loss_of(place("t.cc:1", 2, 1, 1))) << "timed once";
  EXPECT_FALSE(loss_of(place("t.cc:1", 2, 0))) << "the baseline was not timed";
  EXPECT_TRUE(loss_of(place("t.cc:1", 1.3, 1, 2)));
  EXPECT_FALSE(loss_of(place("t.cc:1", 1.15, 1, 2)));
  model::FeedbackPlace demoted = place("t.cc:1", 1.05, 1, 2);
  demoted.demoted_ranks = 2;
  EXPECT_TRUE(loss_of(demoted)) << "the guard was sure";
}

TEST(MeasuredLoss, CountsAtTwoPlacesOrFromTwoRuns) {
  const auto loses = place("t.cc:1", 2.34, 1);
  const auto gains = place("t.cc:9", 0.3, 1);
  EXPECT_FALSE(measured_loss({}, 0));
  EXPECT_FALSE(measured_loss({report("r1", {loses, gains})}, 0));
  EXPECT_FALSE(measured_loss({report("r1", {loses}), report("r1", {loses})}, 0));
  const auto twice = measured_loss({report("r1", {loses}), report("r2", {loses}, "nodes/b")}, 0);
  ASSERT_TRUE(twice);
  EXPECT_NE(twice->why.find("1 place lost time in reports of 2 runs: t.cc:1, get 1 MiB, took "
                            "134.0 % longer"),
            std::string::npos)
      << twice->why;
  EXPECT_EQ(twice->nodes, (std::vector<std::string>{"a", "b"}));
  const auto places =
      measured_loss({report("r1", {place("t.cc:3", 1.5, 1), loses}, "users/alice")}, 0);
  ASSERT_TRUE(places);
  EXPECT_TRUE(places->by_users);
  EXPECT_LT(places->why.find("t.cc:1"), places->why.find("t.cc:3")) << "the worst first";
  // What was known when it got its label is no news.
  EXPECT_FALSE(measured_loss({report("r1", {loses}), report("r2", {loses}, "nodes/b", 20)}, 15));
}

TEST(MeasuredLoss, HoldsWhereItWasSeen) {
  const std::vector<NodeGroup> all = {{"d", "big"}, {"c", "big"}, {"b", "small"}, {"a", "small"}};
  MeasuredLoss loss;
  loss.nodes = {"a"};
  EXPECT_EQ(elsewhere(loss, all), (std::vector<std::string>{"c", "d"}));
  loss.nodes = {"a", "c"};
  EXPECT_TRUE(elsewhere(loss, all).empty());
  loss.nodes = {"unknown"};
  EXPECT_TRUE(elsewhere(loss, all).empty());
  loss.nodes = {"a"};
  loss.by_users = true;
  EXPECT_TRUE(elsewhere(loss, all).empty());
}

}  // namespace
}  // namespace stripline::server
