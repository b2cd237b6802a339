// kernel.matvec: the loop nest of Figure 2 of Iancu et al., a remote matrix times local vectors.
#include <span>
#include <vector>

#include "suites/grids.h"
#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/matvec_problem.h"
#include "suites/kernels/measure_kernel.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// The local reference is the vector; each element costs a multiplication and an addition.
LoopOptions loop_of(size_t cols, size_t passes, bool all_active) {
  LoopOptions options;
  options.loop.n_local_ref = 1;
  options.loop.n_fp_alu = 2;
  options.sweeps = static_cast<uint32_t>(passes);
  options.local_bytes = cols * sizeof(double);
  options.alone = !all_active;
  return options;
}

Result<SampleSeries> run_matvec(Session& session, const experiment::Point& point,
                                const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const Variant variant = variant_of(point);
  const size_t rows = size_param(point, "rows");
  const size_t cols = size_param(point, "cols");
  const size_t passes = size_param(point, "passes");
  const size_t elements = rows * cols;
  const bool all_active = experiment::text_param(point, "active") == "all";

  STRIPLINE_ASSIGN_OR_RETURN(
      EngineLoop engine,
      make_engine_loop(ctx, point, loop_of(cols, passes, all_active), sizeof(double)));
  STRIPLINE_ASSIGN_OR_RETURN(auto matrix, ctx.new_symmetric_array<double>(elements));
  const rank_t neighbour = (ctx.rank_me() + 1) % ctx.rank_n();
  const LoopBlock<const double> block{ctx.on_rank(matrix, neighbour), elements};
  const std::span<const LoopBlock<const double>> blocks(&block, 1);
  MatvecProblem problem(rows, cols, passes);
  problem.count_work(ctx.work());
  AlignedBuffer<double> buffer(elements);
  std::vector<future> in_flight(kHandParts);
  const auto body = [&problem](size_t, size_t begin, size_t end, const double* data) {
    problem.compute(begin, end, data);
  };
  const auto no_own_work = [] {};
  const size_t fine = std::min(elements, kFineElements);

  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    MatvecProblem::fill(ctx.local(matrix), rows, cols, salt);
    problem.clear_result();
  };
  parts.verify = [&](uint64_t salt) {
    return problem.verify(salt, variant == Variant::fine ? fine : elements);
  };
  const VariantBuffers<double> buffers{buffer.data(), in_flight, fine};
  const auto compute = [&] {
    run_variant(ctx, variant, engine, blocks, buffers, no_own_work, body);
  };
  if (all_active || ctx.rank_me() == 0) parts.run = compute;
  if (variant == Variant::fine) {
    parts.scale = static_cast<double>(elements) / static_cast<double>(fine);
  }

  SampleSeries series = measure_kernel(session, rule, parts);
  ctx.delete_symmetric_array(matrix);
  series.note = series.verified ? kernel_note(ctx, variant, engine, fine, elements) : kWrongResult;
  return series;
}

}  // namespace

Benchmark matvec_benchmark() {
  return declare(
      {.known = kernels::kMatvec,
       .run = run_matvec,
       .title = "Remote matrix times local vectors",
       .description =
           "The loop nest of Figure 2 of Iancu et al.: each active rank multiplies its neighbour's "
           "matrix of doubles with `passes` local vectors. The matrix is one contiguous remote "
           "region, fetched element by element (fine: at most 1024 of them, the time scaled), in "
           "one blocking transfer (blocking), nonblocking without strips (hand), nonblocking in "
           "four equal strips (hand4), or by the loop engine without a model (untuned), with the "
           "context's model (tuned, and guarded, which gives up plans that lose) or under a "
           "decomposition of the caller's (forced). All variants run the same loop body.",
       .factors = joined(
           {integer_factor("rows", "1", "Rows of the matrix.", {128, 16, 32, 64, 256, 512, 1024}, 1,
                           1 << 20),
            integer_factor("cols", "1", "Columns of the matrix.", {1024}, 1, 1 << 20),
            integer_factor("passes", "1", "Vectors, that is uses of each element fetched.",
                           size_grid(1, 32, 1), 1, 1024),
            name_factor("active",
                        "Which ranks compute: all, or rank 0 only while the others wait inside the "
                        "library.",
                        {"one", "all"})},
           decomposition_factors()),
       .variants = variant_names(),
       .metric = {"time", "s", true},
       .verification = "Every element of the result is compared with its closed form, in every "
                       "repetition; the owner changes the matrix between repetitions."});
}

}  // namespace stripline::suites
