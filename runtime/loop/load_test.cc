// Loops of ranks that share links of an emulated fat tree: whether their predictions know it.

#include <gtest/gtest.h>

#include <stripline/context.h>
#include <stripline/loop.h>
#include <stripline/nest.h>

#include "runtime/bootstrap/testing/as_fibers.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/loop_state.h"
#include "runtime/loop/testing/exact_costs.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline {
namespace {

constexpr const char* kFabric = "emulated:congested-tree,compute=none,jitter=off";
constexpr rank_t kRanks = 8;  // below two switches, which two links join for four pairs of nodes
constexpr size_t kCount = 131072;

// What is true of the profile; two messages share a link where pairs are of different switches.
model::TunedModel model_of(model::DistanceScale scale) {
  model::TunedModel m = model::example_model();
  m.network["inter-node"] = exact_path(kFabric);
  m.strip = exact_strip(kFabric);
  const auto level = [](uint32_t distance, double factor) {
    return model::ServiceLevel{kRanks, distance, 65536, model::example_parameter(factor),
                               model::example_parameter(factor)};
  };
  // Numbers: pairs of 0 and 4 differ in the third bit.
  const uint32_t far = scale == model::DistanceScale::switches ? 1 : 2;
  m.service_levels = model::ServiceModel{scale, {level(0, 1), level(far, 2)}, {}};
  return m;
}

struct Outcome {
  double predicted_s = 0;
  double measured_s = 0;  // until the last rank was done
  uint32_t nodes = 0;
};

// Every rank reads from the one this many ranks further, in strips that are all in flight at once.
Outcome read_from(rank_t step, bool estimates, model::DistanceScale scale, bool as_nest = false) {
  const ModelFile file("load_test", model_of(scale));
  bootstrap::ThreadGroupOptions group;
  group.ranks = kRanks;
  group.context.fabric = kFabric;
  group.context.clock = "virtual";
  group.context.same_node = "network";
  group.context.segment_bytes = size_t{4} << 20;
  group.context.model_path = file.path();
  group.context.load_estimation = estimates;
  Outcome outcome;
  const auto ran = bootstrap::run_as_fibers(group, [&](Context& context) {
    const auto mine = context.new_symmetric_array<double>(kCount);
    ASSERT_TRUE(mine.ok());
    const auto theirs = context.on_rank(*mine, (context.rank_me() + step) % kRanks);
    context.barrier();
    const double start_s = context.now_s();
    double predicted_s = 0;
    if (as_nest) {
      const auto [i, k] = loop_indices<2>();
      predicted_s =
          for_nest(
              context, {kCount / 8192, 8192},
              {.compute_s = 0, .force = plan::NestCandidate{plan::Schedule::all_issued, {0, 1}, 1}},
              [](const double&) {}, read(theirs, i * 8192 + k))
              .predicted_s;
    } else {
      predicted_s = strip_for(context, theirs, kCount,
                              {.compute_s = 0,
                               .force = plan::StripCandidate{plan::Schedule::all_issued, 65536, 1}},
                              [](size_t, size_t, const double*) {})
                        .predicted_s;
    }
    const double measured_s = context.reduce_all(context.now_s() - start_s, Context::ReduceOp::max);
    const detail::NetworkLoads& loads = detail::LoopState::of(context.state()).loads;
    if (context.rank_me() == 0) outcome = {predicted_s, measured_s, loads.begin().nodes};
  });
  EXPECT_TRUE(ran.ok());
  return outcome;
}

TEST(Load, IsEstimatedByTheSwitchesBetweenRanks) {
  for (const auto scale : {model::DistanceScale::switches, model::DistanceScale::numbers}) {
    const Outcome far = read_from(4, true, scale);
    EXPECT_EQ(far.nodes, kRanks);
    EXPECT_NEAR(far.measured_s / far.predicted_s, 1, 0.05);
    const Outcome alone = read_from(4, false, scale);
    EXPECT_EQ(alone.nodes, 1U);
    EXPECT_GT(alone.measured_s / alone.predicted_s, 1.8);
  }
}

TEST(Load, IsEstimatedForNests) {
  const Outcome far = read_from(4, true, model::DistanceScale::switches, true);
  EXPECT_NEAR(far.measured_s / far.predicted_s, 1, 0.05);
  EXPECT_GT(far.measured_s / read_from(4, false, model::DistanceScale::switches, true).predicted_s,
            1.8);
}

TEST(Load, IsNoneBetweenRanksOfOneSwitch) {
  // Ranks 3 and 7 read from the other switch, alone on their links.
  const Outcome near = read_from(1, true, model::DistanceScale::switches);
  EXPECT_NEAR(near.measured_s / near.predicted_s, 1, 0.05);
}

}  // namespace
}  // namespace stripline
