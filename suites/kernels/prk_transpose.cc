// kernel.prk_transpose: the Parallel Research Kernel Transpose, whose blocks are added as they
// come.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stripline/bulk.h>

#include "suites/grids.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/peer_blocks.h"
#include "suites/kernels/prk/transpose_share.h"
#include "suites/kernels/prk_factors.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using prk::TransposePartition;
using prk::TransposeShare;

// Each element is read and added to the result.
LoopOptions loop_of(const TransposeShare& share) {
  LoopOptions options;
  options.loop.n_local_ref = 2;
  options.loop.n_fp_alu = 1;
  options.local_bytes = share.partition().shared_elements() * sizeof(double);
  options.own_count = share.partition().block_elements();
  options.granule = share.tile_elements();
  return options;
}

Result<SampleSeries> run_prk_transpose(Session& session, const experiment::Point& point,
                                       const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const bool bulk = point.variant == kBulkVariant;
  const Variant variant = bulk ? Variant::blocking : variant_of(point);
  const size_t iterations = prk_iterations_of(point);
  const rank_t me = ctx.rank_me();
  STRIPLINE_ASSIGN_OR_RETURN(const TransposePartition partition,
                             TransposePartition::create(size_param(point, "n"), ctx.rank_n()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto memory,
                             SymmetricMemory<double>::create(ctx, partition.shared_elements()));
  TransposeShare share(partition, me, std::span(memory.here(), partition.shared_elements()));
  share.count_work(ctx.work());
  STRIPLINE_ASSIGN_OR_RETURN(EngineLoop engine,
                             make_engine_loop(ctx, point, loop_of(share), sizeof(double)));

  const size_t block_elements = partition.block_elements();
  PeerBlocks<double> peers(ctx, memory.on(me), partition.block_start(me), block_elements);
  const auto body = [&](size_t block, size_t begin, size_t end, const double* data) {
    share.add(peers.owner_of(block), begin, end, data);
  };
  const auto own_work = [&] { share.add(me, 0, block_elements, share.own_block()); };
  const size_t elements = peers.elements();
  const size_t fine = std::min(elements, kFineElements);
  // A scaled time leaves out the rank's own block, which is not to be scaled.
  const bool partial = variant == Variant::fine && fine < elements;
  const VariantBuffers<double> buffers = peers.buffers(fine);

  KernelParts parts;
  parts.prepare = [&](uint64_t salt) { share.start(salt); };
  parts.run = [&] {
    // Within what is timed, and with room for all blocks: half of it is for gets.
    std::optional<bulk_region> region;
    if (bulk) region.emplace(ctx, BulkOptions{.buffer_bytes = 2 * elements * sizeof(double)});
    for (size_t i = 0; i < iterations; ++i) {
      run_variant(ctx, variant, engine, peers.blocks(), buffers, own_work, body);
      ctx.barrier();  // all have read
      share.advance();
      ctx.barrier();
    }
  };
  parts.verify = [&](uint64_t salt) {
    double error = share.error(me, salt, iterations, partial ? 0 : block_elements);
    for (size_t block = 0; block < peers.blocks().size(); ++block) {
      const size_t covered = peers.covered(block, partial ? fine : elements);
      error += share.error(peers.owner_of(block), salt, iterations, covered);
    }
    return ctx.reduce_all(error, Context::ReduceOp::sum) <= prk::kTransposeTolerance;
  };
  parts.scale = 1 / static_cast<double>(iterations);
  if (partial) parts.scale *= static_cast<double>(elements) / static_cast<double>(fine);

  SampleSeries series = measure_kernel(session, rule, parts);
  series.note = !series.verified ? kWrongResult
                : bulk           ? "blocking in a bulk region"
                                 : kernel_note(ctx, variant, engine, fine, elements);
  return series;
}

}  // namespace

Benchmark prk_transpose_benchmark() {
  std::vector<std::string> variants = variant_names();
  variants.insert(std::ranges::find(variants, std::string("untuned")), kBulkVariant);
  return declare(
      {.known = kernels::kPrkTranspose,
       .run = run_prk_transpose,
       .title = "PRK transpose",
       .description =
           "The transposition of the Parallel Research Kernels: matrices of doubles in blocks of "
           "columns, B += transposed A and A += 1 in each iteration. Every rank reads one "
           "contiguous block from every other rank and adds it, transposed, to its own columns, "
           "which is the loop that strips are made of; two barriers keep the ranks' iterations "
           "apart. It differs from kernel.transpose in that it accumulates, so that an element "
           "which comes late, or twice, is wrong for good, and in half as large elements. Variants "
           "as there, and the blocking program in a bulk region (bulk). n must be a multiple of "
           "the ranks.",
       .factors = joined({integer_factor("n", "1", "Rows and columns of the matrices.",
                                         {1024, 128, 256, 512, 2048, 4096}, 2, 1 << 14),
                          prk_iterations_factor()},
                         decomposition_factors()),
       .variants = std::move(variants),
       .metric = {"time_per_iteration", "s", true},
       .verification = "The sum over all ranks of the absolute errors of all elements of B against "
                       "their closed form, in every repetition, is at most 1e-8, that is none; A "
                       "begins with other values in each repetition."});
}

}  // namespace stripline::suites
