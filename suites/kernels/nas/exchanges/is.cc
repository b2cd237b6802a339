// kernel.nas_is: the NAS IS benchmark, whose keys are fetched and counted by their new owners.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stripline/bulk.h>
#include <stripline/team.h>

#include "suites/grids.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/nas/exchanges/factors.h"
#include "suites/kernels/nas/is_solver.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using nas::IsPartition;
using nas::IsProblem;
using nas::IsShare;

// Counting keys: a counter of each is incremented; the counters are what has to stay in a cache.
LoopOptions loop_of(const IsProblem& problem, const IsPartition& partition) {
  LoopOptions options;
  options.loop.n_local_ref = 1;
  options.loop.n_int_alu = 1;
  options.local_bytes = problem.max_key() / partition.ranks() * sizeof(uint32_t);
  // About; what a rank has of its own range changes from iteration to iteration.
  options.own_count = partition.keys_per_rank() / partition.ranks();
  return options;
}

class IsExchange {
 public:
  IsExchange(Context& context, Variant variant, EngineLoop& engine, global_ptr<uint32_t> shared,
             global_ptr<double> word)
      : context_(context),
        variant_(variant),
        engine_(engine),
        shared_(shared),
        word_(word),
        world_(team::world(context)),
        in_flight_(kHandParts * context.rank_n()) {}

  void sum_counts(IsShare& share) {
    share.scatter(0, share.partition().keys_per_rank());
    const std::span<const uint32_t> counts = share.counts();
    world_.allreduce(counts, share.totals(), op_add{});
  }

  void trade_segments(IsShare& share) {
    context_.barrier();  // all segments have been written, and all keys scattered
    const rank_t ranks = context_.rank_n();
    std::vector<nas::IsSegment> segments(ranks);
    std::vector<future> all(ranks);
    const auto mine =
        static_cast<std::ptrdiff_t>(share.partition().segments_offset() + 2 * size_t{share.me()});
    for (rank_t rank = 0; rank < ranks; ++rank) {
      all[rank] = context_.rget(context_.on_rank(shared_, rank) + mine, &segments[rank].begin, 2);
    }
    for (rank_t rank = 0; rank < ranks; ++rank) {
      all[rank].wait();
      share.set_segment(rank, segments[rank]);
    }
  }

  // Each rank begins with its successor, so that they do not all read from rank 0 at once.
  void trade_keys(IsShare& share) {
    const rank_t ranks = context_.rank_n();
    const rank_t me = share.me();
    const size_t outgoing = share.partition().outgoing_offset();
    size_t keys = 0;
    blocks_.clear();
    for (rank_t step = 1; step < ranks; ++step) {
      const rank_t rank = (me + step) % ranks;
      const nas::IsSegment segment = share.segment(rank);
      blocks_.push_back(
          {context_.on_rank(shared_, rank) + static_cast<std::ptrdiff_t>(outgoing + segment.begin),
           segment.count, share.incoming().data() + share.place_of(rank)});
      keys += segment.count;
    }
    const auto own_work = [&] {
      const nas::IsSegment own = share.segment(me);
      const size_t place = share.place_of(me);
      std::copy_n(context_.local(shared_) + outgoing + own.begin, own.count,
                  share.incoming().data() + place);
      count_copy(context_.work(), 1, own.count * sizeof(uint32_t));
      share.count_keys(place, place + own.count);
    };
    const auto body = [&](size_t block, size_t begin, size_t end, const uint32_t*) {
      const size_t place = share.place_of(static_cast<uint32_t>((me + 1 + block) % ranks));
      share.count_keys(place + begin, place + end);
    };
    const VariantBuffers<uint32_t> buffers{nullptr, in_flight_, keys};
    run_variant(context_, variant_, engine_, std::span<const LoopBlock<const uint32_t>>(blocks_),
                buffers, own_work, body);
    context_.barrier();  // what was outgoing may be overwritten
  }

  double sum(IsShare&, double value) { return world_.allreduce(value, op_add{}); }

  double from_previous(IsShare& share, double value) {
    const rank_t next = (share.me() + 1) % context_.rank_n();
    context_.rput(&value, context_.on_rank(word_, next), 1).wait();
    context_.barrier();
    const double previous = *context_.local(word_);
    context_.barrier();
    return previous;
  }

 private:
  Context& context_;
  Variant variant_;
  EngineLoop& engine_;
  global_ptr<uint32_t> shared_;
  global_ptr<double> word_;
  team world_;
  std::vector<future> in_flight_;
  std::vector<LoopBlock<const uint32_t>> blocks_;
};

Result<SampleSeries> run_is(Session& session, const experiment::Point& point,
                            const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_RETURN_IF_ERROR(check_fine_class(point));
  const bool bulk = point.variant == kBulkVariant;
  const Variant variant = bulk ? Variant::blocking : variant_of(point);
  const IsProblem& problem = nas::is_problem(nas_class_of(point));
  STRIPLINE_ASSIGN_OR_RETURN(const IsPartition partition,
                             IsPartition::create(problem, ctx.rank_n()));
  STRIPLINE_ASSIGN_OR_RETURN(
      EngineLoop engine,
      make_engine_loop(ctx, point, loop_of(problem, partition), sizeof(uint32_t)));
  STRIPLINE_ASSIGN_OR_RETURN(const auto shared,
                             SymmetricMemory<uint32_t>::create(ctx, partition.shared_elements()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto word, SymmetricMemory<double>::create(ctx, 1));
  IsShare share(problem, partition, ctx.rank_me(),
                std::span(shared.here(), partition.shared_elements()));
  share.count_work(ctx.work());
  IsExchange exchange(ctx, variant, engine, shared.on(ctx.rank_me()), word.on(ctx.rank_me()));
  // With room for all keys: half of it is for gets.
  std::optional<bulk_region> region;
  if (bulk) {
    region.emplace(ctx, BulkOptions{.buffer_bytes = 2 * partition.room() * sizeof(uint32_t)});
  }

  KernelParts parts;
  parts.prepare = [&](uint64_t) { share.start(); };
  parts.run = [&] {
    for (size_t i = 1; i <= nas::kIsIterations; ++i) iterate_is(share, exchange, i);
  };
  parts.verify = [&](uint64_t) { return verify_is(share, exchange).verified; };
  parts.scale = 1 / static_cast<double>(nas::kIsIterations);
  SampleSeries series = measure_kernel(session, rule, parts);
  series.note = !series.verified ? kWrongResult
                : bulk           ? "blocking in a bulk region"
                                 : kernel_note(ctx, variant, engine, 0, 0);
  return series;
}

}  // namespace

Benchmark nas_is_benchmark() {
  std::vector<std::string> variants = variant_names();
  variants.insert(std::ranges::find(variants, std::string("untuned")), kBulkVariant);
  return declare(
      {.known = kernels::kNasIs,
       .run = run_is,
       .title = "NAS IS",
       .description =
           "The integer-sort benchmark of NPB: every rank gets its keys from every other one, "
           "parts of unequal sizes, and counts them, which is the loop that strips are made of. "
           "Part by part in blocking transfers (blocking), key by key (fine, class S only: larger "
           "ones take millions of operations), all parts issued up front (hand), in four pieces "
           "each (hand4), the blocking program in a bulk region (bulk), or by the loop engine "
           "without a model (untuned), with the context's "
           "model (tuned, and guarded, which gives up plans that lose) or under a decomposition of "
           "the caller's (forced). The own keys are counted meanwhile; counts of buckets are "
           "summed up by the same collective in all variants.",
       .factors = joined({nas_class_factor()}, decomposition_factors()),
       .variants = std::move(variants),
       .metric = {"time", "s", true},
       .rank_count = experiment::RankCount::power_of_two,
       .verification =
           "Each sample is all iterations of the benchmark, divided by their number: the published "
           "ranks, the order of all keys, and that none was lost or changed in transit."});
}

}  // namespace stripline::suites
