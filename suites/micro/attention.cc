// micro.attention: one operation at a target that computes.
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/pattern.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// Rank 1: computes, and calls once in between, until rank 0 has set the flag.
void compute_until_told(Context& ctx, global_ptr<uint64_t> flag, double compute_s) {
  const std::atomic_ref<uint64_t> told(*ctx.local(flag));
  do {
    ctx.compute_for(compute_s);
    ctx.progress();
  } while (told.load(std::memory_order_acquire) == 0);
}

Result<SampleSeries> run_attention(Session& session, const experiment::Point& point,
                                   const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const Operation operation = operation_of(point);
  const size_t bytes = bytes_of(point);
  const double compute_s = 1e-6 * static_cast<double>(size_param(point, factor::kComputeUs));
  std::optional<TransferArea> area;
  if (operation == Operation::am) {
    STRIPLINE_RETURN_IF_ERROR(check_am_bytes(ctx, bytes));
  } else {
    STRIPLINE_ASSIGN_OR_RETURN(TransferArea created,
                               TransferArea::create(session, operation, bytes, 1));
    area.emplace(std::move(created));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto flag, ctx.new_symmetric_array<uint64_t>(1));
  *ctx.local(flag) = 0;
  ctx.barrier();

  SampleSeries series;
  series.verified = true;
  if (ctx.rank_me() == 0) {
    std::vector<std::byte> payload(bytes);
    fill_pattern(payload, Session::kSeed);
    repeat_alone(
        session, rule,
        [&] {
          const double start_s = ctx.now_s();
          if (area) {
            area->issue(0).wait();
          } else {
            session.ping(1, payload);
          }
          return ctx.now_s() - start_s;
        },
        series);
    if (!area) series.verified = session.checked_ping(1, payload, Session::kSeed);
    ctx.rput(uint64_t{1}, ctx.on_rank(flag, 1));
  } else if (ctx.rank_me() == 1) {
    compute_until_told(ctx, flag, compute_s);
  }
  ctx.barrier();
  ctx.delete_symmetric_array(flag);
  if (area) area->check(1, series);
  return series;
}

}  // namespace

Benchmark attention_benchmark() {
  return declare(
      {.known = micro::kAttention,
       .run = run_attention,
       .title = "Time of one operation whose target computes",
       .description =
           "Rank 0 makes one blocking operation at a time (am: a round trip) while rank 1 computes "
           "for compute_us and makes progress once, in turns. What the operation takes longer than "
           "in micro.latency is the time it waits for the target's attention; a progress thread or "
           "the provider's own progress (STRIPLINE_PROGRESS) shortens it.",
       .factors = {bytes_factor(), integer_factor(factor::kComputeUs, "us",
                                                  "time that the target computes between two calls",
                                                  {100, 1000, 10000}, 1, 1e6)},
       .metric = {"time_per_operation", "s", true},
       .verification = "A byte pattern is transferred into spoiled memory and compared."});
}

}  // namespace stripline::suites
