// micro.bulk_window, micro.bulk_check, micro.bulk_copy: what blocking copies that do not wait cost
// beside their transfers (<stripline/bulk.h>; Chen, Optimizing PGAS Programs for Cluster
// Architectures, 2007, section 7.2).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <stripline/bulk.h>

#include "runtime/bulk/engine.h"
#include "runtime/bulk/put_list.h"
#include "runtime/rma/context_state.h"
#include "suites/future_window.h"
#include "suites/grids.h"
#include "suites/kernels/symmetric_memory.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/pattern.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// The gets, or puts, of a phase of a program.
constexpr size_t kOfPhase = 512;

Result<SampleSeries> run_bulk_window(Session& session, const experiment::Point& point,
                                     const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t in_flight = size_param(point, factor::kInFlight);
  STRIPLINE_ASSIGN_OR_RETURN(TransferArea area, TransferArea::create(session, operation_of(point),
                                                                     bytes_of(point), in_flight));
  FutureWindow window(in_flight);
  return area.measure(session, rule, in_flight, [&] {
    const double start_s = ctx.now_s();
    for (size_t i = 0; i < kOfPhase; ++i) window.push([&] { return area.issue(i); });
    window.drain();
    return (ctx.now_s() - start_s) / static_cast<double>(kOfPhase);
  });
}

Result<SampleSeries> run_bulk_check(Session& session, const experiment::Point& point,
                                    const experiment::StopRule& rule) {
  // Long enough that reading the clock does not count.
  constexpr size_t kChecks = size_t{1} << 14;
  constexpr uint64_t kBytes = 4096;
  Context& ctx = session.context();
  SampleSeries series;
  if (ctx.rank_me() == 0) {
    // Every other piece of the target's memory; the others are accessed.
    const size_t in_flight = size_param(point, factor::kInFlight);
    bulk::PutLists puts(1);
    for (uint64_t i = 0; i < in_flight; ++i)
      puts.add(0, {2 * i * kBytes, (2 * i + 1) * kBytes, {}});
    size_t overlapping = 0;
    repeat_alone(
        session, rule,
        [&] {
          const double start_s = ctx.now_s();
          for (uint64_t i = 0; i < kChecks; ++i) {
            const uint64_t begin = (2 * (i % in_flight) + 1) * kBytes;
            if (puts.take_overlapping(0, begin, begin + kBytes)) ++overlapping;
          }
          return (ctx.now_s() - start_s) / static_cast<double>(kChecks);
        },
        series);
    series.verified = overlapping == 0 && puts.size(0) == in_flight;
  }
  ctx.barrier();
  return series;
}

// Gets of rank 0 from rank 1.
class Gets {
 public:
  static constexpr size_t kCount = 8;

  static Result<Gets> create(Context& context, size_t bytes) {
    STRIPLINE_ASSIGN_OR_RETURN(auto memory,
                               SymmetricMemory<std::byte>::create(context, kCount * bytes));
    if (context.rank_me() == kServer) fill_pattern({memory.here(), kCount * bytes}, kSeed);
    context.barrier();
    return Gets(context, bytes, std::move(memory));
  }

  /// The time of one get that is waited for.
  double waited_s() { return fetch_s(); }

  /// The time of one that was made ahead and has come, from the second time on. `wait_s` is enough
  /// for all to come.
  double copied_s(double wait_s) {
    // Always by this method, whatever is faster.
    const bulk_region region(
        *context_, {.buffer_bytes = 4 * kCount * bytes_, .use_model = false, .self_check = false},
        CallSite::current());
    // Waiting in the library, or progress() of the program, would be an acquire, at which what was
    // made ahead is given up.
    constexpr int kLooks = 64;
    for (int look = 0; look < kLooks; ++look) {
      context_->compute_for(wait_s / kLooks);
      const auto inside = context_->state().exclusive();
      context_->state().operations.make_progress();
    }
    return fetch_s();
  }

  /// True if the latest gets brought what rank 1 has, where `spoil()` was called before them.
  bool arrived() const { return !first_mismatch(here_, kSeed); }
  void spoil() { std::ranges::fill(here_, std::byte{0}); }

 private:
  static constexpr uint64_t kSeed = 7;

  Gets(Context& context, size_t bytes, SymmetricMemory<std::byte> memory)
      : context_(&context), bytes_(bytes), memory_(std::move(memory)), here_(kCount * bytes) {}

  double fetch_s() {
    const double start_s = context_->now_s();
    for (size_t i = 0; i < kCount; ++i) {
      const size_t at = i * bytes_;
      memget(*context_, here_.data() + at, memory_.on(kServer) + static_cast<std::ptrdiff_t>(at),
             bytes_);
    }
    return (context_->now_s() - start_s) / static_cast<double>(kCount);
  }

  Context* context_;
  size_t bytes_;
  SymmetricMemory<std::byte> memory_;
  std::vector<std::byte> here_;
};

Result<SampleSeries> run_bulk_copy(Session& session, const experiment::Point& point,
                                   const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(Gets gets, Gets::create(ctx, bytes_of(point)));
  SampleSeries series;
  int32_t waited = 0;  // where nothing was to be waited for
  if (ctx.rank_me() == kInitiator) {
    const bool copied = point.variant == variant::kCopied;
    const bulk::Statistics& made = bulk::BulkEngine::of(ctx).statistics();
    const uint64_t served = made.served;
    gets.waited_s();  // for fresh memory
    // Several may go one after the other.
    const double wait_s = 2 * static_cast<double>(Gets::kCount) * gets.waited_s();
    const auto repetition = [&] { return copied ? gets.copied_s(wait_s) : gets.waited_s(); };
    repeat_alone(session, rule, repetition, series);
    gets.spoil();
    repetition();
    series.verified = gets.arrived();
    if (copied && made.served == served) waited = 1;
  }
  if (ctx.broadcast(waited, kInitiator) == 0) return series;
  return Error(ErrorCode::failed_precondition,
               "no get was made ahead: the memory of rank 1 is in reach, or each call waits");
}

}  // namespace

Benchmark bulk_window_benchmark() {
  return declare(
      {.known = micro::kBulkWindow,
       .run = run_bulk_window,
       .title = "Many operations, some in flight at a time",
       .description =
           "Rank 0 makes 512 gets or puts of rank 1's memory, of which `in_flight` are in flight "
           "at a time, as a bulk region does that makes gets ahead or does not wait for puts. A "
           "sample is the time of all divided by their number.",
       .factors = {integer_factor(factor::kInFlight, "1", "Operations in flight at a time.",
                                  {16, 32, 64, 128}, 1, 4096),
                   integer_factor(factor::kBytes, "B", "Payload of one operation.", {4096}, 1,
                                  1 << 20)},
       .metric = {"time_per_operation", "s", true},
       .verification =
           "As many operations as are in flight are made into spoiled memory, and every "
           "slot compared.",
       .feeds = {"bulk.in_flight"}});
}

Benchmark bulk_check_benchmark() {
  return declare(
      {.known = micro::kBulkCheck,
       .run = run_bulk_check,
       .title = "Comparing an access with puts in flight",
       .description =
           "Rank 0 compares accesses with `in_flight` puts that a bulk region would not have "
           "waited for, between which they lie, so that the bounding box of the puts does not "
           "tell. "
           "A sample is the mean time of an access. Nothing is communicated.",
       .factors = {integer_factor(factor::kInFlight, "1", "Puts in flight.", {64}, 1, 4096)},
       .metric = {"time_per_access", "s", true},
       .min_ranks = 1,
       .verification = "No access overlaps a put.",
       .feeds = {"bulk.check_s"}});
}

Benchmark bulk_copy_benchmark() {
  return declare(
      {.known = micro::kBulkCopy,
       .run = run_bulk_copy,
       .title = "Gets that were made ahead, and that are waited for",
       .description =
           "Rank 0 makes 8 blocking gets from rank 1: each waited for (waited), or in a bulk "
           "region "
           "that has made them ahead, after a time in which they have come, so that what is left "
           "is a copy (copied). A sample is the time of all divided by their number.",
       .factors = {integer_factor(factor::kBytes, "B", "Size of a get.",
                                  {256, 4 << 10, 32 << 10, 256 << 10}, 1, 1 << 20)},
       .metric = {"time_per_get", "s", true},
       .verification = "The gets are made once more into spoiled memory, and what they bring is "
                       "compared; those in a region must have been made ahead.",
       .feeds = {"bulk.copies", "bulk.max_get_bytes"}});
}

}  // namespace stripline::suites
