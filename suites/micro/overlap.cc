// micro.overlap: how much of a transfer computation can hide.
#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// Computation lasts this many blocking times: the docs ask for at least two.
constexpr double kComputeFactor = 2.5;

Result<SampleSeries> run_overlap(Session& session, const experiment::Point& point,
                                 const experiment::StopRule& rule) {
  STRIPLINE_ASSIGN_OR_RETURN(
      TransferArea area, TransferArea::create(session, operation_of(point), bytes_of(point), 1));
  Context& ctx = session.context();
  const double compute_s = ctx.rank_me() == 0 ? kComputeFactor * area.blocking_s() : 0.0;
  return area.measure(session, rule, 1, [&] {
    const double start_s = ctx.now_s();
    const future transfer = area.issue(0);
    const double issued_s = ctx.now_s();
    ctx.compute_for(compute_s);
    const double computed_s = ctx.now_s();
    transfer.wait();
    const double end_s = ctx.now_s();
    return (end_s - computed_s) + (issued_s - start_s);
  });
}

}  // namespace

Benchmark overlap_benchmark() {
  return declare({.known = micro::kOverlap,
                  .run = run_overlap,
                  .title = "Exposed time of an overlapped operation",
                  .description =
                      "Rank 0 issues one nonblocking operation, computes for 2.5 times its "
                      "blocking time without entering the library, and waits. A sample is the "
                      "total minus the time computed: what overlap cannot hide, o(S) + r(S), or "
                      "nearly all of the transfer on a fabric that makes no progress by itself.",
                  .factors = {bytes_factor()},
                  .metric = {"exposed_time", "s", true},
                  .verification = "A byte pattern is transferred into spoiled memory and compared.",
                  .feeds = {"network.get.r", "network.put.r"}});
}

}  // namespace stripline::suites
