// kernel.nas_mg: the NAS benchmark MG, whose ghost faces are transfers of many regions.
#include <optional>

#include <stripline/bulk.h>

#include "suites/grids.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/nas/exchanges/factors.h"
#include "suites/kernels/nas/exchanges/measure_mg.h"
#include "suites/kernels/nas/exchanges/mg_transfers.h"
#include "suites/kernels/strided_variants.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

Result<SampleSeries> run_mg(Session& session, const experiment::Point& point,
                            const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_RETURN_IF_ERROR(check_fine_class(point));
  STRIPLINE_ASSIGN_OR_RETURN(const StridedManner manner, strided_manner(ctx, point));
  const nas::MgProblem& problem = nas::mg_problem(nas_class_of(point));
  STRIPLINE_ASSIGN_OR_RETURN(const nas::MgPartition partition,
                             nas::MgPartition::create(problem, ctx.rank_n()));
  STRIPLINE_ASSIGN_OR_RETURN(MgTransfers transfers, MgTransfers::create(ctx, manner, partition));
  nas::MgShare share(problem, partition, ctx.rank_me(), transfers.shared());
  share.count_work(ctx.work());
  std::optional<bulk_region> region;
  if (in_bulk_region(manner.variant)) region.emplace(ctx);

  const VisCounts counts(ctx);
  SampleSeries series = measure_mg(session, rule, share, transfers);
  series.note = series.verified ? strided_note(manner, counts) : kWrongResult;
  return series;
}

}  // namespace

Benchmark nas_mg_benchmark() {
  return declare(
      {.known = kernels::kNasMg,
       .run = run_mg,
       .title = "NAS MG: ghost faces of boxes",
       .description =
           "The benchmark MG of the NAS Parallel Benchmarks: V-cycles on a cube of points that a "
           "grid of ranks divides into boxes, whose faces of ghost points are exchanged axis by "
           "axis. What leaves a box lies in single points (x, from 8 ranks on), in rows (y, from 4 "
           "ranks on) or in one piece (z). Each rank puts its points to where its neighbour has "
           "its ghosts, by one strided call for each face: one after the other (blocking) or both "
           "of an axis at once (hand), and then a flag; what lies in one piece takes the flag "
           "along, except under blocking. The naive program puts one point at a time and waits for "
           "each (fine, class S only: larger ones take millions of operations). With puts that "
           "raise their flag themselves, both of an axis are carried out without a model "
           "(untuned), as the context's model says (tuned, and guarded, which gives up what loses) "
           "or by a given method (forced), and may still be leaving while the next step computes; "
           "what does not lie in one piece goes into a buffer at the neighbour and is unpacked "
           "there. packed is the classical method: each face is packed by the program, put into a "
           "buffer at the neighbour with a flag that tells it so, and unpacked there. Programs "
           "that are written plainly copy what they have packed in one blocking call after the "
           "other, and have a barrier in place of flags (plain); the same with both calls of an "
           "axis in flight (plain_hand), and the plain program in a bulk region (bulk). The "
           "replicated coarse grid is gathered by strided puts (blocking, hand), point by point "
           "(fine) or by a collective operation (the others). All variants run the same loop "
           "bodies. A sample is the time of all iterations, without the start, divided by their "
           "number. The number of ranks must be a power of two.",
       .factors = {nas_class_factor(), strided_method_factor()},
       .variants = plain_variant_names(),
       .metric = {"time_per_iteration", "s", true},
       .min_ranks = 1,
       .rank_count = experiment::RankCount::power_of_two,
       .verification = "Every repetition is a whole run of the benchmark, whose last norm of the "
                       "residual is compared with the published one, to 1e-8.",
       // 1: tuned and forced made the calls of hand; 2: they put to where ghosts belong
       .version = 3});
}

}  // namespace stripline::suites
