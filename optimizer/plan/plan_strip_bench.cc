// What a decision costs: describing and planning one loop. The papers' figure is 5 us + 3 us (Iancu
// et al., section 8); loop_bench says what finding it again takes.
#include <benchmark/benchmark.h>

#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/strip.h"

namespace {

using stripline::model::example_model;
using namespace stripline::plan;

StripCosts example_costs() {
  auto m = example_model();
  m.network.at("inter-node").get->buffers = stripline::model::example_buffers();
  return {m.network.at("inter-node"), m.compute, m.strip};
}

// A typical nest: y += A x over a remote block of rows.
StripRequest describe(uint64_t total_bytes) {
  StripRequest request;
  request.total_bytes = total_bytes;
  request.loop = {.n_local_ref = 1, .n_int_alu = 1, .n_fp_alu = 2};
  request.local_bytes = 4096;
  request.max_buffer_bytes = uint64_t{64} << 20;
  return request;
}

void BM_DescribeAndPlan(benchmark::State& state) {
  const StripCosts costs = example_costs();
  auto total_bytes = static_cast<uint64_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(total_bytes);
    const StripPlan plan = plan_strip(describe(total_bytes), &costs);
    benchmark::DoNotOptimize(plan);
  }
}
BENCHMARK(BM_DescribeAndPlan)->RangeMultiplier(8)->Range(512, 32 << 20);

void BM_DescribeAndPlanPut(benchmark::State& state) {
  const StripCosts costs = example_costs();
  auto total_bytes = static_cast<uint64_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(total_bytes);
    StripRequest request = describe(total_bytes);
    request.direction = Direction::put;
    const StripPlan plan = plan_strip(request, &costs);
    benchmark::DoNotOptimize(plan);
  }
}
BENCHMARK(BM_DescribeAndPlanPut)->Arg(1 << 20);

}  // namespace

BENCHMARK_MAIN();
