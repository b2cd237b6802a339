// micro.vis_chunk, micro.vis_window: sizes and numbers of what is in flight when many regions are
// transferred.
#include "runtime/rma/context_state.h"
#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/micro/vis_transfer.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

Result<SampleSeries> measure(Session& session, const experiment::Point& point,
                             const experiment::StopRule& rule, const VisOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(
      auto area,
      VisTransfer::create(session, point,
                          point.variant == "put" ? plan::Direction::put : plan::Direction::get));
  STRIPLINE_RETURN_IF_ERROR(area.check_method(options));
  Context& ctx = session.context();
  SampleSeries series;
  if (ctx.rank_me() == 0) {
    repeat_alone(
        session, rule,
        [&] {
          const double start_s = ctx.now_s();
          area.start(options).wait();
          return ctx.now_s() - start_s;
        },
        series);
  }
  ctx.barrier();
  series.verified = area.verify(options);
  return series;
}

Result<SampleSeries> run_chunk(Session& session, const experiment::Point& point,
                               const experiment::StopRule& rule) {
  VisOptions options;
  options.method = VisMethod::packed;
  options.chunk_bytes = size_param(point, factor::kChunkBytes);
  options.window = static_cast<uint32_t>(size_param(point, factor::kWindow));
  const size_t most = session.context().state().operations.vis().max_chunk_bytes();
  if (options.chunk_bytes > most) {
    return Error(ErrorCode::invalid_argument,
                 "chunks have at most " + std::to_string(most) + " B in this job");
  }
  return measure(session, point, rule, options);
}

Result<SampleSeries> run_window(Session& session, const experiment::Point& point,
                                const experiment::StopRule& rule) {
  VisOptions options;
  options.method = VisMethod::pipelined;
  options.window = static_cast<uint32_t>(size_param(point, factor::kWindow));
  return measure(session, point, rule, options);
}

experiment::Factor window_factor(std::vector<experiment::ParamValue> values) {
  return integer_factor(factor::kWindow, "1", "Operations or messages in flight.",
                        std::move(values), 1, 1 << 20);
}

Benchmark benchmark_of(RunFunction run, const experiment::Known& known, std::string title) {
  return declare({.known = known,
                  .run = run,
                  .title = std::move(title),
                  .metric = {"time", "s", true},
                  .verification = "A byte pattern is transferred into spoiled memory and compared, "
                                  "with the gaps of a put."});
}

}  // namespace

Benchmark vis_chunk_benchmark() {
  Benchmark benchmark = benchmark_of(run_chunk, micro::kVisChunk, "Size and window of packing");
  experiment::Experiment& e = benchmark.declaration;
  e.description =
      "Rank 0 transfers regions of equal size and distance to or from rank 1 packed into messages "
      "of some size, a window of which is in flight. A sample is the time of a transfer.";
  e.factors = vis_shape_factors({int64_t{128}, int64_t{512}},
                                {int64_t{16 << 10}, int64_t{256 << 10}}, {int64_t{2}});
  e.factors.push_back(integer_factor(
      factor::kChunkBytes, "B", "Size of packed messages.",
      {1 << 10, 4 << 10, 8000, 16 << 10, 32 << 10, int64_t{plan::kLandingSlotBytes}}, 64, 1 << 20));
  // Smaller windows may suffice while no rank computes; a program that does begins what the window
  // allows and no more.
  e.factors.push_back(window_factor({int64_t{4}, int64_t{8}}));
  e.feeds = {"vis.chunk_bytes", "vis.window"};
  return benchmark;
}

Benchmark vis_window_benchmark() {
  Benchmark benchmark =
      benchmark_of(run_window, micro::kVisWindow, "Operations in flight for many regions");
  experiment::Experiment& e = benchmark.declaration;
  e.description =
      "Rank 0 transfers regions of equal size and distance to or from rank 1 by one operation "
      "each, a window of which is in flight. A sample is the time of a transfer.";
  e.factors = vis_shape_factors({int64_t{32}, int64_t{1024}}, {int64_t{16 << 10}}, {int64_t{2}});
  e.factors.push_back(
      window_factor({int64_t{4}, int64_t{8}, int64_t{16}, int64_t{32}, int64_t{64}, int64_t{128}}));
  e.feeds = {"vis.pipelined_window"};
  return benchmark;
}

}  // namespace stripline::suites
