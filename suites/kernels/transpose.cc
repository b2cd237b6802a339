// kernel.transpose: a distributed transpose, the communication of the NAS FT benchmark.
#include "suites/grids.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/peer_blocks.h"
#include "suites/kernels/transpose_problem.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// Each element is stored to the destination once per pass, with two multiplications and two
// additions after the first. The rank's own block is gone through as well.
LoopOptions loop_of(const TransposeProblem& problem, size_t passes) {
  LoopOptions options;
  options.loop.n_local_ref = 2;
  options.loop.n_fp_alu = 4;
  options.sweeps = static_cast<uint32_t>(passes);
  options.local_bytes = problem.source_elements() * sizeof(Complex);
  options.own_count = problem.block_elements();
  options.granule = problem.tile_elements();
  return options;
}

Result<SampleSeries> run_transpose(Session& session, const experiment::Point& point,
                                   const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const Variant variant = variant_of(point);
  STRIPLINE_RETURN_IF_ERROR(transfer_of(point, ctx.rank_n()));  // n must be a multiple of ranks
  const size_t n = size_param(point, "n");
  const size_t passes = size_param(point, "passes");
  const rank_t me = ctx.rank_me();

  TransposeProblem problem(n, ctx.rank_n(), me, passes);
  problem.count_work(ctx.work());
  const size_t block_elements = problem.block_elements();
  STRIPLINE_ASSIGN_OR_RETURN(
      EngineLoop engine, make_engine_loop(ctx, point, loop_of(problem, passes), sizeof(Complex)));
  STRIPLINE_ASSIGN_OR_RETURN(auto source,
                             ctx.new_symmetric_array<Complex>(problem.source_elements()));
  PeerBlocks<Complex> peers(ctx, source, problem.block_start(me), block_elements);
  const auto body = [&](size_t block, size_t begin, size_t end, const Complex* data) {
    problem.compute(peers.owner_of(block), begin, end, data);
  };
  const Complex* const own_block = ctx.local(source) + problem.block_start(me);
  const auto own_work = [&] { problem.compute(me, 0, block_elements, own_block); };
  const size_t elements = peers.elements();
  const size_t fine = std::min(elements, kFineElements);
  // A scaled time leaves out the rank's own block, which is not to be scaled.
  const bool partial = variant == Variant::fine && fine < elements;

  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    problem.fill(ctx.local(source), salt);
    problem.clear_result();
  };
  parts.verify = [&](uint64_t salt) {
    bool good = partial || problem.verify(me, salt, block_elements);
    for (size_t block = 0; block < peers.blocks().size(); ++block) {
      const size_t covered = peers.covered(block, partial ? fine : elements);
      good = problem.verify(peers.owner_of(block), salt, covered) && good;
    }
    return good;
  };
  const VariantBuffers<Complex> buffers = peers.buffers(fine);
  parts.run = [&] { run_variant(ctx, variant, engine, peers.blocks(), buffers, own_work, body); };
  if (partial) parts.scale = static_cast<double>(elements) / static_cast<double>(fine);

  SampleSeries series = measure_kernel(session, rule, parts);
  ctx.delete_symmetric_array(source);
  series.note = series.verified ? kernel_note(ctx, variant, engine, fine, elements) : kWrongResult;
  return series;
}

}  // namespace

Benchmark transpose_benchmark() {
  return declare(
      {.known = kernels::kTranspose,
       .run = run_transpose,
       .title = "Distributed transpose",
       .description =
           "An n x n matrix of complex doubles in slabs of rows is transposed, as in NAS FT: every "
           "rank reads one contiguous block from every other rank and writes it transposed into "
           "its own slab, the local transposition (`passes` times, adding up) being the loop that "
           "strips are made of. Variants as for kernel.matvec; hand issues the transfers from all "
           "peers up front and transposes the rank's own block meanwhile. n must be a multiple of "
           "the ranks.",
       .factors = joined(
           {integer_factor("n", "1", "Rows and columns of the matrix.",
                           {512, 64, 128, 256, 1024, 2048}, 2, 1 << 14),
            integer_factor("passes", "1", "How often the local transposition goes over the data.",
                           size_grid(1, 16, 1), 1, 256)},
           decomposition_factors()),
       .variants = variant_names(),
       .metric = {"time", "s", true},
       .verification = "Every element of the result is compared with its closed form, in every "
                       "repetition; the owners change the matrix between repetitions."});
}

}  // namespace stripline::suites
