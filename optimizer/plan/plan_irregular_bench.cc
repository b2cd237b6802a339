// What decisions about irregular accesses cost: elements that ranks gather, loops through an index,
// sparse matrices and cells that workers share are decided on once for each of their requests; how
// updates are written, with each message.
#include <benchmark/benchmark.h>

#include "optimizer/plan/encoding_mechanism.h"
#include "optimizer/plan/gather.h"
#include "optimizer/plan/indirect.h"
#include "optimizer/plan/path_fixture.h"
#include "optimizer/plan/product.h"
#include "optimizer/plan/shared_mechanism.h"
#include "optimizer/plan/update_fixture.h"

namespace {

using namespace stripline;
using namespace stripline::plan;

// Decides on `request`, a member of which is another number each time for all that compilers know.
template <typename Request, typename Number, typename Decide>
void decide_again(benchmark::State& state, Request request, Number Request::*changes,
                  const Decide& decide) {
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(request.*changes);
    const auto plan = decide(request);
    benchmark::DoNotOptimize(plan);
  }
}

void BM_PlanGather(benchmark::State& state) {
  const CompiledPath path = example_path();
  const GatherRequest request{.elements = 5000, .runs = 3000, .span_bytes = 800000, .readers = 8};
  decide_again(state, request, &GatherRequest::elements,
               [&](const GatherRequest& asked) { return plan_gather(asked, &path); });
}
BENCHMARK(BM_PlanGather);

void BM_PlanIndirect(benchmark::State& state) {
  const CompiledPath path = example_path();
  IndirectRequest request;
  request.iterations = 100000;
  request.owners = 7;
  request.compute_s = 1e-3;
  decide_again(state, request, &IndirectRequest::iterations,
               [&](const IndirectRequest& asked) { return plan_indirect(asked, &path); });
}
BENCHMARK(BM_PlanIndirect);

void BM_PlanProduct(benchmark::State& state) {
  const CompiledPath path = example_path();
  const ProductRequest request{.rows = 100000,
                               .own_rows = 100000,
                               .own_entries = 680000,
                               .own_elements = 100000,
                               .other_rows = 9000,
                               .visits = 12000,
                               .other_entries = 20000,
                               .elements = 4000,
                               .owners = 6};
  decide_again(state, request, &ProductRequest::rows,
               [&](const ProductRequest& asked) { return plan_product(asked, &path); });
}
BENCHMARK(BM_PlanProduct);

void BM_PlanShared(benchmark::State& state) {
  SharedRequest request = SharedMechanism::usual();
  request.spread.workers = 8;
  request.spread.updates = 1e6;
  request.spread.cells = uint64_t{1} << 24;
  request.spread.own_share = 0.98;
  decide_again(state, request, &SharedRequest::spread,
               [](const SharedRequest& asked) { return plan_shared(asked, nullptr); });
}
BENCHMARK(BM_PlanShared);

void BM_PlanEncoding(benchmark::State& state) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  AskedEncoding request;
  request.updates = 4000;
  request.runs = 700;
  request.boxes = 30;
  request.cells = 5000;
  const EncodingCosts of_message = costs_of_message(request, &costs);
  decide_again(state, static_cast<const EncodingRequest&>(request), &EncodingRequest::updates,
               [&](const EncodingRequest& asked) { return plan_encoding(asked, of_message); });
}
BENCHMARK(BM_PlanEncoding);

}  // namespace

BENCHMARK_MAIN();
