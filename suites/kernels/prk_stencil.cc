// kernel.prk_stencil: the Parallel Research Kernel Stencil, whose ghosts are rows and columns.
#include <string>

#include "suites/grids.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/prk/stencil_solver.h"
#include "suites/kernels/prk_factors.h"
#include "suites/kernels/stencil_transfers.h"
#include "suites/kernels/strided_variants.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr const char* kRanksXFactor = "ranks_x";

// The most elements of a face that variant fine puts one by one.
constexpr size_t kFineFace = 4096;

Result<SampleSeries> run_prk_stencil(Session& session, const experiment::Point& point,
                                     const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t iterations = prk_iterations_of(point);
  STRIPLINE_ASSIGN_OR_RETURN(const StridedManner manner, strided_manner(ctx, point));
  STRIPLINE_ASSIGN_OR_RETURN(
      const prk::StencilPartition partition,
      prk::StencilPartition::create(size_param(point, "n"), size_param(point, kPrkRadiusFactor),
                                    ctx.rank_n(),
                                    static_cast<uint32_t>(size_param(point, kRanksXFactor))));
  if (manner.variant == StridedVariant::fine && partition.largest_face() > kFineFace) {
    return Error(ErrorCode::invalid_argument,
                 "variant 'fine' would put faces of " + std::to_string(partition.largest_face()) +
                     " elements one by one; it takes at most " + std::to_string(kFineFace) +
                     ": make n or radius smaller");
  }
  STRIPLINE_ASSIGN_OR_RETURN(StencilTransfers transfers,
                             StencilTransfers::create(ctx, manner, partition));
  prk::StencilShare share(partition, ctx.rank_me(), transfers.shared());
  share.count_work(ctx.work());

  KernelParts parts;
  parts.prepare = [&](uint64_t salt) { share.start(salt); };
  parts.run = [&] {
    for (size_t i = 0; i < iterations; ++i) prk::iterate_stencil(share, transfers);
  };
  parts.verify = [&](uint64_t) { return prk::verify_stencil(share, transfers, iterations); };
  parts.scale = 1 / static_cast<double>(iterations);

  const VisCounts counts(ctx);
  SampleSeries series = measure_kernel(session, rule, parts);
  series.note = series.verified ? strided_note(manner, counts) : kWrongResult;
  return series;
}

}  // namespace

Benchmark prk_stencil_benchmark() {
  return declare(
      {.known = kernels::kPrkStencil,
       .run = run_prk_stencil,
       .title = "PRK stencil: ghost rows and columns of blocks",
       .description =
           "The star stencil of the Parallel Research Kernels on n x n points in blocks over a "
           "grid of ranks: out += stencil of in, in += 1 in each iteration. Every rank puts the "
           "points that its neighbours have as ghosts to where they belong, rows in `radius` "
           "contiguous pieces, columns as strided as they lie: element by element (fine), by one "
           "strided call for each face, blocking, before anything is computed (blocking), by the "
           "same calls while the points that need no ghosts are computed (hand). Or each face goes "
           "into a buffer at the neighbour, where nothing must have been used before, with a flag "
           "that tells it so, and is copied from there: packed by the program (packed), or by one "
           "strided call, without a model (untuned), as the context's model says (tuned, and "
           "guarded, which gives up what loses) or by a given method (forced). All variants run "
           "the same loop bodies. fine takes faces of at most 4096 elements. Two ranks have no "
           "columns to exchange, but with ranks_x=2. A sample is the time of all iterations, "
           "divided by their number.",
       .factors = {integer_factor("n", "1", "Points along each axis.",
                                  {512, 64, 128, 256, 1024, 2048}, 3, 1 << 14),
                   integer_factor(kPrkRadiusFactor, "1",
                                  "Points of the star on either side along each axis.", {2, 1, 4},
                                  1, 64),
                   integer_factor(kRanksXFactor, "1",
                                  "Ranks along a row of points; 0: as near to a square as divides "
                                  "the ranks, more of them along columns.",
                                  {0}, 0, kMostRanks),
                   prk_iterations_factor(), strided_method_factor()},
       // 1: untuned, tuned and forced put to where ghosts belong

       .variants = strided_variant_names(),
       .metric = {"time_per_iteration", "s", true},
       .verification =
           "The mean of the absolute results, as the specification has it, and every single one "
           "are compared with their closed form, to 1e-8, in every repetition.",
       .version = 2});
}

}  // namespace stripline::suites
