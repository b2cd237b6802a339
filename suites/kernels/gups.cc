// kernel.gups: random updates of a table that is spread over all ranks, as HPCC's RandomAccess.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include <stripline/bulk.h>
#include <stripline/fine.h>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/bucket_copies.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/plain_copies.h"
#include "suites/kernels/update_variants.h"

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

using Table = shared_array<uint64_t, block_cyclic<>>;

// The naive program, unrolled: all reads of a group of keys come before its writes,
// so that they may overlap. Cells of a group are different ones, as a program that is unrolled by
// hand has to see to.
class UnrolledUpdates {
 public:
  explicit UnrolledUpdates(const Table& table) : table_(table) {}

  // Each access in a fine_region.
  void run_in_region(std::span<const uint64_t> keys) {
    fine_region fine(table_.context());
    std::vector<lazy<uint64_t>> values;
    for_each_group(keys, [&](std::span<const uint64_t> cells, std::span<const uint64_t> some) {
      for (const uint64_t cell : cells) values.push_back(fine.read(table_.global(cell)));
      for (size_t i = 0; i < cells.size(); ++i) {
        fine.write(table_.global(cells[i]), updated(values[i], some[i]));
      }
      values.clear();
    });
  }
  // Nonblocking accesses, which are waited for by hand.
  void run_by_hand(std::span<const uint64_t> keys) {
    std::array<uint64_t, kUnrolled> values{};
    std::vector<future> in_flight;
    const auto complete = [&in_flight] {
      wait_all(in_flight);
      in_flight.clear();
    };
    for_each_group(keys, [&](std::span<const uint64_t> cells, std::span<const uint64_t> some) {
      for (size_t i = 0; i < cells.size(); ++i) {
        in_flight.push_back(table_.rget(cells[i], &values[i]));
      }
      complete();
      for (size_t i = 0; i < cells.size(); ++i) {
        values[i] = updated(values[i], some[i]);
        in_flight.push_back(table_.rput(&values[i], cells[i]));
      }
      complete();
    });
  }

 private:
  static constexpr size_t kUnrolled = 16;

  static uint64_t updated(uint64_t value, uint64_t key) {
    return RandomAccess::Op{}(value, RandomAccess::value(key));
  }
  template <typename CarryOut>
  void for_each_group(std::span<const uint64_t> keys, const CarryOut& carry_out) {
    std::vector<uint64_t> cells;
    size_t first = 0;
    const auto end_group = [&](size_t next) {
      carry_out(std::span<const uint64_t>(cells), keys.subspan(first, next - first));
      cells.clear();
      first = next;
    };
    for (size_t i = 0; i < keys.size(); ++i) {
      const uint64_t cell = exclusive_cell<RandomAccess>(table_, keys[i]);
      if (cells.size() == kUnrolled || std::ranges::find(cells, cell) != cells.end()) end_group(i);
      cells.push_back(cell);
    }
    end_group(keys.size());
    if (Work* const work = table_.context().work()) {
      work->compute(static_cast<double>(keys.size()),
                    static_cast<double>(keys.size() * sizeof(uint64_t)));
    }
  }

  const Table& table_;
};

// What a cell adds to a sum without carries, by its place and value.
uint64_t share(uint64_t cell, uint64_t value) {
  return std::rotl(value, static_cast<int>(mix64(cell) % 64));
}

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
  const bool in_region = point.variant == variant::kFineRegion;
  const bool unrolled = in_region || point.variant == "unrolled";
  const UpdateVariant variant = update_variant_of(point);
  STRIPLINE_ASSIGN_OR_RETURN(const UpdateOptions options, update_options_of(ctx, point));
  // Updates in bulk are of any cell, as by_hand's; unrolled ones, and those in a region, are those
  // of naive.
  const size_t asked = size_param(point, kUpdatesFactor);
  const size_t updates = plain ? asked : updates_made(variant, asked);
  const uint64_t cells = uint64_t{1} << size_param(point, kLog2CellsFactor);
  STRIPLINE_ASSIGN_OR_RETURN(Table table, Table::create(ctx, cells, blocked(cells, ctx.rank_n())));
  std::vector<uint64_t> keys(updates);
  SampleSeries series;
  {
    using Singles = Updates<RandomAccess, block_cyclic<>>;
    STRIPLINE_ASSIGN_OR_RETURN(
        Singles singles,
        Singles::create(table, variant, size_param(point, kLookAheadFactor), options));
    using Buckets = BucketCopies<RandomAccess, block_cyclic<>>;
    std::optional<Buckets> buckets;
    if (plain) {
      STRIPLINE_ASSIGN_OR_RETURN(
          Buckets made, Buckets::create(table, round_of(point), plain == PlainCopies::hand));
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
      if (in_region) {
        UnrolledUpdates(table).run_in_region(keys);
      } else if (unrolled) {
        UnrolledUpdates(table).run_by_hand(keys);
      } else {
        singles.run(keys);
      }
      if (unrolled) ctx.barrier();
    };
    parts.verify = [&](uint64_t salt) {
      uint64_t difference = 0;
      const std::span<const uint64_t> mine = table.local_span();
      for (size_t i = 0; i < mine.size(); ++i) {
        const uint64_t cell = table.index_of(i);
        difference ^= share(cell, mine[i] ^ (cell + salt));
      }
      for (const uint64_t key : keys) {
        const uint64_t cell = plain ? RandomAccess::cell(key, cells) : singles.cell_of(key);
        difference ^= share(cell, RandomAccess::value(key));
      }
      return world.allreduce(difference, op_bit_xor{}) == 0;
    };
    parts.scale = 1 / static_cast<double>(updates);
    series = measure_kernel(session, rule, parts);
    series.note = plain ? plain_note(*plain) : singles.note();
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
           "look_ahead, a rank has at most that number of updates that wait to be carried out "
           "(HPCC: 1024), which by_hand and tuned keep by an exchange, or a flush, once it is "
           "reached. Variants and "
           "their limits are those of kernel.histogram; besides, naive in groups of 16 different "
           "cells, which are read before they are written: by futures (unrolled), or in a "
           "fine_region without any (fine_region); and the program in bulk that is written "
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
