// What the engines add to a loop or a nest: starting one whose plan is known, and handing out a
// strip or a tile.
#include <memory>

#include <benchmark/benchmark.h>

#include <stripline/context.h>
#include <stripline/loop.h>
#include <stripline/loop_index.h>
#include <stripline/nest.h>

#include "runtime/loop/loop_state.h"
#include "runtime/loop/nest_sites.h"

namespace stripline {
namespace {

std::unique_ptr<Context> one_rank(benchmark::State& state) {
  auto context = Context::init({.fabric = "tcp", .segment_bytes = size_t{16} << 20});
  if (context.ok()) return *std::move(context);
  state.SkipWithError(context.error().message().c_str());
  return nullptr;
}

// A loop over the rank's own memory: everything but transfers.
void loop_over_own_memory(benchmark::State& state) {
  const auto context = one_rank(state);
  if (context == nullptr) return;
  const auto array = context->new_symmetric_array<double>(1024);
  double sum = 0;
  for ([[maybe_unused]] auto _ : state) {
    strip_for(*context, *array, 1024, {.loop = {.n_fp_alu = 1}},
              [&sum](size_t, size_t, const double* strip) { sum += strip[0]; });
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(loop_over_own_memory);

// The same through the engine, which loops over several blocks always go through.
void blocks_of_own_memory(benchmark::State& state) {
  const auto context = one_rank(state);
  if (context == nullptr) return;
  const auto array = context->new_symmetric_array<double>(1024);
  const LoopBlock<const double> block{global_ptr<const double>(*array), 1024};
  double sum = 0;
  for ([[maybe_unused]] auto _ : state) {
    strip_for_blocks(
        *context, std::span(&block, 1), {}, [] {},
        [&sum](size_t, size_t, size_t, const double* strip) { sum += strip[0]; });
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(blocks_of_own_memory);

// The same body called directly.
void plain_loop(benchmark::State& state) {
  const auto context = one_rank(state);
  if (context == nullptr) return;
  const auto array = context->new_symmetric_array<double>(1024);
  const double* const data = context->local(*array);
  double sum = 0;
  for ([[maybe_unused]] auto _ : state) {
    sum += data[0];
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(plain_loop);

// A nest of one reference, in place: describing it, finding its plan, one tile, and progress.
void nest_over_own_memory(benchmark::State& state) {
  const auto context = one_rank(state);
  if (context == nullptr) return;
  const auto array = context->new_symmetric_array<double>(1024);
  const auto [i] = loop_indices<1>();
  double sum = 0;
  for ([[maybe_unused]] auto _ : state) {
    for_nest(
        *context, {size_t{1}}, [&sum](const double& in) { sum += in; }, read(*array, i));
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(nest_over_own_memory);

// The part of that which is finding what was decided: the key of the nest, and its site. The rest
// is execution.
void find_known_nest(benchmark::State& state) {
  const auto context = one_rank(state);
  if (context == nullptr) return;
  const auto array = context->new_symmetric_array<double>(1024);
  access::Nest nest;
  nest.add_loop(1);
  nest.add({.owner = array->where(),
            .base = static_cast<int64_t>(array->offset()),
            .stride_bytes = {sizeof(double)}});
  const NestOptions options;
  const CallSite call = CallSite::current();
  detail::NestSites& sites = detail::LoopState::of(context->state()).nest_sites;
  sites.find_or_make(detail::key_of(context->state(), nest, options, call, false),
                     [](detail::NestSite&) {});
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(nest.counts[0]);
    const auto* site = sites.find(detail::key_of(context->state(), nest, options, call, false));
    if (site == nullptr) state.SkipWithError("the nest is not known");
    benchmark::DoNotOptimize(site);
  }
}
BENCHMARK(find_known_nest);

// The same of a loop, among others.
void find_known_loop(benchmark::State& state) {
  detail::LoopSites sites;
  const auto describe = [](uint64_t total_bytes) {
    return plan::StripRequest{.total_bytes = total_bytes,
                              .max_buffer_bytes = uint64_t{64} << 20,
                              .loop = {.n_local_ref = 1, .n_int_alu = 1, .n_fp_alu = 2},
                              .local_bytes = 4096};
  };
  for (uint64_t i = 1; i <= 64; ++i) {
    sites.find_or_make({7, describe(i << 14)}, [](detail::LoopSite&) {});
  }
  uint64_t total_bytes = 1 << 20;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(total_bytes);
    const auto* site = sites.find({7, describe(total_bytes)});
    if (site == nullptr) state.SkipWithError("the loop is not known");
    benchmark::DoNotOptimize(site);
  }
}
BENCHMARK(find_known_loop);

// Progress alone, which a nest makes once for each step.
void progress(benchmark::State& state) {
  const auto context = one_rank(state);
  if (context == nullptr) return;
  for ([[maybe_unused]] auto _ : state) context->progress();
}
BENCHMARK(progress);

}  // namespace
}  // namespace stripline

BENCHMARK_MAIN();
