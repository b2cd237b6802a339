// kernel.nas_cg: the NAS CG benchmark, whose partial products are summed up by gets.
#include <array>
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
#include "suites/kernels/nas/cg_solver.h"
#include "suites/kernels/nas/exchanges/factors.h"
#include "suites/kernels/plain_copies.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using nas::CgPartition;
using nas::CgProblem;
using nas::CgShare;

// Adding a partner's sum: one's own is read, and the result written beside.
LoopOptions loop_of_stage(const CgShare& share) {
  LoopOptions options;
  options.loop.n_local_ref = 2;
  options.loop.n_fp_alu = 1;
  options.local_bytes = 2 * share.rows() * sizeof(double);
  return options;
}

// Partners say by flags when something can be fetched, and has been; programs that are written
// plainly have a barrier there instead.
class CgExchange {
 public:
  CgExchange(Context& context, Variant variant, bool plain, EngineLoop& engine,
             global_ptr<double> shared, global_ptr<uint64_t> flags, const CgShare& share)
      : context_(context),
        variant_(variant),
        plain_(plain),
        engine_(engine),
        shared_(shared),
        flags_(flags),
        row_(team::world(context).split(share.partition().row_of(share.me()), share.me())),
        buffer_(share.rows()),
        in_flight_(kHandParts) {}

  void sum_rows(CgShare& share) {
    ++product_;
    share.multiply(0, share.rows());
    const CgPartition& partition = share.partition();
    for (size_t stage = 0; stage < partition.stages(); ++stage) {
      const rank_t partner = partition.sum_partner(share.me(), stage);
      meet(partner, stage);
      if (plain_ && variant_ == Variant::blocking) {
        add_in_parts(share, stage, partner);
        continue;
      }
      const LoopBlock<const double> block{on(partner, partition.sums_offset(stage)), share.rows()};
      const auto body = [&](size_t, size_t begin, size_t end, const double* theirs) {
        share.add(stage, begin, end, theirs);
      };
      const VariantBuffers<double> buffers{buffer_.data(), in_flight_, share.rows()};
      run_variant(
          context_, variant_, engine_, std::span(&block, 1), buffers, [] {}, body);
    }
  }

  // Nothing is computed on what comes: one contiguous piece to where it belongs, in every variant
  // that does not move elements.
  void transpose(CgShare& share) {
    const CgPartition& partition = share.partition();
    const size_t whole = partition.stages();
    const rank_t partner = partition.transpose_partner(share.me());
    meet(partner, whole);
    const size_t source = partition.sums_offset(whole) + share.transpose_source();
    if (variant_ == Variant::fine) {
      for (size_t i = 0; i < share.cols(); ++i) {
        share.product()[i] = context_.rget(on(partner, source + i));
      }
    } else if (plain_ && variant_ == Variant::blocking) {
      memget(context_, share.product().data(), on(partner, source), share.cols());
    } else {
      context_.rget(on(partner, source), share.product().data(), share.cols()).wait();
    }
    if (!plain_) meet(partner, whole + 1);
  }

  double sum_row(CgShare&, double value) { return row_.allreduce(value, op_add{}); }

 private:
  global_ptr<const double> on(rank_t rank, size_t element) const {
    return context_.on_rank(shared_, rank) + static_cast<std::ptrdiff_t>(element);
  }
  // Through a buffer of a quarter of the sums.
  void add_in_parts(CgShare& share, size_t stage, rank_t partner) {
    const size_t sums = share.partition().sums_offset(stage);
    std::array<LoopBlock<const double>, kHandParts> parts{};
    std::array<size_t, kHandParts> first{};
    for (size_t part = 0; part < kHandParts; ++part) {
      first.at(part) = share.rows() * part / kHandParts;
      const size_t end = share.rows() * (part + 1) / kHandParts;
      parts.at(part) = {on(partner, sums + first.at(part)), end - first.at(part)};
    }
    run_blocking(context_, std::span<const LoopBlock<const double>>(parts), buffer_.data(),
                 [&](size_t part, size_t begin, size_t end, const double* theirs) {
                   share.add(stage, first.at(part) + begin, first.at(part) + end, theirs);
                 });
  }

  // Both have come to the same place of the same product. Bulk regions know phases by where their
  // barriers stand: each stage has one of its own, as in a program that has them written out.
  void meet(rank_t partner, size_t place) {
    if (plain_) {
      static constexpr char kPlace[] = "kernel.nas_cg, stage";
      return context_.barrier(CallSite{kPlace, static_cast<int>(place)});
    }
    if (partner == context_.rank_me()) return;
    const auto flag = flags_ + static_cast<std::ptrdiff_t>(place);
    context_.rput_signal(&product_, context_.on_rank(flag, partner), 0,
                         context_.on_rank(flag, partner), product_);
    context_.wait_signal(flag, product_);
  }

  Context& context_;
  Variant variant_;
  bool plain_;
  EngineLoop& engine_;
  global_ptr<double> shared_;
  global_ptr<uint64_t> flags_;
  team row_;
  std::vector<double> buffer_;
  std::vector<future> in_flight_;
  uint64_t product_ = 0;
};

Result<SampleSeries> run_cg(Session& session, const experiment::Point& point,
                            const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_RETURN_IF_ERROR(check_fine_class(point));
  const std::optional<PlainCopies> plain = plain_copies_of(point.variant);
  const Variant variant = !plain                       ? variant_of(point)
                          : plain == PlainCopies::hand ? Variant::hand4
                                                       : Variant::blocking;
  const CgProblem& problem = nas::cg_problem(nas_class_of(point));
  STRIPLINE_ASSIGN_OR_RETURN(const CgPartition partition,
                             CgPartition::create(problem, ctx.rank_n()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto shared,
                             SymmetricMemory<double>::create(ctx, partition.shared_elements()));
  const size_t places = partition.stages() + 2;
  STRIPLINE_ASSIGN_OR_RETURN(const auto flags, SymmetricMemory<uint64_t>::create(ctx, places));
  CgShare share(problem, partition, ctx.rank_me(),
                std::span(shared.here(), partition.shared_elements()));
  share.count_work(ctx.work());
  STRIPLINE_ASSIGN_OR_RETURN(EngineLoop engine,
                             make_engine_loop(ctx, point, loop_of_stage(share), sizeof(double)));
  CgExchange exchange(ctx, variant, plain.has_value(), engine, shared.on(ctx.rank_me()),
                      flags.on(ctx.rank_me()), share);
  ctx.barrier();
  std::optional<bulk_region> region;
  if (plain == PlainCopies::bulk) region.emplace(ctx);

  nas::CgResult result;
  KernelParts parts;
  parts.prepare = [&](uint64_t) {};
  parts.run = [&] { result = solve_cg(share, exchange); };
  parts.verify = [&](uint64_t) { return result.verified; };
  parts.scale = 1 / static_cast<double>(problem.iterations);
  SampleSeries series = measure_kernel(session, rule, parts);
  series.note = !series.verified ? kWrongResult
                : plain          ? plain_note(*plain)
                                 : kernel_note(ctx, variant, engine, share.rows(), share.rows());
  return series;
}

}  // namespace

Benchmark nas_cg_benchmark() {
  return declare(
      {.known = kernels::kNasCg,
       .run = run_cg,
       .title = "NAS CG",
       .description =
           "The conjugate-gradient benchmark of NPB in its two-dimensional partition: the parts of "
           "a product are summed up over a row of ranks in stages, in each of which a rank gets "
           "its partner's sums and adds them to its own, which is the loop that strips are made "
           "of: in one blocking transfer (blocking), element by element (fine, class S only: "
           "larger ones take millions of operations), in four nonblocking ones (hand4), or by the "
           "loop engine without a model (untuned), with the context's model (tuned, and guarded, "
           "which gives up plans that lose) or under a decomposition of the caller's (forced). One "
           "rank in each stage has one partner, so that issuing the whole without waiting gains "
           "nothing. The transposition of the sum, a copy, is the same in all variants but fine, "
           "which makes it element by element, too; the scalar sums are the same in all. The "
           "program that is written plainly has barriers in place of flags between partners, and "
           "gets a stage's sums in four blocking copies, each of which it adds (plain); the same "
           "with the four issued at once (plain_hand), and the plain program in a bulk region "
           "(bulk).",
       .factors = joined({nas_class_factor()}, decomposition_factors()),
       .variants = {"blocking", "fine", "hand4", kPlainVariant, kPlainHandVariant, kBulkVariant,
                    "untuned", "tuned", "guarded", "forced"},
       .metric = {"time", "s", true},
       .rank_count = experiment::RankCount::power_of_two,
       .verification = "Each sample is the whole benchmark, its time divided by its iterations: "
                       "the NAS value of zeta to 1e-10, and the residual of every iteration."});
}

}  // namespace stripline::suites
