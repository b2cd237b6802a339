// What the runtime adds to an operation of the fabric: the bounds check, the slot, the future.
#include <cstdint>
#include <memory>

#include <benchmark/benchmark.h>

#include <stripline/context.h>

#include "runtime/rma/completion_slots.h"

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

}  // namespace
}  // namespace stripline

BENCHMARK_MAIN();
