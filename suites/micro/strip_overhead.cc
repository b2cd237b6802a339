// micro.strip_overhead: what the loop engine costs a strip beside its operation.
#include <algorithm>
#include <vector>

#include <stripline/loop.h>

#include "suites/compute_bodies.h"
#include "suites/grids.h"
#include "suites/kernels/aligned_buffer.h"
#include "suites/micro/closed_form.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

Result<SampleSeries> run_strip_overhead(Session& session, const experiment::Point& point,
                                        const experiment::StopRule& rule) {
  const size_t strip = std::max<size_t>(1, bytes_of(point) / sizeof(double));
  const size_t strips = size_param(point, factor::kStrips);
  const size_t elements = strip * strips;
  Context& ctx = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(auto array, ctx.new_symmetric_array<double>(elements));
  for (size_t i = 0; i < elements; ++i) ctx.local(array)[i] = cyclic_element(i);
  const auto expected = static_cast<double>(cyclic_sum(elements));
  ctx.barrier();

  SampleSeries series;
  series.verified = true;
  if (ctx.rank_me() == 0) {
    const auto remote = ctx.on_rank(array, 1);
    AlignedBuffer<double> buffer(elements);
    std::vector<future> in_flight(strips);
    LoopOptions options;
    options.force = plan::StripCandidate{plan::Schedule::all_issued, strip * sizeof(double), 1};
    const bool engine = point.variant == "engine";
    repeat_alone(
        session, rule,
        [&] {
          double sum = 0;
          const double start_s = ctx.now_s();
          if (engine) {
            strip_for(ctx, remote, elements, options,
                      [&sum](size_t begin, size_t end, const double* data) {
                        sum += reduce(data, end - begin);
                      });
          } else {
            for (size_t i = 0; i < strips; ++i) {
              in_flight[i] = ctx.rget(remote + static_cast<std::ptrdiff_t>(i * strip),
                                      buffer.data() + i * strip, strip);
            }
            for (size_t i = 0; i < strips; ++i) {
              in_flight[i].wait();
              sum += reduce(buffer.data() + i * strip, strip);
            }
          }
          const double end_s = ctx.now_s();
          series.verified = series.verified && sum == expected;
          return end_s - start_s;
        },
        series);
  }
  ctx.barrier();
  ctx.delete_symmetric_array(array);
  if (!series.verified) series.note = "verification failed: the sum is wrong";
  return series;
}

}  // namespace

Benchmark strip_overhead_benchmark() {
  return declare(
      {.known = micro::kStripOverhead,
       .run = run_strip_overhead,
       .title = "Cost of a strip in the loop engine",
       .description = "Rank 0 sums up a remote array in small strips, all of them issued up front: "
                      "through the loop engine (engine), and with the same operations written by "
                      "hand (by_hand). The strips are so many that the processor never waits after "
                      "the first; the difference is what the engine costs each of them.",
       .factors = {integer_factor(factor::kBytes, "B", "Size of a strip.", {64}, 8, 1 << 20),
                   integer_factor(factor::kStrips, "1", "Strips of the array.", {32}, 1, 1 << 16)},
       .metric = {"time", "s", true},
       .verification = "The sum is compared with its closed form in every repetition.",
       .feeds = {"strip.strip_overhead"}});
}

}  // namespace stripline::suites
