#include "optimizer/plan/update.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "optimizer/plan/encoding_fixture.h"
#include "optimizer/plan/update_fixture.h"
#include "optimizer/plan/vis.h"

namespace stripline::plan {
namespace {

TEST(UpdateGrid, HoldsAllRanksAndLeavesFewDestinations) {
  for (uint32_t ranks = 1; ranks < 5000; ++ranks) {
    for (uint32_t hops = 1; hops <= kMostUpdateHops; ++hops) {
      const auto grid = update_grid(ranks, hops);
      uint64_t places = 1;
      uint32_t others = 0;
      for (const uint32_t side : grid) {
        ASSERT_GE(side, 1U);
        places *= side;
        others += side - 1;
      }
      ASSERT_GE(places, ranks);
      ASSERT_EQ(update_destinations(ranks, hops), std::max(others, 1U));
      for (uint32_t hop = hops; hop < kMostUpdateHops; ++hop) ASSERT_EQ(grid[hop], 1U);
    }
  }
  EXPECT_EQ(update_destinations(64, 1), 63U);
  EXPECT_EQ(update_destinations(64, 2), 14U);
  EXPECT_EQ(update_destinations(64, 3), 9U);
  EXPECT_EQ(update_grid(1U << 20, 2)[0], 1024U);
}

TEST(UpdateGrid, HasNodesAsItsFirstRows) {
  using Sides = std::array<uint32_t, kMostUpdateHops>;
  EXPECT_EQ(update_grid(64, 2, 4), (Sides{4, 16, 1}));
  EXPECT_EQ(update_grid(64, 3, 4), (Sides{4, 4, 4}));
  EXPECT_EQ(update_grid(63, 2, 16), (Sides{16, 4, 1}));
  // Too few nodes for a dimension of their own.
  EXPECT_FALSE(update_grid_has_row(64, 2, 64));
  EXPECT_FALSE(update_grid_has_row(64, 3, 32));
  EXPECT_EQ(update_grid(64, 3, 32), update_grid(64, 3));
  EXPECT_EQ(update_grid(64, 1, 4), update_grid(64, 1));
}

// A hop within a node takes what messages within nodes take, and nothing of the network card.
TEST(UpdatePlan, MakesOneHopWithinNodesWhereThatTakesLess) {
  model::TunedModel m = model::example_model();
  m.network["intra-node"] = m.network.at("inter-node");
  for (auto* const operation : {&*m.network["intra-node"].put, &*m.network["intra-node"].am}) {
    for (model::Segment& segment : operation->segments) {
      segment.o_base_s = segment.L_s = segment.g_s = segment.G_s_per_byte =
          model::example_parameter(1e-12);
    }
  }
  const UpdateCosts costs = update_costs_of(m);
  UpdateRequest request = histogram();
  request.node_ranks = 8;
  const UpdateCandidate apart{.merges = true, .hops = 2, .buffer_bytes = 8192};
  UpdateCandidate by_nodes = apart;
  by_nodes.by_nodes = true;
  EXPECT_LT(predict_update(request, costs, by_nodes), predict_update(request, costs, apart));
  EXPECT_TRUE(possible_update(request, &costs, by_nodes));
  request.node_ranks = 1;
  EXPECT_FALSE(possible_update(request, &costs, by_nodes));
  // What a program sets is by nodes, too, where that does not take far more buffers.
  for (const auto& [ranks, expected] : {std::pair(8U, true), std::pair(2U, false)}) {
    request.node_ranks = ranks;
    const auto [in_two, memory, reason, seconds, before_s, gain] = set_update(request, {.hops = 2});
    EXPECT_EQ(in_two.by_nodes, expected) << ranks;
    EXPECT_EQ(in_two.hops, 2U);
  }
}

TEST(UpdatePlan, IsInBuffersWithoutAModel) {
  const UpdatePlan plan = plan_update(histogram(), nullptr);
  EXPECT_EQ(plan.candidate,
            (UpdateCandidate{.merges = true, .buffer_bytes = kMostUpdateBufferBytes}));
  EXPECT_EQ(plan.reason, Reason::no_model);
  EXPECT_EQ(plan.predicted_s, 0);
  model::TunedModel m = model::example_model();
  m.update.reset();
  const UpdateCosts costs = update_costs_of(m);
  EXPECT_EQ(plan_update(histogram(), &costs), plan);
}

// As many hops as it takes, then smaller buffers.
TEST(UpdatePlan, KeepsToItsMemoryWithoutAModelToo) {
  UpdateRequest request = histogram();
  for (const uint64_t budget :
       {uint64_t{4} << 20, uint64_t{1} << 20, uint64_t{512} << 10, uint64_t{16} << 10}) {
    request.max_buffer_bytes = budget;
    const UpdatePlan plan = plan_update(request, nullptr);
    EXPECT_LE(plan.memory_bytes, budget) << budget;
  }
  request.max_buffer_bytes = 4 << 20;
  EXPECT_EQ(plan_update(request, nullptr).candidate.hops, 1U);
  request.max_buffer_bytes = 2 << 20;
  EXPECT_EQ(plan_update(request, nullptr).candidate.hops, 2U);
  request.max_buffer_bytes = 512 << 10;
  EXPECT_EQ(plan_update(request, nullptr).candidate.hops, 3U);
  request.most_hops = 2;
  EXPECT_EQ(plan_update(request, nullptr).candidate.hops, 2U);
  EXPECT_LE(plan_update(request, nullptr).memory_bytes, 512U << 10);
  request.separate = true;
  EXPECT_FALSE(plan_update(request, nullptr).candidate.merges);
}

TEST(UpdatePlan, TakesNoBufferThatIsLargerThanAMessage) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request = histogram();
  request.message_bytes = 5000;
  EXPECT_EQ(plan_update(request, nullptr).candidate.buffer_bytes, 5000U);
  const UpdatePlan plan = plan_update(request, &costs);
  EXPECT_LE(plan.candidate.buffer_bytes, 5000U);
  EXPECT_FALSE(possible_update(request, &costs, {.buffer_bytes = 8192}));
}

TEST(UpdatePlan, IsTheBaselineButForWhatIsSet) {
  UpdateRequest request = histogram();
  request.max_buffer_bytes = 1 << 20;
  const UpdatePlan baseline = plan_update(request, nullptr);
  EXPECT_EQ(set_update(request, {}).candidate, baseline.candidate);
  EXPECT_EQ(set_update(request, {}).reason, Reason::forced);
  const UpdatePlan hops = set_update(request, {.hops = 2});
  EXPECT_EQ(hops.candidate.hops, 2U);
  EXPECT_EQ(hops.candidate.buffer_bytes, largest_update_buffer(request, hops.candidate));
  EXPECT_EQ(set_update(request, {.buffer_bytes = 500}).candidate.buffer_bytes, 500U);
  request.most_hops = 1;
  EXPECT_EQ(set_update(request, {.hops = 2}).candidate.hops, 1U);
  const UpdatePlan locks =
      set_update(histogram(), {.method = UpdateMethod::owner_locks, .hops = 2});
  EXPECT_EQ(locks.candidate.method, UpdateMethod::owner_locks);
  EXPECT_EQ(locks.candidate.hops, 1U);
}

TEST(UpdatePlan, MergesWhereCellsAreUpdatedAgainAndAgain) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request = histogram();
  request.ranks = 4;
  request.cells = 512;
  EXPECT_TRUE(plan_update(request, &costs).candidate.merges);
  request.cells = 0;  // each once: nothing is gained by not trying
  EXPECT_DOUBLE_EQ(
      predict_update(request, costs, {.merges = true, .buffer_bytes = kMostUpdateBufferBytes}),
      predict_update(request, costs, {.merges = false, .buffer_bytes = kMostUpdateBufferBytes}));
  request.cells = 512;
  request.separate = true;
  EXPECT_FALSE(plan_update(request, &costs).candidate.merges);
  request.separate = false;
  request.fetches = true;
  EXPECT_FALSE(plan_update(request, &costs).candidate.merges);
}

// An update that is looked for and not found takes what the model says of it.
TEST(UpdatePlan, CountsUpdatesThatMeetNoneOfTheirCell) {
  model::TunedModel m = model::example_model();
  UpdateRequest request = histogram();
  request.ranks = 4;
  request.updates = 1 << 20;
  const UpdateCandidate merging{.merges = true, .buffer_bytes = kMostUpdateBufferBytes};
  const auto seconds = [&](double of_merge, double of_miss) {
    for (model::UpdatePoint& point : m.update->items) {
      point.merge_s = model::example_parameter(of_merge, 0);
      point.miss_s.reset();
      if (of_miss > 0) point.miss_s = model::example_parameter(of_miss, 0);
    }
    return predict_update(request, update_costs_of(m), merging);
  };
  request.cells = 4096;  // most meet another one
  const double as_hits_s = seconds(50e-9, 0);
  EXPECT_NEAR(seconds(50e-9, 50e-9), as_hits_s, 1e-9 * as_hits_s);
  const double with_misses_s = seconds(50e-9, 500e-9);
  EXPECT_GT(with_misses_s, as_hits_s);
  // Few of them take that.
  EXPECT_LT(with_misses_s, as_hits_s + 0.5 * static_cast<double>(request.updates) * 450e-9);
}

// Merging takes time, and makes values that differ.
TEST(UpdatePlan, LeavesUpdatesOfOneValueApartWhereThatTakesFewerBytes) {
  model::TunedModel m = model::example_model();
  for (auto& segment : m.network.at("inter-node").put->segments) {
    segment.G_s_per_byte = model::example_parameter(8e-9, 0);
  }
  for (model::UpdatePoint& point : m.update->items) {
    point.append_s = point.apply_s = model::example_parameter(2e-9, 0);
    point.merge_s = model::example_parameter(50e-9, 0);
  }
  const UpdateCosts costs = update_costs_of(m);
  UpdateRequest request = histogram();
  request.updates = request.cells = 16384;
  request.cells /= 8;
  EXPECT_TRUE(plan_update(request, &costs).candidate.merges);
  request.one_value = true;
  EXPECT_FALSE(plan_update(request, &costs).candidate.merges);
}

TEST(UpdatePlan, GoesByTheFabricWhereThereAreFew) {
  model::TunedModel m = model::example_model();
  const UpdateCosts costs = update_costs_of(m);
  UpdateRequest request = histogram();
  request.updates = 1;
  request.cells = 1;
  request.provider = true;
  const UpdatePlan few = plan_update(request, &costs);
  request.updates = request.cells = 1000000;
  const UpdatePlan many = plan_update(request, &costs);
  EXPECT_EQ(many.candidate.method, UpdateMethod::buffers);
  EXPECT_LT(predict_update(request, costs, many.candidate),
            predict_update(request, costs, {.method = UpdateMethod::provider}) / 10);
  request.provider = false;
  EXPECT_FALSE(possible_update(request, &costs, {.method = UpdateMethod::provider}));
  // What is not in order anyway is not asked for.
  request.provider = request.ordered = true;
  EXPECT_FALSE(possible_update(request, &costs, {.method = UpdateMethod::provider}));
  EXPECT_FALSE(possible_update(request, &costs, {.method = UpdateMethod::messages}));
  EXPECT_GE(few.baseline_s, few.predicted_s);
}

// Nearly empty messages to each of many ranks cost more than a second hop.
TEST(UpdatePlan, TakesMoreHopsAmongMoreRanks) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request = histogram();
  request.updates = 20000;
  request.cells = 0;
  request.ranks = 4;
  EXPECT_EQ(plan_update(request, &costs).candidate.hops, 1U);
  request.ranks = 16384;
  const UpdatePlan plan = plan_update(request, &costs);
  EXPECT_GT(plan.candidate.hops, 1U);
  EXPECT_EQ(plan.reason, Reason::tuned);
}

TEST(UpdatePlan, CountsWhatComesToTheBusiestOwner) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request = histogram();
  const UpdateCandidate candidate{.buffer_bytes = 8192};
  const double even = predict_update(request, costs, candidate);
  request.hottest_percent = 1;  // less than an equal part
  EXPECT_EQ(predict_update(request, costs, candidate), even);
  request.hottest_percent = 50;
  EXPECT_GT(predict_update(request, costs, candidate), 4 * even);
  request.hottest_percent = 0;
  request.local_percent = 100;
  EXPECT_DOUBLE_EQ(predict_update(request, costs, candidate),
                   1e6 * costs.apply(request.span_bytes, cost::Corner::nominal));
}

// The simplest case by hand: two ranks, full buffers, nothing merged.
TEST(UpdateTime, IsThatOfItsParts) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  const UpdateRequest request{.updates = 409'600, .span_bytes = 8 << 20, .ranks = 2};
  const UpdateCandidate candidate{.buffer_bytes = 49'152};
  const double n = 4096.0 * 100;
  const double messages = 100;
  const double bytes = 4096.0 * 12;
  const auto& put = costs.put().at(candidate.buffer_bytes);
  const auto& small = costs.am().at(32);
  const auto nominal = cost::Corner::nominal;
  const uint64_t memory = (1 + 1 + kSpareUpdateBuffers) * candidate.buffer_bytes;
  const double cpu = n * (costs.append(memory, nominal) + costs.apply(8 << 20, nominal)) +
                     messages * (put.o(bytes) + put.r(bytes) + 2 * (small.o(32) + small.r(32)));
  const double nic = messages * (put.gap(bytes) + 2 * small.gap(32)) - put.G * bytes;
  const double last = put.o(bytes) + put.L + put.G * bytes + 2 * small.one_way(32);
  EXPECT_NEAR(predict_update(request, costs, candidate), std::max(cpu, nic) + last, 1e-12);
}

// A message of updates of one value has that once.
TEST(UpdateTime, OfOneValueIsThatOfAddresses) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request{.updates = 409'600, .span_bytes = 8 << 20, .ranks = 2};
  const UpdateCandidate candidate{.buffer_bytes = 49'152};
  const double of_pairs_s = predict_update(request, costs, candidate);
  request.one_value = true;
  const double messages = 100;
  const auto& put = costs.put().at(4096 * 4);
  // What is sent takes its time beside what is computed, but for the last one.
  EXPECT_LT(predict_update(request, costs, candidate), of_pairs_s);
  EXPECT_GT(predict_update(request, costs, candidate),
            messages * (put.o(4096 * 4) + put.r(4096 * 4)));
  // What was merged has values of its own.
  request.cells = 1000;
  const UpdateCandidate merged{.merges = true, .buffer_bytes = 49'152};
  const double merged_s = predict_update(request, costs, merged);
  request.one_value = false;
  EXPECT_DOUBLE_EQ(predict_update(request, costs, merged), merged_s);
}

// Where it takes long until what was sent is acknowledged.
model::TunedModel distant_model() {
  model::TunedModel m = model::example_model();
  model::PathModel& path = m.network.at("inter-node");
  for (model::OperationModel* operation : {&*path.put, &*path.am}) {
    for (model::Segment& segment : operation->segments) {
      segment.L_s = model::example_parameter(100e-6);
    }
  }
  return m;
}

// An owner has a number of slots for a rank, and one more message waits until they have come back.
TEST(UpdateTime, CountsRoundsOfMessagesThatWaitForSlots) {
  const UpdateCosts costs = update_costs_of(distant_model());
  constexpr uint64_t kItems = 100;  // of a message
  constexpr double kBytes = kItems * 12;
  const UpdateCandidate candidate{.buffer_bytes = kItems * 12};
  const auto& put = costs.put().at(kItems * 12);
  const auto& small = costs.am().at(32);
  const double last_s = put.o(kBytes) + put.L + put.G * kBytes + 2 * small.one_way(32);
  const double round_s = put.blocking(kBytes) + 2 * small.one_way(32);
  const auto time_of = [&](uint64_t messages) {
    const UpdateRequest request{.updates = messages * kItems, .span_bytes = 8 << 20, .ranks = 2};
    return predict_update(request, costs, candidate);
  };
  EXPECT_LT(time_of(4), last_s + 0.2 * round_s);
  EXPECT_NEAR(time_of(5), last_s + round_s, 1e-12);
  EXPECT_NEAR(time_of(9), last_s + 2 * round_s, 1e-12);
}

// What a rank has in flight to all others together is bounded, too.
TEST(UpdateTime, CountsRoundsOfMessagesThatTheNetworkHolds) {
  const UpdateCosts costs = update_costs_of(distant_model());
  constexpr uint64_t kItems = 100;
  const UpdateCandidate candidate{.buffer_bytes = kItems * 12};
  const auto& put = costs.put().at(kItems * 12);
  const auto& small = costs.am().at(32);
  // Three to each of eight others, which are nearly full.
  const UpdateRequest request{.updates = 24 * (kItems - 1), .span_bytes = 8 << 20, .ranks = 9};
  const double bytes = (kItems - 1) * 12;
  const double last_s = put.o(bytes) + put.L + put.G * bytes + 2 * small.one_way(32);
  EXPECT_NEAR(predict_update(request, costs, candidate), last_s + 5 * put.blocking(bytes), 1e-12);
}

TEST(UpdateTime, CountsRoundsOfSmallMessagesThatAPeerTakes) {
  model::TunedModel m = distant_model();
  model::Parameter& depth = *m.network.at("inter-node").am->queue_depth;
  depth = model::example_parameter(1, 0);
  const UpdateCosts costs = update_costs_of(m);
  constexpr uint64_t kItems = 100;
  const UpdateCandidate candidate{.buffer_bytes = kItems * 12};
  const auto& put = costs.put().at(kItems * 12);
  const auto& small = costs.am().at(32);
  const double bytes = kItems * 12;
  const double last_s = put.o(bytes) + put.L + put.G * bytes + 2 * small.one_way(32);
  const UpdateRequest request{.updates = 4 * kItems, .span_bytes = 8 << 20, .ranks = 2};
  EXPECT_NEAR(predict_update(request, costs, candidate), last_s + 3 * small.blocking(32), 1e-12);
}

TEST(UpdatePlan, TakesBuffersThatDoNotWaitForEachOtherOnASlowNetwork) {
  model::TunedModel m = distant_model();
  for (auto& segment : m.network.at("inter-node").put->segments) {
    segment.G_s_per_byte = model::example_parameter(16e-9);
  }
  const UpdateCosts costs = update_costs_of(m);
  const UpdateRequest request{
      .updates = 730, .span_bytes = 1 << 20, .ranks = 2, .one_value = true, .buffers_only = true};
  const UpdatePlan plan = plan_update(request, &costs);
  EXPECT_LE(request.updates * 12, kLandingSlots * plan.candidate.buffer_bytes);
}

// One more than fits is another message to each of the others.
TEST(UpdateTime, CountsMessagesThatAreNotFull) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request{.updates = 409'600, .span_bytes = 8 << 20, .ranks = 2};
  const UpdateCandidate candidate{.buffer_bytes = 49'152};
  const double full_s = predict_update(request, costs, candidate);
  ++request.updates;
  const double message_s = costs.put().o(16) + costs.put().r(16) + 2 * costs.am().o(32);
  EXPECT_GT(predict_update(request, costs, candidate) - full_s, 0.5 * message_s);
}

// A single message's bytes travel once.
TEST(UpdateTime, CountsTheBytesOfOneMessageOnce) {
  model::TunedModel model = model::example_model();
  for (auto& segment : model.network["inter-node"].put->segments) {
    segment.G_s_per_byte = model::example_parameter(100e-9);
  }
  const UpdateCosts costs = update_costs_of(model);
  UpdateRequest request{
      .updates = 1000, .span_bytes = 8 << 20, .ranks = 2, .separate = true, .buffers_only = true};
  const double bytes_s = 1000 * 12 * costs.put().at(12000).G;
  const UpdateCandidate in_one{.buffer_bytes = 65536};
  const double predicted_s = predict_update(request, costs, in_one);
  EXPECT_GT(predicted_s, bytes_s);
  EXPECT_LT(predicted_s, 1.2 * bytes_s);
  // That of another rank of the NIC goes first.
  request.surroundings.nic_ranks = 2;
  EXPECT_NEAR(predict_update(request, costs, in_one), predicted_s + bytes_s, 0.2 * bytes_s);
}

// Buffers in which hardly any updates were merged are followed by buffers without merging.
TEST(UpdateTime, DoesNotMergeWhereCellsHardlyMeet) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request{.updates = 100'000,
                        .cells = 99'000,
                        .span_bytes = 8 << 20,
                        .ranks = 2,
                        .one_value = true,
                        .buffers_only = true};
  const auto seconds = [&](bool merges) {
    return predict_update(request, costs, {.merges = merges, .buffer_bytes = 16384});
  };
  EXPECT_DOUBLE_EQ(seconds(true), seconds(false));
  request.cells = 1000;
  EXPECT_LT(seconds(true), 0.5 * seconds(false));
}

// Each in the time of one of an own cell; then the cells are written into buffers, and travel.
TEST(UpdateTime, OfSummedUpUpdatesIsThatOfOwnCells) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request{
      .updates = 1'000'000, .cells = 16'384, .span_bytes = 16'384 * 8, .ranks = 2};
  request.sums = true;
  const UpdateCandidate merged{.merges = true, .buffer_bytes = 8192};
  UpdateCandidate summed = merged;
  summed.sums = true;
  const double merged_s = predict_update(request, costs, merged);
  const double summed_s = predict_update(request, costs, summed);
  EXPECT_LT(summed_s, merged_s);
  const double own_s = 1e6 * costs.apply(request.span_bytes, cost::Corner::nominal);
  EXPECT_GE(summed_s, own_s);
  // Only where they meet, and where there is memory.
  request.cells = 600'000;
  EXPECT_EQ(predict_update(request, costs, summed), predict_update(request, costs, merged));
  request.cells = 16'384;
  request.max_buffer_bytes = 16'384 * 8 * 2;
  EXPECT_EQ(predict_update(request, costs, summed), merged_s);
}

// Straight to their owners, where they may be merged at all.
TEST(UpdateTime, OfSummedUpUpdatesIsAskedOnlyWhereTheyCanBe) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request{
      .updates = 1'000'000, .cells = 16'384, .span_bytes = 16'384 * 8, .ranks = 64};
  UpdateCandidate candidate{.merges = true, .buffer_bytes = 8192, .sums = true};
  EXPECT_FALSE(possible_update(request, &costs, candidate)) << "--sums is not given";
  EXPECT_FALSE(baseline_of_update(request, nullptr).candidate.sums);
  request.sums = true;
  EXPECT_TRUE(possible_update(request, &costs, candidate));
  EXPECT_TRUE(baseline_of_update(request, nullptr).candidate.sums);
  EXPECT_FALSE(set_update(request, {.hops = 2}).candidate.sums);
  EXPECT_FALSE(set_update(request, {.method = UpdateMethod::owner_locks}).candidate.sums);
  candidate.hops = 2;
  EXPECT_FALSE(possible_update(request, &costs, candidate));
  candidate.hops = 1;
  candidate.merges = false;
  EXPECT_FALSE(possible_update(request, &costs, candidate));
}

TEST(UpdateRivals, SumUpAndMerge) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  const UpdateRequest request{.updates = 1'000'000,
                              .cells = 4'096,  // so few that buffers hold some of them twice
                              .span_bytes = 4'096 * 8,
                              .ranks = 2,
                              .sums = true,
                              .buffers_only = true};
  const UpdatePlan plan = plan_update(request, &costs);
  EXPECT_TRUE(plan.candidate.sums);
  std::array<UpdateCandidate, kMostUpdateRivals> rivals;
  const size_t count = rivals_of_update(request, &costs, rivals);
  const auto has = [&](bool sums) {
    return std::ranges::any_of(std::span(rivals).first(count), [&](const UpdateCandidate& one) {
      return one.merges && one.sums == sums;
    });
  };
  EXPECT_TRUE(has(true)) << "of another size than the baseline";
  double merged_s = std::numeric_limits<double>::infinity();
  for (uint64_t bytes = kLeastUpdateBufferBytes; bytes <= kMostUpdateBufferBytes; bytes *= 2) {
    const UpdateCandidate merged{.merges = true, .buffer_bytes = bytes};
    merged_s = std::min(merged_s, predict_update(request, costs, merged));
  }
  EXPECT_GT(merged_s, plan.predicted_s);
  const double least_s = std::min(plan.baseline_s, predict_update(request, costs, rivals[0]));
  EXPECT_EQ(has(false), merged_s <= kRivalFactor * least_s);
}

// Against messages of random cells that are encoded in truth.
TEST(ExpectedEncoding, IsThatOfRandomCells) {
  const EncodingCosts costs{.value_bytes = 8,
                            .address_bytes = 4,
                            .box_bytes = 16,
                            .write_byte_s = 0.1e-9,
                            .send_byte_s = 1e-9,
                            .read_byte_s = 0.1e-9,
                            .apply_s = 3e-9};
  SplitMix64 random(7);
  std::vector<UpdateBox> boxes;
  for (const bool has_identity : {true, false}) {
    for (const double density : {0.01, 0.2, 0.5, 0.8, 0.95, 1.0}) {
      std::vector<uint64_t> cells;
      for (uint64_t cell = 0; cell < 200000; ++cell) {
        const double drawn = static_cast<double>(random.next() >> 11U) * 0x1p-53;
        if (drawn < density) cells.push_back(cell);
      }
      const EncodingPlan truth = plan_message(cells, costs, has_identity, boxes);
      const ExpectedEncoding expected = expected_encoding(density, has_identity, costs);
      const auto count = static_cast<double>(cells.size());
      EXPECT_EQ(expected.encoding == UpdateEncoding::pairs, truth.encoding == UpdateEncoding::pairs)
          << density;
      EXPECT_NEAR(expected.item_bytes, static_cast<double>(truth.bytes) / count,
                  0.02 * expected.item_bytes)
          << density << (has_identity ? " with" : " without") << " identity";
    }
  }
}

TEST(UpdateRivals, AreOfDifferentKindsAndNotMuchSlower) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  const UpdateRequest request = histogram();
  std::array<UpdateCandidate, kMostUpdateRivals> rivals;
  EXPECT_EQ(rivals_of_update(request, nullptr, rivals), 0U);
  const size_t count = rivals_of_update(request, &costs, rivals);
  ASSERT_GE(count, 1U);
  const double fastest_s = predict_update(request, costs, rivals[0]);
  EXPECT_LE(plan_update(request, &costs).predicted_s, fastest_s * 1.000001);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(possible_update(request, &costs, rivals[i]));
    EXPECT_LE(predict_update(request, costs, rivals[i]), kRivalFactor * fastest_s);
    for (size_t j = 0; j < i; ++j) {
      if (rivals[i].method != rivals[j].method || rivals[i].merges != rivals[j].merges) continue;
      EXPECT_NE(rivals[i].buffer_bytes, rivals[j].buffer_bytes);
      EXPECT_LE(predict_update(request, costs, rivals[i]), kSizeFactor * fastest_s);
    }
  }
}

TEST(UpdateRivals, OnlyOfWhatTheCallerCanCarryOut) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request = histogram();
  request.updates = request.cells = 3;
  request.provider = request.buffers_only = true;
  request.most_hops = 1;
  request.ranks = 16384;
  EXPECT_EQ(plan_update(request, &costs).candidate.method, UpdateMethod::buffers);
  EXPECT_EQ(plan_update(request, &costs).candidate.hops, 1U);
  for (const auto method : {UpdateMethod::provider, UpdateMethod::messages,
                            UpdateMethod::owner_locks, UpdateMethod::cell_locks}) {
    EXPECT_FALSE(possible_update(request, &costs, {.method = method}));
  }
}

}  // namespace
}  // namespace stripline::plan
