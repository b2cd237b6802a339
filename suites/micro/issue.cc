// micro.issue: what it costs to issue operations back to back, o(b,S).
#include <vector>

#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/pattern.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr int64_t kLargestBurst = 256;

Result<SampleSeries> run_one_sided(Session& session, Operation operation, size_t bytes,
                                   size_t burst, const experiment::StopRule& rule) {
  STRIPLINE_ASSIGN_OR_RETURN(TransferArea area,
                             TransferArea::create(session, operation, bytes, burst));
  Context& ctx = session.context();
  std::vector<future> in_flight(burst);
  return area.measure(session, rule, burst, [&] {
    const double start_s = ctx.now_s();
    for (size_t i = 0; i < burst; ++i) in_flight[i] = area.issue(i);
    const double issued_s = ctx.now_s();
    for (const future& one : in_flight) one.wait();
    return issued_s - start_s;
  });
}

Result<SampleSeries> run_am(Session& session, size_t bytes, size_t burst,
                            const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_RETURN_IF_ERROR(check_am_bytes(ctx, bytes));
  SampleSeries series;
  if (ctx.rank_me() == 0) {
    std::vector<std::byte> payload(bytes);
    fill_pattern(payload, Session::kSeed);
    bool complete = true;
    session.take_received(1);
    repeat_alone(
        session, rule,
        [&] {
          const double start_s = ctx.now_s();
          for (size_t i = 0; i < burst; ++i) session.send_counted(1, payload);
          const double issued_s = ctx.now_s();
          const Session::Received received = session.take_received(1);
          complete = complete && received.messages == burst && received.bytes == burst * bytes;
          return issued_s - start_s;
        },
        series);
    for (size_t i = 0; i < burst; ++i) session.send_checked(1, payload);
    series.verified = complete && session.take_received(1).good == burst;
  }
  ctx.barrier();
  return series;
}

Result<SampleSeries> run_issue(Session& session, const experiment::Point& point,
                               const experiment::StopRule& rule) {
  const Operation operation = operation_of(point);
  const size_t burst = size_param(point, factor::kBurst);
  return operation == Operation::am
             ? run_am(session, bytes_of(point), burst, rule)
             : run_one_sided(session, operation, bytes_of(point), burst, rule);
}

}  // namespace

Benchmark issue_benchmark() {
  return declare(
      {.known = micro::kIssue,
       .run = run_issue,
       .title = "Time to issue a burst of operations",
       .description =
           "Time from before the first to after the last issue of `burst` nonblocking operations; "
           "their completion is waited for outside of the timing. Shows o(b,S) of Iancu et al., "
           "section 4: flat until the queue is full, then what the network takes per operation.",
       .factors = {bytes_factor(),
                   integer_factor(factor::kBurst, "1", "Operations issued back to back.",
                                  size_grid(1, kLargestBurst, 1), 1, 4096)},
       .metric = {"time_to_issue", "s", true},
       .verification = "A burst is made into spoiled memory and every slot compared; messages are "
                       "counted and their pattern compared at the target.",
       .feeds = {"network.get.o", "network.put.o", "network.am.o", "network.get.queue_depth",
                 "network.put.queue_depth", "network.am.queue_depth"}});
}

}  // namespace stripline::suites
