#include "suites/targets/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/random.h"
#include "optimizer/stats/order.h"

namespace stripline::suites::tune {
namespace {

using targets::Cell;

// Runs after which sizes are added between those whose fastest alternatives differ.
constexpr size_t kFirstRefinement = 2;
constexpr size_t kRefinements = 2;
// Sizes that are added last need as many runs as a decision does.
constexpr size_t kLeastRuns = kFirstRefinement + kRefinements - 1 + 4;
// Launches that end early are made again without what ended them, this number of times in a row.
constexpr int kMostRetries = 8;
constexpr double kLeastPointBudgetS = 0.001;

class CollectiveSearch {
 public:
  CollectiveSearch(Launcher& launcher, const SearchOptions& options, const Tell& tell,
                   SearchReport& report)
      : launcher_(launcher),
        options_(options),
        tell_(tell),
        report_(report),
        table_(launcher.adapter().target(), options.safety),
        environment_(launcher.adapter().knobs(report.settings)) {
    for (const auto& [name, value] : launcher.adapter().selecting()) environment_[name] = value;
  }

  Status run() {
    if (launcher_.adapter().target().candidates == nullptr) return {};
    launcher_.end_within(options_.budget_s);
    for (const Cell& cell : first_cells(options_.grid)) table_.add(cell);
    size_t refinements = 0;
    while (table_.runs() < kMostSearchRuns && launcher_.left_s() > 0) {
      const double begin_s = launcher_.left_s();
      table_.begin_run();
      for (const auto& group : launch_groups(options_.grid.ranks, options_.processors)) {
        STRIPLINE_RETURN_IF_ERROR(measure(group));
      }
      STRIPLINE_RETURN_IF_ERROR(table_.race());
      const double left_s = launcher_.left_s();
      const double run_s = begin_s - left_s;
      tell_progress(run_s, options_.budget_s - left_s);
      if (table_.runs() >= kFirstRefinement && refinements < kRefinements) {
        ++refinements;
        // Sizes that are added need as many runs as a decision does.
        if (left_s > static_cast<double>(options_.rule.least_runs) * run_s) {
          const size_t added = table_.refine();
          if (added > 0) tell_(std::to_string(added) + " sizes added where choices change");
        } else {
          tell_("there is no time for sizes between those where choices change");
        }
      }
      if (!table_.undecided()) break;
      // The next run takes about as long, or less.
      if (table_.runs() >= kLeastRuns && run_s > left_s) break;
      if (table_.runs() < kLeastRuns) hurry(run_s, left_s);
    }
    report_.runs = table_.runs();
    report_.seconds = options_.budget_s - launcher_.left_s();
    if (auto found = table_.slowest(options_.processors)) {
      report_.rules_probe = Probe{found->first, std::move(found->second)};
    }
    STRIPLINE_ASSIGN_OR_RETURN(report_.violations,
                               targets::violated_guidelines(table_.defaults(), options_.rule));
    STRIPLINE_ASSIGN_OR_RETURN(report_.result, table_.decide(options_.rule));
    report_.times = table_.chosen(report_.result);
    return {};
  }

  Result<SearchTable> sweep(size_t runs) {
    for (const Cell& cell : first_cells(options_.grid)) table_.add(cell);
    while (table_.runs() < runs) {
      table_.begin_run();
      for (const auto& group : launch_groups(options_.grid.ranks, options_.processors)) {
        STRIPLINE_RETURN_IF_ERROR(measure(group));
      }
      tell_("run " + std::to_string(table_.runs()) + " of " + std::to_string(runs));
    }
    return std::move(table_);
  }

 private:
  // Where the time would not do for the runs that a decision takes: fewer repetitions, and then
  // fewer cells, of which those with many ranks and those that were added come last.
  void hurry(double run_s, double left_s) {
    const auto missing = static_cast<double>(kLeastRuns - table_.runs());
    const double share = std::clamp(left_s / (missing * run_s), 0.1, 1.0);
    const bool shortest = point_budget_s_ <= kLeastPointBudgetS;
    point_budget_s_ = std::max(share * point_budget_s_, kLeastPointBudgetS);
    const size_t least = options_.rule.least_runs;
    if (!shortest || table_.runs() >= least) return;
    const double fit = left_s / (static_cast<double>(least - table_.runs()) * run_s);
    if (fit >= 1) return;
    const auto cells = static_cast<double>(table_.cells().size());
    const size_t count = table_.leave_out_after(static_cast<size_t>(cells * std::max(fit, 0.0)));
    tell_("there is no time to measure " + std::to_string(count) +
          " cells often enough: they keep the default");
  }

  // One launch of cells with these numbers of ranks, and further ones for what an ended one left.
  Status measure(const std::vector<uint32_t>& ranks) {
    for (int attempt = 0; attempt < kMostRetries; ++attempt) {
      DriverPlan plan = empty_plan();
      for (const SearchCell& cell : table_.cells()) {
        if (std::ranges::find(ranks, cell.cell.ranks) == ranks.end()) continue;
        if (!is_measured(cell)) add_cell(cell, plan);
      }
      if (plan.cells.empty()) return {};
      STRIPLINE_ASSIGN_OR_RETURN(const Launched launched, launcher_.run(plan, environment_));
      take(plan, launched.output);
      if (launched.failure.empty()) return {};  // or the time is up
      STRIPLINE_RETURN_IF_ERROR(blame(plan, launched));
    }
    return Error(ErrorCode::aborted, std::string(launcher_.adapter().target().title) +
                                         "'s programs end early again and again; the reasons are "
                                         "in the lines above");
  }

  DriverPlan empty_plan() const {
    return {.run = static_cast<uint32_t>(table_.runs() - 1),
            .seed = derive_seed(options_.seed, launcher_.launches()),
            .repetitions = kSearchRepetitions,
            .budget_s = point_budget_s_};
  }

  // In this run. A cell in the middle of which a launch has ended is measured again as a whole:
  // alternatives are compared within a launch.
  static bool is_measured(const SearchCell& cell) {
    return std::ranges::none_of(cell.runners, [](const Runner& runner) {
      return runner.in_race && std::isnan(runner.times_s.back());
    });
  }

  static void add_cell(const SearchCell& cell, DriverPlan& plan) {
    DriverCell asked{.operation = std::string(to_string(cell.cell.collective)),
                     .ranks = cell.cell.ranks,
                     .bytes = cell.cell.bytes};
    for (const Runner& runner : cell.runners) {
      if (!runner.in_race) continue;
      asked.variants.push_back(plan.variant(runner.candidate.select));
    }
    // The default alone is not compared with anything.
    if (asked.variants.size() > 1) plan.cells.push_back(std::move(asked));
  }

  // The cell of the table that a plan's cell was made of.
  size_t cell_of(const DriverCell& asked) const {
    const auto found = std::ranges::find_if(table_.cells(), [&](const SearchCell& cell) {
      return cell.cell.ranks == asked.ranks && cell.cell.bytes == asked.bytes &&
             to_string(cell.cell.collective) == asked.operation;
    });
    return static_cast<size_t>(found - table_.cells().begin());
  }

  size_t runner_of(size_t cell, const Selection& selection) const {
    const auto& runners = table_.cells()[cell].runners;
    const auto found = std::ranges::find_if(
        runners, [&](const Runner& runner) { return runner.candidate.select == selection; });
    return static_cast<size_t>(found - runners.begin());
  }

  void take(const DriverPlan& plan, const DriverOutput& output) {
    for (const DriverSeries& series : output.series) {
      const size_t cell = cell_of(plan.cells[series.cell]);
      const size_t runner = runner_of(cell, plan.variants[series.variant]);
      if (series.verified && !series.values_s.empty()) {
        table_.record(cell, runner, stats::median(series.values_s));
      } else {
        reject(cell, runner, series.note);
      }
    }
  }

  Status blame(const DriverPlan& plan, const Launched& launched) {
    if (!launched.output.unfinished) {
      return Error(ErrorCode::aborted, std::string(launcher_.adapter().target().title) +
                                           "'s program " + launched.failure + ": " + launched.said);
    }
    const auto [asked, variant] = *launched.output.unfinished;
    const size_t cell = cell_of(plan.cells[asked]);
    if (launched.output.in_turns) {
      reject_all(cell, launched.failure + ", this one or another, while they took turns");
      return {};
    }
    const size_t runner = runner_of(cell, plan.variants[variant]);
    if (runner == 0) {
      return Error(ErrorCode::aborted, "the default of " + plan.cells[asked].operation + " of " +
                                           std::to_string(plan.cells[asked].bytes) + " B among " +
                                           std::to_string(plan.cells[asked].ranks) + " ranks " +
                                           launched.failure + ": " + launched.said);
    }
    reject(cell, runner, launched.failure);
    return {};
  }

  void reject_all(size_t cell, const std::string& reason) {
    const auto& runners = table_.cells()[cell].runners;
    for (size_t i = 1; i < runners.size(); ++i) {
      if (runners[i].in_race) reject(cell, i, reason);
    }
  }

  void reject(size_t cell, size_t runner, const std::string& reason) {
    const SearchCell& at = table_.cells()[cell];
    const std::string& name = at.runners[runner].candidate.name;
    report_.rejected.push_back({at.cell, name, reason});
    tell_(std::string(to_string(at.cell.collective)) + ", " + std::to_string(at.cell.ranks) +
          " ranks, " + std::to_string(at.cell.bytes) + " B: " + name + " is left out: " + reason);
    table_.fail(cell, runner, reason);
  }

  void tell_progress(double run_s, double all_s) const {
    size_t left = 0;
    for (const SearchCell& cell : table_.cells()) {
      for (const Runner& runner : cell.runners) left += runner.in_race ? 1 : 0;
    }
    std::array<char, 128> line{};
    std::snprintf(line.data(), line.size(),
                  "run %zu: %zu cells, %zu alternatives go on, %.1f s (%.0f s in all)",
                  table_.runs(), table_.cells().size(), left - table_.cells().size(), run_s, all_s);
    tell_(line.data());
  }

  Launcher& launcher_;
  const SearchOptions& options_;
  const Tell& tell_;
  SearchReport& report_;
  SearchTable table_;
  Environment environment_;
  double point_budget_s_ = kSearchPointBudgetS;
};

}  // namespace

Status search_collectives(Launcher& launcher, const SearchOptions& options, const Tell& tell,
                          SearchReport& report) {
  return CollectiveSearch(launcher, options, tell, report).run();
}

Result<SearchTable> sweep_collectives(Launcher& launcher, const SearchOptions& options, size_t runs,
                                      const Tell& tell) {
  SearchReport report;
  return CollectiveSearch(launcher, options, tell, report).sweep(runs);
}

}  // namespace stripline::suites::tune
