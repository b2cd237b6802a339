#include "optimizer/plan/vis.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/plan/strip_fixture.h"
#include "optimizer/plan/vis_choice.h"
#include "optimizer/plan/vis_costs.h"

namespace stripline::plan {
namespace {

using model::example_parameter;

constexpr VisMethod kMethods[] = {VisMethod::pipelined, VisMethod::native_iov,
                                  VisMethod::bounding_box, VisMethod::packed};

VisRequest request_of(uint64_t regions, uint64_t region_bytes,
                      Direction direction = Direction::get) {
  VisRequest request;
  request.direction = direction;
  request.regions = regions;
  request.region_bytes = region_bytes;
  request.extent_bytes = 2 * regions * region_bytes;
  request.local_regions = 1;
  request.medium_bytes = 8192;
  return request;
}

VisCosts costs_of(const model::VisModel* vis = nullptr) {
  return {model::example_model().network.at("inter-node"), model::example_pack(), vis};
}

struct Considered {
  struct One {
    VisCandidate candidate;
    double time_s = 0;
    double low = 0;  // of the residual, relative
    double high = 0;
  };
  explicit Considered(const VisRecord& record) {
    for (const auto& [one, predicted_s] : record.alternatives) {
      EXPECT_LE(one.residual_low, one.residual);
      EXPECT_GE(one.residual_high, one.residual);
      all.push_back({one.candidate, predicted_s, one.residual_low / one.residual,
                     one.residual_high / one.residual});
    }
  }
  const One* of(VisMethod method) const {
    const auto it = std::find_if(all.begin(), all.end(),
                                 [&](const One& one) { return one.candidate.method == method; });
    return it == all.end() ? nullptr : &*it;
  }
  std::vector<One> all;
};

class RandomVisCases {
 public:
  explicit RandomVisCases(uint64_t seed) : cases_(seed) {}

  uint64_t below(uint64_t limit) { return cases_.below(limit); }

  VisRequest request() {
    VisRequest r =
        request_of(size(1, 10000), size(1, 1e6), below(2) == 0 ? Direction::get : Direction::put);
    r.extent_bytes = r.regions * r.region_bytes * size(1, 100);
    r.local_regions = below(2) == 0 ? 1 : size(1, 1000);
    r.bounding_box_allowed = below(2) == 0;
    r.iov_limit = static_cast<uint32_t>(1 + below(8));
    r.medium_bytes = below(6) == 0 ? below(64) : size(64, 1e5);
    if (below(2) == 0) r.max_buffer_bytes = size(1, 1e7);
    r.compute = static_cast<ComputeClass>(below(kComputeClasses));
    r.region_header_bytes = static_cast<uint32_t>(8 * below(3));
    r.peers = static_cast<uint32_t>(1 + below(8));
    return r;
  }

  VisCosts costs() {
    model::PathModel path = cases_.network(0.02).network.at("inter-node");
    path.am = path.get;
    model::VisModel vis;
    vis.get = measured();
    if (below(3) > 0) vis.put = measured();
    return {path, model::example_pack(), &vis};
  }

 private:
  uint64_t size(double low, double high) {
    return static_cast<uint64_t>(cases_.log_uniform(low, high));
  }

  model::VisDirection measured() {
    model::VisDirection direction;
    if (below(2) == 0) direction.chunk_bytes = size(64, 1e5);
    if (below(2) == 0) direction.window = static_cast<uint32_t>(size(1, 64));
    if (below(2) == 0) direction.pipelined_window = static_cast<uint32_t>(size(1, 256));
    direction.heavy_delay_s = example_parameter(cases_.log_uniform(1e-6, 1e-3));
    for (model::VisResiduals* method :
         {&direction.communication_only.pipelined, &direction.communication_only.packed,
          &direction.communication_only.bounding_box, &direction.heavy.packed}) {
      for (uint64_t bytes = 8; bytes < 100000; bytes *= 8) {
        for (uint64_t regions = 2; regions < 10000; regions *= 8) {
          method->compact.push_back(
              {bytes, regions,
               example_parameter(cases_.log_uniform(0.3, 3), cases_.log_uniform(0.01, 0.5))});
        }
      }
    }
    return direction;
  }

  RandomCases cases_;
};

// Chunks are tuned with regions at the target. Those of a transfer to one place need no help there.
TEST(PlanVis, TunedChunksYieldToThosePutToTheirPlace) {
  model::VisModel vis;
  vis.put.emplace().chunk_bytes = 4000;
  vis.put->window = 4;
  const VisCosts costs = costs_of(&vis);
  VisRequest request = request_of(256, 16, Direction::put);
  request.medium_bytes = 64000;
  request.message_bytes = 8192;
  request.local_regions = 256;
  request.signalled = true;
  request.surroundings.flag_with_data = true;
  EXPECT_EQ(plan_vis(request, &costs).chunk_bytes, 4000U);
  request.regions = 1;
  request.region_bytes = 4096;
  request.extent_bytes = 4096;
  const VisPlan plan = plan_vis(request, &costs);
  EXPECT_EQ(plan.method, VisMethod::packed);
  EXPECT_TRUE(vis_lands(request, plan.chunk_bytes));
  // Unless the caller wants another size.
  EXPECT_EQ(force_vis(request, &costs, VisMethod::packed, 3000, 4).chunk_bytes, 3000U);
}

// Chunks that were tuned with nothing to compute are taken beside computation only where the model
// predicts that they are faster there.
TEST(PlanVis, TunedChunksAreDoubtedBesideComputation) {
  model::VisModel vis;
  vis.put.emplace().chunk_bytes = 1000;
  vis.put->window = 4;
  const VisCosts costs = costs_of(&vis);
  VisRequest request = request_of(256, 128, Direction::put);
  request.medium_bytes = 16000;
  const auto chunk = [&](ComputeClass compute) {
    request.compute = compute;
    return force_vis(request, &costs, VisMethod::packed, 0, 0).chunk_bytes;
  };
  EXPECT_EQ(chunk(ComputeClass::communication_only), 1000U);
  EXPECT_EQ(chunk(ComputeClass::heavy), 16000U);
  EXPECT_EQ(chunk(ComputeClass::light), 16000U);
}

TEST(PlanVis, WithoutAModelPacksForOnePlace) {
  VisRequest request = request_of(1, 4096, Direction::put);
  request.extent_bytes = 4096;
  EXPECT_EQ(plan_vis(request, nullptr).method, VisMethod::pipelined);
  request.local_regions = 128;
  EXPECT_EQ(plan_vis(request, nullptr).method, VisMethod::packed);
}

TEST(PlanVis, WithoutAModelPacksSmallRegions) {
  EXPECT_EQ(plan_vis(request_of(2, 8), nullptr).method, VisMethod::packed);
  EXPECT_EQ(plan_vis(request_of(2, 8), nullptr).reason, Reason::no_model);
  EXPECT_EQ(plan_vis(request_of(2, 8191), nullptr).method, VisMethod::packed);
  EXPECT_EQ(plan_vis(request_of(2, 8192), nullptr).method, VisMethod::pipelined);
  EXPECT_EQ(plan_vis(request_of(1, 8), nullptr).method, VisMethod::pipelined);
  VisRequest lands = request_of(2, 8191);
  lands.message_bytes = 4096;
  EXPECT_EQ(plan_vis(lands, nullptr).method, VisMethod::packed);
  lands.message_bytes = 4095;
  EXPECT_EQ(plan_vis(lands, nullptr).method, VisMethod::pipelined);
  VisRequest no_messages = request_of(1000, 8);
  no_messages.medium_bytes = 0;
  const VisPlan plan = plan_vis(no_messages, nullptr);
  EXPECT_EQ(plan.method, VisMethod::pipelined);
  EXPECT_GT(plan.window, 1U);
  EXPECT_EQ(plan.predicted_s, 0);
  EXPECT_EQ(plan.runner_up, VisMethod::pipelined);
}

TEST(PlanVis, WithoutMessagesInTheModelThereIsNoPrediction) {
  model::PathModel path = model::example_model().network.at("inter-node");
  path.am.reset();
  const VisCosts costs(path, std::nullopt, nullptr);
  EXPECT_EQ(plan_vis(request_of(100, 8), &costs).reason, Reason::no_model);
  VisRequest no_messages = request_of(100, 8);
  no_messages.medium_bytes = 0;
  EXPECT_EQ(plan_vis(no_messages, &costs).reason, Reason::tuned);
  path.get.reset();
  const VisCosts nothing(path, std::nullopt, nullptr);
  EXPECT_EQ(plan_vis(no_messages, &nothing).reason, Reason::no_model);
}

TEST(PlanVis, PacksTinyRegionsAndPipelinesLargeOnes) {
  const VisCosts costs = costs_of();
  for (const Direction direction : {Direction::get, Direction::put}) {
    EXPECT_EQ(plan_vis(request_of(1000, 8, direction), &costs).method, VisMethod::packed);
    EXPECT_EQ(plan_vis(request_of(1000, 65536, direction), &costs).method, VisMethod::pipelined);
  }
}

TEST(PlanVis, ReadsBetweenRegionsWhereThatIsCheap) {
  // The predictions are known to be right.
  model::VisModel vis;
  vis.get.emplace();
  auto& measured = vis.get->communication_only;
  for (auto* const table : {&measured.packed, &measured.bounding_box}) {
    table->compact = table->spread = {{8, 200, example_parameter(1, 0.01)}};
  }
  const VisCosts costs = costs_of(&vis);
  VisRequest request = request_of(200, 8);
  request.bounding_box_allowed = true;
  request.extent_bytes = 1700;
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::bounding_box);
  request.extent_bytes = 100000000;
  EXPECT_NE(plan_vis(request, &costs).method, VisMethod::bounding_box);
}

TEST(PlanVis, UsesNativeListsWhereTheyAreFree) {
  const VisCosts costs = costs_of();
  VisRequest request = request_of(1000, 500);
  request.medium_bytes = 0;
  ASSERT_EQ(plan_vis(request, &costs).method, VisMethod::pipelined);
  request.iov_limit = 8;
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::native_iov);
}

// Whatever is asked: what is planned is allowed, fits the message and the memory, and is the
// fastest one or, where that is not sure, one of the two fastest.
TEST(PlanVis, PropertiesOfRandomPlans) {
  RandomVisCases cases(11);
  int uncertain = 0;
  std::map<VisMethod, int> chosen;
  for (int round = 0; round < 3000; ++round) {
    const VisCosts costs = cases.costs();
    const VisRequest request = cases.request();
    const VisPlan plan = plan_vis(request, &costs);
    VisRecord record;
    ASSERT_EQ(plan_vis(request, &costs, record), plan);
    Considered seen(record);
    const detail::VisChoice choice = detail::choose_vis(request, costs);
    ASSERT_EQ(choice.candidate, (VisCandidate{plan.method, plan.window, plan.chunk_bytes}));
    ASSERT_EQ(choice.stage.retire, detail::vis_stage(request, costs, choice.candidate).retire);
    ASSERT_NEAR(
        std::log(detail::model_time(request, costs, choice.candidate)) + choice.residual.value,
        std::log(plan.predicted_s), 1e-9);
    ASSERT_DOUBLE_EQ(choice.factor, std::exp(choice.residual.value));
    ASSERT_TRUE(vis_allowed(request, plan.method));
    ASSERT_EQ(plan.reason, Reason::tuned);
    ASSERT_GE(plan.window, 1U);
    if (plan.method == VisMethod::packed) {
      ASSERT_GT(plan.chunk_bytes, 0U);
      ASSERT_LE(plan.chunk_bytes, request.medium_bytes);
      ASSERT_LE(plan.chunk_bytes * plan.window * request.peers, request.max_buffer_bytes);
    } else {
      ASSERT_EQ(plan.chunk_bytes, 0U);
    }
    ASSERT_FALSE(seen.all.empty());
    for (const Considered::One& one : seen.all) {
      ASSERT_TRUE(vis_allowed(request, one.candidate.method));
    }
    std::sort(seen.all.begin(), seen.all.end(),
              [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
    chosen[plan.method] += 1;
    if (seen.all.size() == 1) {
      ASSERT_EQ(plan.runner_up, plan.method);
      ASSERT_FALSE(plan.uncertain);
      continue;
    }
    const Considered::One& best = seen.all[0];
    const Considered::One& next = seen.all[1];
    uncertain += plan.uncertain ? 1 : 0;
    const bool first = plan.method == best.candidate.method;
    ASSERT_TRUE(first || (plan.uncertain && plan.method == next.candidate.method));
    ASSERT_NEAR(plan.predicted_s, first ? best.time_s : next.time_s, 1e-9 * best.time_s);
    ASSERT_NEAR(plan.runner_up_s, first ? next.time_s : best.time_s, 1e-9 * next.time_s);
    // Surely separate intervals leave no doubt.
    if (best.time_s * best.high * 1.0001 < next.time_s * next.low) {
      ASSERT_FALSE(plan.uncertain);
    }
    if (best.time_s * best.high > next.time_s) {
      ASSERT_TRUE(plan.uncertain);
    }
  }
  EXPECT_GT(uncertain, 300);
  for (const VisMethod method : kMethods) EXPECT_GT(chosen[method], 30) << to_string(method);
}

TEST(PlanVis, ChoosesWhatLosesLeastWhereItIsNotSure) {
  // Pipelined is a little faster, but may be much slower; packed is what it is.
  model::VisModel vis;
  vis.get.emplace();
  const VisCosts plain = costs_of();
  VisRecord record;
  const VisRequest request = request_of(50, 1000);
  plan_vis(request, &plain, record);
  const Considered seen(record);
  const double ratio = seen.of(VisMethod::packed)->time_s / seen.of(VisMethod::pipelined)->time_s;
  model::Parameter risky = example_parameter(0.98 * ratio);
  risky.ci_high = 2 * ratio;
  vis.get->communication_only.pipelined.compact = {{1000, 50, risky}};
  vis.get->communication_only.packed.compact = {{1000, 50, example_parameter(1, 0.01)}};
  const VisCosts costs = costs_of(&vis);
  const VisPlan plan = plan_vis(request, &costs);
  EXPECT_TRUE(plan.uncertain);
  EXPECT_EQ(plan.method, VisMethod::packed);
  EXPECT_EQ(plan.runner_up, VisMethod::pipelined);
  EXPECT_LT(plan.runner_up_s, plan.predicted_s);

  // Sure of it.
  risky.ci_high = 0.981 * ratio;
  vis.get->communication_only.pipelined.compact = {{1000, 50, risky}};
  vis.get->communication_only.packed.compact = {{1000, 50, example_parameter(1, 0.001)}};
  const VisCosts sure = costs_of(&vis);
  EXPECT_FALSE(plan_vis(request, &sure).uncertain);
  EXPECT_EQ(plan_vis(request, &sure).method, VisMethod::pipelined);
}

TEST(PlanVis, LossesAgainstNoModelCountTwiceWhereItIsNotSure) {
  const VisRequest request = request_of(50, 1000);
  ASSERT_EQ(plan_vis(request, nullptr).method, VisMethod::packed);
  model::VisModel vis;
  vis.get.emplace();
  const VisCosts plain = costs_of();
  VisRecord record;
  plan_vis(request, &plain, record);
  const Considered seen(record);
  const double ratio = seen.of(VisMethod::packed)->time_s / seen.of(VisMethod::pipelined)->time_s;
  vis.get->communication_only.packed.compact = {{1000, 50, example_parameter(1, 0.001)}};
  const auto method = [&](double low, double high) {
    model::Parameter pipelined = example_parameter(0.98 * ratio);
    pipelined.ci_low = low * ratio;
    pipelined.ci_high = high * ratio;
    vis.get->communication_only.pipelined.compact = {{1000, 50, pipelined}};
    const VisCosts costs = costs_of(&vis);
    const VisPlan plan = plan_vis(request, &costs);
    EXPECT_TRUE(plan.uncertain);
    return plan.method;
  };
  // Pipelined may lose 6 % where packed may lose 11 %, and then 3 %.
  EXPECT_EQ(method(0.9, 1.06), VisMethod::packed);
  EXPECT_EQ(method(0.9, 1.03), VisMethod::pipelined);
}

TEST(PlanVis, MeasurementsOverruleTheCostModel) {
  const VisRequest request = request_of(1000, 8);
  model::VisModel vis;
  vis.get.emplace();
  vis.get->communication_only.pipelined.compact = {{8, 1000, example_parameter(1)}};
  vis.get->communication_only.packed.compact = {{8, 1000, example_parameter(1000)}};
  const VisCosts costs = costs_of(&vis);
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::pipelined);
  // The other direction was not measured.
  EXPECT_EQ(plan_vis(request_of(1000, 8, Direction::put), &costs).method, VisMethod::packed);
}

TEST(PlanVis, ABusyTargetSpeaksAgainstMessages) {
  VisRequest request = request_of(100, 1024);
  model::VisModel vis;
  vis.get.emplace();
  vis.get->light_delay_s = example_parameter(0);
  vis.get->heavy_delay_s = example_parameter(10e-3);
  vis.get->communication_only.pipelined.compact = {{8, 10, example_parameter(1)}};
  vis.get->communication_only.packed.compact = {{8, 10, example_parameter(0.5)}};
  const VisCosts costs = costs_of(&vis);
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::packed);
  request.compute = ComputeClass::light;
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::packed);
  request.compute = ComputeClass::heavy;
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::pipelined);
}

TEST(PlanVis, TablesOfTheModelAreInTheOrderOfThePlanner) {
  for (size_t m = 0; m < kVisMethods; ++m) {
    EXPECT_EQ(to_string(static_cast<VisMethod>(m)), model::kResidualsOfMethod[m].first);
  }
  for (size_t c = 0; c < kComputeClasses; ++c) {
    EXPECT_EQ(to_string(static_cast<ComputeClass>(c)), model::kResidualsOfClass[c].first);
  }
}

TEST(PlanVis, ATargetThatWasSeenToBeBusySpeaksAgainstMessages) {
  const VisCosts costs = costs_of();
  VisRequest request = request_of(256, 8, Direction::put);
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::packed);
  request.surroundings.service_delay_s = 5e-3;
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::pipelined);
  // Unless the others wait for it as well.
  request.surroundings.target_polls_only = true;
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::packed);
}

TEST(PlanVis, FootprintsHaveTheirOwnResiduals) {
  model::VisModel vis;
  vis.get.emplace();
  vis.get->communication_only.packed.compact = {{8, 1000, example_parameter(1)}};
  vis.get->communication_only.packed.spread = {{8, 1000, example_parameter(1000)}};
  const VisCosts costs = costs_of(&vis);
  VisRequest request = request_of(1000, 8);
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::packed);
  request.extent_bytes = model::kSpreadFactor * 8000 - 1;
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::packed);
  request.extent_bytes = model::kSpreadFactor * 8000;
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::pipelined);
}

TEST(PlanVis, WhatWasMeasuredOfLandingDoesNotCorrectMessages) {
  model::VisModel vis;
  vis.put.emplace();
  // 16 KiB in messages, 64 KiB in chunks that land; in between both happens.
  vis.put->communication_only.packed.compact = {{64, 256, example_parameter(2, 0)},
                                                {64, 1024, example_parameter(8, 0)}};
  const VisCosts costs = costs_of(&vis);
  const auto factor = [](const VisCosts& of, bool lands, double data_bytes) {
    const auto& residuals = of.residuals(Direction::put, ComputeClass::communication_only, false);
    return std::exp(residuals[static_cast<size_t>(VisMethod::packed)][lands ? 1 : 0]
                        .at(6, std::log2(data_bytes))
                        .value);
  };
  EXPECT_NEAR(factor(costs, false, 32 << 10), 2, 1e-9);
  EXPECT_NEAR(factor(costs, true, 32 << 10), 8, 1e-9);
  // Where all was measured in messages, that is what is known.
  vis.put->communication_only.packed.compact.pop_back();
  EXPECT_NEAR(factor(costs_of(&vis), true, 32 << 10), 2, 1e-9);
}

TEST(PlanVis, MoreWorkNeverTakesLess) {
  const VisCosts costs = costs_of();
  for (const VisMethod method : kMethods) {
    for (const Direction direction : {Direction::get, Direction::put}) {
      double before = 0;
      for (uint64_t regions = 2; regions < 100000; regions += regions / 3 + 1) {
        VisRequest request = request_of(regions, 100, direction);
        request.bounding_box_allowed = true;
        request.iov_limit = 4;
        if (!vis_allowed(request, method)) continue;
        const VisPlan plan = force_vis(request, &costs, method, 1024, 8);
        // Averages over a last message that is not full may err by its part.
        EXPECT_GT(plan.predicted_s, 0.999 * before) << to_string(method) << ' ' << regions;
        before = plan.predicted_s;
      }
    }
  }
}

TEST(ForceVis, DoesWhatItIsTold) {
  const VisCosts costs = costs_of();
  for (const VisCosts* known : {&costs, static_cast<const VisCosts*>(nullptr)}) {
    const VisPlan plan = force_vis(request_of(10000, 100), known, VisMethod::packed, 1000, 7);
    EXPECT_EQ(plan.method, VisMethod::packed);
    EXPECT_EQ(plan.reason, Reason::forced);
    EXPECT_EQ(plan.chunk_bytes, 1000U);
    EXPECT_EQ(plan.window, 7U);
    EXPECT_EQ(plan.predicted_s > 0, known != nullptr);
    const VisPlan loop = force_vis(request_of(10000, 8), known, VisMethod::pipelined, 0, 9);
    EXPECT_EQ(loop.method, VisMethod::pipelined);
    EXPECT_EQ(loop.window, 9U);
    EXPECT_EQ(loop.chunk_bytes, 0U);
  }
}

// A put leaves the queue when it is sent: a window as small as the queue would wait for round
// trips.
TEST(ForceVis, AShortQueueMakesNoSmallWindowOfPuts) {
  const auto window_of = [](Direction direction, double depth) {
    model::PathModel path = model::example_model().network.at("inter-node");
    path.get->queue_depth = path.put->queue_depth = example_parameter(depth, 0);
    const VisCosts costs(path, model::example_pack(), nullptr);
    return force_vis(request_of(512, 64, direction), &costs, VisMethod::pipelined, 0, 0).window;
  };
  EXPECT_LE(window_of(Direction::get, 3), 3U);
  EXPECT_GT(window_of(Direction::put, 3), 3U);
  EXPECT_EQ(window_of(Direction::put, 3), window_of(Direction::put, 4096));
}

// Its sender would wait in the fourth message for a place in the queue, and not compute.
TEST(ForceVis, NoMorePackedMessagesThanTheQueueHoldsBesideComputation) {
  model::PathModel path = model::example_model().network.at("inter-node");
  path.am->queue_depth = example_parameter(3, 0);
  const VisCosts costs(path, model::example_pack(), nullptr);
  VisRequest request = request_of(1306, 24, Direction::put);
  for (const ComputeClass compute :
       {ComputeClass::communication_only, ComputeClass::light, ComputeClass::heavy}) {
    request.compute = compute;
    const VisPlan plan = force_vis(request, &costs, VisMethod::packed, 2000, 8);
    EXPECT_EQ(plan.window, compute == ComputeClass::communication_only ? 8U : 3U);
  }
}

TEST(ForceVis, ReducesWhatDoesNotFit) {
  VisRequest request = request_of(10000, 100);
  EXPECT_EQ(force_vis(request, nullptr, VisMethod::packed, 100000, 2).chunk_bytes, 8192U);
  request.max_buffer_bytes = 4096;
  const VisPlan plan = force_vis(request, nullptr, VisMethod::packed, 1024, 16);
  EXPECT_EQ(plan.chunk_bytes, 1024U);
  EXPECT_EQ(plan.window, 4U);
  request.peers = 8;
  const VisPlan shared = force_vis(request, nullptr, VisMethod::packed, 1024, 16);
  EXPECT_EQ(shared.chunk_bytes, 512U);
  EXPECT_EQ(shared.window, 1U);
  EXPECT_EQ(force_vis(request_of(3, 8), nullptr, VisMethod::pipelined, 0, 64).window, 3U);
}

TEST(ForceVis, RefusesWhatTheRequestDoesNotAllow) {
  const VisCosts costs = costs_of();
  VisRequest request = request_of(100, 64, Direction::put);
  request.bounding_box_allowed = true;  // of a put it would overwrite what lies between
  for (const VisMethod method : {VisMethod::bounding_box, VisMethod::native_iov}) {
    EXPECT_FALSE(vis_allowed(request, method));
    EXPECT_EQ(force_vis(request, &costs, method, 0, 0), plan_vis(request, &costs));
  }
  request.max_buffer_bytes = 10;
  EXPECT_FALSE(vis_allowed(request, VisMethod::packed));
  request.direction = Direction::get;
  EXPECT_FALSE(vis_allowed(request, VisMethod::bounding_box));
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::pipelined);
  EXPECT_EQ(plan_vis(request, nullptr).method, VisMethod::pipelined);
}

// A landing zone does not help: messages say where data belong.
TEST(ForceVis, RefusesWhatNoMessageHolds) {
  const VisCosts costs = costs_of();
  VisRequest request = request_of(100, 64, Direction::put);
  request.medium_bytes = kLandingSlotBytes;
  request.message_header_bytes = kStridedHeaderBytes + 13 * kDimensionHeaderBytes;
  request.message_bytes = request.message_header_bytes + kLeastPackedBytes;
  EXPECT_TRUE(vis_allowed(request, VisMethod::packed));
  --request.message_bytes;
  EXPECT_FALSE(vis_allowed(request, VisMethod::packed));
  EXPECT_EQ(force_vis(request, &costs, VisMethod::packed, 0, 0), plan_vis(request, &costs));
  EXPECT_EQ(plan_vis(request, &costs).method, VisMethod::pipelined);
  EXPECT_EQ(plan_vis(request, nullptr).method, VisMethod::pipelined);
}

TEST(ForceVis, TunedSizesAreTheDefault) {
  model::VisModel vis = model::example_vis();
  const VisCosts costs = costs_of(&vis);
  VisRequest request = request_of(10000, 100);
  request.medium_bytes = 65536;
  const VisPlan packed = force_vis(request, &costs, VisMethod::packed, 0, 0);
  EXPECT_EQ(packed.chunk_bytes, 8192U);
  EXPECT_EQ(packed.window, 8U);
  EXPECT_EQ(force_vis(request, &costs, VisMethod::pipelined, 0, 0).window, 32U);
}

}  // namespace
}  // namespace stripline::plan
