// kernel.nas_ft: the NAS FT benchmark, whose transposition puts what has been transformed.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <stripline/bulk.h>
#include <stripline/team.h>

#include "suites/grids.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/nas/exchanges/factors.h"
#include "suites/kernels/nas/ft_solver.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using nas::FtComplex;
using nas::FtPartition;
using nas::FtProblem;
using nas::FtShare;
using nas::FtTransposition;

// Each row is sent when it is done: nonblocking by hand, blocking, and blocking in a bulk region.
constexpr const char* kPencils = "pencils";
constexpr const char* kPencilsBlocking = "pencils_blocking";
constexpr const char* kPencilsBulk = "pencils_bulk";
// kBulkVariant, and the program says that what it sends stays until the barrier.
constexpr const char* kBulkStable = "bulk_stable";

// Strips are whole rows. What a row takes is measured, being no loop over its elements.
LoopOptions loop_of(const FtProblem& problem) {
  LoopOptions options;
  options.loop.n_fp_alu = 40;  // about 5 log2(nx) / 2 for each of two axes, until it is measured
  options.granule = problem.nx;
  return options;
}

class FtExchange {
 public:
  /// `pieces` of a slab that leave one by one in the variants by hand.
  FtExchange(Context& context, Variant variant, EngineLoop& engine, global_ptr<FtComplex> shared,
             size_t landing, size_t pieces)
      : context_(context),
        variant_(variant),
        engine_(engine),
        landing_(shared + static_cast<std::ptrdiff_t>(landing)),
        pieces_(pieces),
        world_(team::world(context)) {}

  void transpose(FtShare& share) {
    switch (variant_) {
      case Variant::blocking:
      case Variant::fine:
      case Variant::hand:
      case Variant::hand4:
        send_by_hand(share);
        break;
      default:
        send_by_engine(share);
    }
    context_.barrier();
    share.finish(0, share.transposition().lines());
    context_.barrier();  // what has landed may be overwritten
  }

  FtComplex sum(FtShare&, FtComplex value) {
    return {world_.allreduce(value.real(), op_add{}), world_.allreduce(value.imag(), op_add{})};
  }

 private:
  global_ptr<FtComplex> target(const FtTransposition& t, rank_t me, size_t plane,
                               size_t row) const {
    return context_.on_rank(landing_, t.reader(row)) +
           static_cast<std::ptrdiff_t>(t.landing(me, plane, row));
  }

  // Plane by plane; rows leave in pieces when they are done, the reader after this rank first.
  void send_by_hand(FtShare& share) {
    const FtTransposition& t = share.transposition();
    const size_t of_rank = t.rows_per_rank();
    const size_t pieces = std::min(pieces_ == 0 ? of_rank : pieces_, of_rank);
    in_flight_.clear();
    for (size_t plane = 0; plane < t.planes; ++plane) {
      share.columns(plane, plane + 1);
      for (size_t step = 1; step <= t.ranks; ++step) {
        const size_t first = (share.me() + step) % t.ranks * of_rank;
        for (size_t piece = 0; piece < pieces; ++piece) {
          const size_t begin = first + of_rank * piece / pieces;
          const size_t end = first + of_rank * (piece + 1) / pieces;
          share.rows(plane, begin, end);
          const FtComplex* const source = share.source().data() + t.source(plane, begin);
          const global_ptr<FtComplex> place = target(t, share.me(), plane, begin);
          const size_t count = (end - begin) * t.nx;
          if (variant_ == Variant::fine) {
            for (size_t i = 0; i < count; ++i) {
              context_.rput(source[i], place + static_cast<std::ptrdiff_t>(i));
            }
            continue;
          }
          if (variant_ == Variant::blocking) {
            memput(context_, place, source, count);
          } else {
            in_flight_.push_back(context_.rput(source, place, count));
          }
        }
      }
    }
    for (const future& put : in_flight_) put.wait();
  }

  // The same order, as a loop over the rows of all planes for all readers.
  void send_by_engine(FtShare& share) {
    const FtTransposition& t = share.transposition();
    const size_t of_rank = t.rows_per_rank();
    blocks_.clear();
    rows_.clear();
    for (size_t plane = 0; plane < t.planes; ++plane) {
      for (size_t step = 1; step <= t.ranks; ++step) {
        const size_t first = (share.me() + step) % t.ranks * of_rank;
        blocks_.push_back({target(t, share.me(), plane, first), of_rank * t.nx,
                           share.source().data() + t.source(plane, first)});
        rows_.push_back({plane, first});
      }
    }
    size_t planes_done = 0;
    engine_.plan.emplace(strip_write_blocks(
        context_, std::span<const LoopBlock<FtComplex>>(blocks_), engine_.options,
        [&](size_t block, size_t begin, size_t end, FtComplex*) {
          const auto [plane, first] = rows_[block];
          for (; planes_done <= plane; ++planes_done) share.columns(planes_done, planes_done + 1);
          share.rows(plane, first + begin / t.nx, first + end / t.nx);
        }));
  }

  struct Rows {
    size_t plane;
    size_t first;
  };

  Context& context_;
  Variant variant_;
  EngineLoop& engine_;
  global_ptr<FtComplex> landing_;
  size_t pieces_;
  team world_;
  std::vector<future> in_flight_;
  std::vector<LoopBlock<FtComplex>> blocks_;
  std::vector<Rows> rows_;
};

Result<SampleSeries> run_ft(Session& session, const experiment::Point& point,
                            const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_RETURN_IF_ERROR(check_fine_class(point));
  const bool stable = point.variant == kBulkStable;
  const bool bulk = stable || point.variant == kBulkVariant || point.variant == kPencilsBulk;
  const bool blocking = bulk || point.variant == kPencilsBlocking;
  const bool pencils = point.variant == kPencils || point.variant == kPencilsBlocking ||
                       point.variant == kPencilsBulk;
  const Variant variant = blocking  ? Variant::blocking
                          : pencils ? Variant::hand
                                    : variant_of(point);
  const FtProblem& problem = nas::ft_problem(nas_class_of(point));
  STRIPLINE_ASSIGN_OR_RETURN(const FtPartition partition,
                             FtPartition::create(problem, ctx.rank_n()));
  STRIPLINE_ASSIGN_OR_RETURN(EngineLoop engine,
                             make_engine_loop(ctx, point, loop_of(problem), sizeof(FtComplex)));
  STRIPLINE_ASSIGN_OR_RETURN(const auto shared,
                             SymmetricMemory<FtComplex>::create(ctx, partition.shared_elements()));
  FtShare share(problem, partition, ctx.rank_me(),
                std::span(shared.here(), partition.shared_elements()));
  share.count_work(ctx.work());
  const size_t pieces = pencils ? 0 : variant == Variant::hand4 ? kHandParts : 1;
  FtExchange exchange(ctx, variant, engine, shared.on(ctx.rank_me()), partition.landing_offset(),
                      pieces);
  ctx.barrier();
  std::optional<bulk_region> region;
  if (bulk) region.emplace(ctx, BulkOptions{.stable_sources = stable});

  std::vector<FtComplex> checksums;
  KernelParts parts;
  parts.prepare = [&](uint64_t) {
    share.start();
    exchange.transpose(share);
    checksums.clear();
  };
  parts.run = [&] {
    while (checksums.size() < problem.iterations()) {
      checksums.push_back(iterate_ft(share, exchange));
    }
  };
  parts.verify = [&](uint64_t) { return verify_ft(share, exchange, checksums).verified; };
  parts.scale = 1 / static_cast<double>(problem.iterations());
  SampleSeries series = measure_kernel(session, rule, parts);
  series.note = !series.verified ? kWrongResult
                : stable         ? "blocking in a bulk region, sources stay"
                : bulk           ? "blocking in a bulk region"
                : blocking       ? "blocking, row by row"
                : pencils        ? "nonblocking, row by row"
                                 : kernel_note(ctx, variant, engine, 0, 0);
  return series;
}

}  // namespace

Benchmark nas_ft_benchmark() {
  return declare(
      {.known = kernels::kNasFt,
       .run = run_ft,
       .title = "NAS FT",
       .description =
           "The Fourier-transform benchmark of NPB in slabs: when a rank has transformed a plane's "
           "columns, it transforms rows and puts them to the ranks that need them, from where they "
           "are. The rows for one rank together and blocking (blocking), one complex number at a "
           "time (fine, class S only: larger ones take millions of operations), nonblocking "
           "(hand), in four pieces (hand4), or each row when it is done (pencils: Bell et al., "
           "IPDPS 2006; the same blocking, pencils_blocking, and that in a bulk region, "
           "pencils_bulk); the blocking program in a bulk region (bulk), and in one that copies "
           "nothing, as sources stay (bulk_stable); or by the loop engine without a model "
           "(untuned), with the context's model (tuned, and guarded, which gives up plans that "
           "lose) or under a decomposition of the caller's (forced). Ranks must divide two axes of "
           "the array.",
       .factors = joined({nas_class_factor()}, decomposition_factors()),
       .variants = {"blocking", "fine", "hand", "hand4", kPencils, kPencilsBlocking, kPencilsBulk,
                    kBulkVariant, kBulkStable, "untuned", "tuned", "guarded", "forced"},
       .metric = {"time", "s", true},
       .rank_count = experiment::RankCount::power_of_two,
       .verification = "Each sample is all iterations of the benchmark, divided by their number: "
                       "every checksum to 1e-12, and weighted sums over everything that left a "
                       "rank and came to one."});
}

}  // namespace stripline::suites
