#include "suites/targets/knob_search.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "base/random.h"
#include "optimizer/stats/order.h"

namespace stripline::suites::tune {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// The part of the time in which each value is measured alone; the rest is for several together.
constexpr double kScreening = 0.75;
// Values that a sweep measures by twos.
constexpr size_t kMostPaired = 6;
// A value with which an operation takes this much longer is sure to show in other runs, too.
constexpr double kProbeFactor = 1.5;

// Cells of these sizes behind others.
class Cells {
 public:
  explicit Cells(uint32_t ranks) : ranks_(ranks) {}
  void add(const char* operation, std::initializer_list<uint64_t> sizes) {
    for (const uint64_t bytes : sizes) {
      cells_.push_back({.operation = operation, .ranks = ranks_, .bytes = bytes});
    }
  }
  std::vector<DriverCell> take() { return std::move(cells_); }

 private:
  uint32_t ranks_;
  std::vector<DriverCell> cells_;
};

std::vector<DriverCell> cells_among(const targets::Target& target, uint32_t ranks) {
  using targets::Operations;
  const Operations operations = target.operations;
  Cells cells(ranks);
  if (operations == Operations::symmetric) {
    cells.add("put", {64, 8192, 65536, 1 << 20});
    cells.add("get", {64, 8192, 65536, 1 << 20});
    cells.add("window", {8, 4096, 65536});
    cells.add("latency", {8, 65536});
    cells.add("fetch_add", {8});
    return cells.take();
  }
  if (operations == Operations::remote_memory) {
    cells.add("put", {64, 65536, 1 << 20});
    cells.add("get", {64, 65536});
    cells.add("strided_put", {4096, 65536});
    cells.add("strided_get", {4096, 65536});
    cells.add("window", {8, 4096, 65536});
    cells.add("latency", {8, 65536});
    cells.add("barrier", {0});
    cells.add("bcast", {8, 65536});
    cells.add("allreduce", {8, 65536});
    return cells.take();
  }
  cells.add("latency", {8, 8192, 131072, 1 << 20});
  cells.add("window", {8, 8192, 131072});
  if (operations == Operations::fabric) {
    cells.add("get", {64, 65536, 1 << 20});
    return cells.take();
  }
  cells.add("unexpected", {64, 8192});
  cells.add("allreduce", {8, 65536});
  cells.add("alltoall", {1024, 65536});
  if (operations == Operations::nonblocking) {
    cells.add("ibcast", {8192, 65536});
    cells.add("ireduce", {1024, 8192});
  }
  if (operations == Operations::one_sided) {
    cells.add("put", {64, 65536});
    cells.add("get", {64, 65536});
    cells.add("accumulate", {8, 65536});
  }
  return cells.take();
}

// Where ranks share something, or decide by their number.
std::vector<DriverCell> cells_among_more(const targets::Target& target, uint32_t ranks) {
  using targets::Operations;
  const Operations operations = target.operations;
  Cells cells(ranks);
  cells.add("window", {8, 65536});
  if (operations == Operations::symmetric) cells.add("put", {65536});
  if (operations == Operations::remote_memory) cells.add("barrier", {0});
  if (targets::is_mpi(operations) || operations == Operations::remote_memory) {
    cells.add("allreduce", {8, 65536});
  }
  if (targets::is_mpi(operations)) cells.add("alltoall", {1024, 65536});
  if (operations == Operations::nonblocking) {
    cells.add("ibcast", {8192, 65536});
    cells.add("ireduce", {1024, 8192});
  }
  return cells.take();
}

class KnobSearch {
 public:
  KnobSearch(Launcher& launcher, const SearchOptions& options, const Tell& tell,
             SearchReport& report)
      : launcher_(launcher), options_(options), tell_(tell), report_(report) {
    const targets::Target& target = launcher.adapter().target();
    for (const targets::Knob& knob : target.knobs) {
      // What is chosen by collective is not looked at here.
      const bool is_choice = knob.name.starts_with("coll_") ||
                             knob.name.find("_INTRA_ALGORITHM") != std::string_view::npos;
      if (!targets::acts_on(knob, options.path) || is_choice) continue;
      if (knob.kind == targets::KnobKind::text) continue;
      for (const auto value : targets::words_of(knob.values)) {
        if (value == knob.default_value) continue;
        arms_.push_back({.setting = {std::string(knob.name), std::string(value)}});
      }
    }
    // First, so that there is time for them.
    for (const targets::Setting& probe : targets::probes_on(target, options.path)) {
      arms_.insert(arms_.begin(), Arm{.setting = probe, .only_probe = true});
    }
  }

  Status run() {
    if (arms_.empty()) return {};
    STRIPLINE_RETURN_IF_ERROR(leave_out_unsettable());
    leave_out_what_takes_too_much();
    launcher_.end_within(kScreening * options_.knob_budget_s);
    choose_cells();
    size_t runs = 0;
    if (launcher_.left_s() <= 0) {
      leave_out_what_does_not_fit(std::numeric_limits<double>::infinity());
    }
    while (runs < kMostSearchRuns && launcher_.left_s() > 0) {
      const double begin_s = launcher_.left_s();
      STRIPLINE_RETURN_IF_ERROR(measure(usual_, runs));
      if (runs == 0) leave_out_what_does_not_fit(begin_s - launcher_.left_s());
      for (const size_t at : order(runs)) {
        if (arms_[at].failure.empty()) STRIPLINE_RETURN_IF_ERROR(measure(arms_[at], runs));
      }
      ++runs;
      if (runs < least_runs()) continue;
      STRIPLINE_RETURN_IF_ERROR(judge());
      const double run_s = begin_s - launcher_.left_s();
      if (all_known() || run_s > launcher_.left_s()) break;
    }
    STRIPLINE_RETURN_IF_ERROR(judge());
    const auto measured =
        std::ranges::count_if(arms_, [](const Arm& arm) { return arm.failure.empty(); });
    tell_(std::to_string(measured) + " of " + std::to_string(arms_.size()) +
          " values of knobs measured in " + std::to_string(runs) + " runs");
    choose_probe();
    launcher_.end_within((1 - kScreening) * options_.knob_budget_s);
    return decide();
  }

  Result<KnobSweep> sweep(size_t runs, const std::vector<targets::Setting>& together) {
    std::erase_if(arms_, [](const Arm& arm) { return arm.only_probe; });
    STRIPLINE_RETURN_IF_ERROR(leave_out_unsettable());
    leave_out_what_takes_too_much();
    choose_cells();
    std::vector<Swept> all = {Swept()};
    for (Arm& arm : arms_) all.push_back({std::move(arm), {}});
    const bool known =
        std::ranges::any_of(all, [&](const Swept& one) { return settings_of(one) == together; });
    if (!known) all.push_back({{}, together});
    STRIPLINE_RETURN_IF_ERROR(repeat(all, 1, 0, runs));
    STRIPLINE_ASSIGN_OR_RETURN(auto pairs, pairs_of(all, together));
    if (!pairs.empty()) {
      const size_t first = all.size();
      std::ranges::move(pairs, std::back_inserter(all));
      STRIPLINE_RETURN_IF_ERROR(repeat(all, first, runs, runs));
    }
    KnobSweep sweep{.cells = cells_};
    const size_t in_all = all.front().arm.times.front().size();
    for (Swept& one : all) {
      one.arm.times.resize(cells_.size());
      for (auto& times : one.arm.times) times.resize(in_all, kMissing);
      sweep.swept.push_back(
          {settings_of(one), std::move(one.arm.times), std::move(one.arm.failure)});
    }
    return sweep;
  }

 private:
  struct Arm {
    targets::Setting setting;
    bool only_probe = false;  // never exported
    std::string failure;
    std::vector<std::vector<double>> times;  // by cell and run
    targets::KnobDecision decision;
  };

  // What a sweep measures together: a value, or several.
  struct Swept {
    Arm arm;
    std::vector<targets::Setting> beside;
  };

  static std::vector<targets::Setting> settings_of(const Swept& one) {
    std::vector<targets::Setting> settings = one.beside;
    if (!one.arm.setting.name.empty()) settings.push_back(one.arm.setting);
    return settings;
  }

  // The default, and all from `from` on, in turns.
  Status repeat(std::vector<Swept>& all, size_t from, size_t first_run, size_t runs) {
    for (size_t run = first_run; run < first_run + runs; ++run) {
      std::vector<size_t> order = {0};
      for (size_t i = from; i < all.size(); ++i) order.push_back(i);
      shuffle(order, derive_seed(options_.seed, run));
      for (const size_t at : order) {
        if (!all[at].arm.failure.empty()) continue;
        STRIPLINE_RETURN_IF_ERROR(measure(all[at].arm, run, all[at].beside));
      }
      tell_("run " + std::to_string(run - first_run + 1) + " of " + std::to_string(runs));
    }
    return {};
  }

  // Each two of the values that gain most, of different knobs, but for two that are `together`.
  Result<std::vector<Swept>> pairs_of(const std::vector<Swept>& all,
                                      const std::vector<targets::Setting>& together) const {
    targets::DecisionRule rule = options_.rule;
    rule.least_runs = 2;
    std::vector<std::pair<double, targets::Setting>> gaining;
    for (const Swept& one : all) {
      if (!one.arm.failure.empty() || settings_of(one).size() != 1) continue;
      std::vector<targets::CellTimes> times;
      for (size_t i = 0; i < cells_.size(); ++i) {
        times.push_back({{}, all.front().arm.times[i], one.arm.times[i]});
      }
      STRIPLINE_ASSIGN_OR_RETURN(const auto decision, targets::decide_knob(times, rule));
      // Two may gain more than the margin together.
      const bool gains = decision.ratio.upper < 1 - options_.rule.margin / 2;
      if (decision.outcome == targets::KnobOutcome::few_runs || !gains) continue;
      gaining.emplace_back(decision.ratio.value, one.arm.setting);
    }
    std::ranges::stable_sort(gaining, {}, [](const auto& one) { return one.first; });
    gaining.resize(std::min(gaining.size(), kMostPaired));
    std::vector<Swept> pairs;
    for (size_t i = 0; i < gaining.size(); ++i) {
      for (size_t k = i + 1; k < gaining.size(); ++k) {
        Swept pair{{.setting = gaining[k].second}, {gaining[i].second}};
        const auto settings = settings_of(pair);
        const bool known = std::ranges::is_permutation(settings, together);
        if (settings[0].name == settings[1].name || known) continue;
        if (check_memory(settings).ok()) pairs.push_back(std::move(pair));
      }
    }
    return pairs;
  }

  size_t least_runs() const { return options_.rule.least_runs; }

  // All ranks take part in every cell of drivers that are not MPI; those have a launch for each
  // number of ranks.
  void choose_cells() {
    const targets::Target& target = launcher_.adapter().target();
    cells_ = knob_cells(target, options_.grid.ranks, options_.processors);
    for (const DriverCell& cell : cells_) {
      const bool known = !groups_.empty() && (targets::is_mpi(target.operations) ||
                                              groups_.back().front().ranks == cell.ranks);
      if (!known) groups_.emplace_back();
      groups_.back().push_back(cell);
    }
  }

  Status leave_out_unsettable() {
    std::vector<targets::Setting> settings;
    for (const Arm& arm : arms_) {
      const bool known = !settings.empty() && settings.back().name == arm.setting.name;
      if (!known) settings.push_back(arm.setting);
    }
    STRIPLINE_ASSIGN_OR_RETURN(const auto names, launcher_.adapter().unsettable(settings));
    for (Arm& arm : arms_) {
      if (names.contains(arm.setting.name)) arm.failure = "cannot be set in this version";
    }
    report_.unsettable.insert(names.begin(), names.end());
    return {};
  }

  // Before they are measured. A probe is never exported.
  void leave_out_what_takes_too_much() {
    for (Arm& arm : arms_) {
      if (!arm.failure.empty() || arm.only_probe) continue;
      const Status memory = check_memory(std::span(&arm.setting, 1));
      if (!memory.ok()) arm.failure = memory.error().message();
    }
  }

  // Fewer values with as many runs as a decision takes say more than all of them with less.
  void leave_out_what_does_not_fit(double launch_s) {
    const double launches =
        kScreening * options_.knob_budget_s / launch_s / static_cast<double>(least_runs());
    auto fit = static_cast<size_t>(std::clamp(launches - 1, 0.0, 1e6));
    for (Arm& arm : arms_) {
      if (!arm.failure.empty()) continue;
      if (fit == 0) arm.failure = "there was no time to measure it";
      if (fit > 0) --fit;
    }
  }

  std::vector<size_t> order(size_t run) const {
    std::vector<size_t> all(arms_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    shuffle(all, derive_seed(options_.seed, run));
    return all;
  }

  // What a launch has measured. Returns why it failed; empty: it did not.
  std::string take_times(const Launched& launched, const DriverPlan& plan, size_t run,
                         Arm& arm) const {
    std::string failure = launched.failure;
    for (const DriverSeries& series : launched.output.series) {
      const DriverCell& measured = plan.cells[series.cell];
      const auto cell = std::ranges::find_if(cells_, [&](const DriverCell& one) {
        return one.operation == measured.operation && one.ranks == measured.ranks &&
               one.bytes == measured.bytes;
      });
      if (!series.verified) failure = series.note;
      if (series.values_s.empty() || !series.verified) continue;
      arm.times[static_cast<size_t>(cell - cells_.begin())][run] =
          std::max(stats::median(series.values_s), 1e-9);
    }
    return failure;
  }

  // The settings of `beside` count as the default.
  Status measure(Arm& arm, size_t run, const std::vector<targets::Setting>& beside = {}) {
    DriverPlan plan{.run = static_cast<uint32_t>(run),
                    .seed = derive_seed(options_.seed, launcher_.launches()),
                    .repetitions = kSearchRepetitions,
                    .budget_s = kSearchPointBudgetS};
    const size_t usual = plan.variant({});
    std::vector<targets::Setting> settings = beside;
    if (!arm.setting.name.empty()) settings.push_back(arm.setting);
    const Environment environment = launcher_.adapter().knobs(settings);
    arm.times.resize(cells_.size());
    for (auto& times : arm.times) times.resize(run + 1, kMissing);
    std::string failure;
    std::string said;
    for (const auto& group : groups_) {
      plan.cells = group;
      for (DriverCell& cell : plan.cells) cell.variants = {usual};
      STRIPLINE_ASSIGN_OR_RETURN(const Launched launched, launcher_.run(plan, environment));
      failure = take_times(launched, plan, run, arm);
      said = launched.said;
      if (!failure.empty()) break;
    }
    if (failure.empty()) return {};
    if (arm.setting.name.empty() && beside.empty()) {
      return Error(
          ErrorCode::aborted,
          "messages do not work with the default settings: the program " + failure + ": " + said);
    }
    arm.failure = failure;
    if (!arm.setting.name.empty()) {
      tell_(arm.setting.name + "=" + arm.setting.value + " is left out: " + failure);
    }
    return {};
  }

  Status judge() {
    targets::DecisionRule rule = options_.rule;
    rule.confidence = 1 - (1 - rule.confidence) / static_cast<double>(arms_.size());
    usual_.times.resize(cells_.size());
    for (Arm& arm : arms_) {
      if (!arm.failure.empty()) continue;
      std::vector<targets::CellTimes> times;
      arm.times.resize(cells_.size());
      for (size_t i = 0; i < cells_.size(); ++i) {
        // The time may have been up before it had its turn in the last run.
        arm.times[i].resize(usual_.times[i].size(), kMissing);
        times.push_back({{}, usual_.times[i], arm.times[i]});
      }
      STRIPLINE_ASSIGN_OR_RETURN(arm.decision, targets::decide_knob(times, rule));
    }
    return {};
  }

  // No value is worth more runs. A gain is: that it was looked for after each run would make it
  // look more certain than it is.
  bool all_known() const {
    return std::ranges::all_of(arms_, [](const Arm& arm) {
      const auto outcome = arm.decision.outcome;
      return arm.only_probe || !arm.failure.empty() || outcome == targets::KnobOutcome::no_effect ||
             outcome == targets::KnobOutcome::loses || outcome == targets::KnobOutcome::slower;
    });
  }

  // The operation and the value that is slowest beside its default.
  void choose_probe() {
    double most = kProbeFactor;
    for (const Arm& arm : arms_) {
      for (size_t i = 0; i < arm.times.size() && arm.failure.empty(); ++i) {
        std::vector<double> factors;
        for (size_t run = 0; run < arm.times[i].size(); ++run) {
          const double factor = arm.times[i][run] / usual_.times[i][run];
          if (!std::isnan(factor)) factors.push_back(factor);
        }
        if (factors.size() < 2) continue;
        const double factor = stats::median(factors);
        if (factor < most) continue;
        most = factor;
        const DriverCell& at = cells_[i];
        report_.settings_probe =
            Probe{.cell = {.ranks = at.ranks,
                           .ranks_per_node = options_.grid.one_node ? at.ranks : 1,
                           .bytes = at.bytes},
                  .setting = arm.setting,
                  .operation = at.operation};
      }
    }
  }

  Status decide() {
    report_.knob_times = {cells_, {{{}, usual_.times, {}}}};
    for (const Arm& arm : arms_) {
      if (arm.only_probe) continue;
      report_.knobs.push_back({arm.setting, arm.decision, arm.failure});
      if (arm.failure.empty()) report_.knob_times.swept.push_back({{arm.setting}, arm.times, {}});
    }
    for (KnobResult* const result : departing()) STRIPLINE_RETURN_IF_ERROR(take(*result));
    return {};
  }

  // The best value of each knob that gains, the largest gain first.
  std::vector<KnobResult*> departing() {
    const auto departs = [](const KnobResult& one) {
      return one.failure.empty() && one.decision.outcome == targets::KnobOutcome::departs;
    };
    std::vector<KnobResult*> found;
    for (KnobResult& result : report_.knobs) {
      const auto better = [&](const KnobResult& other) {
        return other.setting.name == result.setting.name && departs(other) &&
               other.decision.ratio.value < result.decision.ratio.value;
      };
      if (departs(result) && std::ranges::none_of(report_.knobs, better)) found.push_back(&result);
    }
    std::ranges::stable_sort(found, {},
                             [](const KnobResult* one) { return one->decision.ratio.value; });
    return found;
  }

  // Settings may take no more memory together than each of them, and one that gains alone may gain
  // nothing beside others.
  Status take(KnobResult& result) {
    std::vector<targets::Setting> together = report_.settings;
    together.push_back(result.setting);
    const Status memory = check_memory(together);
    if (!memory.ok()) {
      result.failure = memory.error().message();
      return {};
    }
    if (!report_.settings.empty()) {
      STRIPLINE_ASSIGN_OR_RETURN(result.failure, refused_beside_others(result.setting));
    }
    if (result.failure.empty()) report_.settings = std::move(together);
    return {};
  }

  // Fresh launches with and without a setting beside those that depart already, in turns. Why it
  // stays at its default; empty: it departs, too.
  Result<std::string> refused_beside_others(const targets::Setting& setting) {
    Arm without;
    Arm with{.setting = setting};
    for (size_t run = 0; run < least_runs() && with.failure.empty(); ++run) {
      const bool first = run % 2 == 0;
      STRIPLINE_RETURN_IF_ERROR(measure(first ? without : with, run, report_.settings));
      STRIPLINE_RETURN_IF_ERROR(measure(first ? with : without, run, report_.settings));
      if (!without.failure.empty()) with.failure = without.failure;
    }
    if (!with.failure.empty()) return with.failure;
    std::vector<targets::CellTimes> times;
    for (size_t i = 0; i < cells_.size(); ++i) {
      without.times[i].resize(least_runs(), kMissing);
      with.times[i].resize(least_runs(), kMissing);
      times.push_back({{}, without.times[i], with.times[i]});
    }
    STRIPLINE_ASSIGN_OR_RETURN(const auto decision, targets::decide_knob(times, options_.rule));
    if (decision.outcome == targets::KnobOutcome::departs) return std::string();
    const std::string other = report_.settings.front().name + "=" + report_.settings.front().value;
    return "beside " + other + ": " + describe(decision);
  }

  Status check_memory(std::span<const targets::Setting> settings) const {
    return targets::check_memory(launcher_.adapter().target(), settings, options_.largest_job,
                                 options_.memory_bytes);
  }

  Launcher& launcher_;
  const SearchOptions& options_;
  const Tell& tell_;
  SearchReport& report_;
  std::vector<DriverCell> cells_;
  std::vector<std::vector<DriverCell>> groups_;  // of a launch each
  Arm usual_;
  std::vector<Arm> arms_;
};

}  // namespace

std::vector<DriverCell> knob_cells(const targets::Target& target,
                                   const std::vector<uint32_t>& ranks, uint32_t processors) {
  const uint32_t fewest = std::ranges::min(ranks);
  std::vector<DriverCell> cells = cells_among(target, fewest);
  uint32_t most = fewest;
  for (const uint32_t count : ranks) {
    if (count <= processors) most = std::max(most, count);
  }
  if (most > fewest) std::ranges::move(cells_among_more(target, most), std::back_inserter(cells));
  return cells;
}

Status search_knobs(Launcher& launcher, const SearchOptions& options, const Tell& tell,
                    SearchReport& report) {
  return KnobSearch(launcher, options, tell, report).run();
}

Result<KnobSweep> sweep_knobs(Launcher& launcher, const SearchOptions& options, size_t runs,
                              const std::vector<targets::Setting>& together, const Tell& tell) {
  SearchReport report;
  return KnobSearch(launcher, options, tell, report).sweep(runs, together);
}

}  // namespace stripline::suites::tune
