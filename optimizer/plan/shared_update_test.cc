// The choices about shared updates against sweeps of all that could have been chosen.
#include "optimizer/plan/shared_update.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "optimizer/plan/shared_mechanism.h"

namespace stripline::plan {
namespace {

// About what a processor of this decade takes.
SharedCosts typical_costs() {
  return {.plain_s = 1e-9,
          .atomic_s = 5e-9,
          .lock_s = 12e-9,
          .transfer_s = 60e-9,
          .box_s = 3e-9,
          .fold_s = 1e-9,
          .barrier_s = 1e-6};
}

double uniform(SplitMix64& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

model::SharedUpdatePoint point_of(uint32_t workers, uint64_t footprint_bytes, double plain_s,
                                  model::SharedPlacement placement) {
  model::SharedUpdatePoint point;
  point.workers = workers;
  point.footprint_bytes = footprint_bytes;
  point.placement = placement;
  point.plain_s.value = plain_s;
  return point;
}

TEST(TeamCosts, AreThoseOfTheNextLargerTeamAndSmallerFootprint) {
  using model::SharedPlacement;
  const model::SharedUpdateModel section{{point_of(2, 1000, 1, SharedPlacement::package),
                                          point_of(2, 4000, 2, SharedPlacement::package),
                                          point_of(8, 1000, 3, SharedPlacement::package),
                                          point_of(4, 1000, 4, SharedPlacement::node)}};
  const auto plain_s = [&](uint32_t workers, uint64_t footprint_bytes,
                           SharedPlacement placement = SharedPlacement::package) {
    const auto known =
        team_costs(section, {workers, placement, model::CellType::integer8, footprint_bytes});
    return known ? known->plain_s : 0;
  };
  EXPECT_EQ(plain_s(2, 1000), 1);
  EXPECT_EQ(plain_s(2, 3999), 1);
  EXPECT_EQ(plain_s(2, 5000), 2);
  EXPECT_EQ(plain_s(2, 10), 1) << "the smallest";
  EXPECT_EQ(plain_s(3, 1000), 3);
  EXPECT_EQ(plain_s(9, 1000), 0) << "a bound is not a value";
  EXPECT_EQ(plain_s(2, 1000, SharedPlacement::node), 4);
  EXPECT_EQ(plain_s(2, 1000, SharedPlacement::core), 0);
  EXPECT_FALSE(team_costs(section, {2, SharedPlacement::package, model::CellType::float8, 1000}));
  EXPECT_FALSE(team_costs(section, {2, SharedPlacement::package, model::CellType::float4, 1000}));
  EXPECT_TRUE(team_costs(section, {2, SharedPlacement::package, model::CellType::integer4, 1000}));
  EXPECT_FALSE(team_costs({}, {}));
}

// The best range of all, by trying each.
RangeChoice by_sweep(const RangeRequest& request, const SharedCosts& costs) {
  const uint64_t bins = request.density.counts.size();
  const uint64_t bin = request.density.bin_cells;
  RangeChoice best;
  best.predicted_s = range_s(request, costs, {});
  for (uint64_t begin = 0; begin < bins; ++begin) {
    for (uint64_t end = begin + 1; end <= bins; ++end) {
      const CellRange range{begin * bin, std::min(end * bin, request.density.cells) - begin * bin};
      if (range.count > request.most_cells) continue;
      const double seconds = range_s(request, costs, range);
      if (seconds < best.predicted_s) best = {range, seconds};
    }
  }
  return best;
}

TEST(ChooseRange, FindsWhatASweepFinds) {
  SplitMix64 random(1);
  const SharedCosts typical = typical_costs();
  for (int i = 0; i < 300; ++i) {
    std::vector<uint32_t> counts(1 + random.next() % 40);
    for (uint32_t& count : counts) {
      count = random.next() % 3 == 0 ? static_cast<uint32_t>(random.next() % 1000) : 1;
    }
    RangeRequest request;
    request.workers = 1 + static_cast<uint32_t>(random.next() % 16);
    request.updates = 1e6 * uniform(random);
    request.line_cells = 8;
    request.density = {counts, 1 + random.next() % 2000, 0};
    request.density.cells =
        counts.size() * request.density.bin_cells - random.next() % request.density.bin_cells;
    request.most_cells =
        random.next() % 2 == 0 ? request.density.cells : random.next() % request.density.cells;
    SharedCosts costs = typical;
    costs.fold_s *= std::exp2(8 * uniform(random) - 4);
    costs.transfer_s *= std::exp2(8 * uniform(random) - 4);
    const RangeChoice sweep = by_sweep(request, costs);
    const RangeChoice choice = choose_range(request, costs);
    const double tolerance = 1e-9 * choice.none_s;
    // A last bin that is shorter may fit where a whole one does not: never worse, then.
    EXPECT_NEAR(choice.predicted_s, range_s(request, costs, choice.range), tolerance);
    EXPECT_LE(choice.range.count, request.most_cells);
    if (request.most_cells == request.density.cells) {
      EXPECT_NEAR(choice.predicted_s, sweep.predicted_s, tolerance) << i;
    } else {
      EXPECT_GE(choice.predicted_s, sweep.predicted_s - tolerance) << i;
    }
    EXPECT_NEAR(choice.none_s, range_s(request, costs, {}), tolerance);
    EXPECT_NEAR(choice.all_s, range_s(request, costs, {0, request.density.cells}), tolerance);
  }
}

TEST(ChooseRange, TakesTheHotBucketsOfAnOutDegreeDistribution) {
  std::vector<uint32_t> counts(400, 0);  // bins of 100 buckets
  counts[0] = 10000;
  for (size_t i = 7; i < counts.size(); i += 40) counts[i] = 1;
  RangeRequest request;
  request.workers = 16;
  request.updates = 10000;
  request.line_cells = 8;
  request.most_cells = 40000;
  request.density = {counts, 100, 40000};
  const RangeChoice choice = choose_range(request, typical_costs());
  EXPECT_EQ(choice.range, (CellRange{0, 100}));
  EXPECT_LT(choice.predicted_s, choice.none_s);
  EXPECT_LT(choice.predicted_s, choice.all_s);
}

TEST(ChooseRange, KnowsWhatPartOfTheUpdatesARangeGets) {
  const std::vector<uint32_t> counts = {1, 6, 2, 1};
  const UpdateDensity density{counts, 10, 35};
  EXPECT_DOUBLE_EQ(share_of_range(density, {10, 20}), 0.8);
  EXPECT_DOUBLE_EQ(share_of_range(density, {30, 5}), 0.1);
  EXPECT_DOUBLE_EQ(share_of_range(density, {0, 35}), 1);
  EXPECT_EQ(share_of_range(density, {}), 0);
}

TEST(ChooseRange, TakesAllWhereAllAreHotAndNoneWhereNoneAre) {
  std::vector<uint32_t> counts(50, 100);
  RangeRequest request;
  request.workers = 4;
  request.line_cells = 8;
  request.most_cells = 100;
  request.density = {counts, 2, 100};
  request.updates = 1e6;
  EXPECT_EQ(choose_range(request, typical_costs()).range, (CellRange{0, 100}));
  request.updates = 1;
  EXPECT_EQ(choose_range(request, typical_costs()).range, CellRange{});
  request.updates = 1e6;
  request.most_cells = 1;  // not even a bin
  EXPECT_EQ(choose_range(request, typical_costs()).range, CellRange{});
  counts.assign(50, 0);  // nothing is known
  request.most_cells = 100;
  EXPECT_EQ(choose_range(request, typical_costs()).range, CellRange{});
}

TEST(SharedUpdate, WaitsForItsTurnAtAHotLine) {
  const SharedCosts costs = typical_costs();
  EXPECT_DOUBLE_EQ(shared_update_s(costs, 1, 1.0), costs.atomic_s);
  EXPECT_DOUBLE_EQ(shared_update_s(costs, 4, 0.01), costs.atomic_s + 0.75 * costs.transfer_s);
  EXPECT_DOUBLE_EQ(shared_update_s(costs, 4, 1.0), costs.atomic_s + 3 * costs.transfer_s);
}

SpreadRequest typical_spread() {
  return {.workers = 8,
          .updates = 1e7,
          .cells = uint64_t{1} << 24,
          .cell_bytes = 8,
          .budget_bytes = uint64_t{1} << 30,
          .own_share = 0.98,
          .mirror_share = 0.5,
          .box_cells = 100000,
          .sort_s = 0.1,
          .sort_every = 100};
}

SharedPlan plan_by(const SpreadRequest& spread, const SharedCosts& costs) {
  return plan_shared({.spread = spread, .costs = costs}, nullptr);
}

TEST(PlanShared, TakesBoxesForSortedPointsOfALargeGrid) {
  const SharedCosts costs = typical_costs();
  const SharedPlan plan = plan_by(typical_spread(), costs);
  EXPECT_EQ(plan.strategy, SharedStrategy::boxes);
  EXPECT_EQ(plan.reason, Reason::tuned);
  EXPECT_DOUBLE_EQ(plan.predicted_s, 1e7 * (0.98 * costs.plain_s + (1 - 0.98) * costs.box_s) +
                                         1e5 * costs.fold_s + costs.barrier_s + 0.1 / 100);
  EXPECT_EQ(plan.baseline_s, spread_s(typical_spread(), costs, SharedStrategy::atomic));
}

TEST(PlanShared, TakesAnOrderToServeAHundredEpochsUntilItIsKnown) {
  SpreadRequest request = typical_spread();
  const double known_s = spread_s(request, typical_costs(), SharedStrategy::boxes);
  request.sort_every = 0;
  EXPECT_EQ(spread_s(request, typical_costs(), SharedStrategy::boxes), known_s);
  request.sort_every = 1;
  EXPECT_GT(spread_s(request, typical_costs(), SharedStrategy::boxes), known_s);
}

TEST(PlanShared, SortsAgainWhenThatTakesAHundredthOfTheEpochs) {
  const SpreadRequest request = typical_spread();
  const SharedPlan plan = plan_by(request, typical_costs());
  ASSERT_GT(plan.sort_interval, 0U);
  const auto epochs_s = static_cast<double>(plan.sort_interval) * plan.predicted_s;
  EXPECT_GE(epochs_s, 100 * request.sort_s);
  EXPECT_LT(epochs_s, 100 * request.sort_s + plan.predicted_s);
  SpreadRequest free = request;
  free.sort_s = 0;
  EXPECT_EQ(plan_by(free, typical_costs()).sort_interval, 0U);
}

TEST(PlanShared, ReplicatesASmallGridOfPointsThatAreEverywhere) {
  SpreadRequest request = typical_spread();
  request.own_share = 0.1;
  request.mirror_share = 0.1;
  request.cells = 4096;
  request.box_cells = 4096;
  EXPECT_EQ(plan_by(request, typical_costs()).strategy, SharedStrategy::replicate);
}

TEST(PlanShared, KeepsTheBudget) {
  SpreadRequest request = typical_spread();
  request.budget_bytes = request.box_cells * request.cell_bytes;
  EXPECT_EQ(plan_by(request, typical_costs()).strategy, SharedStrategy::boxes);
  --request.budget_bytes;
  EXPECT_EQ(spread_s(request, typical_costs(), SharedStrategy::boxes),
            std::numeric_limits<double>::infinity());
  const SharedPlan without = plan_by(request, typical_costs());
  EXPECT_EQ(without.strategy, SharedStrategy::atomic);
  EXPECT_EQ(without.reason, Reason::no_faster_plan);
  EXPECT_EQ(without.predicted_s, without.baseline_s);
  EXPECT_EQ(without.gain_low, 0);
}

TEST(PlanShared, CompetesByWhatThereIs) {
  SpreadRequest request = typical_spread();
  request.budget_bytes = 0;
  SharedCosts slow_atomics = typical_costs();
  slow_atomics.atomic_s = 100e-9;
  EXPECT_EQ(plan_by(request, slow_atomics).strategy, SharedStrategy::locked);
  request.competing = Competing::atomic;
  EXPECT_EQ(plan_by(request, slow_atomics).strategy, SharedStrategy::atomic);
  request.competing = Competing::locked;
  const SharedPlan locked = plan_by(request, typical_costs());
  EXPECT_EQ(locked.strategy, SharedStrategy::locked);
  EXPECT_EQ(locked.reason, Reason::no_faster_plan) << "it is the baseline then";
}

// The first two of 4096 lines get nearly all.
SpreadRequest typical_counts() {
  return {.workers = 8,
          .updates = 1e5,
          .cells = 32768,
          .cell_bytes = 8,
          .budget_bytes = uint64_t{1} << 20,
          .unordered = true,
          .hot_cells = 16,
          .hot_share = 0.98};
}

TEST(PlanShared, ReplicatesWhatIsHotOfUpdatesInNoOrder) {
  const SharedCosts costs = typical_costs();
  SpreadRequest large = typical_counts();
  large.cells = 131072;  // so that a replica of all is dear
  const SharedPlan plan = plan_by(large, costs);
  EXPECT_EQ(plan.strategy, SharedStrategy::hybrid);
  EXPECT_EQ(plan.reason, Reason::tuned);
  EXPECT_DOUBLE_EQ(plan.predicted_s,
                   1e5 * (0.98 * costs.plain_s + (1 - 0.98) * shared_update_s(costs, 8, 0)) +
                       16 * costs.fold_s + costs.barrier_s);
  // Lines that all workers want are waited for in turn.
  EXPECT_DOUBLE_EQ(plan.baseline_s, 1e5 * (0.98 * shared_update_s(costs, 8, 0.49) +
                                           (1 - 0.98) * shared_update_s(costs, 8, 0)));
  SpreadRequest even = typical_counts();
  even.hot_cells = 0;
  EXPECT_EQ(plan_by(even, costs).strategy, SharedStrategy::replicate);
  even.updates = 100;
  EXPECT_EQ(plan_by(even, costs).strategy, SharedStrategy::atomic);
  for (const auto of_points : {SharedStrategy::mirror, SharedStrategy::boxes}) {
    EXPECT_EQ(spread_s(even, costs, of_points), std::numeric_limits<double>::infinity());
  }
}

TEST(PlanShared, LeavesTheBaselineOnlyIfItIsSurelySlower) {
  using model::SharedPlacement;
  model::SharedUpdateModel known{{point_of(8, 1000, 1e-9, SharedPlacement::package)}};
  model::SharedUpdatePoint& point = known.points.front();
  point.fold_s.value = 1e-9;
  point.atomic_s.value = 2e-9;
  point.lock_s.value = point.lock_s.ci_low = point.lock_s.ci_high = 12e-9;
  const auto planned = [&](double error) {
    for (model::Parameter* const one : {&point.plain_s, &point.atomic_s, &point.fold_s}) {
      one->ci_low = one->value * (1 - error);
      one->ci_high = one->value * (1 + error);
    }
    SharedRequest request = SharedMechanism::usual();
    request.spread = typical_counts();
    request.spread.hot_cells = 0;
    return plan_shared(request, &known);
  };
  EXPECT_EQ(planned(0.01).strategy, SharedStrategy::replicate);
  EXPECT_GT(planned(0.01).gain_low, 0.3);
  const SharedPlan unsure = planned(0.5);
  EXPECT_EQ(unsure.strategy, SharedStrategy::atomic);
  EXPECT_EQ(unsure.reason, Reason::below_margin);
  // What the program has measured is taken as it is.
  EXPECT_EQ(plan_by(typical_counts(), typical_costs()).reason, Reason::tuned);
}

TEST(SortInterval, IsWhereTheSumIsLeast) {
  for (const double growth_s : {1e-6, 1e-4, 2e-2}) {
    const double sort_s = 30e-3;
    const auto average_s = [&](double k) { return sort_s / k + growth_s * (k - 1) / 2; };
    const uint64_t interval = sort_interval(sort_s, growth_s);
    ASSERT_GE(interval, 1u);
    double least_s = average_s(1);
    for (int k = 2; k < 1000; ++k) least_s = std::min(least_s, average_s(k));
    EXPECT_LE(std::min(average_s(static_cast<double>(interval)),
                       average_s(static_cast<double>(interval) + 1)),
              least_s * 1.0001);
  }
  EXPECT_EQ(sort_interval(1, 0), 0u);
  EXPECT_EQ(sort_interval(1, -1), 0u);
  EXPECT_EQ(sort_interval(0, 1), 1u);
}

// Slabs that do not overlap and leave nothing out.
void expect_partition(const std::vector<Slab>& slabs, uint32_t workers, uint64_t planes,
                      uint64_t rows) {
  ASSERT_EQ(slabs.size(), workers);
  std::vector<int> owners(planes * rows);
  for (const Slab& slab : slabs) {
    for (uint64_t x = slab.x_first; x < slab.x_end; ++x) {
      for (uint64_t y = slab.y_first; y < slab.y_end; ++y) ++owners[x * rows + y];
    }
  }
  EXPECT_EQ(std::ranges::count(owners, 1), static_cast<std::ptrdiff_t>(owners.size()));
}

TEST(Slabs, CoverTheGridOnce) {
  SplitMix64 random(2);
  for (int i = 0; i < 200; ++i) {
    const uint32_t workers = 1 + static_cast<uint32_t>(random.next() % 9);
    const uint64_t planes = 1 + random.next() % 20;
    const uint64_t rows = 1 + random.next() % 20;
    std::vector<uint32_t> points(planes * rows);
    for (uint32_t& one : points)
      one = random.next() % 4 == 0 ? static_cast<uint32_t>(random.next() % 100) : 0;
    expect_partition(equal_slabs(workers, planes, rows), workers, planes, rows);
    expect_partition(balanced_slabs(workers, points, planes, rows, 0.05), workers, planes, rows);
  }
}

TEST(Slabs, AreUnevenWherePointsAre) {
  // All points in planes 40 to 59, as many in each.
  const uint64_t planes = 100;
  std::vector<uint32_t> points(planes, 0);
  std::fill_n(points.begin() + 40, 20, 7);
  const std::vector<Slab> slabs = balanced_slabs(4, points, planes, 1, 0.05);
  EXPECT_EQ(slabs[0].x_end, 45u);
  EXPECT_EQ(slabs[1].x_end, 50u);
  EXPECT_EQ(slabs[2].x_end, 55u);
  EXPECT_EQ(slabs[3].x_end, planes);
}

TEST(Slabs, AreCutByRowsWherePlanesAreTooFew) {
  // Two planes with points, eight workers.
  const uint64_t rows = 16;
  std::vector<uint32_t> points(10 * rows, 0);
  std::fill_n(points.begin() + 3 * rows, 2 * rows, 1);
  const std::vector<Slab> slabs = balanced_slabs(8, points, 10, rows, 0.05);
  for (const Slab& slab : slabs) EXPECT_EQ(slab.y_end - slab.y_first, 4u);
  EXPECT_EQ(slabs[3].x_end, 4u);
  EXPECT_EQ(slabs[4].x_first, 4u);
}

}  // namespace
}  // namespace stripline::plan
