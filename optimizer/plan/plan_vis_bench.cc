// What a decision on a transfer of many regions costs; it is made at every call.
#include <benchmark/benchmark.h>

#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/vis.h"
#include "optimizer/plan/vis_costs.h"

namespace {

using namespace stripline;
using namespace stripline::plan;

// Residuals of every method over a plane as a campaign measures it.
model::VisModel measured_everywhere() {
  std::vector<model::VisResidual> cells;
  for (uint64_t bytes = 8; bytes <= 65536; bytes *= 4) {
    for (uint64_t regions = 2; regions <= 4096; regions *= 4) {
      cells.push_back({bytes, regions, model::example_parameter(1.1)});
    }
  }
  model::VisModel vis = model::example_vis();
  for (const auto& [name, of_class] : model::kResidualsOfClass) {
    for (const auto& [method, residuals] : model::kResidualsOfMethod) {
      (*vis.get).*of_class.*residuals = {cells, cells};
    }
  }
  return vis;
}

VisRequest every_method(uint64_t regions) {
  VisRequest request;
  request.regions = regions;
  request.region_bytes = 200;
  request.extent_bytes = 500 * regions;
  request.local_regions = 1;
  request.bounding_box_allowed = true;
  request.iov_limit = 4;
  request.medium_bytes = 65536;
  request.region_header_bytes = 8;
  return request;
}

void plan(benchmark::State& state, const VisCosts& costs) {
  auto regions = static_cast<uint64_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(regions);
    const VisPlan plan = plan_vis(every_method(regions), &costs);
    benchmark::DoNotOptimize(plan);
  }
}

void BM_PlanTuned(benchmark::State& state) {
  const model::VisModel vis = measured_everywhere();
  plan(state,
       VisCosts(model::example_model().network.at("inter-node"), model::example_pack(), &vis));
}
BENCHMARK(BM_PlanTuned)->Arg(10)->Arg(5000);

// Chunks have to be tried.
void BM_PlanUntuned(benchmark::State& state) {
  plan(state,
       VisCosts(model::example_model().network.at("inter-node"), model::example_pack(), nullptr));
}
BENCHMARK(BM_PlanUntuned)->Arg(10)->Arg(5000);

}  // namespace

BENCHMARK_MAIN();
