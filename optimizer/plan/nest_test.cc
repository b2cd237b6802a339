#include "optimizer/plan/nest.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/test_size.h"
#include "optimizer/plan/nest_fixture.h"
#include "optimizer/plan/vis_choice.h"

namespace stripline::plan {
namespace {

using access::Mode;

constexpr uint64_t kKiB = uint64_t{1} << 10;

// One array, element by element.
NestRequest stream(const Network& network, uint64_t elements, Mode mode) {
  NestRequest request = request_on(network);
  request.nest.add_loop(elements);
  request.nest.add({.mode = mode, .owner = 1, .stride_bytes = {8}});
  return request;
}

TEST(PlanNest, SaysWhyItCannotCut) {
  const Network network(model::example_model());
  NestRequest request = request_on(network);
  request.nest.add_loop(100);
  request.nest.add({.mode = Mode::read, .owner = 1, .stride_bytes = {8}});
  request.nest.add({.mode = Mode::write, .owner = 1, .base = 8, .stride_bytes = {8}});
  const NestPlan plan = plan_nest(request);
  ASSERT_TRUE(plan.obstacle);
  EXPECT_EQ(plan.obstacle->obstacle, access::Obstacle::dependence);
  EXPECT_TRUE(force_nest(request, {Schedule::pipelined, {0, 8}, 2}).obstacle);
}

TEST(PlanNest, VectorisesWithoutAModelAndMovesNothingInReach) {
  const Network network(model::example_model());
  NestRequest request = matrix_times_vector(network, 100, 1000);
  request.links[link_by(model::Path::network)].strip = nullptr;
  request.links[link_by(model::Path::network)].vis = nullptr;
  const NestPlan plan = plan_nest(request);
  EXPECT_EQ(plan.schedule, Schedule::vectorised);
  EXPECT_EQ(plan.reason, Reason::no_model);
  EXPECT_EQ(plan.steps, 1U);
  EXPECT_EQ(plan.predicted_s, 0);
  EXPECT_EQ(plan.buffer_bytes, uint64_t{100} * 1000 * 8 + uint64_t{100} * 8);
  ASSERT_EQ(plan.groups, 2U);
  EXPECT_TRUE(plan.transfer[0].moved);

  request.link.fill(kLocalLink);
  const NestPlan local = plan_nest(request);
  EXPECT_EQ(local.reason, Reason::own_memory);
  EXPECT_EQ(local.buffer_bytes, 0U);
  EXPECT_FALSE(local.transfer[0].moved);
}

TEST(PlanNest, ATransferHasTheFieldsOfEquation1) {
  const Network network(model::example_model());
  const NestRequest request = matrix_times_vector(network, 64, 1024);
  const NestPlan rows = force_nest(request, {Schedule::pipelined, {0, 4}, 3});
  EXPECT_EQ(rows.reason, Reason::forced);
  EXPECT_EQ(rows.steps, 16U);
  ASSERT_EQ(rows.groups, 2U);
  EXPECT_EQ(rows.transfer[0].count, 16U);
  EXPECT_EQ(rows.transfer[0].bytes, 32 * kKiB);
  EXPECT_EQ(rows.transfer[0].burst, 3U);
  EXPECT_EQ(rows.transfer[0].init_level, 0U);
  EXPECT_EQ(rows.transfer[1].bytes, 32U);
  EXPECT_EQ(rows.buffer_bytes, 7 * (32 * kKiB + 32));  // y goes in both directions
  EXPECT_GT(rows.predicted_s, 0);

  // Within a row y stays: one element, held for four steps.
  const NestPlan parts = force_nest(request, {Schedule::pipelined, {1, 256}, 3});
  EXPECT_EQ(parts.steps, 256U);
  EXPECT_EQ(parts.transfer[0].count, 256U);
  EXPECT_EQ(parts.transfer[0].init_level, 1U);
  EXPECT_EQ(parts.transfer[1].count, 64U);
  EXPECT_EQ(parts.transfer[1].bytes, 8U);
  EXPECT_EQ(parts.transfer[1].burst, 1U);
  EXPECT_EQ(parts.transfer[1].sync_level, 1U);
  EXPECT_EQ(parts.buffer_bytes, uint64_t{4} * 256 * 8 + 16);

  const NestPlan all = force_nest(request, {Schedule::all_issued, {0, 4}, 1});
  EXPECT_EQ(all.window, 16U);
  EXPECT_EQ(all.transfer[0].burst, 16U);
  EXPECT_EQ(all.transfer[0].init_level, 0U);
}

TEST(PlanNest, TilesOfManyRegionsAreSentByAMethodOfTheirOwn) {
  const Network network(model::example_model());
  NestRequest request = request_on(network);
  request.nest.add_loop(64);   // columns
  request.nest.add_loop(512);  // rows
  request.nest.add({.mode = Mode::read, .owner = 1, .stride_bytes = {8, 512}});
  request.compute_s = 1e-3;
  const NestPlan plan = force_nest(request, {Schedule::pipelined, {0, 4}, 2});
  EXPECT_TRUE(plan.transfer[0].many_regions);
  EXPECT_EQ(plan.transfer[0].bytes, uint64_t{4} * 8 * 512);
  const NestPlan whole = force_nest(request, {Schedule::vectorised, {0, 64}, 1});
  EXPECT_FALSE(whole.transfer[0].many_regions);
}

// Two elements of an array overlap in steps of eight iterations, and not in the two that are left.
TEST(PlanNest, UniformStepsAreOfEqualLengthWhereTheLastOneWouldHaveOtherGroups) {
  const Network network(model::example_model());
  NestRequest request = request_on(network);
  request.nest.add_loop(10);
  request.nest.add({.mode = Mode::read, .owner = 1, .stride_bytes = {8}});
  request.nest.add({.mode = Mode::read, .owner = 1, .base = 40, .stride_bytes = {8}});
  request.compute_s = 1e-3;
  const auto groups = [&](uint64_t granule) {
    return std::get<access::Tiling>(access::tile(request.nest, {0, granule})).groups();
  };
  ASSERT_NE(groups(8), groups(2));
  const NestCandidate eights{Schedule::all_issued, {0, 8}, 1};
  EXPECT_EQ(force_nest(request, eights).cut.granule, 8U);
  request.uniform_steps = true;
  const NestPlan fives = force_nest(request, eights);
  EXPECT_EQ(fives.cut.granule, 5U);
  EXPECT_EQ(fives.steps, 2U);
  EXPECT_EQ(fives.reason, Reason::forced);
}

// Rows of a prime length, in another array with gaps: equal steps are of one iteration.
TEST(PlanNest, EqualStepsThatGainNothingAreNotTaken) {
  const Network network(model::example_model());
  NestRequest request = request_on(network);
  request.nest.add_loop(4);
  request.nest.add_loop(457);
  request.nest.add({.mode = Mode::read, .owner = 0, .stride_bytes = {3656, 8}});
  request.nest.add({.mode = Mode::write, .owner = 1, .stride_bytes = {4096, 8}});
  request.uniform_steps = true;
  EXPECT_EQ(force_nest(request, {Schedule::all_issued, {1, 115}, 1}).cut.granule, 1U);
  for (const double compute_s : {1e-6, 1e-5, 1e-4, 1e-3}) {
    request.compute_s = compute_s;
    const NestPlan planned = plan_nest(request);
    EXPECT_LE(planned.predicted_s, planned.baseline_s) << compute_s;
  }
}

// Where that takes calls, of ranks that do the same.
TEST(PlanNest, ServesAsManyTilesAsItMoves) {
  const Network network(model::example_model());
  NestRequest request = request_on(network);
  request.nest.add_loop(64);
  request.nest.add_loop(1024);
  request.nest.add({.mode = Mode::write, .owner = 1, .stride_bytes = {8 * kKiB, 8}});
  request.compute_s = 10e-3;  // which hides what the network takes
  const NestCandidate whole{Schedule::vectorised, {0, 64}, 1};
  const NestCandidate cut{Schedule::pipelined, {0, 4}, 2};
  for (const auto& [candidate, steps] : {std::pair(whole, 1), std::pair(cut, 16)}) {
    request.surroundings.target_polls_only = false;
    const double alone_s = force_nest(request, candidate).predicted_s;
    request.surroundings.target_polls_only = true;
    const NestPlan plan = force_nest(request, candidate);
    const uint64_t bytes = plan.transfer[0].bytes;
    const double serve_s = network.strip.put().at(bytes).s(static_cast<double>(bytes));
    EXPECT_GT(serve_s, 0);
    // The last puts are served while the rank waits for its own.
    const int waited = steps > 1 ? 2 : 1;
    EXPECT_NEAR(plan.predicted_s - alone_s, (steps - waited) * serve_s, 1e-9);
  }
}

// Makes puts and gets take of their targets, as long as to retire, and so much of G for a byte.
void serve_too(model::TunedModel& m, double part_of_G) {
  for (auto* operation : {&*m.network["inter-node"].get, &*m.network["inter-node"].put}) {
    for (model::Segment& segment : operation->segments) {
      segment.s_base_s = segment.r_base_s;
      segment.s_per_byte_s = model::example_parameter(part_of_G * segment.G_s_per_byte->value);
    }
  }
}

// Two tiles of a step, which come one after the other while this rank serves the peers' ones.
TEST(PlanNest, ServesAllTilesOfAStepWhileItWaitsForThem) {
  model::TunedModel m = model::example_model();
  serve_too(m, 0.5);
  const Network network(m);
  const cost::MessageCosts& message = network.strip.get().at(8 * kKiB);
  NestRequest request = request_on(network);
  request.nest.add_loop(kKiB);
  for (const int64_t base : {0, 1 << 20, 2 << 20}) {
    request.nest.add({.mode = Mode::read, .owner = 1, .base = base, .stride_bytes = {8}});
  }
  request.compute_s = 1e-3;
  const NestCandidate whole{Schedule::vectorised, {0, kKiB}, 1};
  ASSERT_LT(3 * message.s(8 * kKiB), message.round_trip(8 * kKiB) + 2 * message.gap(8 * kKiB));
  const double alone_s = force_nest(request, whole).predicted_s;
  request.surroundings.target_polls_only = true;
  EXPECT_NEAR(force_nest(request, whole).predicted_s, alone_s, 1e-12);
}

// Regions that travel one by one are served one by one, where that takes calls; messages always.
TEST(PlanNest, ServesTilesOfManyRegions) {
  model::TunedModel m = model::example_model();
  serve_too(m, 0);
  const Network network(m);
  NestRequest request = request_on(network);
  request.nest.add_loop(64);
  request.nest.add_loop(512);
  request.nest.add({.mode = Mode::read, .owner = 1, .stride_bytes = {8, 1024}});
  request.compute_s = 20e-3;  // which hides what the network takes
  const NestCandidate cut{Schedule::pipelined, {0, 4}, 2};
  const auto serving_s = [&](const NestCandidate& candidate) {
    request.surroundings.target_polls_only = false;
    const double alone_s = force_nest(request, candidate).predicted_s;
    request.surroundings.target_polls_only = true;
    return force_nest(request, candidate).predicted_s - alone_s;
  };
  // Small regions are packed.
  const NestPlan packed = force_nest(request, cut);
  ASSERT_EQ(packed.transfer[0].method, VisMethod::packed);
  EXPECT_NEAR(serving_s(cut), 0, 1e-12);
  VisRequest tile = network.link().many;
  tile.direction = Direction::get;
  tile.regions = 512;
  tile.region_bytes = 512;
  tile.extent_bytes = 511 * kKiB + 512;
  tile.bounding_box_allowed = true;
  const detail::VisChoice choice = detail::untuned_vis(tile, network.vis);
  // An uncut nest serves a peer's tile while it waits for its own.
  const detail::VisStage& stage = choice.stage;
  EXPECT_NEAR(packed.baseline_s, stage.issue + stage.round_trip + stage.retire + request.compute_s,
              1e-9);
  // A rank whose peers do nothing alike serves no message. The first wait may fill some.
  tile.region_bytes = 32;
  tile.extent_bytes = 511 * kKiB + 32;
  const double serve_messages_s = detail::choose_vis(tile, network.vis).stage.serve;
  request.surroundings.target_polls_only = false;
  const double with_peers_s = force_nest(request, cut).predicted_s;
  request.surroundings.alone = true;
  EXPECT_GT(with_peers_s - force_nest(request, cut).predicted_s, 14.99 * serve_messages_s);
  EXPECT_LT(with_peers_s - force_nest(request, cut).predicted_s, 16.01 * serve_messages_s);
  EXPECT_GT(serve_messages_s, 1e-6);
  request.surroundings.alone = false;
  // Without room for messages, nor for all that lies between them, they travel by themselves.
  request.links[link_by(model::Path::network)].many.max_buffer_bytes = 0;
  ASSERT_EQ(force_nest(request, cut).transfer[0].method, VisMethod::pipelined);
  const double serve_s = 512 * network.strip.get().at(32).s(32);
  EXPECT_GT(serving_s(cut), 14.99 * serve_s);
  EXPECT_LT(serving_s(cut), 16.01 * serve_s) << "of which the first wait may fill some";
}

// A nest is carried out by the methods of its plan: those of plan_vis() for each direction.
TEST(PlanNest, HasTheMethodsOfBothDirections) {
  const Network network(model::example_model());
  NestRequest request = request_on(network);
  request.nest.add_loop(64);
  request.nest.add_loop(512);
  request.nest.add({.mode = Mode::update, .owner = 1, .stride_bytes = {8, 1024}});
  request.compute_s = 20e-3;
  const NestCandidate cut{Schedule::pipelined, {0, 4}, 2};
  VisRequest tile = network.link().many;
  tile.regions = 512;
  tile.region_bytes = 32;
  tile.extent_bytes = 511 * kKiB + 32;
  for (const double delay_s : {0.0, 10e-3}) {
    VisRequest& many = request.links[link_by(model::Path::network)].many;
    many.surroundings.service_delay_s = tile.surroundings.service_delay_s = delay_s;
    const NestTransfer transfer = force_nest(request, cut).transfer[0];
    for (const Direction direction : {Direction::get, Direction::put}) {
      tile.direction = direction;
      tile.bounding_box_allowed = direction == Direction::get;
      EXPECT_EQ(transfer.by(direction, Mode::update),
                detail::choose_vis(tile, network.vis).candidate);
    }
  }
  // What is only put has one method.
  request.nest.reference[0].mode = Mode::write;
  const NestTransfer put = force_nest(request, cut).transfer[0];
  EXPECT_EQ(put.by(Direction::put, Mode::write),
            (VisCandidate{put.method, put.vis_window, put.chunk_bytes}));
  EXPECT_EQ(put.put_back, VisCandidate{});
}

// A network on which messages take `times` as long as in the example.
model::TunedModel with_messages(double times) {
  model::TunedModel m = model::example_model();
  for (model::Segment& segment : m.network.at("inter-node").am->segments) {
    segment.o_base_s = model::example_parameter(times * segment.o_base_s->value);
    segment.L_s = model::example_parameter(times * segment.L_s->value);
  }
  return m;
}

// Short rows that lie far apart: they are packed without a model.
NestRequest far_rows(const Network& network) {
  NestRequest request = request_on(network);
  request.nest.add_loop(128);
  request.nest.add_loop(2);
  request.nest.add({.mode = Mode::read, .owner = 1, .stride_bytes = {512, 8}});
  request.compute_s = 1e-6;
  return request;
}

NestCandidate all_at_once(const NestRequest& request, bool tunes_tiles) {
  return {Schedule::vectorised, {0, request.nest.counts[0]}, 1, tunes_tiles};
}

TEST(PlanNest, TheBaselineMovesTilesAsWithoutAModel) {
  const Network network(with_messages(1000));
  const NestRequest request = far_rows(network);
  NestRequest without = request;
  for (NestLink& link : without.links) {
    link.strip = nullptr;
    link.vis = nullptr;
  }
  const NestPlan untuned = plan_nest(without);
  ASSERT_EQ(untuned.reason, Reason::no_model);
  ASSERT_EQ(untuned.transfer[0].method, VisMethod::packed);
  const NestPlan baseline = baseline_of_nest(request);
  EXPECT_EQ(baseline.transfer, untuned.transfer);
  EXPECT_FALSE(baseline.tunes_tiles);
  EXPECT_EQ(baseline.predicted_s, baseline.baseline_s);
  // The same with other methods is a plan, with what it gains.
  const NestPlan tuned = force_nest(request, all_at_once(request, true));
  EXPECT_EQ(tuned.baseline_s, baseline.baseline_s);
  EXPECT_NE(tuned.transfer[0].method, VisMethod::packed);
  EXPECT_LT(tuned.predicted_s, 0.1 * tuned.baseline_s);
  NestRecord record;
  const NestPlan plan = plan_nest(request, record);
  EXPECT_EQ(plan.reason, Reason::tuned);
  EXPECT_TRUE(plan.tunes_tiles);
  EXPECT_EQ(plan.baseline_s, baseline.baseline_s);
  EXPECT_LE(plan.predicted_s, tuned.predicted_s);
  ASSERT_GT(record.alternatives.size(), 1U);
  EXPECT_FALSE(record.alternatives[0].candidate.tunes_tiles);
  EXPECT_EQ(record.alternatives[0].predicted_s, baseline.predicted_s);
  EXPECT_EQ(record.alternatives[1].candidate.schedule, Schedule::vectorised);
  EXPECT_TRUE(record.alternatives[1].candidate.tunes_tiles);
  EXPECT_EQ(record.alternatives[1].predicted_s, tuned.predicted_s);
}

// A model that errs about messages does not err about gets.
TEST(PlanNest, OtherMethodsOfTilesErrByThemselves) {
  const Network network(with_messages(1000));
  NestRecord record;
  const NestPlan plan = plan_nest(far_rows(network), record);
  std::vector<bool> of_baseline;
  double squares = 0;
  for (const Sensitivity& one : record.sensitivities) {
    if (one.source == Source::regions) of_baseline.push_back(one.of_baseline);
    squares += one.gain_loss * one.gain_loss;
  }
  EXPECT_EQ(of_baseline, (std::vector<bool>{true, false}));
  EXPECT_NEAR(plan.gain_low, 1 - plan.predicted_s / plan.baseline_s - std::sqrt(squares), 1e-9);
}

TEST(PlanNest, MethodsOfTilesHaveToGainTheMargin) {
  int ties = 0;
  int kept = 0;
  int taken = 0;
  for (double times = 1; times < 1000; times *= 1.3) {
    const Network network(with_messages(times));
    const NestRequest request = far_rows(network);
    const NestPlan plan = plan_nest(request);
    const NestPlan tuned = force_nest(request, all_at_once(request, true));
    const double gain = 1 - tuned.predicted_s / tuned.baseline_s;
    if (plan.reason == Reason::tuned) {
      ++taken;
    } else {
      ++kept;
      EXPECT_EQ(plan.transfer, baseline_of_nest(request).transfer);
      // Nothing was measured of either method: each may take half as long again.
      EXPECT_LT(gain, 0.6) << times;
    }
    const auto tie = tie_of_nest(request);
    EXPECT_EQ(tie.has_value(), gain > 0) << times;
    if (!tie) continue;
    ++ties;
    EXPECT_EQ(tie->reason, Reason::tied);
    EXPECT_TRUE(tie->does_as(tuned));
    EXPECT_FALSE(tie->does_as(baseline_of_nest(request)));
  }
  EXPECT_GT(ties, 0);
  EXPECT_GT(kept, 0);
  EXPECT_GT(taken, 0);
}

// Messages have few places in flight, each of which is taken until its message is answered: cutting
// a tile that travels in one message into eight lets six of these wait for a whole round trip.
TEST(PlanNest, PackedTilesWaitForAPlaceInTheQueueOfMessages) {
  model::TunedModel m = model::example_model();
  const auto times = [&m] {
    const Network network(m);
    NestRequest request = request_on(network);
    request.nest.add_loop(64);
    request.nest.add_loop(4);
    request.nest.add({.mode = Mode::write, .owner = 1, .stride_bytes = {800, 8}});
    request.compute_s = 1e-6;
    const NestPlan cut = force_nest(request, {Schedule::all_issued, {0, 8}, 0});
    EXPECT_EQ(cut.steps, 8U);
    EXPECT_EQ(cut.transfer[0].method, VisMethod::packed);
    return cut.predicted_s;
  };
  model::OperationModel& am = *m.network.at("inter-node").am;
  am.queue_depth.reset();
  const double free_s = times();
  am.queue_depth = model::Parameter{.value = 256};
  EXPECT_DOUBLE_EQ(times(), free_s);
  am.queue_depth = model::Parameter{.value = 2};
  const double round_s = 2 * am.segments.front().L_s->value;
  EXPECT_GT(times(), free_s + 2 * round_s);
  EXPECT_LT(times(), free_s + 5 * round_s);
}

TEST(PlanNest, AStreamTakesWhatPlanStripSays) {
  RandomCases draw(11);
  for (int i = 0; i < 300; ++i) {
    model::TunedModel m = draw.network(0.02);
    serve_too(m, 0.2 * (i % 8));
    const Network network(m);
    const Direction direction = draw.below(2) == 0 ? Direction::get : Direction::put;
    const uint64_t elements = 64 << draw.below(14);
    NestRequest request =
        stream(network, elements, direction == Direction::get ? Mode::read : Mode::write);
    request.compute_s = static_cast<double>(elements) * draw.log_uniform(0.1e-9, 100e-9);
    StripRequest strips;
    strips.direction = direction;
    strips.total_bytes = 8 * elements;
    strips.compute_s = request.compute_s;
    strips.surroundings.target_polls_only = request.surroundings.target_polls_only = i % 3 == 0;
    const uint64_t granule = elements >> (1 + draw.below(5));
    const auto window = static_cast<uint32_t>(1 + draw.below(4));
    const NestPlan plan = force_nest(request, {Schedule::pipelined, {0, granule}, window});
    const StripPlan strip =
        force_strip(strips, &network.strip, {Schedule::pipelined, 8 * granule, window});
    ASSERT_EQ(plan.steps, strip.count);
    EXPECT_NEAR(plan.baseline_s, strip.baseline_s, 1e-3 * strip.baseline_s);
    EXPECT_NEAR(plan.predicted_s, strip.predicted_s, 0.03 * strip.predicted_s) << i;
    const NestPlan best = plan_nest(request);
    const StripPlan best_strip = plan_strip(strips, &network.strip);
    EXPECT_LE(best.predicted_s, 1.05 * best_strip.predicted_s) << i;
  }
}

// Loops around the one that is cut into strips: steps are whole planes or parts of one.
TEST(PlanNest, AStreamOfFewPlanesTakesWhatPlanStripSays) {
  const Network network(model::example_model());
  int parts = 0;
  for (const uint64_t planes : {2, 3, 16, 32}) {
    for (const double compute_s : {20e-6, 1e-3, 20e-3}) {
      NestRequest request = request_on(network);
      for (const uint64_t count : {planes, uint64_t{64}, uint64_t{512}}) {
        request.nest.add_loop(count);
      }
      request.nest.add(
          {.mode = Mode::read, .owner = 1, .stride_bytes = {int64_t{64} * 4096, 4096, 8}});
      request.compute_s = compute_s;
      StripRequest strips;
      strips.total_bytes = planes * 64 * 4096;
      strips.granule_elements = 512;
      strips.compute_s = compute_s;
      const StripPlan strip = plan_strip(strips, &network.strip);
      const NestPlan plan = plan_nest(request);
      EXPECT_LE(plan.predicted_s, 1.01 * strip.predicted_s);
      if (plan.reason != Reason::tuned) continue;
      const NestPlan same = force_nest(request, {plan.schedule, plan.cut, plan.window});
      EXPECT_NEAR(plan.predicted_s, same.predicted_s, 0.01 * plan.predicted_s);
      EXPECT_EQ(request.nest.counts[plan.cut.loop] % plan.cut.granule, 0U);
      if (plan.cut.loop == 1) ++parts;
    }
  }
  EXPECT_GT(parts, 3);
}

// Carries a plan out tile by tile, as runtime/loop/nest_engine.cc does: a processor that does one
// thing after another, and a NIC. Peers do the same: where calls serve, each tile that is moved
// comes with one to serve, while this rank waits for its own one if it has to.
class Simulation {
 public:
  Simulation(const NestRequest& request, const StripCosts& costs)
      : request_(request), costs_(costs) {}

  double run(const NestPlan& plan) {
    const access::Nest& nest = request_.nest;
    const uint64_t count = nest.counts[plan.cut.loop];
    const uint64_t left = count % plan.cut.granule;
    const auto whole = std::get<access::Tiling>(access::tile(nest, plan.cut));
    const auto rest =
        left == 0 ? whole : std::get<access::Tiling>(access::tile(nest, {plan.cut.loop, left}));
    const uint64_t steps_of_loop = (count + plan.cut.granule - 1) / plan.cut.granule;
    const bool vectorised = plan.schedule == Schedule::vectorised;
    const uint64_t ahead = vectorised                              ? 0
                           : plan.schedule == Schedule::all_issued ? plan.steps
                                                                   : plan.window;
    const auto held = [&](uint32_t g) { return whole.group[g].hold <= plan.cut.loop; };
    const auto steps_per_tile = [&](uint32_t g) { return plan.steps / plan.transfer[g].count; };
    const auto bytes_at = [&](uint32_t g, uint64_t step) {
      const bool last = left != 0 && (step + 1) % steps_of_loop == 0;
      return (last && !held(g) ? rest : whole).group[g].bytes();
    };
    std::vector<std::vector<double>> in(whole.groups());
    std::deque<Put> out;
    const auto fetch_step = [&](uint64_t step) {
      for (uint32_t g = 0; g < whole.groups(); ++g) {
        if (!held(g)) in[g].push_back(issue(bytes_at(g, step), costs_.get()));
      }
    };
    const auto fetch_held = [&](uint32_t g) {
      in[g].push_back(issue(whole.group[g].bytes(), costs_.get()));
    };
    uint64_t fetched = 0;
    for (uint32_t g = 0; g < whole.groups() && ahead > 0; ++g) {
      if (held(g)) fetch_held(g);
    }
    while (fetched < std::min(ahead, plan.steps)) fetch_step(fetched++);
    const double overhead = vectorised ? 0 : costs_.strip_overhead(cost::Corner::nominal);
    const auto iterations = static_cast<double>(count) * static_cast<double>(plan.steps) /
                            static_cast<double>(steps_of_loop);
    for (uint64_t step = 0; step < plan.steps; ++step) {
      while (fetched <= step) fetch_step(fetched++);
      for (uint32_t g = 0; g < whole.groups(); ++g) {
        if (held(g) && in[g].size() <= step / steps_per_tile(g)) fetch_held(g);
      }
      for (uint32_t g = 0; g < whole.groups(); ++g) {
        const uint64_t tile = step / (held(g) ? steps_per_tile(g) : 1);
        if (held(g) && step % steps_per_tile(g) != 0) continue;
        retire(in[g][tile], bytes_at(g, step), costs_.get());
        if (held(g) && ahead > 0 && (tile + 1) * steps_per_tile(g) < plan.steps) fetch_held(g);
      }
      if (ahead > 0 && fetched < plan.steps && fetched <= step + ahead) fetch_step(fetched++);
      const bool last = left != 0 && (step + 1) % steps_of_loop == 0;
      const auto granule = static_cast<double>(last ? left : plan.cut.granule);
      now_ += request_.compute_s * granule / iterations + overhead;
      for (uint32_t g = 0; g < whole.groups(); ++g) {
        if (whole.group[g].mode == Mode::read) continue;
        if (held(g) && (step + 1) % steps_per_tile(g) != 0) continue;
        const uint64_t bytes = bytes_at(g, step);
        out.push_back({step, issue(bytes, costs_.put()), serve(bytes, costs_.put())});
        now_ += costs_.put().r(bytes);  // when it has come back, but as long
      }
      if (vectorised) wait_for_all(out);
      for (; !out.empty() && out.front().step + plan.window <= step; out.pop_front()) {
        now_ += out.front().serve_s;
      }
    }
    wait_for_all(out);
    return now_;
  }

 private:
  double issue(uint64_t bytes, const cost::LinkCosts& link) {
    const auto size = static_cast<double>(bytes);
    const cost::MessageCosts& m = link.at(bytes);
    now_ += m.o(size);
    const double injected = std::max(now_, nic_);
    nic_ = injected + m.gap(size);
    return injected + m.round_trip(size);
  }
  void retire(double arrived, uint64_t bytes, const cost::LinkCosts& link) {
    now_ = std::max(now_ + serve(bytes, link), arrived) + link.r(bytes);
  }
  double serve(uint64_t bytes, const cost::LinkCosts& link) const {
    return request_.surroundings.target_polls_only ? link.at(bytes).s(static_cast<double>(bytes))
                                                   : 0;
  }

  struct Put {
    uint64_t step;
    double done_s;
    double serve_s;
  };
  void wait_for_all(std::deque<Put>& puts) {
    for (; !puts.empty(); puts.pop_front()) {
      now_ = std::max(now_ + puts.front().serve_s, puts.front().done_s);
    }
  }

  const NestRequest& request_;
  const StripCosts& costs_;
  double now_ = 0;
  double nic_ = 0;
};

TEST(PlanNest, PredictsWhatAnExactScheduleTakes) {
  RandomCases draw(5);
  std::vector<double> errors;
  std::vector<double> errors_serving;
  for (int i = 0; i < cases_here(2000); ++i) {
    model::TunedModel m = draw.network(0.02);
    serve_too(m, 0.2 * (i % 5));
    const Network network(m);
    const NestRequest request = random_nest(draw, network);
    const auto loop = static_cast<uint32_t>(draw.below(request.nest.depth));
    const Schedule schedule = draw.below(3) == 0 ? Schedule::vectorised : Schedule::pipelined;
    const NestPlan plan = force_nest(request, {schedule,
                                               {loop, 1 + draw.below(request.nest.counts[loop])},
                                               static_cast<uint32_t>(1 + draw.below(4))});
    if (plan.obstacle || plan.steps > 20000) continue;
    const bool regions = std::any_of(plan.transfer.begin(), plan.transfer.begin() + plan.groups,
                                     [](const NestTransfer& t) { return t.many_regions; });
    if (regions) continue;
    const double exact = Simulation(request, network.strip).run(plan);
    (request.surroundings.target_polls_only ? errors_serving : errors)
        .push_back(plan.predicted_s / exact - 1);
  }
  if (kInstrumented) return;  // too few to count
  ASSERT_GT(errors.size(), 600U);
  ASSERT_GT(errors_serving.size(), 200U);
  for (std::vector<double>* const of : {&errors, &errors_serving}) {
    std::ranges::sort(*of);
    const auto at = [&](double share) {
      return (*of)[static_cast<size_t>(share * static_cast<double>(of->size() - 1))];
    };
    std::printf("errors of prediction: %.3f %.3f %.3f %.3f %.3f\n", at(0), at(0.05), at(0.5),
                at(0.95), at(1));
    EXPECT_NEAR(at(0.5), 0, 0.02);
    EXPECT_GT(at(0.05), -0.15);
    EXPECT_LT(at(0.95), 0.2);  // small steps: the last, shorter one counts as the mean
  }
}

// With buffers for a small part of the data, a window more means smaller steps, and the sizes
// between those that fill the buffers are worse than both.
TEST(PlanNest, TriesEverySizeThatFillsItsBuffers) {
  const Network network(model::example_model());
  NestRequest request = stream(network, 1 << 21, Mode::update);
  request.max_buffer_bytes = 4923;
  request.compute_s = 0.023;
  const NestPlan plan = plan_nest(request);
  EXPECT_LE(plan.buffer_bytes, request.max_buffer_bytes);
  for (const uint32_t window : {1U, 2U, 3U, 4U}) {
    const uint64_t granule = request.max_buffer_bytes / (1 + 2 * window) / 8;
    const NestPlan one = force_nest(request, {Schedule::pipelined, {0, granule}, window});
    ASSERT_EQ(one.window, window);
    EXPECT_LE(plan.predicted_s, 1.0001 * one.predicted_s) << "window " << window;
  }
}

TEST(PlanNest, FindsWhatAnExhaustiveSearchFinds) {
  RandomCases draw(23);
  int cut = 0;
  int count = 0;
  double worst = 1;
  double sum = 0;
  for (int i = 0; i < cases_here(150); ++i) {
    const Network network(draw.network(0));
    NestRequest request = random_nest(draw, network);
    if (draw.below(3) == 0) request.max_buffer_bytes = 8 * kKiB << draw.below(8);
    request.slot_alignment = i % 2 == 0 ? 1 : 64;
    NestRecord record;
    const NestPlan plan = plan_nest(request, record);
    if (plan.obstacle) continue;
    EXPECT_LE(plan.predicted_s, plan.baseline_s);
    EXPECT_LE(plan.buffer_bytes, request.max_buffer_bytes);
    double best_s = plan.baseline_s;
    for (uint32_t loop = 0; loop < request.nest.depth; ++loop) {
      for (uint64_t granule = 1; granule <= request.nest.counts[loop]; ++granule) {
        for (const uint32_t window : {1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U, 32U, 64U, 128U}) {
          const NestPlan one = force_nest(request, {Schedule::pipelined, {loop, granule}, window});
          if (one.window * one.groups > network.strip.get().queue_depth()) continue;
          if (one.steps > 1 && one.predicted_s > 0) best_s = std::min(best_s, one.predicted_s);
        }
        const NestPlan all = force_nest(request, {Schedule::all_issued, {loop, granule}, 1});
        if (all.window * all.groups > network.strip.get().queue_depth()) continue;
        if (all.steps > 1 && all.predicted_s > 0) best_s = std::min(best_s, all.predicted_s);
      }
    }
    // What is not surely faster is found, but not taken.
    const double found_s = plan.reason == Reason::below_margin && record.best
                               ? record.best->predicted_s
                               : plan.predicted_s;
    worst = std::max(worst, found_s / best_s);
    sum += std::log(found_s / best_s);
    ++count;
    if (plan.reason == Reason::tuned) ++cut;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GT(cut, 30);
  EXPECT_LE(std::exp(sum / count), 1.01);
  EXPECT_LE(worst, 1.1);
}

TEST(PlanNest, UncertainParametersCostGain) {
  RandomCases draw(3);
  int compared = 0;
  for (int i = 0; i < 100; ++i) {
    const uint64_t seed = draw.below(1000000);
    RandomCases same(seed);
    RandomCases again(seed);
    const Network sure(same.network(0));
    const Network unsure(again.network(0.1));
    const NestPlan a = plan_nest(random_nest(same, sure));
    const NestPlan b = plan_nest(random_nest(again, unsure));
    if (a.reason != Reason::tuned) continue;
    EXPECT_LE(b.gain_low, a.gain_low + 1e-9);
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

// Even where all parameters are known exactly.
TEST(PlanNest, TilesMayTakeLongerThanTheirParts) {
  RandomCases draw(9);
  int tuned = 0;
  int nests = 0;
  for (int i = 0; i < 100; ++i) {
    const Network network(draw.network(0));
    NestRecord record;
    const NestPlan plan = plan_nest(random_nest(draw, network), record);
    if (plan.reason != Reason::tuned) continue;
    ++tuned;
    const double ratio = plan.predicted_s / plan.baseline_s;
    // Loops over strips are planned as such.
    EXPECT_LE(plan.gain_low, 1 - (1 + network.strip.composition()) * ratio + 1e-12);
    const bool as_nest = std::ranges::any_of(record.sensitivities, [&](const Sensitivity& one) {
      return one.source == Source::composition &&
             std::abs(one.gain_loss - network.strip.nest_composition() * ratio) < 1e-9;
    });
    nests += as_nest ? 1 : 0;
  }
  EXPECT_GT(tuned, 20);
  EXPECT_GT(nests, 5);
}

TEST(PlanNest, ExplainingChangesNothing) {
  RandomCases draw(8);
  for (int i = 0; i < 50; ++i) {
    const Network network(draw.network(0.05));
    const NestRequest request = random_nest(draw, network);
    NestRecord record;
    const NestPlan told = plan_nest(request, record);
    const NestPlan plan = plan_nest(request);
    if (plan.obstacle) continue;
    EXPECT_EQ(told.predicted_s, plan.predicted_s);
    EXPECT_EQ(told.cut.granule, plan.cut.granule);
    EXPECT_EQ(told.window, plan.window);
    if (plan.reason == Reason::tuned) {
      ASSERT_TRUE(record.best);
      EXPECT_EQ(record.best->predicted_s, plan.predicted_s);
      for (const auto& one : record.alternatives) EXPECT_GE(one.predicted_s, plan.predicted_s);
      for (const NestPruned& one : record.pruned) EXPECT_GE(one.bound_s, plan.predicted_s);
      double squares = 0;
      for (const Sensitivity& one : record.sensitivities) squares += one.gain_loss * one.gain_loss;
      EXPECT_NEAR(plan.gain_low, 1 - plan.predicted_s / plan.baseline_s - std::sqrt(squares), 1e-9);
    }
  }
}

}  // namespace
}  // namespace stripline::plan
