// What the runtime adds to an operation of the fabric: the bounds check, the slot, the future.
#include <cstdint>
#include <memory>
#include <utility>

#include <benchmark/benchmark.h>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/shared_array.h>

#include "runtime/decide/run_guard.h"
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

// A job of one rank. Null after an error, which skips the benchmark.
std::unique_ptr<Context> join_alone(benchmark::State& state, Options options = {}) {
  options.fabric = "emulated:modern-rdma";
  options.clock = "virtual";
  options.segment_bytes = size_t{1} << 20;
  auto context = Context::init(options);
  if (context.ok()) return *std::move(context);
  state.SkipWithError(context.error().message().c_str());
  return nullptr;
}

// Runs `operate`, of an element of one's own memory through the public API: everything but the
// fabric.
template <typename Operate>
void own_element(benchmark::State& state, const Options& options, const Operate& operate) {
  const auto context = join_alone(state, options);
  if (context == nullptr) return;
  const auto array = context->new_symmetric_array<double>(64);
  double value = 0;
  for ([[maybe_unused]] auto _ : state) {
    operate(*context, *array, value);
    benchmark::DoNotOptimize(value);
    benchmark::ClobberMemory();
  }
}

void get_own_element(benchmark::State& state) {
  own_element(state, {}, [](Context& context, global_ptr<double> array, double& value) {
    context.rget(array, &value, 1).wait();
  });
}
BENCHMARK(get_own_element);

void put_own_element(benchmark::State& state) {
  own_element(state, {}, [](Context& context, global_ptr<double> array, double& value) {
    context.rput(&value, array, 1).wait();
  });
}
BENCHMARK(put_own_element);

// Without a function call.
void get_value(benchmark::State& state) {
  own_element(state, {}, [](Context& context, global_ptr<double> array, double& value) {
    value = context.rget(array);
  });
}
BENCHMARK(get_value);

void put_value(benchmark::State& state) {
  own_element(state, {}, [](Context& context, global_ptr<double> array, double& value) {
    context.rput(value, array);
  });
}
BENCHMARK(put_value);

void get_without_handle(benchmark::State& state) {
  own_element(state, {}, [](Context& context, global_ptr<double> array, double& value) {
    context.rget_nbi(array, &value, 1);
  });
}
BENCHMARK(get_without_handle);

void put_without_handle(benchmark::State& state) {
  own_element(state, {}, [](Context& context, global_ptr<double> array, double& value) {
    context.rput_nbi(&value, array, 1);
  });
}
BENCHMARK(put_without_handle);

void fetch_add_own_element(benchmark::State& state) {
  const auto context = join_alone(state);
  if (context == nullptr) return;
  const auto array = context->new_symmetric_array<uint64_t>(64);
  atomic_domain<uint64_t> domain(*context, AtomicPath::message);
  uint64_t before = 0;
  for ([[maybe_unused]] auto _ : state) {
    domain.fetch_add(*array, 1, &before).wait();
    benchmark::DoNotOptimize(before);
  }
}
BENCHMARK(fetch_add_own_element);

// An element of a shared array, written and read.
void shared_array_element(benchmark::State& state) {
  const auto context = join_alone(state);
  if (context == nullptr) return;
  const auto array = shared_array<double>::create(*context, 64);
  uint64_t index = 0;
  for ([[maybe_unused]] auto _ : state) {
    array->write(index, 1);
    benchmark::DoNotOptimize(array->read(index));
    index = (index + 1) % 64;
  }
}
BENCHMARK(shared_array_element);

// The same get as get_own_element, of which --trace takes note.
void get_own_element_traced(benchmark::State& state) {
  own_element(state, {.trace = "sites"},
              [](Context& context, global_ptr<double> array, double& value) {
                context.rget(array, &value, 1).wait();
              });
}
BENCHMARK(get_own_element_traced);

// What a call that plans by the model takes for being judged, by the calls of an iteration.
void report_to_run_guard(benchmark::State& state) {
  const auto calls = static_cast<uint64_t>(state.range(0));
  double now_s = 0;
  decide::RunGuard guard([&now_s] { return ++now_s; });
  guard.differs({}, 1);
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
