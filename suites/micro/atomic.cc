// micro.atomic: atomic operations by the provider and by active message.
#include <vector>

#include <stripline/atomic.h>

#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

Result<SampleSeries> run_atomic(Session& session, const experiment::Point& point,
                                const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t in_flight = size_param(point, factor::kInFlight);
  const auto path = point.variant == "provider" ? AtomicPath::provider : AtomicPath::message;
  if (path == AtomicPath::provider && !atomic_domain<uint64_t>::provider_has_all(ctx)) {
    return Error(ErrorCode::unimplemented, "this provider lacks an atomic operation");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto counter, ctx.new_symmetric_array<uint64_t>(1));
  const atomic_domain<uint64_t> domain(ctx, path);
  *ctx.local(counter) = 0;
  ctx.barrier();
  SampleSeries series;
  if (ctx.rank_me() == 0) {
    const global_ptr<uint64_t> there = ctx.on_rank(counter, 1);
    std::vector<uint64_t> previous(in_flight);
    std::vector<future> futures(in_flight);
    uint64_t added = 0;
    uint64_t wrong = 0;
    repeat_alone(
        session, rule,
        [&] {
          const double start_s = ctx.now_s();
          for (size_t i = 0; i < in_flight; ++i) {
            futures[i] = domain.fetch_add(there, 1, &previous[i]);
          }
          for (const future& one : futures) one.wait();
          const double seconds = ctx.now_s() - start_s;
          // No one else adds: whatever their order, they saw these values, once each.
          uint64_t sum = 0;
          for (const uint64_t seen : previous) sum += seen - added;
          if (sum != in_flight * (in_flight - 1) / 2) ++wrong;
          added += in_flight;
          return seconds / static_cast<double>(in_flight);
        },
        series);
    series.verified = wrong == 0 && domain.load(there) == added;
  }
  ctx.barrier();
  ctx.delete_symmetric_array(counter);
  return series;
}

}  // namespace

Benchmark atomic_benchmark() {
  return declare(
      {.known = micro::kAtomic,
       .run = run_atomic,
       .title = "Atomic operations",
       .description = "Rank 0 adds to a counter of rank 1, by the provider or by active message, "
                      "with `in_flight` fetch-adds at a time. A sample is the time from starting "
                      "the first to the completion of the last, divided by their number.",
       .factors = {integer_factor(factor::kInFlight, "1",
                                  "Operations started before any is waited for.", {1, 64}, 1,
                                  4096)},
       .metric = {"time_per_operation", "s", true},
       .verification =
           "What each operation found and what the counter holds at the end are compared.",
       .feeds = {"rma.atomic", "update.provider_s", "update.message_s"}});
}

}  // namespace stripline::suites
