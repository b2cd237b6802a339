// kernel.gups: random updates of a table that is spread over all ranks, as HPCC's RandomAccess.
#include <bit>
#include <optional>

#include <stripline/bulk.h>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/plain_copies.h"
#include "suites/kernels/symmetric_memory.h"
#include "suites/kernels/update_ways.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr const char* kLog2CellsFactor = "log2_cells";
constexpr const char* kUpdatesFactor = "updates";
constexpr const char* kLookAheadFactor = "look_ahead";

struct RandomAccess {
  using Op = op_bit_xor;
  static uint64_t cell(uint64_t key, uint64_t cells) { return key & (cells - 1); }
  static uint64_t value(uint64_t key) { return key; }
};

// What a cell adds to a sum without carries, by its place and value.
uint64_t share(uint64_t cell, uint64_t value) {
  return std::rotl(value, static_cast<int>(mix64(cell) % 64));
}

using GupsTable = shared_array<uint64_t, block_cyclic<>>;

// The program in bulk that is written plainly: keys are sorted into a bucket for each owner, which
// is copied into the rank's box there, behind its length; after a barrier, owners apply what is in
// their boxes (Chen, Optimizing PGAS Programs for Cluster Architectures, 2007, table 3.2).
class BucketCopies {
 public:
  /// Collective. A round sends this number of keys.
  static Result<BucketCopies> create(GupsTable& table, size_t round, bool by_hand) {
    Context& context = table.context();
    STRIPLINE_ASSIGN_OR_RETURN(auto boxes, SymmetricMemory<uint64_t>::create(
                                               context, kTurns * context.rank_n() * (round + 1)));
    return BucketCopies(table, round, by_hand, std::move(boxes));
  }

  /// Collective; as many keys on every rank. All updates are made when it returns.
  void run(std::span<const uint64_t> keys) {
    for (size_t i = 0; i < keys.size(); i += round_) {
      send(keys.subspan(i, std::min(round_, keys.size() - i)));
    }
  }

 private:
  // A rank copies into a box again two rounds later, behind a barrier that the owner enters when it
  // has applied that box.
  static constexpr size_t kTurns = 2;

  BucketCopies(GupsTable& table, size_t round, bool by_hand, SymmetricMemory<uint64_t> boxes)
      : context_(&table.context()),
        table_(&table),
        round_(round),
        boxes_(std::move(boxes)),
        copies_(table.context(), by_hand),
        begin_(table.context().rank_n() + 1),
        next_(table.context().rank_n()),
        sorted_(round + table.context().rank_n()) {}

  uint64_t cell_of(uint64_t key) const { return RandomAccess::cell(key, table_->size()); }
  std::ptrdiff_t box_of(rank_t from) const {
    return static_cast<std::ptrdiff_t>((turn_ * context_->rank_n() + from) * (round_ + 1));
  }

  // Bucket by bucket, each behind its length.
  void sort(std::span<const uint64_t> keys) {
    std::ranges::fill(next_, size_t{0});
    for (const uint64_t key : keys) ++next_[table_->affinity(cell_of(key))];
    begin_[0] = 0;
    for (size_t rank = 0; rank < next_.size(); ++rank) {
      sorted_[begin_[rank]] = next_[rank];
      begin_[rank + 1] = begin_[rank] + 1 + next_[rank];
      next_[rank] = begin_[rank] + 1;
    }
    for (const uint64_t key : keys) sorted_[next_[table_->affinity(cell_of(key))]++] = key;
    if (Work* const work = context_->work()) {  // each is read to be counted, then moved
      work->compute(static_cast<double>(keys.size()), 3 * static_cast<double>(keys.size_bytes()));
    }
  }

  void apply(std::span<const uint64_t> keys) {
    const std::span<uint64_t> mine = table_->local_span();
    for (const uint64_t key : keys) {
      uint64_t& cell = mine[table_->distribution().locate(cell_of(key)).index];
      cell = RandomAccess::Op{}(cell, RandomAccess::value(key));
    }
    count_updates_in_place(context_->work(), keys.size());
  }

  void send(std::span<const uint64_t> keys) {
    const rank_t me = context_->rank_me();
    const rank_t ranks = context_->rank_n();
    sort(keys);
    for (rank_t step = 1; step < ranks; ++step) {
      const rank_t owner = (me + step) % ranks;
      const uint64_t* const bucket = sorted_.data() + begin_[owner];
      copies_.put(boxes_.on(owner) + box_of(me), bucket, begin_[owner + 1] - begin_[owner]);
    }
    apply(std::span(sorted_).subspan(begin_[me] + 1, begin_[me + 1] - begin_[me] - 1));
    copies_.finish();
    context_->barrier();
    for (rank_t step = 1; step < ranks; ++step) {
      const uint64_t* const box = boxes_.here() + box_of((me + ranks - step) % ranks);
      apply({box + 1, static_cast<size_t>(*box)});
    }
    turn_ = (turn_ + 1) % kTurns;
  }

  Context* context_;
  GupsTable* table_;
  size_t round_;
  SymmetricMemory<uint64_t> boxes_;  // [turn][rank that sends]
  CopyCalls copies_;
  std::vector<size_t> begin_;  // of each owner's bucket
  std::vector<size_t> next_;
  std::vector<uint64_t> sorted_;
  size_t turn_ = 0;
};

// How many keys a plain program sends at a time: HPCC allows 1024.
size_t round_of(const experiment::Point& point) {
  constexpr size_t kRound = 1024;
  const size_t look_ahead = size_param(point, kLookAheadFactor);
  return look_ahead == 0 ? kRound : look_ahead;
}

Result<SampleSeries> run_gups(Session& session, const experiment::Point& point,
                              const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const std::optional<PlainCopies> plain = plain_copies_of(point.variant);
  const UpdateWay way = plain ? UpdateWay::by_hand : update_way_of(point);
  STRIPLINE_ASSIGN_OR_RETURN(const UpdateOptions options, update_options_of(ctx, point));
  const size_t updates = updates_made(way, size_param(point, kUpdatesFactor));
  const uint64_t cells = uint64_t{1} << size_param(point, kLog2CellsFactor);
  STRIPLINE_ASSIGN_OR_RETURN(GupsTable table,
                             GupsTable::create(ctx, cells, blocked(cells, ctx.rank_n())));
  std::vector<uint64_t> keys(updates);
  SampleSeries series;
  {
    using Updater = Updates<RandomAccess, block_cyclic<>>;
    STRIPLINE_ASSIGN_OR_RETURN(
        Updater updater, Updater::create(table, way, size_param(point, kLookAheadFactor), options));
    std::optional<BucketCopies> buckets;
    if (plain) {
      STRIPLINE_ASSIGN_OR_RETURN(
          BucketCopies made,
          BucketCopies::create(table, round_of(point), plain == PlainCopies::hand));
      buckets.emplace(std::move(made));
    }
    std::optional<bulk_region> region;
    if (plain == PlainCopies::bulk) region.emplace(ctx);
    const team world = team::world(ctx);
    KernelParts parts;
    parts.prepare = [&](uint64_t salt) {
      const std::span<uint64_t> mine = table.local_span();
      for (size_t i = 0; i < mine.size(); ++i) mine[i] = table.index_of(i) + salt;
      for (size_t i = 0; i < keys.size(); ++i) keys[i] = hash_of(salt, ctx.rank_me(), i);
    };
    parts.run = [&] {
      if (buckets) return buckets->run(keys);
      updater.run(keys);
    };
    parts.verify = [&](uint64_t salt) {
      uint64_t difference = 0;
      const std::span<const uint64_t> mine = table.local_span();
      for (size_t i = 0; i < mine.size(); ++i) {
        const uint64_t cell = table.index_of(i);
        difference ^= share(cell, mine[i] ^ (cell + salt));
      }
      for (const uint64_t key : keys) {
        difference ^= share(updater.cell_of(key), RandomAccess::value(key));
      }
      return world.allreduce(difference, op_bit_xor{}) == 0;
    };
    parts.scale = 1 / static_cast<double>(updates);
    series = measure_kernel(session, rule, parts);
    series.note = plain ? plain_note(*plain) : updater.note();
  }
  table.destroy();
  if (!series.verified) series.note = "verification failed: the table is wrong";
  return series;
}

}  // namespace

Benchmark gups_benchmark() {
  return declare(
      {.known = kernels::kGups,
       .run = run_gups,
       .title = "Random updates of a table over all ranks",
       .description =
           "Every rank combines random numbers with the cells of a table that they name, by "
           "exclusive or: RandomAccess of the HPC Challenge, in a table in blocks. With "
           "look_ahead, at most so many updates of a rank wait to be carried out (HPCC: 1024), "
           "which by_hand and tuned keep by an exchange, or a flush, after so many. Variants and "
           "their limits are those of kernel.histogram, and the program in bulk that is written "
           "plainly: a rank sorts this number of keys into a bucket for each owner, copies each to "
           "it in a blocking call, and after a barrier applies what came (plain); the same with "
           "all buckets in flight (plain_hand), and the plain program in a bulk region (bulk).",
       .factors =
           joined({integer_factor(kUpdatesFactor, "1", "Updates of a rank.", {1 << 20}, 1, 1e9),
                   integer_factor(kLog2CellsFactor, "1",
                                  "Base-2 logarithm of the cells of the table.", {20}, 10, 40),
                   integer_factor(kLookAheadFactor, "1", "Updates that may wait; 0: any number.",
                                  {1024, 0}, 0, 1e9)},
                  update_factors()),
       .metric = {"time_per_update", "s", true},
       .min_ranks = 1,
       .verification =
           "What all cells differ by from their first values, rotated by their places, is combined "
           "and compared with the same of all updates in every repetition."});
}

}  // namespace stripline::suites
