#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <variant>

#include "base/exit_codes.h"
#include "base/host_load.h"
#include "suites/bench/budget.h"
#include "suites/bench/command_line.h"
#include "suites/bench/commands.h"
#include "suites/bench/failure.h"
#include "suites/bench/points.h"
#include "suites/bench/progress.h"
#include "suites/bench/rows.h"
#include "suites/bench/search.h"
#include "suites/harness/table.h"
#include "suites/kernels/candidates.h"
#include "suites/kernels/decomposition.h"

namespace stripline::suites::bench {
namespace {

using experiment::Experiment;
using experiment::Point;

constexpr double kDefaultTimeBudgetS = 60;
constexpr double kSearchShare = 0.5;    // of the time budget; confirming takes the rest
constexpr double kPointBudgetS = 0.06;  // per point and confirming run
constexpr std::string_view kFine = "fine";

/// A row of the table before it is measured.
struct Entry {
  std::string label;
  Point point;
};

// The rows that need no search, in the order of the table.
std::vector<Entry> fixed_entries(const Point& base, const std::vector<std::string>& variants,
                                 bool with_model) {
  std::vector<Entry> entries;
  for (const char* variant :
       {"fine", "blocking", "hand", "hand4", "pencils", "packed", "untuned", "tuned"}) {
    if (std::string_view(variant) == "tuned" && !with_model) continue;
    if (std::find(variants.begin(), variants.end(), variant) == variants.end()) continue;
    entries.push_back({variant, base});
    entries.back().point.variant = variant;
  }
  return entries;
}

std::string problem_text(const Experiment& e, const Point& point) {
  std::string text;
  for (const experiment::Factor& factor : e.factors) {
    if (is_decomposition_factor(factor.name)) continue;
    text += (text.empty() ? "" : ", ") + factor.name + "=" +
            value_text(factor, point.params.at(factor.name));
  }
  return text;
}

void print(const Experiment& e, const TableOptions& options, const std::vector<Row>& rows,
           const BestPlan& best, size_t runs) {
  const Target& target = options.common.target;
  std::printf("%s, %s, on %s%s, %u ranks, %zu runs\n\n", e.name.c_str(),
              problem_text(e, rows.front().point).c_str(), target.path().c_str(),
              target.clock == "virtual" ? " (virtual clock)" : "", target.ranks, runs);
  Table table(
      {"variant", ">time", ">95% interval", ">ratio to hand", ">95% interval", "verified", "plan"});
  for (const Row& row : rows) {
    std::string ratio = row.label == "hand" ? "1" : "";
    std::string interval;
    if (row.ratio) {
      ratio = ratio_text(row.ratio->value);
      interval = interval_text(row.ratio->interval.low, row.ratio->interval.high, "");
    }
    table.add({row.label, with_unit(row.summary.median, row.unit),
               interval_text(row.summary.ci_low, row.summary.ci_high, row.unit), ratio, interval,
               row.verified ? "yes" : "no", row.plan});
  }
  std::fputs(table.text(false).c_str(), stdout);
  std::printf(
      "\nbest: of %zu plans (decompositions, methods, variants by hand), %zu left after racing "
      "over "
      "%zu runs;\n      the leader was measured again in the runs shown here.\n",
      best.candidates, best.survivors, best.rounds);
  for (const Row& row : rows) {
    if (row.explanation.empty() || row.label == "best") continue;
    std::printf(
        "\n%s: %s; before it ran, %s\n%s", row.label.c_str(), row.plan.c_str(),
        row.without_model ? "the model predicted:" : "this was known:", row.explanation.c_str());
    if (!row.explanation.ends_with('\n')) std::printf("\n");
  }
  for (const Row& row : rows) {
    if (!row.without_model) continue;
    std::printf("\nmeasured, with the model against without (%zu paired runs): %s\n",
                row.without_model->ratio.runs, verdict_text(*row.without_model).c_str());
    if (row.without_model->outcome == Outcome::lost) {
      std::printf("the model's prediction above was wrong here\n");
    }
  }
}

// Looks at what else the host does while no rank runs, where that matters.
class Looks {
 public:
  explicit Looks(const Target& target) : matters_(target.clock == "real") {}

  void look() {
    const auto load = matters_ ? read_host_load() : std::nullopt;
    if (!load) return;
    ++looks_;
    sum_.running += load->running;
    sum_.average = std::max(sum_.average, load->average);
    sum_.processors = load->processors;
  }
  std::optional<HostLoad> mean() const {
    if (looks_ == 0) return std::nullopt;
    return HostLoad{sum_.average, sum_.running / looks_, sum_.processors};
  }

 private:
  bool matters_;
  int looks_ = 0;
  HostLoad sum_;
};

Status write_json_lines(const std::string& path, const std::vector<Row>& rows,
                        const Target& target) {
  std::ofstream file(path);
  for (const Row& row : rows) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string line,
                               canonical_json(to_json(row, target.path(), target.ranks)));
    file << line << '\n';
  }
  file.close();
  if (file) return {};
  return Error(ErrorCode::unavailable,
               "cannot write '" + path + "'; check that its folder exists and is writable");
}

// Returns whether there was any.
bool drop_fine(std::vector<Point>& points) {
  return std::erase_if(points, [](const Point& point) { return point.variant == kFine; }) > 0;
}

/// What a table is made of.
struct Measured {
  BestPlan best;
  std::vector<Entry> entries;
  Samples samples;
  uint32_t runs = 0;
  std::optional<HostLoad> load;  // what else the host did, where that matters
};

// Searches the best decomposition, then measures all rows in fresh runs.
std::variant<Measured, Failure> measure(const CommonOptions& common, const Point& base) {
  Progress progress;
  const double budget_s = common.time_budget_s.value_or(kDefaultTimeBudgetS);
  const auto candidates = search_candidates(base, common.target.ranks);
  if (!candidates.ok()) return failure_of(candidates.error());
  auto searched = find_best_plan(common.target, *candidates, kSearchShare * budget_s, progress);
  if (auto* failure = std::get_if<Failure>(&searched)) return std::move(*failure);
  const BestPlan& best = std::get<BestPlan>(searched);

  const auto declaration = find_experiment(base.experiment);
  if (!declaration.ok()) return failure_of(declaration.error());
  std::vector<Entry> entries =
      fixed_entries(base, (*declaration)->variants, !common.target.model_path.empty());
  entries.push_back({"best", best.point});
  std::vector<Point> points;
  points.reserve(entries.size());
  for (const Entry& entry : entries) points.push_back(entry.point);
  const uint32_t rounds = rounds_of(points.size(), common.reps);
  std::vector<Point> repeated;
  for (uint32_t round = 0; round < rounds; ++round) {
    for (const Point& point : points) {
      // Slow by orders of magnitude, and compared with nothing closely: once will do.
      if (round == 0 || point.variant != kFine) repeated.push_back(point);
    }
  }
  experiment::StopRule rule;
  rule.min_reps = 1;
  rule.max_reps = common.reps / rounds;
  rule.time_budget_s = kPointBudgetS / rounds;

  Samples samples(points);
  uint32_t runs = common.runs;
  uint32_t before = 0;  // runs that took longer than the next ones will
  double start_s = progress.elapsed_s();
  Looks looks(common.target);
  for (uint32_t run = 1; run <= runs; ++run) {
    progress.show("measuring: run " + std::to_string(run) + " of " + std::to_string(runs));
    const auto series = measure_run(common.target, run, rule, repeated);
    if (!series.ok()) return failure_of(series.error());
    samples.add(*series);
    looks.look();
    if (run == 1) {
      for (const std::string& reason : samples.drop_unmeasurable(kFine)) {
        std::fprintf(stderr, "stripline-bench: left out: %s\n", reason.c_str());
        std::erase_if(entries, [](const Entry& entry) { return entry.label == kFine; });
        drop_fine(repeated);
      }
    }
    if (auto failure = samples.check()) return *std::move(failure);
    const double now_s = progress.elapsed_s();
    const double each_s = (now_s - start_s) / (run - before);
    if (run == 1 && budget_s - now_s < each_s * (runs - run) && drop_fine(repeated)) {
      // One run of it will do before all other rows have to have fewer.
      before = run;
      start_s = now_s;
      continue;
    }
    runs = affordable_runs(runs, run, each_s * run, budget_s - now_s);
  }
  return Measured{best, std::move(entries), std::move(samples), runs, looks.mean()};
}

}  // namespace

int table_command(const TableOptions& options) {
  const CommonOptions& common = options.common;
  const auto declaration = find_experiment(common.experiment);
  if (!declaration.ok()) return report(declaration.error());
  const Experiment& e = **declaration;
  const auto& variants = e.variants;
  if (std::find(variants.begin(), variants.end(), "forced") == variants.end()) {
    return report(Error(ErrorCode::invalid_argument, "experiment '" + e.name +
                                                         "' has no variants to tabulate; use a "
                                                         "kernel that has, as kernel.transpose"));
  }
  const auto base = points_from(e, {"blocking"}, common.params);
  if (!base.ok()) return report(base.error());
  if (base->size() != 1) {
    return report(Error(ErrorCode::invalid_argument,
                        "a table is of one problem; give each parameter one value"));
  }

  const bool strips = base->front().params.contains(kStripBytesFactor);
  if (const auto asked = decomposition_of(base->front()); strips && !asked.ok()) {
    return report(Error(ErrorCode::invalid_argument,
                        "a table searches the decompositions itself; leave out strip_bytes, "
                        "schedule and window"));
  }
  if (!options.json_file.empty()) {
    const Status writable = check_writable(options.json_file);
    if (!writable.ok()) return report(writable.error());
  }

  auto measured = measure(common, base->front());
  if (const auto* failure = std::get_if<Failure>(&measured)) return report(*failure);
  const auto& [best, entries, samples, runs, load] = std::get<Measured>(measured);

  Point hand = base->front();
  hand.variant = "hand";
  Point untuned = base->front();
  untuned.variant = "untuned";
  std::vector<Row> rows;
  for (const Entry& entry : entries) {
    const PointSamples* baseline = entry.label == "hand" ? nullptr : samples.find(hand);
    auto row = make_row(entry.label, e, *samples.find(entry.point), baseline);
    if (!row.ok()) return report(row.error());
    if (const PointSamples* without = samples.find(untuned);
        entry.label == "tuned" && without != nullptr) {
      auto verdict =
          compare_without_model(*samples.find(entry.point), *without, load, common.target.ranks);
      // A single run says nothing.
      if (verdict.ok()) row->without_model = *std::move(verdict);
    }
    rows.push_back(*std::move(row));
  }
  print(e, options, rows, best, runs);
  if (!options.json_file.empty()) {
    const Status written = write_json_lines(options.json_file, rows, common.target);
    if (!written.ok()) return report(written.error());
  }
  return kExitOk;
}

}  // namespace stripline::suites::bench
