// kernel.histogram: counts in bins that are spread over all ranks.
#include <cmath>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/update_variants.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr const char* kBinsFactor = "bins_per_rank";
constexpr const char* kUpdatesFactor = "updates";
constexpr const char* kKeysFactor = "keys";
constexpr const char* kUniform = "uniform";
constexpr const char* kOutDegree = "out_degree";
constexpr const char* kLanguage = "language";
constexpr const char* kSorting = "sorting";

struct Histogram {
  using Op = op_add;
  static uint64_t cell(uint64_t key, uint64_t /*cells*/) { return key; }
  static uint64_t value(uint64_t /*key*/) { return 1; }
};

/// Bins as the links that leave web pages have them, most of them few (Su, section 6.1).
constexpr uint64_t kHotLinks = 100;
constexpr uint64_t kMostLinks = 40000;
constexpr uint64_t kLanguages = 100;

uint64_t bins_of(const std::string& keys, uint64_t per_rank, rank_t ranks) {
  if (keys == kOutDegree) return std::max<uint64_t>(kMostLinks, ranks);
  if (keys == kLanguage) return std::max<uint64_t>(kLanguages, ranks);
  return per_rank * ranks;
}

uint64_t key_of(const std::string& keys, uint64_t bins, uint64_t random) {
  if (keys == kSorting) {  // the mean of four, as in NAS IS
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 4; ++i) sum += hash_of(random, i) % bins;
    return sum / 4;
  }
  if (keys != kOutDegree) return random % bins;
  // One page in 32 has more than the hot ones, as many in each octave.
  if (random % 32 != 0) return mix64(random) % kHotLinks;
  const double part = static_cast<double>(mix64(random) >> 11U) * 0x1p-53;
  const double links =
      static_cast<double>(kHotLinks) * std::pow(static_cast<double>(kMostLinks) / kHotLinks, part);
  return std::min(static_cast<uint64_t>(links), kMostLinks - 1);
}

constexpr const char* kWrongCounts = "verification failed: the counts are wrong";

// Each bin has a weight of its own; sums wrap.
uint64_t weight_of(uint64_t bin) { return mix64(bin); }

// Rank 0 counts its keys as often as there are ranks, in bins of its own.
SampleSeries run_sequential(Session& session, const experiment::StopRule& rule,
                            const std::string& keys_are, uint64_t bins, size_t updates) {
  Context& ctx = session.context();
  const bool counts_here = ctx.rank_me() == 0;
  std::vector<uint64_t> counts(counts_here ? bins : 0);
  std::vector<uint64_t> keys(counts_here ? updates : 0);
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    std::ranges::fill(counts, salt);
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = key_of(keys_are, bins, hash_of(salt, i));
  };
  parts.run = [&] {
    for (rank_t rank = 0; rank < ctx.rank_n(); ++rank) {
      for (const uint64_t key : keys) ++counts[key];
      count_updates_in_place(ctx.work(), keys.size());
    }
  };
  parts.verify = [&](uint64_t salt) {
    uint64_t difference = 0;
    for (size_t i = 0; i < counts.size(); ++i) difference += (counts[i] - salt) * weight_of(i);
    for (const uint64_t key : keys) difference -= ctx.rank_n() * weight_of(key);
    return difference == 0;
  };
  parts.scale = 1 / static_cast<double>(updates);
  return measure_kernel(session, rule, parts);
}

Result<SampleSeries> run_histogram(Session& session, const experiment::Point& point,
                                   const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const UpdateVariant variant = update_variant_of(point);
  STRIPLINE_ASSIGN_OR_RETURN(const UpdateOptions options, update_options_of(ctx, point));
  const size_t updates = updates_made(variant, size_param(point, kUpdatesFactor));
  const std::string keys_are = experiment::text_param(point, kKeysFactor).value_or(kUniform);
  const uint64_t bins = bins_of(keys_are, size_param(point, kBinsFactor), ctx.rank_n());
  if (variant == UpdateVariant::sequential) {
    SampleSeries series = run_sequential(session, rule, keys_are, bins, updates);
    if (!series.verified) series.note = kWrongCounts;
    return series;
  }
  using Counts = shared_array<uint64_t>;
  STRIPLINE_ASSIGN_OR_RETURN(Counts counts, Counts::create(ctx, bins));
  std::vector<uint64_t> keys(updates);
  SampleSeries series;
  {
    using Updater = Updates<Histogram, cyclic>;
    STRIPLINE_ASSIGN_OR_RETURN(Updater updater, Updater::create(counts, variant, 0, options));
    const team world = team::world(ctx);
    KernelParts parts;
    parts.prepare = [&](uint64_t salt) {
      for (uint64_t& count : counts.local_span()) count = salt;
      for (size_t i = 0; i < keys.size(); ++i) {
        keys[i] = key_of(keys_are, bins, hash_of(salt, ctx.rank_me(), i));
      }
    };
    parts.run = [&] { updater.run(keys); };
    parts.verify = [&](uint64_t salt) {
      uint64_t difference = 0;
      const std::span<const uint64_t> mine = counts.local_span();
      for (size_t i = 0; i < mine.size(); ++i) {
        difference += (mine[i] - salt) * weight_of(counts.index_of(i));
      }
      for (const uint64_t key : keys) difference -= weight_of(updater.cell_of(key));
      return world.allreduce(difference, op_add{}) == 0;
    };
    parts.scale = 1 / static_cast<double>(updates);
    series = measure_kernel(session, rule, parts);
    series.note = updater.note();
  }
  counts.destroy();
  if (!series.verified) series.note = kWrongCounts;
  return series;
}

}  // namespace

Benchmark histogram_benchmark() {
  return declare(
      {.known = kernels::kHistogram,
       .run = run_histogram,
       .title = "Histogram over all ranks",
       .description =
           "Every rank counts its keys in bins that are dealt out to the ranks one by one (Su, "
           "chapters 5 and 6; bale's histogram). naive gets a bin, adds 1 and puts it back; lock "
           "does so under one lock; atomics adds by an atomic_domain and waits at the end; by_hand "
           "sorts keys by owner and exchanges them with all_to_all_v, 65536 at a time; tuned is "
           "UpdateEpoch. The first three carry out at most 1000 updates a rank, and naive in bins "
           "that no other rank counts in, since it is not atomic. In sequential rank 0 alone "
           "counts as many keys as all ranks together, in bins of its own, so that the ratio of "
           "its time to another's is that variant's speed-up.",
       .factors = joined(
           {integer_factor(kUpdatesFactor, "1", "Keys of a rank.", {1 << 20}, 1, 1e9),
            integer_factor(kBinsFactor, "1", "Bins of a rank, for uniform and sorting.",
                           {1000, 1 << 20}, 1, 1e9),
            name_factor(kKeysFactor,
                        "uniform over all bins; out_degree: of 40000 bins most keys are in 100; "
                        "language: 100 bins; sorting: most near the middle, as NAS IS counts them.",
                        {kUniform, kOutDegree, kLanguage, kSorting})},
           update_factors()),
       .metric = {"time_per_update", "s", true},
       .min_ranks = 1,
       .verification = "The sum of all bins, each with a weight of its own, is compared with that "
                       "of all keys in every repetition."});
}

}  // namespace stripline::suites
