// Models judged in a world that is as one of them says: the one that tells the truth does well, and
// those that lie about a depth, a break or a latency do not.
#include "optimizer/fit/judge_decisions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/held_out_plans.h"
#include "optimizer/fit/vis_samples.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/vis.h"

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
using experiment::HeldOutKind;
using experiment::Point;
using experiment::SampleSeries;

constexpr uint64_t kSeed = 17;
constexpr uint32_t kRuns = 6;

model::TunedModel with_window(model::TunedModel model, uint32_t window) {
  model.vis["inter-node"] = model::example_vis();
  for (auto* const direction : {&model.vis["inter-node"].get, &model.vis["inter-node"].put}) {
    (*direction)->pipelined_window = window;
  }
  return model;
}

// A network whose protocol changes at 12,000 bytes: larger operations take 3 L more.
model::TunedModel truth() {
  model::TunedModel model = model::example_model();
  for (auto* const operation :
       {&model.network["inter-node"].get, &model.network["inter-node"].put}) {
    model::Segment small = (*operation)->segments.front();
    small.g_s = model::example_parameter(0.5e-6, 0.02);
    small.G_s_per_byte = model::example_parameter(0.2e-9, 0.02);
    small.to_bytes = 12000;
    model::Segment large = small;
    large.from_bytes = 12000;
    large.to_bytes = uint64_t{4} << 20;
    large.L_s->value *= 2.5;
    large.L_s->ci_low *= 2.5;
    large.L_s->ci_high *= 2.5;
    (*operation)->segments = {small, large};
  }
  return model;
}

uint64_t number(const Point& point, const char* name) {
  return static_cast<uint64_t>(experiment::number_param(point, name).value_or(0));
}

// What an alternative takes in a world that is as a model says: of sizes, bursts and windows.
std::optional<double> time_in(const plan::CompiledModel& world,
                              const experiment::HeldOutProblem& problem, size_t alternative) {
  const Point& point = problem.points[alternative];
  if (!has_choice(problem.kind)) return expected_of(world, problem)->predicted_s;
  if (problem.kind != HeldOutKind::window) return std::nullopt;
  const uint64_t region_bytes = number(point, factor::kRegionBytes);
  const auto direction = point.variant == "put" ? plan::Direction::put : plan::Direction::get;
  const plan::VisRequest request =
      request_of({direction, region_bytes, number(point, factor::kBytes) / region_bytes,
                  number(point, factor::kStride)},
                 plan::ComputeClass::communication_only, plan::kLandingSlotBytes);
  const auto window = static_cast<uint32_t>(number(point, factor::kWindow));
  return plan::force_vis(request, world.vis(model::Path::network), plan::VisMethod::pipelined, 0,
                         window)
      .predicted_s;
}

// What a campaign measures there, with noise of so much.
std::vector<SampleSeries> measured_in(const model::TunedModel& model, double noise = 0.01) {
  const plan::CompiledModel world(model);
  std::vector<SampleSeries> series;
  for (size_t index = 0; index < 90; ++index) {
    const auto problem = experiment::draw_held_out(kSeed, 2, index);
    for (size_t i = 0; i < problem.points.size(); ++i) {
      const auto time_s = time_in(world, problem, i);
      if (!time_s) continue;
      for (uint32_t run = 1; run <= kRuns; ++run) {
        const uint64_t random = hash_of(index, i, run);
        SampleSeries one;
        one.point = problem.points[i];
        one.run = run;
        one.verified = true;
        one.values = {*time_s * (1 + noise * (static_cast<double>(random % 1000) / 500 - 1))};
        series.push_back(std::move(one));
      }
    }
  }
  return series;
}

Judgement judged(const model::TunedModel& model, const model::TunedModel& world) {
  const std::vector<uint64_t> seeds = {kSeed};
  const HeldOutSeries parts = take_held_out(measured_in(world), seeds, 2);
  EXPECT_TRUE(parts.fitted.empty());
  return summed_up(judge_held_out(model, parts.judged, 2));
}

// By kind, ascending by name.
std::map<std::string, double> errors_of(const Judgement& judgement) {
  std::map<std::string, double> errors;
  for (const TimesJudgement& kind : judgement.times) errors[kind.kind] = kind.mean_error;
  return errors;
}

double mean_of(const std::map<std::string, double>& errors) {
  double sum = 0;
  for (const auto& [kind, error] : errors) sum += error;
  return sum / static_cast<double>(errors.size());
}

TEST(JudgeDecisions, TheTruthDoesWell) {
  const Judgement judgement = judged(truth(), truth());
  EXPECT_EQ(judgement.points, 40U);
  EXPECT_EQ(judgement.choices, 10U);
  EXPECT_LT(judgement.mean_error, 0.02);
  const auto errors = errors_of(judgement);
  ASSERT_EQ(errors.size(), 4U);
  for (const char* kind : {"burst of get", "burst of put", "size of get", "size of put"}) {
    ASSERT_TRUE(errors.contains(kind)) << kind;
    EXPECT_LT(errors.at(kind), 0.02) << kind;
  }
  EXPECT_EQ(judgement.missed, 0U);
  EXPECT_LT(judgement.mean_regret, 0.03);
  EXPECT_EQ(judgement.compared, 10U);
  EXPECT_NEAR(judgement.over_untuned, 0, 0.02);
  EXPECT_EQ(judgement.losses, 0U);
  ASSERT_EQ(judgement.kinds.size(), 1U);
  EXPECT_EQ(judgement.kinds.front().kind, "window");
}

TEST(JudgeDecisions, ADepthOfOneIsSeen) {
  model::TunedModel lie = truth();
  for (auto* const operation : {&lie.network["inter-node"].get, &lie.network["inter-node"].put}) {
    (*operation)->queue_depth = model::example_parameter(1, 0);
  }
  const Judgement judgement = judged(lie, truth());
  // All bursts of gets. The depth of puts changes no time.
  EXPECT_GE(judgement.missed, 6U);
  const auto errors = errors_of(judgement);
  EXPECT_GT(errors.at("burst of get"), 0.5);
  for (const char* kind : {"burst of put", "size of get", "size of put"}) {
    EXPECT_LT(errors.at(kind), 0.02) << kind;
  }
  // Kinds weigh alike, the one that is wrong no more than the others.
  EXPECT_DOUBLE_EQ(judgement.mean_error, mean_of(errors));
}

TEST(JudgeDecisions, AMissingBreakIsSeen) {
  model::TunedModel lie = truth();
  for (auto* const operation : {&lie.network["inter-node"].get, &lie.network["inter-node"].put}) {
    (*operation)->segments.front().to_bytes = uint64_t{4} << 20;
    (*operation)->segments.resize(1);
  }
  const Judgement judgement = judged(lie, truth());
  // Points beyond the break are missed where it still matters: more than one in twenty of all.
  EXPECT_GT(20 * judgement.missed, judgement.points);
}

TEST(JudgeDecisions, ALatencyThatIsTenTimesTooLargeIsSeen) {
  model::TunedModel lie = truth();
  for (auto* const operation : {&lie.network["inter-node"].get, &lie.network["inter-node"].put}) {
    for (model::Segment& segment : (*operation)->segments) {
      segment.L_s = model::example_parameter(10 * segment.L_s->value, 0.02);
    }
  }
  EXPECT_GT(judged(lie, truth()).mean_error, 1);
}

// A transfer whose alternatives took these seconds, the one without a model first; or another
// problem.
HeldOutTimes windows_that_took(std::vector<double> seconds, double noise,
                               HeldOutKind kind = HeldOutKind::window) {
  HeldOutTimes times;
  size_t index = 0;
  do {
    times.problem = experiment::draw_held_out(kSeed, 2, index++);
  } while (times.problem.kind != kind);
  for (const double time_s : seconds) {
    RunMedians medians;
    for (uint32_t run = 1; run <= kRuns; ++run) {
      const uint64_t random = hash_of(run, times.alternatives.size());
      medians[run] = time_s * (1 + noise * (static_cast<double>(random % 1000) / 500 - 1));
    }
    times.alternatives.push_back(std::move(medians));
  }
  return times;
}

TEST(JudgeDecisions, CountsWhatLosesAgainstNoModelAndAgainstTheBest) {
  const model::TunedModel usual = with_window(truth(), 64);
  const model::TunedModel four = with_window(truth(), 4);
  const std::vector<HeldOutTimes> slow = {windows_that_took({2e-3, 4e-3, 1e-3, 1e-3}, 0.001)};
  const Judgement judgement = summed_up(judge_held_out(usual, slow, 2));
  EXPECT_EQ(judgement.choices, 1U);
  EXPECT_NEAR(judgement.mean_regret, 1, 0.01);
  EXPECT_NEAR(judgement.over_untuned, 0, 1e-9);
  EXPECT_EQ(judgement.losses, 0U);

  // A window of four loses nothing against the best, and halves the time.
  const Judged with_four = judge_held_out(four, slow, 2);
  ASSERT_EQ(with_four.choices.size(), 1U);
  EXPECT_NEAR(summed_up(with_four).over_untuned, -0.5, 0.01);
  EXPECT_LT(summed_up(with_four).mean_regret, 0.01);
  const Comparison better = compare_choices(with_four, judge_held_out(usual, slow, 2));
  EXPECT_EQ(better.choices, 1U);
  EXPECT_NEAR(better.ratio, 0.5, 0.01);
  const Comparison worse = compare_choices(judge_held_out(usual, slow, 2), with_four);
  EXPECT_GT(worse.low, 1.9);

  // Where four is slow, it surely loses, and noise does not make it so.
  const std::vector<HeldOutTimes> fast = {windows_that_took({1e-3, 4e-3, 1.5e-3, 1e-3}, 0.001)};
  const Judgement loses = summed_up(judge_held_out(four, fast, 2));
  EXPECT_EQ(loses.losses, 1U);
  EXPECT_NEAR(loses.worst_loss_share, 0.5, 0.01);
  EXPECT_NE(loses.worst_loss.find("window"), std::string::npos) << loses.worst_loss;
  const std::vector<HeldOutTimes> noisy = {windows_that_took({1e-3, 4e-3, 1.03e-3, 1e-3}, 0.2)};
  EXPECT_EQ(summed_up(judge_held_out(four, noisy, 2)).losses, 0U);
}

TEST(JudgeDecisions, IndexedLoopsAreJudgedByTheBlocksThatTheyAreCarriedOutIn) {
  model::TunedModel model = truth();
  model.pack = model::example_pack();
  HeldOutTimes times = windows_that_took({2e-3, 4e-3, 1e-3, 3e-3}, 0.001, HeldOutKind::indirect);
  const std::vector<HeldOutTimes> one = {times};
  const Judged judged = judge_held_out(model, one, 2);
  ASSERT_EQ(judged.choices.size(), 1U);
  EXPECT_EQ(summed_up(judged).kinds.front().kind, "indirect");
  const plan::CompiledModel compiled(model);
  const std::vector<size_t> all = {0, 1, 2, 3};
  const auto chosen = chosen_alternative(compiled, times.problem, all, 2);
  ASSERT_TRUE(chosen);
  const std::vector<double> took = {2e-3, 4e-3, 1e-3, 3e-3};
  EXPECT_NEAR(std::expm1(judged.choices.front().over_untuned.front()),
              took.at(*chosen) / took.front() - 1, 0.01);
  EXPECT_EQ(untuned_alternative(times.problem, all), 0U);

  // Larger blocks wait less often, which decides where the network is far away: the whole loop, or
  // the largest of the others, the usual one.
  ASSERT_EQ(number(times.problem.points.back(), "block"), 16384U);
  ASSERT_GT(number(times.problem.points.back(), "iterations"), 4096U);
  for (auto& [path, operations] : model.network) {
    for (auto* const operation : {&operations.get, &operations.am}) {
      for (model::Segment& segment : (*operation)->segments) {
        segment.L_s = model::example_parameter(1e-3, 0.02);
      }
    }
  }
  const plan::CompiledModel far(model);
  const std::vector<size_t> with_whole = {0, 1, 2, 3, 4};
  EXPECT_EQ(chosen_alternative(far, times.problem, all, 2), 0U);
  EXPECT_EQ(chosen_alternative(far, times.problem, with_whole, 2), 4U);
}

// What a model chooses, and what is done without one, of all alternatives.
std::pair<std::string, std::string> chosen_of(const experiment::HeldOutProblem& problem) {
  model::TunedModel model = truth();
  model.pack = model::example_pack();
  const plan::CompiledModel compiled(model);
  std::vector<size_t> all(problem.points.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto chosen = chosen_alternative(compiled, problem, all, 2);
  const auto untuned = untuned_alternative(problem, all);
  EXPECT_TRUE(chosen && untuned) << describe(problem);
  if (!chosen || !untuned) return {};
  return {problem.points[*chosen].variant, problem.points[*untuned].variant};
}

TEST(JudgeDecisions, SingleReadsAreJudgedByTheMethodsOfRegions) {
  experiment::HeldOutProblem problem{HeldOutKind::fine, {}};
  const auto reads = [&problem](int64_t count, int64_t apart) {
    problem.points.clear();
    for (const char* method : {"pipelined", "bounding_box", "packed", "naive"}) {
      problem.points.push_back({experiment::kernels::kStridedReads.name,
                                method,
                                {{"reads", count}, {factor::kStride, apart}}});
    }
    return chosen_of(problem);
  };
  EXPECT_EQ(reads(16, 2).second, "bounding_box");
  EXPECT_NE(reads(16, 2).first, "naive");
  EXPECT_EQ(reads(16, 129).second, "bounding_box");
  EXPECT_EQ(reads(3, 130).second, "pipelined");
}

TEST(JudgeDecisions, CopiesAreJudgedByWaitingForThem) {
  experiment::HeldOutProblem problem{HeldOutKind::bulk, {}};
  const auto copies = [&problem](int64_t count, const char* direction, int64_t compute_us) {
    problem.points.clear();
    for (const char* method : {experiment::variant::kDeferred, "plain"}) {
      problem.points.push_back({experiment::kernels::kPhases.name,
                                method,
                                {{"copies", count},
                                 {factor::kBytes, int64_t{1000}},
                                 {factor::kDirection, std::string(direction)},
                                 {factor::kComputeUs, compute_us}}});
    }
    return chosen_of(problem);
  };
  EXPECT_EQ(copies(32, "put", 300), (std::pair<std::string, std::string>("deferred", "deferred")));
  EXPECT_EQ(copies(32, "get", 300).first, "deferred");
  EXPECT_EQ(copies(1, "get", 0).first, "plain");  // its result is needed at once
}

TEST(JudgeDecisions, SharedUpdatesAreJudgedByWhatReplicasSave) {
  model::TunedModel model = truth();
  model.shared_update = model::full_example().shared_update;
  model::SharedUpdatePoint& known = model.shared_update->points.front();
  known.type = model::CellType::integer8;
  known.placement = model::SharedPlacement::package;
  known.workers = 4;
  known.plain_s = known.fold_s = model::example_parameter(1e-9, 0.02);
  known.atomic_s = model::example_parameter(6e-9, 0.02);
  known.lock_s = model::example_parameter(13e-9, 0.02);
  known.transfer_s = model::example_parameter(50e-9, 0.02);
  known.barrier_s = model::example_parameter(1e-6, 0.02);
  model.shared_update->points.resize(1);
  const plan::CompiledModel compiled(model);
  const auto chosen = [&](int64_t updates, int64_t cells) -> std::string {
    experiment::HeldOutProblem problem{HeldOutKind::shared, {}};
    for (const char* strategy : {"atomic", "locked", "replicate"}) {
      problem.points.push_back({experiment::kernels::kSharedHistogram.name,
                                strategy,
                                {{"updates", updates}, {"buckets", cells}}});
    }
    const std::vector<size_t> all = {0, 1, 2};
    const auto one = chosen_alternative(compiled, problem, all, 4);
    EXPECT_EQ(untuned_alternative(problem, all), 0U);
    return one ? problem.points[*one].variant : "none";
  };
  EXPECT_EQ(chosen(100000, 1000), "replicate");
  EXPECT_EQ(chosen(1000, 1000000), "atomic");
}

// Flags travel with the data on emulated networks, and on no others.
TEST(JudgeDecisions, GathersAreAskedAboutOnTheNetworkOfTheModel) {
  const experiment::HeldOutProblem problem{HeldOutKind::gather,
                                           {{experiment::kernels::kSpmv.name,
                                             "pack",
                                             {{"rows", int64_t{1000}}, {"entries", int64_t{3}}}}}};
  const auto has_flag = [&](const char* fabric) {
    const model::Fingerprint fingerprint = {{"fabric", {fabric, model::MatchRule::hard}}};
    return gather_request(problem, fingerprint, 2).surroundings.flag_with_data;
  };
  EXPECT_TRUE(has_flag("emulated:opteron-vapi"));
  EXPECT_FALSE(has_flag("tcp"));
}

TEST(JudgeDecisions, WhatIsNotMeasuredJudgesNothing) {
  EXPECT_EQ(summed_up(judge_held_out(truth(), {}, 2)), Judgement());
  HeldOutTimes alone = windows_that_took({1e-3, 2e-3, 3e-3, 4e-3}, 0);
  for (size_t i = 1; i < alone.alternatives.size(); ++i) alone.alternatives[i].clear();
  const std::vector<HeldOutTimes> one = {alone};
  EXPECT_EQ(summed_up(judge_held_out(truth(), one, 2)), Judgement());
  // What failed verification is no evidence, and nothing to fit either.
  auto series = measured_in(truth());
  for (SampleSeries& each : series) each.verified = false;
  const std::vector<uint64_t> seeds = {kSeed};
  const HeldOutSeries parts = take_held_out(series, seeds, 2);
  EXPECT_TRUE(parts.judged.empty());
  EXPECT_TRUE(parts.fitted.empty());
  // By another seed it is a grid like any other.
  const std::vector<uint64_t> others = {kSeed + 1};
  EXPECT_GT(take_held_out(series, others, 2).fitted.size(), series.size() * 9 / 10);
}

}  // namespace
}  // namespace stripline::fit
