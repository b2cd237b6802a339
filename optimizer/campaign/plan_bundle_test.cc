#include "optimizer/campaign/plan_bundle.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "optimizer/campaign/bundle_fixture.h"

namespace stripline::campaign {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

TEST(PlanBundle, ReadsWhatIsWritten) {
  PlanBundle plan = small_plan();
  plan.origin = "campaigns/c3";
  plan.feeds_model = true;
  plan.rule.width = 0.05;
  plan.rule.pilot = true;
  const auto text = bundle_text(plan);
  ASSERT_TRUE(text.ok()) << text.error().message();
  const auto read = read_bundle(*text);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(*bundle_text(*read), *text);
  EXPECT_EQ(read->origin, plan.origin);
  EXPECT_EQ(read->seed, plan.seed);
  EXPECT_EQ(read->requirements, plan.requirements);
  EXPECT_EQ(read->assignment.points, plan.assignment.points);
  EXPECT_EQ(read->rule.node_budget_s, std::numeric_limits<double>::infinity());
  EXPECT_EQ(read->rule.time_budget_s, 60);
  EXPECT_TRUE(read->rule.pilot);
}

TEST(PlanBundle, RefusesWhatWasChanged) {
  const std::string text = *bundle_text(small_plan());
  EXPECT_EQ(read_bundle(replaced(text, "\"runs\":6", "\"runs\":7")).error().code(),
            ErrorCode::data_loss);
  EXPECT_EQ(read_bundle(text.substr(0, text.size() / 2)).error().code(), ErrorCode::data_loss);
  EXPECT_EQ(read_bundle("[]").error().code(), ErrorCode::data_loss);
  EXPECT_EQ(read_bundle(R"({"kind":"stripline campaign results"})").error().code(),
            ErrorCode::data_loss);
  EXPECT_EQ(read_bundle(R"({"kind":"stripline campaign plan","schema_version":2})").error().code(),
            ErrorCode::unimplemented);
}

TEST(PlanBundle, SaysOfAnotherFileWhatItIsNotAndWhatToDo) {
  const std::string name = "'p.json' is not a plan of 'stripline campaign export-plan': ";
  const std::string advice = "; name the file that this command wrote";
  EXPECT_EQ(read_bundle("[1]", "'p.json'").error().message(),
            name + "it does not say what it is" + advice);
  EXPECT_EQ(read_bundle(R"({"kind":"stripline campaign results"})", "'p.json'").error().message(),
            name + "its kind is 'stripline campaign results'" + advice);
  EXPECT_TRUE(read_bundle("notes", "'p.json'").error().message().starts_with(name));
  EXPECT_EQ(read_bundle(R"({"kind":"stripline campaign plan","schema_version":2})", "'p.json'")
                .error()
                .message(),
            "'p.json' is a plan of 'stripline campaign export-plan' in version 2 of its form, and "
            "this program reads version 1; take the release that wrote it");
}

TEST(PlanBundle, RefusesPlansThatCannotBe) {
  PlanBundle plan = small_plan();
  plan.assignment.points.push_back(plan.assignment.points.front());
  EXPECT_FALSE(read_bundle(*bundle_text(plan)).ok());
  plan = small_plan();
  plan.requirements.clear();
  EXPECT_FALSE(read_bundle(*bundle_text(plan)).ok());
  plan = small_plan();
  plan.rule.core_points = 9;
  EXPECT_FALSE(read_bundle(*bundle_text(plan)).ok());
  plan = small_plan();
  plan.rule.nodes = 3;
  EXPECT_FALSE(read_bundle(*bundle_text(plan)).ok());
}

TEST(PlanBundle, EachRunHasItsOwnSeedAndTheNextPoints) {
  const PlanBundle plan = small_plan();
  PointTable table(plan.assignment.points);
  Next next;
  next.grid = 2;
  const auto prefix = assignment_of(plan, table, next, 3);
  EXPECT_EQ(prefix.points.size(), 2U);
  EXPECT_EQ(prefix.seed, derive_seed(plan.seed, 3));
  EXPECT_EQ(prefix.run, 3U);
  next.places = {3, 1};
  next.added = {{"micro.latency", "get", {{"bytes", int64_t{100}}}}};
  const auto chosen = assignment_of(plan, table, next, 4);
  ASSERT_EQ(chosen.points.size(), 3U);
  EXPECT_EQ(chosen.points[0], plan.assignment.points[3]);
  EXPECT_EQ(chosen.points[2], next.added[0]);
}

}  // namespace
}  // namespace stripline::campaign
