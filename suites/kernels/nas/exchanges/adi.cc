// kernel.nas_sp and kernel.nas_bt: the NAS benchmarks SP and BT, whose ghost layers are transfers
// of many regions and whose sweeps are pipelines through the ranks.
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stripline/bulk.h>

#include "suites/grids.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/nas/bt_sweeps.h"
#include "suites/kernels/nas/exchanges/adi_transfers.h"
#include "suites/kernels/nas/exchanges/factors.h"
#include "suites/kernels/nas/exchanges/measure_adi.h"
#include "suites/kernels/nas/sp_sweeps.h"
#include "suites/kernels/strided_variants.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr const char* kBulkBursts = "bulk_bursts";

template <typename Sweeps>
Result<SampleSeries> run(Session& session, const experiment::Point& point,
                         const experiment::StopRule& rule, std::span<const nas::AdiClass> classes,
                         AdiTransfers::PlainFaces plain_faces) {
  Context& ctx = session.context();
  STRIPLINE_RETURN_IF_ERROR(check_fine_class(point));
  STRIPLINE_ASSIGN_OR_RETURN(const StridedManner manner, strided_manner(ctx, point));
  const nas::AdiClass& problem = *nas::find_class(classes, nas_class_of(point));
  STRIPLINE_ASSIGN_OR_RETURN(
      const nas::AdiPartition partition,
      nas::AdiPartition::create(problem.points, ctx.rank_n(), ctx.rank_me()));
  const nas::AdiLayout layout(partition, Sweeps::kWidths);
  STRIPLINE_ASSIGN_OR_RETURN(AdiTransfers transfers,
                             AdiTransfers::create(ctx, manner, layout, plain_faces));
  nas::AdiShare share(layout, problem.dt, transfers.shared());
  share.count_work(ctx.work());
  std::optional<bulk_region> region;
  if (in_bulk_region(manner.variant)) region.emplace(ctx);

  const VisCounts counts(ctx);
  SampleSeries series = measure_adi<Sweeps>(session, rule, problem, share, transfers);
  series.note = series.verified ? strided_note(manner, counts) : kWrongResult;
  if (series.verified && transfers.most_pieces() > 1) {
    series.note += "; sweeps in up to " + std::to_string(transfers.most_pieces()) + " pieces";
  }
  return series;
}

Benchmark adi_benchmark(const experiment::Known& known, RunFunction run, std::string title,
                        const std::string& what, const std::string& plainly,
                        std::vector<std::string> variants) {
  return declare(
      {.known = known,
       .run = run,
       .title = std::move(title),
       .description =
           what +
           " Ranks have cells on the diagonals of a cube of cells, so that every sweep keeps all "
           "of them busy. At the start of a time step each rank gets the ghost layers of its "
           "cells, two points wide, each by one strided call: one after the other (blocking), or "
           "one number at a time, as the naive program has it (fine); all at once, the right-hand "
           "side of a cell being computed when its layers are there (hand). Or each rank puts what "
           "is a ghost layer of a neighbour into a buffer there, with a flag, by one call for each "
           "side, all at once: without a model (untuned), as the context's model says (tuned, and "
           "guarded, which gives up what loses) or by a given method (forced). packed is the "
           "classical method: what a neighbour needs of all cells is packed by the program and put "
           "there in one piece, with a flag that tells it so. Then, along each axis, the results "
           "of one cell are put to the rank that has the next one, with a flag, as a wavefront in "
           "`pieces`, which tuned plans (blocking puts a whole cell's, waits, and raises the flag "
           "then; fine puts and waits for every number). Programs that are written plainly have "
           "barriers in place of flags: " +
           plainly +
           ", and sweeps put the results of each row of lines, behind one barrier for each stage: "
           "one blocking call after the other (plain), all in flight (plain_hand), and the plain "
           "program in a bulk region (bulk). fine takes class S only: larger ones take "
           "millions of operations. All variants run the same loop bodies. A sample is the time of "
           "all time steps but the first three, divided by their number. The number of ranks must "
           "be a square, with four points a direction for each cell.",
       .factors = {nas_class_factor(), strided_method_factor(), sweep_pieces_factor()},
       .variants = std::move(variants),
       .metric = {"time_per_iteration", "s", true},
       .min_ranks = 1,
       .rank_count = experiment::RankCount::square,
       .verification =
           "Every repetition is a whole run of the benchmark, whose norms of residual and error "
           "are compared with the published ones, to 1e-8, and after three time steps with those "
           "that one rank computes, to 1e-12: later time steps undo what goes wrong in early ones.",
       // 1: tuned and forced made the calls of hand; 2: they put to where ghosts belong, in one
       // piece
       .version = 3});
}

}  // namespace

Benchmark nas_sp_benchmark() {
  return adi_benchmark(
      kernels::kNasSp,
      [](Session& session, const experiment::Point& point, const experiment::StopRule& rule) {
        return run<nas::SpSweeps>(session, point, rule, nas::sp_classes(),
                                  AdiTransfers::PlainFaces::puts);
      },
      "NAS SP: ghost layers and scalar sweeps",
      "The benchmark SP of the NAS Parallel Benchmarks: scalar pentadiagonal systems along all "
      "lines of a cube of points, axis by axis.",
      "ghost layers are packed and put one by one, and unpacked after one", plain_variant_names());
}

Benchmark nas_bt_benchmark() {
  std::vector<std::string> variants = plain_variant_names();
  variants.emplace_back(kBulkBursts);
  return adi_benchmark(
      kernels::kNasBt,
      [](Session& session, const experiment::Point& point, const experiment::StopRule& rule) {
        return run<nas::BtSweeps>(session, point, rule, nas::bt_classes(),
                                  AdiTransfers::PlainFaces::gets);
      },
      "NAS BT: ghost layers and block sweeps",
      "The benchmark BT of the NAS Parallel Benchmarks: block-tridiagonal systems along all lines "
      "of a cube of points, axis by axis.",
      "ghost layers are fetched run by run after one (in a burst in bulk_bursts)",
      std::move(variants));
}

}  // namespace stripline::suites
