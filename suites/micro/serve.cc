// micro.serve: what serving another rank takes of one's own time.
#include <algorithm>
#include <chrono>
#include <limits>

#include "suites/compute_bodies.h"
#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// A round lasts kRoundFactor blocking times, and is computed in kSlices slices: an operation is
// served between two of the first ones.
constexpr double kRoundFactor = 2.5;
constexpr int kSlices = 8;
constexpr int kRounds = 4;  // of a sample, with operations and without them
// Where serving takes less than this part of a blocking time, or nothing, the interval need not be
// narrower than where it takes as much: the fit leaves out a twentieth.
constexpr double kLeastPart = 0.25;

// Computation that lasts `seconds`. It is arithmetic, so that what interrupts it counts; on a
// virtual clock, where nothing does and seconds can be had for nothing, its time is declared.
class Computation {
 public:
  Computation(Context& context, double seconds) : context_(&context), seconds_(seconds) {
    const auto host_start = std::chrono::steady_clock::now();
    context.compute_for(seconds);
    const std::chrono::duration<double> host = std::chrono::steady_clock::now() - host_start;
    if (host.count() < seconds / 2) return;
    for (additions_ = kFewest; additions_ != 0; additions_ *= 2) {
      double took_s = std::numeric_limits<double>::infinity();
      for (int i = 0; i < kTries; ++i) {  // the least: others may have been interrupted
        const double start_s = context.now_s();
        run();
        took_s = std::min(took_s, context.now_s() - start_s);
      }
      if (!(took_s > 0)) break;
      if (took_s < seconds) continue;
      additions_ = 1 + static_cast<size_t>(static_cast<double>(additions_) * seconds / took_s);
      return;
    }
    additions_ = 0;
  }

  void run() {
    if (additions_ == 0) {
      context_->compute_for(seconds_);
    } else {
      sum_ = chain(sum_, 1, additions_);
    }
  }

 private:
  static constexpr size_t kFewest = 1024;  // take some microseconds at most
  static constexpr int kTries = 3;

  Context* context_;
  double seconds_;
  size_t additions_ = 0;
  volatile double sum_ = 0;
};

// Collective. Seconds of a round of this rank; ranks 0 and 1 go through rounds.
double round_time(Context& ctx, TransferArea& area, Computation& slice, bool operations) {
  ctx.barrier();
  if (ctx.rank_me() > 1) return 0;
  const bool initiates = operations && ctx.rank_me() == 0;
  const double start_s = ctx.now_s();
  for (int round = 0; round < kRounds; ++round) {
    future operation;
    if (initiates) operation = area.issue(0);
    for (int i = 0; i < kSlices; ++i) {
      slice.run();
      ctx.progress();
    }
    if (initiates) operation.wait();
  }
  return (ctx.now_s() - start_s) / kRounds;
}

Result<SampleSeries> run_serve(Session& session, const experiment::Point& point,
                               const experiment::StopRule& rule) {
  STRIPLINE_ASSIGN_OR_RETURN(
      TransferArea area, TransferArea::create(session, operation_of(point), bytes_of(point), 1));
  Context& ctx = session.context();
  const double blocking_s = ctx.broadcast(ctx.rank_me() == 0 ? area.blocking_s() : 0.0, 0);
  Computation slice(ctx, kRoundFactor / kSlices * blocking_s);
  SampleSeries series;
  repeat_together(
      session, rule,
      [&] {
        const double alone_s = round_time(ctx, area, slice, false);
        const double serving_s = round_time(ctx, area, slice, true);
        // The sample of all ranks is the largest one.
        return ctx.rank_me() == 1 ? serving_s - alone_s : -std::numeric_limits<double>::infinity();
      },
      series, kLeastPart * blocking_s);
  area.check(1, series);
  return series;
}

}  // namespace

Benchmark serve_benchmark() {
  experiment::Factor bytes = bytes_factor();
  bytes.values = size_grid(8, int64_t{4} << 20, 1);
  return declare({.known = micro::kServe,
                  .run = run_serve,
                  .title = "Time of a target to serve an operation",
                  .description =
                      "Ranks 0 and 1 compute for 2.5 times the time of a blocking operation, in "
                      "eight slices after each of which they make progress; rank 0 has an "
                      "operation in progress meanwhile, or none, in turns. A sample is by how much "
                      "rank 1 takes longer with one: s(S), nothing where a NIC serves.",
                  .factors = {std::move(bytes)},
                  .metric = {"time_to_serve", "s", true},
                  .verification = "A byte pattern is transferred into spoiled memory and compared.",
                  .feeds = {"network.get.s", "network.put.s"}});
}

}  // namespace stripline::suites
