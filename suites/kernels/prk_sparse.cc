// kernel.prk_sparse: the Parallel Research Kernel Sparse, whose vector is fetched from all ranks.
#include <algorithm>
#include <cmath>
#include <span>

#include "suites/grids.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/peer_blocks.h"
#include "suites/kernels/prk/sparse_share.h"
#include "suites/kernels/prk_factors.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using prk::SparsePartition;
using prk::SparseShare;

// A vector element is multiplied with the entries of its column in this rank's rows: each is read,
// and added to a sum.
LoopOptions loop_of(const SparseShare& share) {
  const double entries_per_column =
      static_cast<double>(share.entries()) / static_cast<double>(share.partition().rows());
  const auto entries = static_cast<uint32_t>(std::ceil(entries_per_column));
  LoopOptions options;
  options.loop.n_local_ref = 2 * entries;
  options.loop.n_fp_alu = 2 * entries;
  options.local_bytes = share.partition().rows_per_rank() * sizeof(double);
  options.own_count = share.partition().rows_per_rank();
  return options;
}

Result<SampleSeries> run_prk_sparse(Session& session, const experiment::Point& point,
                                    const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const Variant variant = variant_of(point);
  const size_t iterations = prk_iterations_of(point);
  const rank_t me = ctx.rank_me();
  STRIPLINE_ASSIGN_OR_RETURN(const SparsePartition partition,
                             SparsePartition::create(sparse_size_of(point), ctx.rank_n()));
  const size_t part = partition.rows_per_rank();
  STRIPLINE_ASSIGN_OR_RETURN(const auto memory, SymmetricMemory<double>::create(ctx, part));
  SparseShare share(partition, me, std::span(memory.here(), part));
  share.count_work(ctx.work());
  STRIPLINE_ASSIGN_OR_RETURN(EngineLoop engine,
                             make_engine_loop(ctx, point, loop_of(share), sizeof(double)));

  PeerBlocks<double> peers(ctx, memory.on(me), 0, part);
  const auto body = [&](size_t block, size_t begin, size_t end, const double* data) {
    share.multiply(peers.owner_of(block), begin, end, data);
  };
  const auto own_work = [&] { share.multiply(me, 0, part, share.own_part()); };
  const size_t elements = peers.elements();
  const size_t fine = std::min(elements, kFineElements);
  // A scaled time leaves out the rank's own part, which is not to be scaled.
  const bool partial = variant == Variant::fine && fine < elements;
  const VariantBuffers<double> buffers = peers.buffers(fine);
  const auto covered = [&](uint32_t owner) {
    if (owner == me) return partial ? 0 : part;
    const size_t block = (owner + ctx.rank_n() - me - 1) % ctx.rank_n();
    return peers.covered(block, partial ? fine : elements);
  };

  KernelParts parts;
  parts.prepare = [&](uint64_t salt) { share.start(salt); };
  parts.run = [&] {
    for (size_t i = 0; i < iterations; ++i) {
      share.advance();
      ctx.barrier();
      run_variant(ctx, variant, engine, peers.blocks(), buffers, own_work, body);
      ctx.barrier();  // all have read
    }
  };
  parts.verify = [&](uint64_t salt) {
    const SparseShare::Sums mine = share.sums(salt, iterations, covered);
    const double sum = ctx.reduce_all(mine.sum, Context::ReduceOp::sum);
    const double expected = ctx.reduce_all(mine.expected, Context::ReduceOp::sum);
    return mine.wrong_rows == 0 && std::abs(sum - expected) <= prk::kSparseTolerance * expected;
  };
  parts.scale = 1 / static_cast<double>(iterations);
  if (partial) parts.scale *= static_cast<double>(elements) / static_cast<double>(fine);

  SampleSeries series = measure_kernel(session, rule, parts);
  series.note = series.verified ? kernel_note(ctx, variant, engine, fine, elements) : kWrongResult;
  return series;
}

}  // namespace

Benchmark prk_sparse_benchmark() {
  return declare(
      {.known = kernels::kPrkSparse,
       .run = run_prk_sparse,
       .title = "PRK sparse matrix-vector product",
       .description =
           "The sparse matrix of the Parallel Research Kernels: its rows are the points of a "
           "periodic grid, its columns those of a star around each, numbered with their bits "
           "reversed, so that a rank's rows need elements from every rank's part of the vector. In "
           "each iteration the vector changes, every rank reads the parts of all others and adds "
           "up the products; two barriers keep the ranks' iterations apart. Parts are read whole, "
           "of which about one element in as many as there are ranks is used: element by element "
           "(fine: at most 1024 of them, the time scaled), part by part, blocking (blocking), all "
           "nonblocking and multiplied one after the other (hand), each in four strips (hand4), or "
           "by the loop engine without a model (untuned), with the context's model (tuned, and "
           "guarded, which gives up plans that lose) or under a decomposition of the caller's "
           "(forced). The matrix lies column by column, so that any strip can be multiplied as it "
           "comes; all variants run the same loop body. Ranks must divide the rows, that is be a "
           "power of two.",
       .factors = joined(sparse_size_factors(), {prk_iterations_factor()}, decomposition_factors()),
       .variants = variant_names(),
       .metric = {"time_per_iteration", "s", true},
       .rank_count = experiment::RankCount::power_of_two,
       .verification = "The sum of the result over all ranks is compared with its closed form, to "
                       "1e-8 of it, and each row with its own, to 1e-12, in every repetition; the "
                       "vector begins with other values in each repetition."});
}

}  // namespace stripline::suites
