#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "base/exit_codes.h"
#include "optimizer/experiment/requirements.h"
#include "suites/bench/budget.h"
#include "suites/bench/commands.h"
#include "suites/bench/failure.h"
#include "suites/bench/points.h"
#include "suites/bench/progress.h"
#include "suites/bench/rows.h"
#include "suites/harness/table.h"
#include "suites/kernels/nas/exchanges/factors.h"

namespace stripline::suites::bench {
namespace {

using experiment::Experiment;
using experiment::Point;

constexpr double kDefaultPointBudgetS = 0.1;  // per point and run
constexpr double kRunStartS = 0.5;            // starting ranks, deducted from a time budget
constexpr double kShortestPointS = 0.002;

experiment::StopRule rule_for(const CommonOptions& options, size_t points, uint32_t rounds) {
  double budget_s = kDefaultPointBudgetS;
  if (options.time_budget_s) {
    const double measuring_s = *options.time_budget_s - options.runs * kRunStartS;
    budget_s =
        std::max(kShortestPointS, measuring_s / (static_cast<double>(points) * options.runs));
  }
  experiment::StopRule rule;
  rule.max_reps = options.reps / rounds;
  rule.min_reps = std::min<uint32_t>(rule.max_reps, std::max<uint32_t>(1, 8 / rounds));
  rule.min_runs = options.runs;
  rule.time_budget_s = budget_s / rounds;
  return rule;
}

std::string params_text(const Experiment& declaration, const Point& point,
                        const std::set<std::string>& names, const char* separator) {
  std::string text;
  for (const experiment::Factor& factor : declaration.factors) {
    if (!names.contains(factor.name)) continue;
    const auto value = point.params.find(factor.name);
    if (value == point.params.end()) continue;
    if (!text.empty()) text += separator;
    text += factor.name + "=" + value_text(factor, value->second);
  }
  return text;
}

void print_table(const Experiment& declaration, const RunOptions& options,
                 const std::vector<Row>& rows) {
  // Factors with one value stand above the table, the others have a column.
  std::set<std::string> varying;
  std::set<std::string> fixed;
  for (const experiment::Factor& factor : declaration.factors) {
    std::set<std::string> seen;
    for (const Row& row : rows) seen.insert(value_text(factor, row.point.params.at(factor.name)));
    (seen.size() > 1 ? varying : fixed).insert(factor.name);
  }
  const std::string fixed_text = params_text(declaration, rows.front().point, fixed, ", ");
  std::printf("%s (%s): %s%s%s on %s, %u ranks\n\n", declaration.name.c_str(),
              declaration.title.c_str(), declaration.metric.name.c_str(),
              fixed_text.empty() ? "" : ", ", fixed_text.c_str(),
              options.common.target.path().c_str(), options.common.target.ranks);

  std::vector<std::string> headings{"variant"};
  for (const experiment::Factor& factor : declaration.factors) {
    if (varying.contains(factor.name)) headings.push_back(">" + factor.name);
  }
  const bool ratios =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.ratio.has_value(); });
  for (const char* heading : {">median", ">95% interval", ">runs"}) headings.emplace_back(heading);
  if (ratios) {
    headings.push_back(">ratio to " + rows.front().label);
    headings.emplace_back(">95% interval");
  }
  headings.emplace_back("verified");
  headings.emplace_back("plan");
  Table table(headings);
  for (const Row& row : rows) {
    std::vector<std::string> cells{row.label};
    for (const experiment::Factor& factor : declaration.factors) {
      if (varying.contains(factor.name)) {
        cells.push_back(value_text(factor, row.point.params.at(factor.name)));
      }
    }
    cells.push_back(with_unit(row.summary.median, row.unit));
    cells.push_back(interval_text(row.summary.ci_low, row.summary.ci_high, row.unit));
    cells.push_back(std::to_string(row.summary.n_runs));
    if (ratios) {
      cells.push_back(row.ratio ? ratio_text(row.ratio->value) : "");
      cells.push_back(
          row.ratio ? interval_text(row.ratio->interval.low, row.ratio->interval.high, "") : "");
    }
    cells.emplace_back(row.verified ? "yes" : "no");
    cells.push_back(row.plan);
    table.add(std::move(cells));
  }
  std::fputs(table.text(false).c_str(), stdout);
}

// Variants that were named, or else all but those that take too long unless asked for.
std::vector<std::string> variants_to_run(const Experiment& e, const RunOptions& options) {
  if (!options.variants.empty()) return options.variants;
  std::vector<std::string> variants;
  for (const std::string& variant : e.variants) {
    if (only_by_name(e, variant)) {
      std::fprintf(stderr,
                   "stripline-bench: left out: %s/%s: takes minutes over a real network; ask for "
                   "it with --variant %s\n",
                   e.name.c_str(), variant.c_str(), variant.c_str());
    } else {
      variants.push_back(variant);
    }
  }
  return variants;
}

// All runs of the points that `samples` was made for.
std::optional<Failure> measure(const RunOptions& options, Samples& samples) {
  const uint32_t runs = options.common.runs;
  const size_t asked = samples.points().size();
  const uint32_t rounds = rounds_of(asked, options.common.reps);
  const experiment::StopRule rule = rule_for(options.common, asked, rounds);
  Progress progress;
  for (uint32_t run = 1; run <= runs; ++run) {
    progress.show("run " + std::to_string(run) + " of " + std::to_string(runs));
    std::vector<Point> points;
    for (uint32_t round = 0; round < rounds; ++round) {
      for (const PointSamples& one : samples.points()) points.push_back(one.point());
    }
    const auto series = measure_run(options.common.target, run, rule, points);
    if (!series.ok()) return failure_of(series.error());
    samples.add(*series);
    // All variants are those that there are here.
    if (run == 1 && options.variants.empty()) {
      const std::vector<std::string> reasons = samples.drop_unmeasurable();
      if (samples.points().empty()) return Failure{kExitUsage, reasons.front()};
      progress.show("");
      for (const std::string& reason : reasons) {
        std::fprintf(stderr, "stripline-bench: left out: %s\n", reason.c_str());
      }
    }
    if (auto failure = samples.check()) return failure;
  }
  return std::nullopt;
}

}  // namespace

int run_command(const RunOptions& options) {
  const auto declaration = find_experiment(options.common.experiment);
  if (!declaration.ok()) return report(declaration.error());
  const Experiment& e = **declaration;
  const Target& target = options.common.target;
  if (const auto problem = experiment::unmet_requirement(e, {target.ranks, target.fabric})) {
    return report(Error(ErrorCode::invalid_argument, *problem));
  }
  const auto points = points_from(e, variants_to_run(e, options), options.common.params);
  if (!points.ok()) return report(points.error());
  Samples samples(*points);
  if (const auto failure = measure(options, samples)) return report(*failure);

  std::vector<Row> rows;
  for (const PointSamples& one : samples.points()) {
    // The baseline: the first variant with the same parameters.
    Point first = one.point();
    first.variant = samples.points().front().point().variant;
    const PointSamples* baseline = samples.find(first);
    if (baseline == &one) baseline = nullptr;
    auto row = make_row(one.point().variant, e, one, baseline);
    if (!row.ok()) return report(row.error());
    rows.push_back(*std::move(row));
  }
  if (!options.json) {
    print_table(e, options, rows);
    return kExitOk;
  }
  for (const Row& row : rows) {
    const auto line =
        canonical_json(to_json(row, options.common.target.path(), options.common.target.ranks));
    if (!line.ok()) return report(line.error());
    std::printf("%s\n", line->c_str());
  }
  return kExitOk;
}

}  // namespace stripline::suites::bench
