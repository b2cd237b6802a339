// What a decision costs: planning an epoch of updates, once for each of its requests; finding it
// again is the site table's (runtime/decide).
#include <benchmark/benchmark.h>

#include "optimizer/plan/update_fixture.h"

namespace {

using namespace stripline::plan;

UpdateRequest among(uint32_t ranks) {
  UpdateRequest request = histogram();
  request.ranks = ranks;
  return request;
}

void BM_PlanUpdates(benchmark::State& state) {
  const UpdateCosts costs = update_costs_of(stripline::model::example_model());
  auto ranks = static_cast<uint32_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(ranks);
    const UpdatePlan plan = plan_update(among(ranks), &costs);
    benchmark::DoNotOptimize(plan);
  }
}
BENCHMARK(BM_PlanUpdates)->Arg(2)->Arg(64)->Arg(4096);

void BM_UpdateRivals(benchmark::State& state) {
  const UpdateCosts costs = update_costs_of(stripline::model::example_model());
  auto ranks = static_cast<uint32_t>(state.range(0));
  std::array<UpdateCandidate, kMostUpdateRivals> rivals;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(ranks);
    benchmark::DoNotOptimize(rivals_of_update(among(ranks), &costs, rivals));
  }
}
BENCHMARK(BM_UpdateRivals)->Arg(64);

}  // namespace

BENCHMARK_MAIN();
