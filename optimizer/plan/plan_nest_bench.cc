// What a decision about a nest costs, from its description on.
#include <benchmark/benchmark.h>

#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/nest.h"

namespace {

using namespace stripline;
using plan::NestRequest;

struct Network {
  Network() : strip(costs()), vis(model.network.at("inter-node"), model.pack, nullptr) {}
  plan::StripCosts costs() { return {model.network.at("inter-node"), model.compute, model.strip}; }
  model::TunedModel model = model::example_model();
  plan::StripCosts strip;
  plan::VisCosts vis;
};

NestRequest describe(const Network& network, uint64_t rows, uint64_t columns, int references) {
  NestRequest request;
  request.links[0] = {.strip = &network.strip, .vis = &network.vis};
  request.links[0].many.medium_bytes = plan::kUsualMessageBytes;
  request.links[0].many.message_bytes = plan::kUsualMessageBytes;
  if (rows > 1) request.nest.add_loop(rows);
  request.nest.add_loop(columns);
  const auto row_bytes = static_cast<int64_t>(8 * columns);
  access::Reference matrix{.owner = 1};
  if (rows > 1) {
    matrix.stride_bytes = {row_bytes, 8};
  } else {
    matrix.stride_bytes = {8};
  }
  request.nest.add(matrix);
  if (references > 1) {
    request.nest.add({.owner = 1, .base = int64_t{1} << 40, .stride_bytes = {0, 8}});
    request.nest.add({.mode = access::Mode::update,
                      .owner = 1,
                      .base = int64_t{1} << 41,
                      .stride_bytes = {8, 0}});
  }
  request.compute_s = 1e-3;
  return request;
}

// One reference, one loop.
void BM_DescribeAndPlanStream(benchmark::State& state) {
  const Network network;
  auto count = static_cast<uint64_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(count);
    benchmark::DoNotOptimize(plan_nest(describe(network, 1, count, 1)));
  }
}
BENCHMARK(BM_DescribeAndPlanStream)->Arg(1 << 10)->Arg(1 << 16)->Arg(1 << 22);

// y += A x: three references, two loops.
void BM_DescribeAndPlanMatrix(benchmark::State& state) {
  const Network network;
  auto rows = static_cast<uint64_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(rows);
    benchmark::DoNotOptimize(plan_nest(describe(network, rows, 1000, 3)));
  }
}
BENCHMARK(BM_DescribeAndPlanMatrix)->Arg(64)->Arg(4096);

}  // namespace
BENCHMARK_MAIN();
