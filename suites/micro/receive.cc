// micro.receive: what the processor pays for received data, by the buffer they come into.
#include <algorithm>

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

// What the data come from, whatever they come into: read in turn, so that it makes no difference.
constexpr size_t kSourceBytes = size_t{16} << 20;
constexpr size_t kSourceElements = kSourceBytes / sizeof(double);

Result<SampleSeries> run_receive(Session& session, const experiment::Point& point,
                                 const experiment::StopRule& rule) {
  const size_t elements = std::max<size_t>(1, bytes_of(point) / sizeof(double));
  const size_t buffer_bytes = size_param(point, factor::kBufferBytes);
  if (buffer_bytes < elements * sizeof(double)) {
    return Error(ErrorCode::invalid_argument,
                 "buffer_bytes must be at least bytes: the buffer holds one transfer or more");
  }
  if (elements > kSourceElements) {
    return Error(ErrorCode::invalid_argument,
                 "bytes must be at most " + std::to_string(kSourceBytes));
  }
  const size_t slots = buffer_bytes / (elements * sizeof(double));
  Context& ctx = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(auto array, ctx.new_symmetric_array<double>(kSourceElements));
  for (size_t i = 0; i < kSourceElements; ++i) ctx.local(array)[i] = cyclic_element(i);
  ctx.barrier();

  SampleSeries series;
  series.verified = true;
  if (ctx.rank_me() == 0) {
    const auto source = ctx.on_rank(array, 1);
    AlignedBuffer<double> buffer(slots * elements);
    const bool reading = point.variant == "read";
    size_t at = 0;  // in the source
    repeat_alone(
        session, rule,
        [&] {
          uint64_t expected = 0;
          const double start_s = ctx.now_s();
          for (size_t slot = 0; slot < slots; ++slot) {
            if (at + elements > kSourceElements) at = 0;
            ctx.rget(source + static_cast<std::ptrdiff_t>(at), buffer.data() + slot * elements,
                     elements)
                .wait();
            expected += cyclic_sum(at + elements) - cyclic_sum(at);
            at += elements;
          }
          const double arrived_s = ctx.now_s();
          double sum = 0;
          for (size_t slot = 0; slot < slots; ++slot) {
            sum += reduce(buffer.data() + slot * elements, elements);
          }
          const double end_s = ctx.now_s();
          series.verified = series.verified && sum == static_cast<double>(expected);
          return (reading ? end_s - arrived_s : arrived_s - start_s) / static_cast<double>(slots);
        },
        series);
  }
  ctx.barrier();
  ctx.delete_symmetric_array(array);
  return series;
}

}  // namespace

Benchmark receive_benchmark() {
  return declare(
      {.known = micro::kReceive,
       .run = run_receive,
       .title = "Getting into, and reading from, a buffer of some size",
       .description =
           "Rank 0 fetches `bytes` at a time into a buffer of `buffer_bytes`, place after place, "
           "then sums all of it up. A sample is the mean time of a blocking get (get), or of a sum "
           "(read), over the places of the buffer. Where the processor copies what arrives, a "
           "buffer that stays in a cache makes both cheaper; where a NIC writes past the caches it "
           "makes no difference.",
       .factors = {integer_factor(factor::kBytes, "B", "Size of one get.", {64 << 10}, 8,
                                  kSourceBytes),
                   integer_factor(factor::kBufferBytes, "B",
                                  "Size of the buffer that the gets go through in turn.",
                                  size_grid(128 << 10, kSourceBytes, 1), 8, double{1 << 30})},
       .metric = {"time_per_get", "s", true},
       .verification = "Every sum is compared with its closed form.",
       .feeds = {"network.get.buffers"}});
}

}  // namespace stripline::suites
