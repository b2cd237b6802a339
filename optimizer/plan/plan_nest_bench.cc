// What a decision about a nest costs, from its description on.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>

#include <benchmark/benchmark.h>

#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/nest.h"

namespace {

using namespace stripline;
using plan::NestRequest;

struct Network {
  explicit Network(const model::VisModel* tuned = nullptr)
      : strip(costs()), vis(model.network.at("inter-node"), model.pack, tuned) {}
  plan::StripCosts costs() { return {model.network.at("inter-node"), model.compute, model.strip}; }
  model::TunedModel model = model::example_model();
  plan::StripCosts strip;
  plan::VisCosts vis;
};

NestRequest on(const Network& network) {
  NestRequest request;
  request.links[0] = {.strip = &network.strip, .vis = &network.vis};
  request.links[0].many.medium_bytes = plan::kUsualMessageBytes;
  request.links[0].many.message_bytes = plan::kUsualMessageBytes;
  request.links[0].many.max_buffer_bytes = plan::kUsualBoxBytes;
  return request;
}

NestRequest describe(const Network& network, uint64_t rows, uint64_t columns, int references) {
  NestRequest request = on(network);
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

// One reference whose tiles are in one piece or in many, with methods tuned for those, and buffers
// of a usual size, as a run asks for it.
void describe_and_plan(benchmark::State& state, std::initializer_list<uint64_t> counts,
                       std::initializer_list<int64_t> strides_bytes, double compute_s = 1e-3) {
  const model::VisModel tuned = model::example_vis();
  const Network network(&tuned);
  uint64_t count = *counts.begin();
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(count);
    NestRequest request = on(network);
    request.max_buffer_bytes = uint64_t{64} << 20;
    request.nest.add_loop(count);
    for (const uint64_t inner : std::span(counts).subspan(1)) request.nest.add_loop(inner);
    access::Reference reference{.owner = 1};
    std::ranges::copy(strides_bytes, reference.stride_bytes.begin());
    request.nest.add(reference);
    request.compute_s = compute_s;
    request.loop.n_fp_alu = 2;
    benchmark::DoNotOptimize(plan_nest(request));
  }
}

void BM_DescribeAndPlanStrided(benchmark::State& state) { describe_and_plan(state, {65536}, {64}); }
BENCHMARK(BM_DescribeAndPlanStrided);

void BM_DescribeAndPlanRows(benchmark::State& state) {
  describe_and_plan(state, {256, 1000}, {8000, 8});
}
BENCHMARK(BM_DescribeAndPlanRows);

void BM_DescribeAndPlanBlock(benchmark::State& state) {
  describe_and_plan(state, {256, 500}, {8000, 8});
}
BENCHMARK(BM_DescribeAndPlanBlock);

void BM_DescribeAndPlanColumns(benchmark::State& state) {
  describe_and_plan(state, {256, 500}, {8, 8000});
}
BENCHMARK(BM_DescribeAndPlanColumns);

void BM_DescribeAndPlanPlanes(benchmark::State& state) {
  describe_and_plan(state, {16, 64, 512}, {int64_t{64} * 4096, 4096, 8});
}
BENCHMARK(BM_DescribeAndPlanPlanes);

// As Block, with the computation estimated: the first time that a nest is carried out.
void BM_DescribeAndPlanEstimated(benchmark::State& state) {
  describe_and_plan(state, {256, 500}, {8000, 8}, -1);
}
BENCHMARK(BM_DescribeAndPlanEstimated);

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
