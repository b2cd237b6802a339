#include "optimizer/plan/vis_mechanism.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/plan/strip_fixture.h"

namespace stripline::plan {
namespace {

Explained<VisMechanism> explain(const VisRequest& request, const VisCosts* costs) {
  return plan::explain<VisMechanism>(request, costs);
}

VisCosts costs_with_regions() {
  const model::TunedModel m = model::example_model();
  const model::VisModel vis = model::example_vis();
  return {m.network.at("inter-node"), model::example_pack(), &vis};
}

VisRequest rows(uint64_t regions, uint64_t bytes) {
  VisRequest request;
  request.regions = regions;
  request.region_bytes = bytes;
  request.extent_bytes = regions * bytes * 4;
  request.medium_bytes = kUsualMessageBytes;
  request.message_bytes = kUsualMessageBytes;
  return request;
}

TEST(VisMechanism, ShowsWhatIsChosenAmongAllThatIsPossible) {
  const VisCosts costs = costs_with_regions();
  RandomCases draw(3);
  int uncertain = 0;
  for (int i = 0; i < 300; ++i) {
    VisRequest request = rows(1 + draw.below(1000), 1 + draw.below(5000));
    request.direction = draw.below(2) == 0 ? Direction::get : Direction::put;
    request.bounding_box_allowed = draw.below(2) == 0;
    request.iov_limit = draw.below(2) == 0 ? 1 : 8;
    request.compute = static_cast<ComputeClass>(draw.below(kComputeClasses));
    const VisPlan plan = plan_vis(request, &costs);
    const auto e = explain(request, &costs);
    EXPECT_EQ(e.decision, plan);
    EXPECT_EQ(e.alternatives.size() + to_json(e)["excluded"].size(), kVisMethods);
    const auto chosen = std::ranges::find_if(
        e.alternatives, [&](const auto& a) { return a.plan.text() == e.plan.text(); });
    ASSERT_NE(chosen, e.alternatives.end());
    EXPECT_NEAR(chosen->predicted_s, plan.predicted_s, 1e-9 * plan.predicted_s);
    for (const Explanation::Alternative& a : e.alternatives) {
      EXPECT_LE(a.interval->low_s, a.predicted_s * (1 + 1e-9));
      EXPECT_GE(a.interval->high_s * (1 + 1e-9), a.predicted_s);
      if (!plan.uncertain) {
        EXPECT_GE(a.predicted_s * (1 + 1e-9), plan.predicted_s);
      }
    }
    if (plan.uncertain) ++uncertain;
    EXPECT_TRUE(canonical_json(to_json(e)).ok());
  }
  EXPECT_GT(uncertain, 5);
}

TEST(VisMechanism, TextNamesMethodsTimesAndWhatIsNotPossible) {
  const VisCosts costs = costs_with_regions();
  const std::string text = to_text(explain(rows(256, 64), &costs));
  for (const char* part :
       {"get of 256 regions of 64 B within 64 KiB, strided, communication_only",
        "plan: packed, chunks of ", "why: ", "  * packed", "    pipelined, window ", "(cost model ",
        "    bounding_box: not possible here"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
}

TEST(VisMechanism, SaysWhatFollowsWithoutAModel) {
  const auto e = explain(rows(256, 64), nullptr);
  EXPECT_NE(to_text(e).find("small regions are packed without one"), std::string::npos);
  EXPECT_FALSE(to_json(e).contains("alternatives"));
}

}  // namespace
}  // namespace stripline::plan
