#include "optimizer/report/ties.h"

#include <gtest/gtest.h>

#include "optimizer/model/example.h"
#include "optimizer/model/model_fixture.h"

namespace stripline::reports {
namespace {

constexpr double kMargin = 0.02;

PlanGain gain(double low, double value, double high) { return {value, {low, high}}; }

TEST(Ties, NeitherModelIsSure) {
  EXPECT_EQ(disagreement(gain(-0.01, 0, 0.01), gain(-0.01, 0, 0.01), kMargin), Disagreement::tie);
  // Each prefers its own plan, and neither by more than the margin for sure.
  EXPECT_EQ(disagreement(gain(-0.3, -0.1, 0.1), gain(-0.1, 0.1, 0.3), kMargin), Disagreement::tie);
  EXPECT_EQ(disagreement(gain(-0.02, -0.02, -0.02), gain(0.02, 0.02, 0.02), kMargin),
            Disagreement::tie);
  // What planners ask of a gain lies between what they say of it.
  EXPECT_EQ(disagreement(gain(0.019, 0.019, 0.019), gain(0.021, 0.021, 0.021), kMargin),
            Disagreement::tie);
}

TEST(Ties, OneIsSureAndTheOtherAllowsIt) {
  EXPECT_EQ(disagreement(gain(-0.01, 0.03, 0.07), gain(0.03, 0.06, 0.09), kMargin),
            Disagreement::doubt);
  EXPECT_EQ(disagreement(gain(-0.09, -0.06, -0.03), gain(-0.07, 0, 0.07), kMargin),
            Disagreement::doubt);
}

TEST(Ties, ContradictionsAreChanges) {
  EXPECT_EQ(disagreement(gain(-0.2, -0.1, -0.05), gain(0.05, 0.1, 0.2), kMargin),
            Disagreement::change);
  EXPECT_EQ(disagreement(gain(-0.01, 0, 0.01), gain(0.05, 0.1, 0.2), kMargin),
            Disagreement::change);
  // One of a thousand is so by chance.
  EXPECT_EQ(disagreement(gain(-0.01, 0, 0.01), gain(0.05, 0.1, 0.2), kMargin, 1000),
            Disagreement::doubt);
  EXPECT_EQ(disagreement(gain(-0.2, -0.15, -0.1), gain(0.25, 0.3, 0.35), kMargin, 1000),
            Disagreement::change);
}

TEST(Ties, AModelKnowsHowSureItIs) {
  const model::TunedModel model = model::example_model();
  model::TunedModel slow = model;
  for (model::Segment& segment : slow.network.at("inter-node").get->segments) {
    for (double* value : {&segment.L_s->value, &segment.L_s->ci_low, &segment.L_s->ci_high}) {
      *value *= 50;
    }
  }
  const auto doubtful = DoubtfulModel::of(model, "inter-node");
  ASSERT_TRUE(doubtful.ok()) << doubtful.error().message();
  const auto other = DoubtfulModel::of(slow, "inter-node");
  ASSERT_TRUE(other.ok()) << other.error().message();
  const Question question = {{"bytes", "1MiB"}, {"compute", "500us"}, {"path", "inter-node"}};
  const auto none = doubtful->gain(doubtful->itself(), doubtful->itself(), "loop", question);
  ASSERT_TRUE(none.ok()) << none.error().message();
  EXPECT_EQ(none->at(0).value, 0);
  EXPECT_EQ(none->at(0).interval.low, 0);
  // By its own measure a model's plan is no slower than another's.
  const auto by_own = doubtful->gain(doubtful->itself(), other->itself(), "loop", question);
  const auto by_other = other->gain(doubtful->itself(), other->itself(), "loop", question);
  ASSERT_TRUE(by_own.ok() && by_other.ok());
  EXPECT_LE(by_own->at(0).value, 0.02);
  EXPECT_GE(by_other->at(0).value, -0.02);
  EXPECT_LE(by_own->at(0).interval.low, by_own->at(0).value);
  EXPECT_GE(by_own->at(0).interval.high, by_own->at(0).value);
  EXPECT_TRUE(doubtful->gain(doubtful->itself(), other->itself(), "sweep", question)->empty());
}

}  // namespace
}  // namespace stripline::reports
