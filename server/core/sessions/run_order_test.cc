#include "server/core/sessions/run_order.h"

#include <gtest/gtest.h>

#include "optimizer/experiment/json.h"
#include "optimizer/experiment/point_order.h"

namespace stripline::server {
namespace {

experiment::Assignment plan_of(size_t points) {
  experiment::Assignment plan;
  plan.name = "campaigns/c1/runs/2";
  // Text that looks like structure must not be taken for it.
  plan.fabric = R"(emulated:a"fence":0,"points":[{"b\)";
  plan.model_json = R"({"points":[1,2],"fence":0})";
  for (size_t i = 0; i < points; ++i) {
    plan.points.push_back({"kernel.loop", R"(tuned],[}")", {{"bytes", static_cast<int64_t>(i)}}});
  }
  return plan;
}

experiment::Assignment order_of(const experiment::Assignment& plan, uint64_t fence,
                                uint32_t points) {
  const auto text = order_text(experiment::to_json(plan).dump(), fence, points, 12.5);
  EXPECT_TRUE(text.ok());
  const auto order = experiment::assignment_from_json(Json::parse(text.ok() ? *text : "{}"));
  EXPECT_TRUE(order.ok()) << order.error().message();
  return order.ok() ? *order : experiment::Assignment{};
}

TEST(OrderText, IsThePlanWithItsFenceAndSoManyPoints) {
  const auto plan = plan_of(5);
  for (const uint32_t points : {0U, 1U, 3U, 5U, 9U}) {
    const auto order = order_of(plan, 12, points);
    EXPECT_EQ(order.fence, 12U);
    EXPECT_EQ(order.name, plan.name);
    EXPECT_DOUBLE_EQ(order.deadline_s, 12.5);
    EXPECT_EQ(order.fabric, plan.fabric);
    EXPECT_EQ(order.model_json, plan.model_json);
    EXPECT_EQ(order.points.size(), std::min<size_t>(points, 5));
    for (size_t i = 0; i < order.points.size(); ++i) EXPECT_EQ(order.points[i], plan.points[i]);
  }
  EXPECT_TRUE(order_of(plan_of(0), 1, 3).points.empty());
}

TEST(OrderText, NamesWhatIsLeftOut) {
  const std::map<std::string, std::string> left_out{
      {"kernel.loop", R"(rank 1 said "no": fence":0)"}};
  const auto text = order_text(experiment::to_json(plan_of(3)).dump(), 2, 3, 60, left_out);
  ASSERT_TRUE(text.ok());
  const Json order = Json::parse(*text);
  EXPECT_EQ(*experiment::left_out_of(order), left_out);
  EXPECT_EQ(experiment::assignment_from_json(order)->points.size(), 3U);
}

TEST(OrderText, RefusesWhatIsNoPlan) {
  const std::string plan = experiment::to_json(plan_of(2)).dump();
  EXPECT_FALSE(order_text("", 1, 1, 60).ok());
  EXPECT_FALSE(order_text("{}", 1, 1, 60).ok());
  EXPECT_FALSE(order_text(R"({"deadline_s":1 "fence":0,"points":[1]})", 1, 1, 60).ok());
  EXPECT_FALSE(order_text(plan.substr(0, plan.find("tuned")), 1, 1, 60).ok());
}

}  // namespace
}  // namespace stripline::server
