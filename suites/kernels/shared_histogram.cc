// kernel.shared_histogram: the ranks of a node count into the same buckets.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <stripline/shared_updates.h>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/shared_team.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using Updates = SharedUpdates<uint64_t, op_add>;

constexpr const char* kDistribution = "distribution";
constexpr const char* kUpdatesFactor = "updates";
constexpr const char* kBuckets = "buckets";
constexpr const char* kHot = "hot";
constexpr const char* kWrongCounts = "verification failed: a count is wrong";

// Su, section 6.6.1: pages with up to 40000 links, most of them with fewer than 100, and about 100
// encodings of languages.
constexpr size_t kMostLinks = 40000;
constexpr size_t kUsualLinks = 100;
constexpr size_t kLanguages = 100;

double unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// The number of links of a page: few pages have none, the more links the fewer pages; a part of the
// others are of link farms, whose pages have as many each.
uint32_t links(SplitMix64& random) {
  constexpr double kUsual = 0.96;
  constexpr double kInFarms = 0.5;
  constexpr uint64_t kFarms = 8;
  const double kind = unit(random.next());
  const uint64_t bits = random.next();
  if (kind < kUsual) {
    return static_cast<uint32_t>(std::pow(unit(bits), 2) * static_cast<double>(kUsualLinks));
  }
  const uint64_t tail = kMostLinks + 1 - kUsualLinks;
  const bool in_farm = kind < kUsual + (1 - kUsual) * kInFarms;
  return static_cast<uint32_t>(kUsualLinks + (in_farm ? mix64(bits % kFarms) : bits) % tail);
}

struct Distribution {
  size_t buckets = 0;
  std::vector<uint32_t> keys;    // of this rank
  std::vector<uint64_t> counts;  // of all ranks
};

Distribution make_keys(const experiment::Point& point, const worker_team& team) {
  const std::string name = *experiment::text_param(point, kDistribution);
  const bool is_links = name == "out_degree";
  Distribution made;
  made.buckets = is_links             ? kMostLinks + 1
                 : name == "language" ? kLanguages
                                      : size_param(point, kBuckets);
  made.counts.resize(made.buckets);
  const size_t updates = size_param(point, kUpdatesFactor);
  for (uint32_t worker = 0; worker < team.count(); ++worker) {
    SplitMix64 random(derive_seed(0x415, worker));
    for (size_t i = 0; i < updates; ++i) {
      const auto key =
          is_links ? links(random) : static_cast<uint32_t>(random.next() % made.buckets);
      ++made.counts[key];
      if (worker == team.index()) made.keys.push_back(key);
    }
  }
  return made;
}

// What one writes by hand: counts of one's own, and then everybody adds up a part of all.
class ByHand {
 public:
  static Result<ByHand> create(worker_team& team, std::span<uint64_t> shared) {
    STRIPLINE_ASSIGN_OR_RETURN(auto own,
                               team_array<uint64_t>::create(team, team.count() * shared.size()));
    return ByHand(team, shared, std::move(own));
  }
  void count(std::span<const uint32_t> keys) {
    const std::span<uint64_t> mine = part(team_.index());
    std::ranges::fill(mine, 0);
    uint64_t* const counts = mine.data();
    for (const uint32_t key : keys) ++counts[key];
    team_.barrier();
    const size_t begin = shared_.size() * team_.index() / team_.count();
    const size_t end = shared_.size() * (team_.index() + 1) / team_.count();
    for (uint32_t worker = 0; worker < team_.count(); ++worker) {
      const uint64_t* const theirs = part(worker).data();
      for (size_t i = begin; i < end; ++i) shared_[i] += theirs[i];
    }
    team_.barrier();
  }

 private:
  ByHand(worker_team& team, std::span<uint64_t> shared, team_array<uint64_t> own)
      : team_(team), shared_(shared), own_(std::move(own)) {}
  std::span<uint64_t> part(uint32_t worker) const {
    return own_.all().subspan(worker * shared_.size(), shared_.size());
  }

  worker_team& team_;
  std::span<uint64_t> shared_;
  team_array<uint64_t> own_;
};

Result<SampleSeries> run_shared_histogram(Session& session, const experiment::Point& point,
                                          const experiment::StopRule& rule) {
  STRIPLINE_ASSIGN_OR_RETURN(const NodeTeam node, join_node_team(session));
  if (node.team == nullptr) return SampleSeries{};  // on another node
  worker_team& team = *node.team;
  const Distribution distribution = make_keys(point, team);
  const size_t updates = distribution.keys.size();
  STRIPLINE_ASSIGN_OR_RETURN(const auto counts,
                             team_array<uint64_t>::create(team, distribution.buckets));
  SharedUpdatesOptions options = shared_options(point);
  options.hot = {0, std::min(size_param(point, kHot), distribution.buckets)};
  STRIPLINE_ASSIGN_OR_RETURN(Updates shared, Updates::create(team, counts.all(), options));
  STRIPLINE_ASSIGN_OR_RETURN(ByHand by_hand, ByHand::create(team, counts.all()));
  const uint32_t* const keys = distribution.keys.data();
  const bool hand = point.variant == "by_hand";

  KernelParts parts;
  parts.prepare = [&](uint64_t) {
    if (team.index() == 0) std::ranges::fill(counts.all(), 0);
  };
  parts.run = [&] {
    if (hand) return by_hand.count(distribution.keys);
    shared.update_all(updates, [keys](uint64_t i) { return std::pair(keys[i], uint64_t{1}); });
    shared.finish();
  };
  parts.verify = [&](uint64_t) { return std::ranges::equal(counts.all(), distribution.counts); };
  parts.scale = 1 / static_cast<double>(updates);
  SampleSeries series = measure_kernel(*node.session, rule, parts);
  series.note = !series.verified ? kWrongCounts : hand ? "" : shared_note(shared.state());
  return series;
}

}  // namespace

Benchmark shared_histogram_benchmark() {
  experiment::Factor distribution;
  distribution.name = kDistribution;
  distribution.description =
      "Of the keys: uniform over `buckets`; numbers of links of web pages, of which 96 % are below "
      "100 and the others up to 40000 (out_degree); uniform over 100 (language).";
  distribution.values = {std::string("uniform"), std::string("out_degree"),
                         std::string("language")};
  return declare(
      {.known = kernels::kSharedHistogram,
       .run = run_shared_histogram,
       .title = "Histogram by the ranks of a node",
       .description =
           "The ranks of rank 0's node, which map each other's memory, count keys into buckets "
           "that all share (Su, section 6.6.1): under a lock for each cache line (locked), by "
           "atomic operations (atomic), in buckets of their own that are added up at the end "
           "(replicate), in such for the first `hot` buckets and by atomic operations for the "
           "others (hybrid; swept over `hot` it finds the best cut), or as SharedUpdates finds "
           "best while it runs (adaptive). by_hand is replicate without the library. A sample is "
           "the time of a rank's updates, adding up included, divided by their number.",
       .factors = {distribution,
                   integer_factor(kUpdatesFactor, "1", "Keys that a rank counts.",
                                  {1 << 21, 1 << 16, 1 << 23}, 1, 1 << 28),
                   integer_factor(kBuckets, "1", "Buckets of the uniform distribution.",
                                  {1 << 16, 1 << 10, 1 << 20}, 1, 1 << 22),
                   integer_factor(kHot, "1",
                                  "Buckets from the first one on that variant hybrid replicates.",
                                  {100, 0, 1000, 10000}, 0, 1 << 22),
                   shared_memory_factor()},
       .variants = {"locked", "atomic", "replicate", "hybrid", "adaptive", "by_hand"},
       .metric = {"time_per_update", "s", true},
       .verification = "Every rank compares all counts with its own, in every repetition."});
}

}  // namespace stripline::suites
