// micro.strip_sweep: strip-mined loops written by hand over the public calls, to hold predictions
// and the loop engine against.
#include <algorithm>
#include <vector>

#include "suites/compute_bodies.h"
#include "suites/grids.h"
#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/micro/closed_form.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

/// A loop over a remote array of integers that sums it up, strip by strip.
class StripLoop : public CountedWork {
 public:
  StripLoop(Context& context, global_ptr<const double> source, size_t elements, size_t strip,
            size_t window, size_t sweeps)
      : context_(context),
        source_(source),
        elements_(elements),
        strip_(strip),
        strips_((elements + strip - 1) / strip),
        window_(window == 0 ? strips_ : std::min(window, strips_)),
        sweeps_(sweeps),
        // One strip is computed on while `window` others arrive.
        slots_(std::min(window_ + 1, strips_)),
        buffer_(slots_ * strip),
        in_flight_(slots_) {}

  void run() {
    sum_ = 0;
    size_t issued = 0;
    for (; issued < window_; ++issued) issue(issued);
    for (size_t i = 0; i < strips_; ++i) {
      in_flight_[i % slots_].wait();
      if (issued < strips_) issue(issued++);
      const double* const data = buffer_.data() + (i % slots_) * strip_;
      for (size_t sweep = 0; sweep < sweeps_; ++sweep) sum_ += reduce(data, length(i));
      did(sweeps_ * length(i), 1, sizeof(double));
    }
  }

  double sum() const { return sum_; }

 private:
  size_t length(size_t strip) const { return std::min(strip_, elements_ - strip * strip_); }
  void issue(size_t strip) {
    in_flight_[strip % slots_] =
        context_.rget(source_ + static_cast<std::ptrdiff_t>(strip * strip_),
                      buffer_.data() + (strip % slots_) * strip_, length(strip));
  }

  Context& context_;
  global_ptr<const double> source_;
  size_t elements_;
  size_t strip_;
  size_t strips_;
  size_t window_;
  size_t sweeps_;
  size_t slots_;
  AlignedBuffer<double> buffer_;
  std::vector<future> in_flight_;
  double sum_ = 0;
};

Result<SampleSeries> run_strip_sweep(Session& session, const experiment::Point& point,
                                     const experiment::StopRule& rule) {
  const size_t elements = std::max<size_t>(1, size_param(point, "total_bytes") / sizeof(double));
  const size_t strip =
      std::clamp<size_t>(size_param(point, "strip_bytes") / sizeof(double), 1, elements);
  const size_t window = size_param(point, factor::kWindow);
  const size_t sweeps = size_param(point, "ops_per_element");
  if (point.variant == "A" && window != 0) {
    return Error(ErrorCode::invalid_argument,
                 "schedule A has all operations in flight; leave window=0");
  }
  Context& ctx = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(auto array, ctx.new_symmetric_array<double>(elements));
  StripLoop loop(ctx, ctx.on_rank(array, 1), elements, strip, window, sweeps);
  loop.count_work(ctx.work());

  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    if (ctx.rank_me() != 1) return;
    double* const data = ctx.local(array);
    for (size_t i = 0; i < elements; ++i) {
      data[i] = cyclic_element(i) + static_cast<double>(salt);
    }
  };
  if (ctx.rank_me() == 0) parts.run = [&] { loop.run(); };
  parts.verify = [&](uint64_t salt) {
    const uint64_t once = cyclic_sum(elements) + salt * elements;
    return loop.sum() == static_cast<double>(sweeps * once);
  };
  SampleSeries series = measure_kernel(session, rule, parts);
  ctx.delete_symmetric_array(array);
  if (!series.verified) series.note = "verification failed: the sum is wrong";
  return series;
}

}  // namespace

Benchmark strip_sweep_benchmark() {
  return declare(
      {.known = micro::kStripSweep,
       .run = run_strip_sweep,
       .title = "Time of a strip-mined loop",
       .description =
           "Rank 0 sums up a remote array of doubles strip by strip, with strips written by hand "
           "over the public calls: under schedule A (Figure 3 of Iancu et al.) all strips are "
           "issued up front, under B `window` of them are in flight. For validation of the "
           "predictions and of the loop engine; nothing is fitted from it.",
       .factors = {integer_factor("total_bytes", "B", "Size of the remote array.",
                                  {1 << 20, 16 << 10, 64 << 10, 256 << 10, 4 << 20}, 8,
                                  double{64 << 20}),
                   integer_factor("strip_bytes", "B", "Size of a strip.",
                                  {64 << 10, 4 << 10, 16 << 10, 256 << 10, 1 << 20}, 8,
                                  double{64 << 20}),
                   integer_factor(factor::kWindow, "1", "Strips in flight under B; 0: all of them.",
                                  {0, 1, 2, 4, 8}, 0, 1 << 16),
                   integer_factor("ops_per_element", "1", "Times that each strip is summed up.",
                                  {1, 4, 16}, 1, 1024)},
       .metric = {"time", "s", true},
       .verification = "The sum is compared with its closed form; rank 1 changes the array between "
                       "repetitions."});
}

}  // namespace stripline::suites
