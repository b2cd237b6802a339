// kernel.index_gather: every rank reads elements of a table all over, each wherever it is.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <stripline/gather.h>
#include <stripline/shared_array.h>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/owner_buckets.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using Table = shared_array<uint64_t, block_cyclic<>>;

constexpr const char* kNaive = "naive";
constexpr const char* kWhole = "whole";
constexpr const char* kByHand = "by_hand";
constexpr const char* kTuned = "tuned";

constexpr const char* kReadsFactor = "reads";
constexpr const char* kElementsFactor = "elements_per_rank";
constexpr const char* kUsesFactor = "uses";

// Reading elements one by one over a network takes a round trip each.
constexpr size_t kNaiveReads = 1000;

// In rounds, as a program would whose buckets are to fit into a cache.
class GatherByHand {
 public:
  explicit GatherByHand(const Table& table) : table_(table), buckets_(table.context()) {}

  void gather(std::span<const uint64_t> index, std::span<uint64_t> result) {
    constexpr size_t kRound = size_t{1} << 16;
    for (size_t i = 0; i < index.size(); i += kRound) {
      const size_t reads = std::min(kRound, index.size() - i);
      gather_round(index.subspan(i, reads), result.subspan(i, reads));
    }
  }

 private:
  void gather_round(std::span<const uint64_t> index, std::span<uint64_t> result) {
    const std::span<const uint64_t> mine = table_.local_span();
    const auto owner_of = [this](uint64_t element) { return table_.affinity(element); };
    const std::span<const uint64_t> asked = buckets_.send(index, owner_of);
    answers_.resize(asked.size());
    for (size_t i = 0; i < asked.size(); ++i) {
      answers_[i] = mine[table_.distribution().locate(asked[i]).index];
    }
    buckets_.answer<uint64_t>(answers_, index, owner_of,
                              [result](size_t i, uint64_t value) { result[i] = value; });
  }

  Table table_;
  OwnerBuckets<uint64_t> buckets_;
  std::vector<uint64_t> answers_;
};

// Makes a plan in each repetition, as programs do that read by an index once or a few times.
Status gather_by_plan(const Table& table, std::span<const uint64_t> index, size_t uses,
                      std::span<uint64_t> result) {
  STRIPLINE_ASSIGN_OR_RETURN(GatherPlan<uint64_t> plan, GatherPlan<uint64_t>::create(table, index));
  for (size_t use = 0; use < uses; ++use) {
    plan.for_each(table, [result](size_t i, uint64_t value) { result[i] = value; });
  }
  return {};
}

Result<SampleSeries> run_index_gather(Session& session, const experiment::Point& point,
                                      const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const std::string& variant = point.variant;
  const size_t wanted = size_param(point, kReadsFactor);
  const size_t reads = variant == kNaive ? std::min(wanted, kNaiveReads) : wanted;
  const size_t uses = size_param(point, kUsesFactor);
  const uint64_t elements = size_param(point, kElementsFactor) * ctx.rank_n();
  STRIPLINE_ASSIGN_OR_RETURN(Table table,
                             Table::create(ctx, elements, blocked(elements, ctx.rank_n())));
  std::vector<uint64_t> index(reads);
  for (size_t i = 0; i < reads; ++i) index[i] = hash_of(7, ctx.rank_me(), i) % elements;
  std::vector<uint64_t> result(reads);
  std::vector<uint64_t> copy(variant == kWhole ? elements : 0);
  GatherByHand by_hand(table);

  Status status;
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    const std::span<uint64_t> mine = table.local_span();
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = mix64(table.index_of(i) + salt);
    std::ranges::fill(result, 0);
  };
  parts.run = [&] {
    if (variant == kTuned) {
      if (status.ok()) status = gather_by_plan(table, index, uses, result);
      return;
    }
    for (size_t use = 0; use < uses; ++use) {
      if (variant == kByHand) {
        by_hand.gather(index, result);
      } else if (variant == kWhole) {
        table.read_range(0, elements, copy.data());
        for (size_t i = 0; i < reads; ++i) result[i] = copy[index[i]];
      } else {
        for (size_t i = 0; i < reads; ++i) result[i] = table.read(index[i]);
      }
    }
  };
  parts.verify = [&](uint64_t salt) {
    for (size_t i = 0; i < reads; ++i) {
      if (result[i] != mix64(index[i] + salt)) return false;
    }
    return true;
  };
  parts.scale = 1 / static_cast<double>(reads * uses);
  SampleSeries series = measure_kernel(session, rule, parts);
  ctx.barrier();
  table.destroy();
  if (!status.ok()) return status.error();
  if (!series.verified) series.note = kWrongResult;
  return series;
}

}  // namespace

Benchmark index_gather_benchmark() {
  return declare(
      {.known = kernels::kIndexGather,
       .run = run_index_gather,
       .title = "Random reads of a table over all ranks",
       .description =
           "Every rank reads elements of a table, in blocks, wherever random numbers say (bale's "
           "indexgather). naive reads them one by one, at most 1000; whole reads the whole table "
           "and looks them up there; by_hand sorts what it asks for by owner and exchanges that "
           "and the answers with all_to_all_v, 65536 at a time; tuned is GatherPlan, which is made "
           "in each repetition, within what is timed.",
       .factors = {integer_factor(kReadsFactor, "1", "Reads of a rank.", {1 << 20}, 1, 1e9),
                   integer_factor(kElementsFactor, "1",
                                  "Elements of the table in each rank's part.", {1000, 1 << 20}, 1,
                                  1e9),
                   integer_factor(kUsesFactor, "1", "Gathers by the same index in a repetition.",
                                  {1, 10}, 1, 1e6)},
       .metric = {"time_per_read", "s", true},
       .min_ranks = 1,
       .verification = "Every rank compares all that it has read, in every repetition."});
}

}  // namespace stripline::suites
