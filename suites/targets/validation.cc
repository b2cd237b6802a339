#include "suites/targets/validation.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>

#include "base/atomic_file.h"
#include "base/random.h"
#include "optimizer/stats/order.h"

namespace stripline::suites::tune {
namespace {

using Clock = std::chrono::steady_clock;
using targets::Cell;
using targets::Collective;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kPointBudgetS = 0.015;
constexpr uint32_t kRepetitions = 300;
constexpr size_t kMostPairs = 30;
constexpr size_t kMostHeldOut = 60;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Check check_of(const Cell& cell, bool fitted) {
  return {{.operation = std::string(to_string(cell.collective)),
           .ranks = cell.ranks,
           .bytes = cell.bytes},
          cell,
          fitted};
}

// The median of each check in one launch; NaN where it gave none.
Result<std::vector<double>> measure(Launcher& launcher, const std::vector<Check>& checks,
                                    const std::vector<std::vector<uint32_t>>& groups,
                                    const Environment& environment, uint64_t seed) {
  std::vector<double> times(checks.size(), kMissing);
  for (const auto& group : groups) {
    DriverPlan plan{.seed = seed, .repetitions = kRepetitions, .budget_s = kPointBudgetS};
    const size_t usual = plan.variant({});
    for (size_t i = 0; i < checks.size(); ++i) {
      if (std::ranges::find(group, checks[i].asked.ranks) == group.end()) continue;
      plan.cells.push_back(checks[i].asked);
      plan.cells.back().variants = {usual};
    }
    if (plan.cells.empty()) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const Launched launched, launcher.run(plan, environment));
    std::string failure = launched.failure;
    for (const DriverSeries& series : launched.output.series) {
      const DriverCell& measured = plan.cells[series.cell];
      if (!series.verified) {
        failure = "gave wrong data: " + measured.operation + ": " + series.note;
        continue;
      }
      const auto check = std::ranges::find_if(checks, [&](const Check& one) {
        return one.asked.operation == measured.operation && one.asked.ranks == measured.ranks &&
               one.asked.bytes == measured.bytes && one.asked.type == measured.type &&
               one.asked.in_place == measured.in_place;
      });
      if (series.values_s.empty()) continue;
      times[static_cast<size_t>(check - checks.begin())] =
          std::max(stats::median(series.values_s), 1e-9);
    }
    if (!failure.empty()) {
      return Error(ErrorCode::aborted, "the program " + failure + "; it said: " + launched.said);
    }
  }
  return times;
}

std::vector<std::vector<uint32_t>> groups_of(const std::vector<Check>& checks,
                                             uint32_t processors) {
  std::set<uint32_t> ranks;
  for (const Check& check : checks) ranks.insert(check.asked.ranks);
  const std::vector<uint32_t> sorted(ranks.begin(), ranks.end());
  return launch_groups(sorted, processors);
}

struct Pairs {
  std::vector<std::vector<double>> without;  // by check and pair
  std::vector<std::vector<double>> with;
};

// The one that comes first changes from pair to pair.
Status add_pair(Launcher& launcher, const std::vector<Check>& checks,
                const std::vector<std::vector<uint32_t>>& groups, const Environment& without,
                const Environment& with, uint64_t seed, size_t pair, Pairs& pairs) {
  for (const bool first : {true, false}) {
    const bool loaded = first == (pair % 2 == 0);
    const auto times =
        measure(launcher, checks, groups, loaded ? with : without, derive_seed(seed, pair));
    if (!times.ok()) {
      return loaded ? times.error().with_context("with the exported file")
                    : times.error().with_context("with the default settings");
    }
    auto& table = loaded ? pairs.with : pairs.without;
    table.resize(checks.size());
    for (size_t i = 0; i < checks.size(); ++i) table[i].push_back((*times)[i]);
  }
  return {};
}

}  // namespace

std::vector<Check> checks_of(const std::vector<targets::Choice>& by_cell,
                             const std::vector<uint32_t>& ranks, const targets::Safety& safety) {
  std::vector<Check> checks;
  std::vector<Check> held_out;
  std::map<std::pair<Collective, uint32_t>, std::vector<const targets::Choice*>> rows;
  for (const auto& choice : by_cell) {
    rows[{choice.cell.collective, choice.cell.ranks}].push_back(&choice);
  }
  for (auto& [key, row] : rows) {
    std::ranges::sort(row, {}, [](const auto* one) { return one->cell.bytes; });
    for (size_t i = 0; i < row.size(); ++i) {
      const auto& choice = *row[i];
      if (choice.candidate.id == 0) continue;
      checks.push_back(check_of(choice.cell, true));
      Check other = check_of(choice.cell, false);
      other.asked.in_place = choice.cell.collective != Collective::bcast &&
                             choice.cell.collective != Collective::barrier;
      if (!has_operation(choice.cell.collective)) {
        other.asked.type = "triple";
      } else if (!safety.commutative_only) {
        other.asked.type = "matrix";
      }
      if (choice.cell.bytes >= 16) held_out.push_back(other);
      if (i + 1 < row.size() && row[i + 1]->candidate.id != 0) {
        Cell between = choice.cell;
        between.bytes = size_between(choice.cell.bytes, row[i + 1]->cell.bytes);
        if (between.bytes != 0) held_out.push_back(check_of(between, false));
      }
    }
  }
  // A few of all, spread evenly.
  const size_t step = held_out.size() / kMostHeldOut + 1;
  for (size_t i = 0; i < held_out.size(); i += step) checks.push_back(held_out[i]);
  for (const uint32_t count : ranks) {
    const auto add = [&](const char* program, uint64_t bytes) {
      checks.push_back({.asked = {.operation = program, .ranks = count, .bytes = bytes}});
    };
    add("outstanding", 4096);
    add("halo", 8192);
    add("reports", 64);
    add("sort", 65536);
  }
  return checks;
}

Result<std::vector<Checked>> validate(Launcher& launcher, const std::filesystem::path& file,
                                      const std::vector<Check>& checks,
                                      const ValidationOptions& options, const Tell& tell) {
  STRIPLINE_ASSIGN_OR_RETURN(const Environment with, launcher.adapter().loading(file));
  const auto groups = groups_of(checks, options.processors);
  const auto start = Clock::now();
  Pairs pairs;
  size_t made = 0;
  for (; made < kMostPairs; ++made) {
    const auto pair_start = Clock::now();
    STRIPLINE_RETURN_IF_ERROR(
        add_pair(launcher, checks, groups, {}, with, options.seed, made, pairs));
    const double pair_s = seconds_since(pair_start);
    if (made + 1 >= options.least_pairs && seconds_since(start) + pair_s > options.budget_s) {
      ++made;
      break;
    }
  }
  tell(std::to_string(checks.size()) + " comparisons with the default in " + std::to_string(made) +
       " pairs of launches");
  std::vector<targets::CellTimes> times;
  for (size_t i = 0; i < checks.size(); ++i) {
    times.push_back({checks[i].cell, pairs.without[i], pairs.with[i]});
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto verdicts, targets::judge_cells(times, options.rule));
  std::vector<Checked> checked;
  for (size_t i = 0; i < checks.size(); ++i) {
    checked.push_back({checks[i], verdicts[i].test, made});
  }
  return checked;
}

Result<double> prove_reading(Launcher& launcher, const std::filesystem::path& file,
                             const Probe& probe, const ValidationOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const WorkFolder folder, WorkFolder::create(launcher.folder().path()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto files,
                             launcher.adapter().with_probe(file, probe, folder.path()));
  for (const ExportFile& one : files) {
    STRIPLINE_RETURN_IF_ERROR(write_atomically(folder / one.name, one.text));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Environment without, launcher.adapter().loading(file));
  STRIPLINE_ASSIGN_OR_RETURN(const Environment with,
                             launcher.adapter().loading(folder / files.front().name));
  const std::vector<Check> checks = {check_of(probe.cell, false)};
  const auto groups = groups_of(checks, options.processors);
  Pairs pairs;
  for (size_t pair = 0; pair < targets::kProbePairs; ++pair) {
    STRIPLINE_RETURN_IF_ERROR(
        add_pair(launcher, checks, groups, without, with, options.seed, pair, pairs));
  }
  return targets::proven_by_probe(pairs.without[0], pairs.with[0]);
}

}  // namespace stripline::suites::tune
