// micro.flood: a stream of operations, bandwidth by size.
#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

Result<SampleSeries> run_flood(Session& session, const experiment::Point& point,
                               const experiment::StopRule& rule) {
  const size_t count = size_param(point, factor::kCount);
  STRIPLINE_ASSIGN_OR_RETURN(TransferArea area, TransferArea::create(session, operation_of(point),
                                                                     bytes_of(point), count));
  Context& ctx = session.context();
  return area.measure(session, rule, count, [&] {
    const double start_s = ctx.now_s();
    area.run(count);
    return ctx.now_s() - start_s;
  });
}

}  // namespace

Benchmark flood_benchmark() {
  return declare(
      {.known = micro::kFlood,
       .run = run_flood,
       .title = "Time of a stream of operations",
       .description =
           "Time to issue `count` nonblocking operations and wait for all of them. The difference "
           "between two counts is the time per operation in a long stream, T_stream(S).",
       .factors = {bytes_factor(), integer_factor(factor::kCount, "1", "Operations in the stream.",
                                                  {8, 64}, 1, 4096)},
       .metric = {"time_of_stream", "s", true},
       .verification = "A stream is made into spoiled memory and every slot compared.",
       .feeds = {"network.get.g", "network.get.G", "network.put.g", "network.put.G"}});
}

}  // namespace stripline::suites
