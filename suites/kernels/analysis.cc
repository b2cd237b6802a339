// kernel.analysis: what deciding how to communicate takes of a kernel's time.
#include <algorithm>
#include <limits>
#include <string>

#include "base/clock.h"
#include "base/quantity.h"
#include "runtime/decide/surroundings.h"
#include "runtime/loop/loop_state.h"
#include "runtime/rma/context_state.h"
#include "suites/grids.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/strided_variants.h"

namespace stripline::suites {
namespace {

using experiment::Point;
using experiment::SampleSeries;
using experiment::StopRule;

constexpr const char* kKernelFactor = "kernel";
constexpr const char* kRepetitionsFactor = "repetitions";

// Kernels whose loops and transfers are planned; the first one is the default.
constexpr const char* kKernels[] = {
    kernels::kMatvec.name,       kernels::kTranspose.name, kernels::kTriad.name,
    kernels::kNasCg.name,        kernels::kNasFt.name,     kernels::kNasIs.name,
    kernels::kNasMg.name,        kernels::kNasBt.name,     kernels::kNasSp.name,
    kernels::kPrkTranspose.name, kernels::kPrkSparse.name, kernels::kPrkStencil.name};

// The small problem of a kernel, as programs have it: with a guard, where there is one.
Point problem_of(const std::string& kernel) {
  const auto& variants = find_benchmark(kernel)->declaration.variants;
  const bool guarded = std::ranges::find(variants, "guarded") != variants.end();
  Point point{kernel, guarded ? "guarded" : "tuned", {}};
  if (kernel == kernels::kMatvec.name) point.params["active"] = std::string("all");
  return point;
}

// Shapes of strided transfers whose plans are remembered.
constexpr uint64_t kShapes = 64;

uint64_t strided_transfers(Context& context) {
  uint64_t transfers = 0;
  for (const auto& method : context.state().operations.vis().statistics().methods) {
    transfers += method.puts + method.gets;
  }
  return transfers;
}

// The seconds of asking for a plan, as often as it is asked for again; on the host's clock, as
// deciding takes no time on that of an emulated network.
template <typename Ask>
double seconds_of(const Ask& ask) {
  constexpr int kTimes = 200;
  constexpr int kRounds = 5;
  [[maybe_unused]] volatile uint64_t answer = 0;  // so that nothing is left out
  double least_s = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const double begun_s = steady_seconds();
    for (int i = 0; i < kTimes; ++i) answer = ask().chunk_bytes;
    least_s = std::min(least_s, (steady_seconds() - begun_s) / kTimes);
  }
  return least_s;
}

// What this number of strided transfers took to plan, were their shapes new as often as they can
// be: the planner is asked about one like theirs.
double strided_decisions_s(Context& context, uint64_t transfers) {
  if (transfers == 0) return 0;
  detail::ContextState& state = context.state();
  const rank_t target = (context.rank_me() + 1) % context.rank_n();
  plan::VisRequest request;
  request.direction = plan::Direction::put;
  request.regions = 64;
  request.region_bytes = 64;
  request.extent_bytes = 64 << 10;
  request.iov_limit = state.job.fabric().info().iov_limit;
  request.message_bytes = state.operations.messages().max_payload_bytes();
  request.medium_bytes = state.operations.vis().max_chunk_bytes();
  const model::Path path = state.job.path_to(target);
  request.surroundings =
      decide::surroundings_of(state.job.fabric().info(), plan::VisRequest::kFacts,
                              {.path = path, .puts = true, .signals = false});
  const double known_s =
      seconds_of([&] { return state.mechanisms.vis_plans().best(request, path); });
  const double planned_s =
      seconds_of([&] { return plan::plan_vis(request, state.mechanisms.vis_plans().costs(path)); });
  return static_cast<double>(transfers) * known_s +
         static_cast<double>(std::min(transfers, kShapes)) * planned_s;
}

Result<SampleSeries> run_analysis(Session& session, const Point& point, const StopRule&) {
  Context& context = session.context();
  const Point kernel = problem_of(*experiment::text_param(point, kKernelFactor));
  StopRule rule;
  rule.min_reps = rule.max_reps = static_cast<uint32_t>(size_param(point, kRepetitionsFactor));
  rule.time_budget_s = std::numeric_limits<double>::max();
  const bool watched = point.variant == "analysis";
  detail::Analysis& analysis = detail::LoopState::of(context.state()).analysis;
  const uint64_t strided_before = strided_transfers(context);
  session.take_kernel_s();
  if (watched) analysis.begin(steady_seconds);
  auto measured = run_point(session, kernel, rule);
  const detail::Analysis::Total total = analysis.end();
  const double kernel_s = session.take_kernel_s();
  if (!measured.ok()) return measured.error();

  SampleSeries series = *std::move(measured);
  const uint64_t strided = strided_transfers(context) - strided_before;
  const double mine_s = watched ? total.seconds + strided_decisions_s(context, strided) : kernel_s;
  series.values = {context.reduce_all(mine_s, Context::ReduceOp::max)};
  series.timestamps_s = {context.now_s()};
  if (series.verified && watched) {
    series.note = std::to_string(total.executions) + " loops, " + std::to_string(total.planned) +
                  " planned again in " + seconds_text(total.planning_s) + "; " +
                  std::to_string(strided) + " strided transfers";
  }
  return series;
}

}  // namespace

Benchmark analysis_benchmark() {
  std::vector<experiment::ParamValue> names;
  for (const char* name : kKernels) names.emplace_back(std::string(name));
  return declare(
      {.known = kernels::kAnalysis,
       .run = run_analysis,
       .title = "Run-time analysis in a kernel",
       .description =
           "What a kernel with a model takes in its repetitions, the warm-up included (run), "
           "and what its ranks spend in that on deciding how to communicate (analysis): describing "
           "loops and nests, finding what is known of them, planning, and guards. The latter is "
           "taken on the host's clock, as it takes no time on emulated networks with declared "
           "computation, and includes what preparing and verifying a repetition decide. Decisions "
           "on strided transfers are counted, times what asking for one takes. Plans that other "
           "points of the same run have made are known. Of the ranks, the one that takes longest "
           "counts.",
       .factors = {name_factor(
                       kKernelFactor,
                       "The kernel, with its smallest problem; its guarded variant, if it has one.",
                       std::move(names)),
                   integer_factor(kRepetitionsFactor, "1", "Repetitions of the kernel.", {4, 40}, 1,
                                  100000)},
       .metric = {"time", "s", true},
       .verification = "As the kernel's; a run is one sample."});
}

}  // namespace stripline::suites
