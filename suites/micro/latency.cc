// micro.latency: the time of one blocking operation.
#include <vector>

#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/pattern.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

Result<SampleSeries> run_one_sided(Session& session, Operation operation, size_t bytes,
                                   const experiment::StopRule& rule) {
  STRIPLINE_ASSIGN_OR_RETURN(TransferArea area, TransferArea::create(session, operation, bytes, 1));
  Context& ctx = session.context();
  return area.measure(session, rule, 1, [&] {
    const double start_s = ctx.now_s();
    area.issue(0).wait();
    return ctx.now_s() - start_s;
  });
}

Result<SampleSeries> run_am(Session& session, size_t bytes, const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_RETURN_IF_ERROR(check_am_bytes(ctx, bytes));
  SampleSeries series;
  if (ctx.rank_me() == 0) {
    std::vector<std::byte> payload(bytes);
    fill_pattern(payload, Session::kSeed);
    repeat_alone(
        session, rule,
        [&] {
          const double start_s = ctx.now_s();
          session.ping(1, payload);
          return (ctx.now_s() - start_s) / 2;
        },
        series);
    series.verified = session.checked_ping(1, payload, Session::kSeed);
  }
  ctx.barrier();
  return series;
}

Result<SampleSeries> run_latency(Session& session, const experiment::Point& point,
                                 const experiment::StopRule& rule) {
  const Operation operation = operation_of(point);
  return operation == Operation::am ? run_am(session, bytes_of(point), rule)
                                    : run_one_sided(session, operation, bytes_of(point), rule);
}

}  // namespace

Benchmark latency_benchmark() {
  return declare(
      {.known = micro::kLatency,
       .run = run_latency,
       .title = "Time of one blocking operation",
       .description =
           "Rank 0 makes one operation at a time and waits for it; rank 1 waits inside the "
           "library. For am: half of a ping-pong round trip, both directions carrying the payload.",
       .factors = {bytes_factor()},
       .metric = {"time_per_operation", "s", true},
       .verification = "A byte pattern is transferred into spoiled memory and compared.",
       .feeds = {"network.get.L", "network.put.L", "network.am.L", "network.get.segments",
                 "network.put.segments"}});
}

}  // namespace stripline::suites
