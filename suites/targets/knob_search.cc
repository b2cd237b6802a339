#include "suites/targets/knob_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "optimizer/search/coordinate_search.h"
#include "optimizer/stats/order.h"

namespace stripline::suites::tune {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// The part of the time in which each value is measured alone; the rest, and what that leaves, is
// for several together.
constexpr double kScreening = 0.75;
// Values that a sweep measures by twos.
constexpr size_t kMostPaired = 6;
// Knobs whose values are looked for together: those that surely change most.
constexpr size_t kMostTogether = 3;
// A value with which everything takes this much longer alone is not looked at beside others.
constexpr double kHopelessFactor = 1.5;
// A value with which an operation takes this much longer is sure to show in other runs, too.
constexpr double kProbeFactor = 1.5;

// By how much times surely change with a value, over all cells or in its worst one.
double sure_effect(const targets::KnobDecision& decision) {
  const bool acts = decision.outcome != targets::KnobOutcome::few_runs &&
                    decision.outcome != targets::KnobOutcome::no_effect;
  if (!acts) return 0;
  return std::max({0.0, decision.ratio.lower - 1, 1 - decision.ratio.upper,
                   decision.worst_ratio.interval.low - 1});
}

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
    const double left_s = std::max(launcher_.left_s(), 0.0);
    launcher_.end_within(left_s + (1 - kScreening) * options_.knob_budget_s);
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
    // Before some of them are refused beside others.
    const std::vector<Acting> knobs = acting();
    for (KnobResult* const result : departing()) STRIPLINE_RETURN_IF_ERROR(take(*result));
    return knobs.size() < 2 ? Status() : look_for_values_together(knobs);
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

  // Why a setting stays at its default beside those that depart already; empty: it departs, too.
  Result<std::string> refused_beside_others(const targets::Setting& setting) {
    STRIPLINE_ASSIGN_OR_RETURN(const Compared compared,
                               compare({.setting = setting}, report_.settings, report_.settings));
    if (!compared.failure.empty()) return compared.failure;
    if (compared.decision.outcome == targets::KnobOutcome::departs) return std::string();
    return "beside " + text_of(report_.settings.front()) + ": " + describe(compared.decision);
  }

  // What an arm does, beside some settings, to times with others alone.
  struct Compared {
    targets::KnobDecision decision;
    std::string failure;
  };

  // By fresh launches of both, in turns.
  Result<Compared> compare(Arm with, const std::vector<targets::Setting>& beside,
                           const std::vector<targets::Setting>& others) {
    Arm without;
    for (size_t run = 0; run < least_runs() && with.failure.empty(); ++run) {
      for (const bool first : {true, false}) {
        const bool is_without = first == (run % 2 == 0);
        STRIPLINE_RETURN_IF_ERROR(is_without ? measure(without, run, others)
                                             : measure(with, run, beside));
      }
      if (!without.failure.empty()) with.failure = without.failure;
    }
    Compared compared{.failure = with.failure};
    if (!compared.failure.empty()) return compared;
    std::vector<targets::CellTimes> times;
    for (size_t i = 0; i < cells_.size(); ++i) {
      without.times[i].resize(least_runs(), kMissing);
      with.times[i].resize(least_runs(), kMissing);
      times.push_back({{}, without.times[i], with.times[i]});
    }
    STRIPLINE_ASSIGN_OR_RETURN(compared.decision, targets::decide_knob(times, options_.rule));
    return compared;
  }

  // A knob that surely changes times, and its values that may be worth something beside others.
  struct Acting {
    double effect = 0;  // of the value that changes most
    std::vector<KnobResult*> values;
  };

  // Begins with those that change most. The values of a knob are in a row.
  std::vector<Acting> acting() {
    std::vector<Acting> knobs;
    std::string_view last;
    for (KnobResult& result : report_.knobs) {
      const auto& decision = result.decision;
      const bool measured =
          result.failure.empty() && decision.outcome != targets::KnobOutcome::few_runs;
      if (!measured || decision.ratio.value > kHopelessFactor) continue;
      if (knobs.empty() || last != result.setting.name) knobs.emplace_back();
      last = result.setting.name;
      Acting& knob = knobs.back();
      knob.effect = std::max(knob.effect, sure_effect(decision));
      knob.values.push_back(&result);
    }
    std::erase_if(knobs, [](const Acting& knob) { return knob.effect == 0; });
    std::ranges::stable_sort(knobs, std::greater<>(), &Acting::effect);
    knobs.resize(std::min(knobs.size(), kMostTogether));
    return knobs;
  }

  // The values of a combination, beside what departs of other knobs.
  std::vector<targets::Setting> settings_of(const std::vector<Acting>& knobs,
                                            const search::Combination& combination) const {
    std::vector<targets::Setting> settings;
    for (size_t i = 0; i < knobs.size(); ++i) {
      if (combination[i] > 0) settings.push_back(knobs[i].values[combination[i] - 1]->setting);
    }
    for (const targets::Setting& setting : report_.settings) {
      const bool looked_at = std::ranges::any_of(knobs, [&](const Acting& knob) {
        return knob.values.front()->setting.name == setting.name;
      });
      if (!looked_at) settings.push_back(setting);
    }
    return settings;
  }

  // What departs of these knobs.
  search::Combination taken(const std::vector<Acting>& knobs) const {
    search::Combination combination(knobs.size(), 0);
    for (size_t i = 0; i < knobs.size(); ++i) {
      for (size_t value = 0; value < knobs[i].values.size(); ++value) {
        const targets::Setting& setting = knobs[i].values[value]->setting;
        const bool departs = std::ranges::find(report_.settings, setting) != report_.settings.end();
        if (departs) combination[i] = value + 1;
      }
    }
    return combination;
  }

  // Values of different knobs may gain together although one of them, or each, loses alone: one
  // launch of each combination that the search asks for, and fresh ones of the best.
  Status look_for_values_together(const std::vector<Acting>& knobs) {
    std::vector<size_t> values;
    for (const Acting& knob : knobs) values.push_back(knob.values.size() + 1);
    search::CoordinateSearch search(values);
    search.add(search::Combination(knobs.size(), 0), 0);
    for (size_t i = 0; i < knobs.size(); ++i) {
      for (size_t value = 0; value < knobs[i].values.size(); ++value) {
        search::Combination alone(knobs.size(), 0);
        alone[i] = value + 1;
        search.add(alone, std::log(knobs[i].values[value]->decision.ratio.value));
      }
    }
    size_t looked_at = 0;
    // The last launches are of the best.
    double look_s = 0;
    while (launcher_.left_s() > static_cast<double>(least_runs() + 1) * look_s) {
      const auto next = search.next();
      if (!next) break;
      const double begin_s = launcher_.left_s();
      STRIPLINE_ASSIGN_OR_RETURN(const double log_time,
                                 look_at(settings_of(knobs, *next), looked_at));
      if (launcher_.left_s() <= 0) break;
      look_s = std::max(look_s, begin_s - launcher_.left_s());
      search.add(*next, log_time);
      ++looked_at;
    }
    tell_(std::to_string(looked_at) + " combinations of values of " + std::to_string(knobs.size()) +
          " knobs measured");
    return take_together(knobs, search);
  }

  // The logarithm of the mean over cells of times with settings, by those of the default, in a run
  // of each; NaN where they fail or take too much memory.
  Result<double> look_at(const std::vector<targets::Setting>& settings, size_t nth) {
    if (!check_memory(settings).ok()) return kMissing;
    Arm with;
    Arm without;
    for (const bool first : {true, false}) {
      STRIPLINE_RETURN_IF_ERROR(first == (nth % 2 == 0) ? measure(without, 0)
                                                        : measure(with, 0, settings));
    }
    double sum = 0;
    for (size_t i = 0; i < cells_.size(); ++i) {
      sum += std::log(with.times[i][0] / without.times[i][0]);
    }
    return with.failure.empty() ? sum / static_cast<double>(cells_.size()) : kMissing;
  }

  // Logarithms of times that differ by less than this are as good as the same.
  double least_difference() const { return -std::log(1 - options_.rule.margin / 2); }

  // The best combination, without values that change nothing in it.
  search::Combination needed_of(const search::CoordinateSearch& search) const {
    search::Combination best = search.best();
    const double least = search.log_time(best).value_or(kMissing);
    for (size_t& value : best) {
      const size_t had = std::exchange(value, 0);
      const double without = search.log_time(best).value_or(kMissing);
      if (!(without < least + least_difference())) value = had;
    }
    return best;
  }

  // The best combination of several values departs if it gains beside what has departed so far.
  Status take_together(const std::vector<Acting>& knobs, const search::CoordinateSearch& search) {
    const search::Combination best = needed_of(search);
    const search::Combination before = taken(knobs);
    const auto several = std::ranges::count_if(best, [](size_t value) { return value > 0; });
    if (several < 2 || best == before) return {};
    // Fresh launches would say no more of what did not look better.
    const double known = search.log_time(before).value_or(kMissing);
    if (*search.log_time(best) > known - least_difference()) return {};
    const std::vector<targets::Setting> settings = settings_of(knobs, best);
    STRIPLINE_ASSIGN_OR_RETURN(const Compared compared, compare({}, settings, report_.settings));
    const bool departs =
        compared.failure.empty() && compared.decision.outcome == targets::KnobOutcome::departs;
    if (!departs) return {};
    const std::string found = describe(compared.decision) + " than " +
                              (report_.settings.empty() ? "the default" : "what gains alone");
    for (size_t i = 0; i < knobs.size(); ++i) {
      for (size_t value = 0; value < knobs[i].values.size(); ++value) {
        KnobResult& result = *knobs[i].values[value];
        if (best[i] == value + 1) {
          result.failure.clear();
          result.together = "together with " + others_of(settings, result.setting) + " " + found;
        } else if (before[i] == value + 1) {
          result.failure = "is beaten by " + text_of(settings) + ", together " + found;
        }
      }
    }
    report_.settings = settings;
    return {};
  }

  static std::string text_of(const targets::Setting& setting) {
    return setting.name + "=" + setting.value;
  }
  static std::string text_of(const std::vector<targets::Setting>& settings) {
    std::string text;
    for (const targets::Setting& setting : settings) {
      text += (text.empty() ? "" : " and ") + text_of(setting);
    }
    return text;
  }
  static std::string others_of(std::vector<targets::Setting> settings,
                               const targets::Setting& one) {
    std::erase(settings, one);
    return text_of(settings);
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
