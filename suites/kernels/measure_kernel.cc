#include "suites/kernels/measure_kernel.h"

#include "suites/repeat.h"

namespace stripline::suites {

experiment::SampleSeries measure_kernel(Session& session, const experiment::StopRule& rule,
                                        const KernelParts& parts) {
  Context& ctx = session.context();
  experiment::SampleSeries series;
  uint64_t salt = 0;
  uint64_t good = 1;
  repeat_together(
      session, rule,
      [&] {
        // Small enough to keep all sums exact, and different from the one before.
        salt = (salt + 1) % 251;
        parts.prepare(salt);
        ctx.barrier();
        const double start_s = ctx.now_s();
        if (parts.run) parts.run();
        const double end_s = ctx.now_s();
        session.add_kernel_s(end_s - start_s);
        ctx.barrier();
        if (parts.run && !parts.verify(salt)) good = 0;
        return (end_s - start_s) * parts.scale;
      },
      series);
  series.verified = ctx.reduce_all(good, Context::ReduceOp::min) != 0;
  return series;
}

}  // namespace stripline::suites
