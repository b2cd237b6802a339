#include "suites/targets/validation.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/atomic_file.h"
#include "base/formatted.h"
#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/stats/order.h"
#include "suites/targets/knob_search.h"

namespace stripline::suites::tune {
namespace {

using targets::Cell;
using targets::Collective;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kPointBudgetS = 0.015;
constexpr double kLeastPointBudgetS = 0.001;
constexpr uint32_t kRepetitions = 300;
constexpr size_t kMostPairs = 30;
constexpr size_t kMostHeldOut = 60;
// Times the largest size that was measured, where a choice holds for all sizes.
constexpr std::array<uint64_t, 2> kLargerSizes = {4, 16};

Check check_of(const Cell& cell, Stage stage) {
  return {{.operation = std::string(to_string(cell.collective)),
           .ranks = cell.ranks,
           .bytes = cell.bytes},
          cell,
          stage};
}

bool same_call(const DriverCell& one, const DriverCell& other) {
  return one.operation == other.operation && one.ranks == other.ranks && one.bytes == other.bytes &&
         one.type == other.type && one.in_place == other.in_place;
}

// Calls that a stage looks at anyway are not added.
void add_checks_of_knobs(const targets::Target& target, const std::vector<uint32_t>& ranks,
                         uint32_t processors, std::vector<Check>& checks) {
  const auto add = [&](const DriverCell& asked, Stage stage) {
    const bool known = std::ranges::any_of(checks, [&](const Check& one) {
      return one.stage == stage && same_call(one.asked, asked);
    });
    if (!known) checks.push_back({.asked = asked, .stage = stage, .of_knobs = true});
  };
  for (const DriverCell& cell : knob_cells(target, ranks, processors)) add(cell, Stage::fitted);
  const auto add_held_out = [&](const char* operation, std::initializer_list<uint64_t> sizes) {
    for (const uint64_t bytes : sizes) {
      add({.operation = operation, .ranks = std::ranges::max(ranks), .bytes = bytes},
          Stage::held_out);
    }
  };
  add_held_out("latency", {1024, 32768});
  add_held_out("window", {1024, 32768});
  if (targets::is_mpi(target.operations)) {
    add_held_out("allreduce", {1024, 262144});
    add_held_out("alltoall", {128, 8192});
  }
  const bool is_strided = target.operations == targets::Operations::remote_memory;
  if (is_strided) {
    add_held_out("strided_put", {512, 16384});
    add_held_out("strided_get", {512, 16384});
    add_held_out("reduce", {1024, 262144});
  }
  const bool has_puts = target.operations == targets::Operations::one_sided ||
                        target.operations == targets::Operations::symmetric || is_strided;
  if (has_puts) add_held_out("put", {4096, 262144});
  if (target.operations == targets::Operations::one_sided) {
    add_held_out("accumulate", {1024, 262144});
  }
  if (targets::has_gets(target.operations)) add_held_out("get", {4096, 262144});
  if (target.operations == targets::Operations::nonblocking) {
    add_held_out("ibcast", {1024, 262144});
    add_held_out("ireduce", {256, 65536});
  }
}

// The median of each check in one launch, NaN where it gave none; no medians where the time was up.
Result<std::vector<double>> measure(Launcher& launcher, const std::vector<Check>& checks,
                                    const std::vector<std::vector<uint32_t>>& groups,
                                    const Environment& environment, uint64_t seed,
                                    double point_budget_s) {
  std::vector<double> times(checks.size(), kMissing);
  for (const auto& group : groups) {
    DriverPlan plan{.seed = seed, .repetitions = kRepetitions, .budget_s = point_budget_s};
    const size_t usual = plan.variant({});
    for (size_t i = 0; i < checks.size(); ++i) {
      if (std::ranges::find(group, checks[i].asked.ranks) == group.end()) continue;
      plan.cells.push_back(checks[i].asked);
      plan.cells.back().variants = {usual};
    }
    if (plan.cells.empty()) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const Launched launched, launcher.run(plan, environment));
    if (launched.out_of_time) return std::vector<double>();
    std::string failure = launched.failure;
    for (const DriverSeries& series : launched.output.series) {
      const DriverCell& measured = plan.cells[series.cell];
      if (!series.verified) {
        failure = "gave wrong data: " + measured.operation + ": " + series.note;
        continue;
      }
      const auto check = std::ranges::find_if(
          checks, [&](const Check& one) { return same_call(one.asked, measured); });
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

std::vector<std::vector<uint32_t>> groups_of(const targets::Target& target,
                                             const std::vector<Check>& checks,
                                             uint32_t processors) {
  std::set<uint32_t> ranks;
  for (const Check& check : checks) ranks.insert(check.asked.ranks);
  // All ranks take part in every cell of other drivers.
  if (!targets::is_mpi(target.operations)) {
    std::vector<std::vector<uint32_t>> groups;
    for (const uint32_t count : ranks) groups.push_back({count});
    return groups;
  }
  const std::vector<uint32_t> sorted(ranks.begin(), ranks.end());
  return launch_groups(sorted, processors);
}

// Launches with and without something, in turns. The one that comes first changes from pair to
// pair.
class Pairs {
 public:
  Pairs(Launcher& launcher, const std::vector<Check>& checks, Environment without, Environment with,
        const ValidationOptions& options)
      : launcher_(launcher),
        checks_(checks),
        groups_(groups_of(launcher.adapter().target(), checks, options.processors)),
        without_(std::move(without)),
        with_(std::move(with)),
        seed_(options.seed),
        cells_(checks.size()) {
    for (size_t i = 0; i < checks.size(); ++i) cells_[i].cell = checks[i].cell;
  }

  // One more pair; none where the time is up before it ends.
  Status add() {
    std::array<std::vector<double>, 2> times;
    for (const bool first : {true, false}) {
      const bool loaded = first == (made_ % 2 == 0);
      const auto measured = measure(launcher_, checks_, groups_, loaded ? with_ : without_,
                                    derive_seed(seed_, made_), point_budget_s_);
      if (!measured.ok()) {
        return loaded ? measured.error().with_context("with the exported file")
                      : measured.error().with_context("with the default settings");
      }
      times[loaded ? 1 : 0] = *measured;
      if (measured->empty()) return {};
    }
    for (size_t i = 0; i < checks_.size(); ++i) {
      cells_[i].default_s.push_back(times[0][i]);
      cells_[i].value_s.push_back(times[1][i]);
    }
    ++made_;
    return {};
  }

  // With fewer repetitions from now on, so that a pair takes this share of the time.
  void shorten(double share) {
    point_budget_s_ = std::max(std::min(share, 1.0) * point_budget_s_, kLeastPointBudgetS);
  }

  size_t made() const { return made_; }
  const std::vector<targets::CellTimes>& cells() const { return cells_; }

 private:
  Launcher& launcher_;
  const std::vector<Check>& checks_;
  std::vector<std::vector<uint32_t>> groups_;
  Environment without_;
  Environment with_;
  uint64_t seed_;
  double point_budget_s_ = kPointBudgetS;
  size_t made_ = 0;
  std::vector<targets::CellTimes> cells_;
};

// A cell between two numbers of ranks that have the same choices, which may be predicted there: in
// the middle of these numbers, and of the sizes with such a choice.
std::optional<Cell> predicted_cell(const std::vector<const targets::Choice*>& below,
                                   const std::vector<const targets::Choice*>& above) {
  const uint32_t first = below.front()->cell.ranks;
  const uint32_t middle = (first + above.front()->cell.ranks) / 2;
  if (middle == first) return std::nullopt;
  std::vector<Cell> cells;
  for (const targets::Choice* const one : below) {
    const bool agrees =
        one->candidate.id != 0 && std::ranges::any_of(above, [&](const targets::Choice* other) {
          return other->cell.bytes == one->cell.bytes && same(other->candidate, one->candidate);
        });
    if (agrees) cells.push_back(one->cell);
  }
  if (cells.empty()) return std::nullopt;
  return with_ranks(cells[cells.size() / 2], middle);
}

// More pairs would not make it much narrower. What the verdicts are is not looked at.
bool all_narrow(const std::vector<targets::CellVerdict>& verdicts, double margin) {
  return std::ranges::all_of(verdicts, [&](const targets::CellVerdict& one) {
    return one.test.upper - one.test.lower < margin;
  });
}

}  // namespace

std::vector<Check> checks_of(const targets::Target& target,
                             const std::vector<targets::Choice>& by_cell,
                             const std::vector<targets::Setting>& settings,
                             const std::vector<uint32_t>& ranks, uint32_t processors,
                             const targets::Safety& safety) {
  std::vector<Check> checks;
  std::vector<Check> held_out;
  std::vector<Check> predicted;
  std::vector<Check> beyond;
  std::map<std::pair<Collective, uint32_t>, std::vector<const targets::Choice*>> rows;
  for (const auto& choice : by_cell) {
    rows[{choice.cell.collective, choice.cell.ranks}].push_back(&choice);
  }
  for (auto& [key, row] : rows) {
    std::ranges::sort(row, {}, [](const auto* one) { return one->cell.bytes; });
    const auto next = std::next(rows.find(key));
    if (next != rows.end() && next->first.first == key.first) {
      if (const auto cell = predicted_cell(row, next->second)) {
        predicted.push_back(check_of(*cell, Stage::held_out));
      }
    }
    // It has to be as fast beyond what it was chosen by.
    const auto& largest = *row.back();
    const bool for_all_sizes = targets::scope_of(target, key.first) != targets::Scope::cell;
    if (for_all_sizes && largest.candidate.id != 0 && largest.cell.bytes > 0) {
      for (const uint64_t factor : kLargerSizes) {
        Cell larger = largest.cell;
        larger.bytes = std::min(factor * larger.bytes,
                                kLargerSizes.front() * largest_size(key.first, key.second));
        const bool known = !beyond.empty() && beyond.back().cell == larger;
        if (larger.bytes > largest.cell.bytes && !known) {
          beyond.push_back(check_of(larger, Stage::held_out));
        }
      }
    }
    for (size_t i = 0; i < row.size(); ++i) {
      const auto& choice = *row[i];
      if (choice.candidate.id == 0) continue;
      checks.push_back(check_of(choice.cell, Stage::fitted));
      Check other = check_of(choice.cell, Stage::held_out);
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
        if (between.bytes != 0) held_out.push_back(check_of(between, Stage::held_out));
      }
      // Rules are closed: they hold for no other number of ranks, unless they are predicted there.
      const Cell behind = with_ranks(choice.cell, choice.cell.ranks + 1);
      const bool first = i == 0 || row[i - 1]->candidate.id == 0;
      if (first && !rows.contains({key.first, behind.ranks})) {
        held_out.push_back(check_of(behind, Stage::held_out));
      }
    }
  }
  checks.insert(checks.end(), predicted.begin(), predicted.end());
  checks.insert(checks.end(), beyond.begin(), beyond.end());
  // A few of all, spread evenly.
  const size_t step = held_out.size() / kMostHeldOut + 1;
  for (size_t i = 0; i < held_out.size(); i += step) {
    const bool known = std::ranges::any_of(
        predicted, [&](const Check& one) { return same_call(one.asked, held_out[i].asked); });
    if (!known) checks.push_back(held_out[i]);
  }
  if (!settings.empty()) add_checks_of_knobs(target, ranks, processors, checks);
  for (const uint32_t count : ranks) {
    const auto add = [&](const char* program, uint64_t bytes) {
      checks.push_back({.asked = {.operation = program, .ranks = count, .bytes = bytes}});
    };
    add("outstanding", 4096);
    add("halo", 8192);
    // A put is not asked for by its target, and libfabric's providers may keep few messages that
    // are not asked for.
    if (targets::is_mpi(target.operations)) add("reports", 64);
    add("sort", 65536);
  }
  return checks;
}

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::fitted:
      return "fitted";
    case Stage::held_out:
      return "held_out";
    case Stage::programs:
      return "programs";
  }
  return "fitted";
}

std::string_view title_of(Stage stage) {
  switch (stage) {
    case Stage::fitted:
      return "fitted cells";
    case Stage::held_out:
      return "held-out sizes, ranks and types";
    case Stage::programs:
      return "programs";
  }
  return "fitted cells";
}

bool is_slower(const Checked& one) { return one.test.verdict == stats::NonInferiority::inferior; }

bool is_inconclusive(const Checked& one) {
  return !is_slower(one) && !targets::is_accepted(one.test);
}

StageResult judge_stage(Stage stage, std::span<const Checked> checked,
                        const ValidationOptions& options) {
  StageResult result{.stage = stage, .passed = true, .verdict = "nothing to compare"};
  if (checked.empty()) return result;
  const auto count = [&](stats::NonInferiority verdict) {
    return std::ranges::count_if(checked,
                                 [&](const Checked& one) { return one.test.verdict == verdict; });
  };
  const size_t pairs = checked.front().pairs;
  const auto slower = count(stats::NonInferiority::inferior);
  const auto undecided = count(stats::NonInferiority::inconclusive);
  const auto open = std::ranges::count_if(checked, is_inconclusive);
  result.inconclusive = static_cast<size_t>(open);
  result.passed = slower == 0 && open == 0 && pairs >= options.least_pairs;
  result.verdict = count_text(checked.size(), "comparison") + " in " + count_text(pairs, "pair") +
                   " of launches: " + std::to_string(count(stats::NonInferiority::non_inferior)) +
                   " not slower than the default by more than the margin, " +
                   std::to_string(slower) + " slower, " + std::to_string(undecided) +
                   " inconclusive";
  if (undecided > 0) {
    result.verdict += ", of which " + std::to_string(undecided - open) + " lose less than " +
                      formatted("%.0f %%", 100 * targets::kBoundedLoss);
  }
  if (pairs < options.least_pairs) {
    result.verdict += "; the time was up before the " + std::to_string(options.least_pairs) +
                      " pairs that a verdict takes";
  }
  return result;
}

Result<std::vector<Checked>> validate(Launcher& launcher, const std::filesystem::path& file,
                                      const std::vector<Check>& checks, Stage stage,
                                      const ValidationOptions& options, const Tell& tell) {
  std::vector<Check> of_stage;
  std::ranges::copy_if(checks, std::back_inserter(of_stage),
                       [&](const Check& one) { return one.stage == stage; });
  std::vector<Checked> checked;
  if (of_stage.empty()) return checked;
  STRIPLINE_ASSIGN_OR_RETURN(const Environment with, launcher.adapter().loading(file));
  launcher.end_within(options.budget_s);
  Pairs pairs(launcher, of_stage, {}, with, options);
  std::vector<targets::CellVerdict> verdicts;
  do {
    const double begin_s = launcher.left_s();
    STRIPLINE_RETURN_IF_ERROR(pairs.add());
    STRIPLINE_ASSIGN_OR_RETURN(verdicts, targets::judge_cells(pairs.cells(), options.rule));
    const double left_s = launcher.left_s();
    const double pair_s = begin_s - left_s;
    if (pairs.made() >= options.least_pairs) {
      if (pair_s > left_s || all_narrow(verdicts, options.rule.margin)) break;
    } else {
      pairs.shorten(left_s / (static_cast<double>(options.least_pairs - pairs.made()) * pair_s));
    }
  } while (pairs.made() < kMostPairs && launcher.left_s() > 0);
  tell(std::string(title_of(stage)) + ": " + count_text(of_stage.size(), "comparison") +
       " with the default in " + count_text(pairs.made(), "pair") + " of launches");
  for (size_t i = 0; i < of_stage.size(); ++i) {
    checked.push_back({of_stage[i], verdicts[i].test, pairs.made()});
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
  std::vector<Check> checks = {check_of(probe.cell, Stage::fitted)};
  if (!probe.operation.empty()) checks.front().asked.operation = probe.operation;
  launcher.end_within(options.budget_s);
  Pairs pairs(launcher, checks, without, with, options);
  for (size_t pair = 0; pair < targets::kProbePairs; ++pair) {
    STRIPLINE_RETURN_IF_ERROR(pairs.add());
    if (pairs.made() <= pair) {
      return Error(ErrorCode::deadline_exceeded,
                   "the time was up before it was proven that the file is read; give it more by "
                   "--minutes");
    }
  }
  const auto factor =
      targets::proven_by_probe(pairs.cells()[0].default_s, pairs.cells()[0].value_s);
  if (!factor.ok()) return factor.error().with_context(describe(probe));
  return factor;
}

}  // namespace stripline::suites::tune
