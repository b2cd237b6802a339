// What the runtime adds to an operation of the fabric: the bounds check, the slot, the future.
#include <cstdint>
#include <memory>

#include <benchmark/benchmark.h>

#include <stripline/context.h>

#include "runtime/rma/completion_slots.h"
#include "runtime/rma/run_guard.h"

namespace stripline {
namespace {

// A future's life without a fabric: acquire, test the generation, release.
void slot_cycle(benchmark::State& state) {
  rma::CompletionSlots slots;
  for ([[maybe_unused]] auto _ : state) {
    const uint32_t slot = slots.acquire(rma::CompletionSlots::Kind::get);
    const uint32_t generation = slots.generation(slot);
    benchmark::DoNotOptimize(slots.released(slot, generation));
    slots.release(slot);
  }
}
BENCHMARK(slot_cycle);

// One element of one's own memory through the public API: everything but the fabric.
void get_own_element(benchmark::State& state) {
  const auto context = Context::init(
      {.fabric = "emulated:modern-rdma", .clock = "virtual", .segment_bytes = size_t{1} << 20});
  if (!context.ok()) {
    state.SkipWithError(context.error().message().c_str());
    return;
  }
  const auto array = (*context)->new_symmetric_array<double>(64);
  double value = 0;
  for ([[maybe_unused]] auto _ : state) {
    (*context)->rget(*array, &value, 1).wait();
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(get_own_element);

// What a call that plans by the model takes for being judged, by the calls of an iteration.
void report_to_run_guard(benchmark::State& state) {
  const auto calls = static_cast<uint64_t>(state.range(0));
  double now_s = 0;
  rma::RunGuard guard([&now_s] { return ++now_s; });
  guard.differs(1);
  uint64_t what = 0;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(guard.report({what, 1, 64}));
    what = what + 1 == calls ? 0 : what + 1;
  }
}
BENCHMARK(report_to_run_guard)->Arg(1)->Arg(10)->Arg(100);

}  // namespace
}  // namespace stripline

BENCHMARK_MAIN();
