// How often do intervals contain the truth when a campaign has ended? Synthetic campaigns are
// measured as next_run() says, with budgets that suffice, are tight or are too small, runs that are
// lost and measured again, and ends as soon as intervals are narrow; then what they say of points
// and of parameters is compared with what is so.
//
//   campaign_coverage [--campaigns N] [--first-seed N]
//
// Exits with 1 when the coverage of points or of parameters is below 95 % by more than two standard
// errors (over campaigns, whose intervals are not independent), and with 2 for wrong arguments.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "optimizer/campaign/next_run.h"
#include "optimizer/campaign/point_table.h"
#include "optimizer/fit/operation.h"
#include "optimizer/fit/samples.h"
#include "optimizer/fit/testing/coverage.h"
#include "optimizer/fit/testing/synthetic.h"

namespace stripline::campaign {
namespace {

constexpr double kAsked = 0.95;
constexpr double kErrors = 2;
constexpr uint32_t kEnoughRuns = 6;
constexpr uint32_t kFewestRuns = 3;
constexpr double kStartS = 1;
constexpr uint32_t kReps = 8;
// A run is lost at a random moment, and measured again.
constexpr double kLost = 0.1;

// What chance decides of a campaign.
struct Circumstances {
  fit::NoiseModel noise;
  double width = 0;
  double point_s = 0;
  double time_budget_s = 0;
  double node_budget_s = 0;
};

Circumstances draw(std::mt19937_64& random) {
  std::uniform_real_distribution<double> share(0, 1);
  Circumstances drawn;
  drawn.noise.between_runs = 0.005 + 0.045 * share(random);
  drawn.noise.within_run = 0.01 + 0.09 * share(random);
  drawn.noise.effect = share(random) < 0.5 ? fit::RunEffect::shared : fit::RunEffect::per_point;
  constexpr double kWidths[] = {0, 0.02, 0.05};
  drawn.width = kWidths[random() % std::size(kWidths)];
  drawn.point_s = 0.002 + 0.02 * share(random);
  // From what a few runs of the coarsest grid take to more than all runs of all points take.
  drawn.time_budget_s = 15 * std::exp(3 * share(random));
  drawn.node_budget_s = share(random) < 0.3 ? 2 * drawn.time_budget_s * share(random) + 20
                                            : std::numeric_limits<double>::infinity();
  return drawn;
}

fit::NestedPoints plan_of(const std::vector<fit::TrueOperation>& machine) {
  // As many as the planner gives to budgeted campaigns on a virtual clock, and their coarser grids.
  const fit::SyntheticCampaign all = fit::full_campaign();
  const fit::SyntheticCampaign grids[] = {thinned(all, 3, 4), thinned(all, 12, 5),
                                          thinned(all, 18, 10)};
  return fit::nested_points(machine, grids);
}

struct Ended {
  StopReason reason = StopReason::max_runs;
  bool usable = false;
  uint32_t runs = 0;
  uint32_t lost = 0;
  PointTable table;
  std::vector<experiment::SampleSeries> series;
};

class Campaign {
 public:
  Campaign(const std::vector<fit::TrueOperation>& machine, const fit::NestedPoints& plan,
           uint64_t seed)
      : machine_(machine), seed_(seed), random_(seed), drawn_(draw(random_)) {
    rule_.enough_runs = kEnoughRuns;
    rule_.fewest_runs = kFewestRuns;
    rule_.width = drawn_.width;
    rule_.pilot = true;
    rule_.least_points = plan.least;
    rule_.core_points = plan.core;
    rule_.all_points = static_cast<uint32_t>(plan.points.size());
    rule_.time_budget_s = drawn_.time_budget_s;
    rule_.node_budget_s = drawn_.node_budget_s;
    rule_.nodes = 2;
    rule_.refine_breaks = true;
    ended_.table = PointTable(plan.points);
  }

  Ended finish() {
    for (uint64_t attempt = 1; true; ++attempt) {
      const Next next = next_run(rule_, progress_);
      if (next.done) return end(*next.done, next.usable);
      if (!make(next, attempt)) return end(cut_short(), enough());
    }
  }

 private:
  bool enough() const { return progress_.runs.size() >= kFewestRuns; }
  StopReason cut_short() const { return *used_up(rule_, progress_)->done; }

  Ended end(StopReason reason, bool usable) {
    ended_.reason = reason;
    ended_.usable = usable && enough();
    ended_.runs = static_cast<uint32_t>(progress_.runs.size());
    return std::move(ended_);
  }

  // False if the budget ended before the run.
  bool make(const Next& next, uint64_t attempt) {
    std::vector<uint32_t> places = next.places;
    if (places.empty()) {
      for (uint32_t place = 0; place < next.grid; ++place) places.push_back(place);
    }
    for (const experiment::Point& point : next.added) places.push_back(ended_.table.add(point));
    const auto points = static_cast<uint32_t>(places.size());
    std::uniform_real_distribution<double> share(0, 1);
    const double whole_s = kStartS + drawn_.point_s * points * (0.8 + 0.4 * share(random_));
    const bool lost = share(random_) < kLost;
    const double run_s = lost ? whole_s * share(random_) : whole_s;
    progress_.spent_s += run_s;
    if (used_up(rule_, progress_)) return false;
    if (lost) {
      ++ended_.lost;
      return true;
    }
    record(places, attempt);
    progress_.runs.push_back({next.grid, points, kStartS, whole_s});
    progress_.points = &ended_.table;
    return true;
  }

  void record(const std::vector<uint32_t>& places, uint64_t attempt) {
    std::vector<experiment::Point> points;
    for (const uint32_t place : places) points.push_back(ended_.table.points()[place].point);
    const auto run = static_cast<uint32_t>(progress_.runs.size() + 1);
    auto series =
        fit::measure(machine_, points, run, kReps, drawn_.noise, derive_seed(seed_, attempt));
    std::vector<PointResult> results;
    for (size_t i = 0; i < series.size(); ++i) results.push_back(result_of(series[i], places[i]));
    ended_.table.add_run(run, results);
    std::ranges::move(series, std::back_inserter(ended_.series));
  }

  const std::vector<fit::TrueOperation>& machine_;
  const uint64_t seed_;
  std::mt19937_64 random_;
  const Circumstances drawn_;
  Rule rule_;
  Progress progress_;
  Ended ended_;
};

// How many of some intervals contain the truth.
struct Covered {
  int covered = 0;
  int all = 0;

  void add(const Covered& other) {
    covered += other.covered;
    all += other.all;
  }
  double share() const { return all == 0 ? 1 : static_cast<double>(covered) / all; }
};

// Pooled over campaigns, whose intervals depend on each other.
class Pool {
 public:
  void add(const Covered& one) {
    sum_.add(one);
    if (one.all > 0) campaigns_.push_back(one);
  }
  // Standard error of the ratio of two sums over campaigns.
  double error() const {
    double squares = 0;
    for (const Covered& one : campaigns_) {
      const double off = one.covered - sum_.share() * one.all;
      squares += off * off;
    }
    return sum_.all == 0 ? 0 : std::sqrt(squares) / sum_.all;
  }
  bool report(const char* what) const {
    std::printf("%-28s %9.4f +- %.4f  of %d intervals\n", what, sum_.share(), error(), sum_.all);
    return sum_.share() >= kAsked - kErrors * error();
  }

 private:
  Covered sum_;
  std::vector<Covered> campaigns_;
};

uint32_t runs_needed(const Ended& ended) {
  return ended.runs < kEnoughRuns ? kFewestRuns : kEnoughRuns;
}

Covered points_covered(const std::vector<fit::TrueOperation>& machine, const Ended& ended) {
  Covered covered;
  for (const PointStatus& status : ended.table.points()) {
    if (status.medians.size() < runs_needed(ended)) continue;
    const auto estimate = estimate_of(status, kPointConfidence);
    if (!estimate || !estimate->low || !estimate->high) continue;
    const double truth = fit::true_time(machine, status.point);
    ++covered.all;
    if (*estimate->low <= truth && truth <= *estimate->high) ++covered.covered;
  }
  return covered;
}

// As of a fit to the points that enough runs have measured.
struct Parameters {
  Covered whole;   // of operations whose segments were found
  Covered merged;  // of those whose break was not: the grid has too few sizes to show it
  Covered few;     // of those with a segment that too few sizes tell of
};

// True if all segments have sizes enough to tell how far off a line is.
bool tells_lines(const fit::OperationFit& fitted, const fit::OperationSamples& samples) {
  constexpr std::ptrdiff_t kTellLines = 4;
  return std::ranges::all_of(fitted.model.segments, [&](const model::Segment& segment) {
    return kTellLines <= std::ranges::count_if(samples.latency, [&](const auto& point) {
             return segment.from_bytes <= point.first && point.first < segment.to_bytes;
           });
  });
}

Parameters parameters_covered(const std::vector<fit::TrueOperation>& machine, const Ended& ended,
                              fit::Tallies& tallies) {
  std::map<std::string, size_t> runs;
  for (const auto& series : ended.series) ++runs[point_key(series.point)];
  std::vector<experiment::SampleSeries> usable;
  for (const auto& series : ended.series) {
    if (runs[point_key(series.point)] >= runs_needed(ended)) usable.push_back(series);
  }
  Parameters covered;
  const auto samples = fit::sort_samples(fit::SampleTable(usable));
  for (const fit::TrueOperation& truth : machine) {
    const auto found = samples.operations.find(truth.name);
    if (found == samples.operations.end()) continue;
    const auto fitted = fit::fit_operation(found->second, fit::kind_of(truth));
    if (!fitted.ok()) continue;
    fit::Tallies own;
    int right = 0;
    fit::judge_coverage(truth, *fitted, own, right);
    const bool lines = tells_lines(*fitted, found->second);
    for (const auto& [name, tally] : own) {
      Covered& pool = right == 0 ? covered.merged : lines ? covered.whole : covered.few;
      pool.add({tally.covered, tally.fitted});
      if (right == 0 || !lines) continue;
      tallies[name].covered += tally.covered;
      tallies[name].fitted += tally.fitted;
      tallies[name].absent += tally.absent;
    }
  }
  return covered;
}

struct Arguments {
  uint64_t campaigns = 1000;
  uint64_t first_seed = 1;
};

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); i += 2) {
    if (i + 1 == words.size()) return std::nullopt;
    char* end = nullptr;
    const uint64_t value = std::strtoull(words[i + 1].c_str(), &end, 10);
    if (words[i + 1].empty() || *end != '\0' || words[i + 1][0] == '-') return std::nullopt;
    if (words[i] == "--campaigns") {
      arguments.campaigns = value;
    } else if (words[i] == "--first-seed") {
      arguments.first_seed = value;
    } else {
      return std::nullopt;
    }
  }
  return arguments.campaigns == 0 ? std::nullopt : std::optional(arguments);
}

int run(const std::vector<std::string>& words) {
  const auto arguments = parse(words);
  if (!arguments) {
    std::fprintf(stderr, "usage: campaign_coverage [--campaigns N] [--first-seed N]\n");
    return 2;
  }
  const std::vector<fit::TrueOperation> machine = fit::example_machine();
  const fit::NestedPoints plan = plan_of(machine);
  Pool points;
  Pool parameters;
  Pool merged;
  Pool few;
  std::map<std::string, Pool> by_end;
  std::map<std::string, int> ends;
  fit::Tallies tallies;
  uint32_t lost = 0;
  for (uint64_t i = 0; i < arguments->campaigns; ++i) {
    const Ended ended = Campaign(machine, plan, derive_seed(arguments->first_seed, i)).finish();
    lost += ended.lost;
    const std::string end =
        std::string(to_string(ended.reason)) + (!ended.usable              ? ", no result"
                                                : ended.runs < kEnoughRuns ? ", provisional"
                                                                           : "");
    ++ends[end];
    if (!ended.usable) continue;
    const Covered of_points = points_covered(machine, ended);
    points.add(of_points);
    by_end[end].add(of_points);
    const Parameters of_parameters = parameters_covered(machine, ended, tallies);
    parameters.add(of_parameters.whole);
    merged.add(of_parameters.merged);
    few.add(of_parameters.few);
  }
  std::printf("%llu campaigns, %u runs lost\n",
              static_cast<unsigned long long>(arguments->campaigns), lost);
  for (const auto& [end, count] : ends) std::printf("  %5d %s\n", count, end.c_str());
  std::printf("\ncoverage, with its standard error over campaigns\n");
  const bool points_good = points.report("points");
  for (const auto& [end, pool] : by_end) pool.report(("  " + end).c_str());
  const bool parameters_good = parameters.report("parameters");
  merged.report("  where a break was not found");
  few.report("  where few sizes tell of a line");
  for (const auto& [name, tally] : tallies) {
    std::printf("  %-26s %9.4f  absent %d\n", name.c_str(),
                tally.fitted == 0 ? 1 : static_cast<double>(tally.covered) / tally.fitted,
                tally.absent);
  }
  return points_good && parameters_good ? 0 : 1;
}

}  // namespace
}  // namespace stripline::campaign

int main(int argc, char** argv) {
  return stripline::campaign::run(std::vector<std::string>(argv + 1, argv + argc));
}
