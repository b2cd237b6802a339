// micro.buffered_put: puts whose source is free at once, copied or waited for.
#include <array>

#include "runtime/rma/context_state.h"
#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/put_area.h"
#include "suites/micro/transfer.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr size_t kPuts = 8;

// Puts of up to `bytes` are copied while this lives.
class Copied {
 public:
  Copied(Context& context, size_t bytes)
      : limit_(context.state().job.tuning().single.copied_put_bytes), usual_(limit_) {
    limit_ = bytes;
  }
  ~Copied() { limit_ = usual_; }
  Copied(const Copied&) = delete;
  Copied& operator=(const Copied&) = delete;

 private:
  uint64_t& limit_;
  uint64_t usual_;
};

Result<SampleSeries> run_buffered_put(Session& session, const experiment::Point& point,
                                      const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t bytes = bytes_of(point);
  const size_t memory = ctx.state().operations.bounces().capacity();
  if (bytes > memory) {
    return Error(ErrorCode::invalid_argument,
                 "copies of puts have " + std::to_string(memory) + " B of memory here");
  }
  STRIPLINE_ASSIGN_OR_RETURN(PutArea area, PutArea::create(session, bytes, kPuts));
  const Copied copied(ctx, point.variant == "copied" ? bytes : 0);
  const auto put_all = [&] {
    std::array<future, kPuts> puts;
    for (size_t i = 0; i < kPuts; ++i) {
      puts.at(i) = ctx.rput_buffered(area.source(i), area.there(i), bytes);
    }
    wait_all(puts);
  };
  return area.measure(session, rule, put_all);
}

}  // namespace

Benchmark buffered_put_benchmark() {
  Benchmark benchmark =
      put_benchmark(run_buffered_put, micro::kBufferedPut, "Puts whose source is free at once");
  experiment::Experiment& e = benchmark.declaration;
  e.description =
      "Rank 0 makes 8 buffered puts to rank 1, each copied first or waited for, and waits for all. "
      "A sample is the time of all divided by their number.";
  e.factors = {integer_factor(
      factor::kBytes, "B", "Size of a put.",
      {1 << 10, 8 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10}, 1, 1 << 20)};
  e.feeds = {"rma.buffered_put"};
  return benchmark;
}

}  // namespace stripline::suites
