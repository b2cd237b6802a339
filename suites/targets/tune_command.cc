#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <pwd.h>
#include <set>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/formatted.h"
#include "base/host_name.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/rfc3339.h"
#include "base/sha256.h"
#include "optimizer/targets/registry.h"
#include "suites/targets/bundle.h"
#include "suites/targets/commands.h"
#include "suites/targets/export_record.h"
#include "suites/targets/installation.h"
#include "suites/targets/knob_search.h"
#include "suites/targets/search_options.h"
#include "suites/targets/session.h"
#include "suites/targets/tuning.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;
using targets::Cell;
using targets::Scope;

// Shares of the time by the end of which the parts of a run have ended: the screening of knobs, the
// race of alternatives with the sizes between theirs, each stage of validation. The rest is for the
// proofs.
constexpr double kKnobsEnd = 0.18;
constexpr double kSearchEnd = 0.65;
constexpr std::array kStageEnds = {0.77, 0.84, 0.9};
// The part of what is left for each stage, where they are passed once more.
constexpr double kShareOfRest = 0.4;
constexpr const char* kAdvice = "name another folder by --output";

std::string user_name() {
  const passwd* const entry = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe)
  return entry != nullptr ? entry->pw_name : std::to_string(::geteuid());
}

ExportRecord new_record(const Basis& basis, const TuneOptions& options,
                        const SearchOptions& search) {
  ExportRecord record{.target = options.target,
                      .version = basis.version,
                      .path = search.path,
                      .ranks = options.ranks,
                      .processors = search.processors,
                      .host = host_name(),
                      .kernel = basis.kernel,
                      .configuration = basis.configuration,
                      .user = user_name(),
                      .seed = options.seed,
                      .largest_job = search.largest_job,
                      .margin = options.margin,
                      .commutative_only = options.commutative_only};
  record.time = rfc3339(unix_seconds());
  return record;
}

Decisions decisions_of(const targets::Target& target, const SearchReport& search,
                       const SearchOptions& options) {
  Decisions decisions{.settings = search.settings, .choices = search.result.choices};
  std::set<targets::Collective> seen;
  for (const auto& choice : search.result.by_cell) {
    const auto collective = choice.cell.collective;
    if (!target.choice_by_ranks || !seen.insert(collective).second) continue;
    std::vector<targets::Choice> of_one;
    for (const auto& other : search.result.by_cell) {
      if (other.cell.collective == collective) of_one.push_back(other);
    }
    auto rules = targets::closed_rules(collective, of_one,
                                       targets::scope_of(target, collective) == Scope::cell);
    if (!search.not_predicted.contains(collective)) {
      rules =
          targets::with_predictions(rules, options.grid.ranks, options.processors, options.safety);
    }
    decisions.rules.push_back(std::move(rules));
  }
  return decisions;
}

// What has to be seen to act: a rule where there are rules, a setting where knobs depart. Where no
// value of a knob is slow enough, a rule stands for it, as a setting names the file of rules. None
// where nothing was measured that would show one of them.
std::vector<Probe> probes_for(const SearchReport& search, const Decisions& decisions) {
  std::vector<Probe> probes;
  if (decisions.has_rules()) {
    if (!search.rules_probe) return {};
    probes.push_back(*search.rules_probe);
  }
  if (decisions.settings.empty()) return probes;
  if (search.settings_probe) {
    probes.push_back(*search.settings_probe);
  } else if (probes.empty() && search.rules_probe) {
    probes.push_back(*search.rules_probe);
  }
  return probes;
}

// Rules for numbers of ranks that were not measured.
std::vector<Prediction> predictions_in(const Decisions& decisions,
                                       const std::vector<uint32_t>& measured) {
  std::vector<Prediction> found;
  for (const targets::CollectiveRules& rules : decisions.rules) {
    for (const targets::RankRules& one : rules.by_ranks) {
      if (std::ranges::find(measured, one.ranks) != measured.end()) continue;
      for (const targets::SizeRange& range : one.ranges) {
        found.push_back({rules.collective, one.ranks, range});
      }
    }
  }
  return found;
}

// A line for each collective that has some.
std::vector<std::string> prediction_lines(const std::vector<Prediction>& predicted) {
  std::map<targets::Collective, std::set<uint32_t>> ranks;
  for (const Prediction& one : predicted) ranks[one.collective].insert(one.ranks);
  std::vector<std::string> lines;
  for (const auto& [collective, counts] : ranks) {
    std::string text;
    for (const uint32_t count : counts) {
      text.append(text.empty() ? "" : ", ").append(std::to_string(count));
    }
    lines.push_back("Predicted, as the numbers of ranks on both sides agree: " +
                    std::string(to_string(collective)) + " of " + text + " ranks");
  }
  return lines;
}

// Back to the default by this comparison: a cell, or all that one decision was about.
void demote(const targets::Target& target, const Cell& cell, const Checked& why,
            SearchResult& result) {
  const Scope scope = targets::scope_of(target, cell.collective);
  for (size_t i = 0; i < result.by_cell.size(); ++i) {
    const Cell& other = result.by_cell[i].cell;
    if (other.collective != cell.collective) continue;
    if (scope != Scope::collective && other.ranks != cell.ranks) continue;
    if (scope == Scope::cell && other.bytes != cell.bytes) continue;
    if (result.by_cell[i].candidate.id == 0) continue;
    result.by_cell[i].candidate = target.candidates(cell.collective).front();
    result.decisions[i].chosen = 0;
    result.decisions[i].outcome =
        is_slower(why) ? targets::Outcome::refuted : targets::Outcome::not_confirmed;
  }
  if (scope == Scope::collective) {
    std::erase_if(result.choices, [&](const auto& one) { return one.first == cell.collective; });
  }
}

// True if it is shown to be as fast as the default; it may be accepted without that.
bool is_not_slower(const Checked& one) {
  return one.test.verdict == stats::NonInferiority::non_inferior;
}

// Cells that a comparison speaks against: a fitted one that is not shown to be as fast as the
// default; those on both sides of a held-out one that is not accepted, of as many ranks, or of the
// next smaller number of them that was measured.
std::vector<Cell> accused_by(const Checked& one, const SearchResult& result) {
  const auto& check = one.check;
  if (check.stage == Stage::programs || check.of_knobs) return {};
  if (check.stage == Stage::fitted) {
    return is_not_slower(one) ? std::vector<Cell>{} : std::vector<Cell>{check.cell};
  }
  if (targets::is_accepted(one.test)) return {};
  uint32_t ranks = 0;
  for (const auto& choice : result.by_cell) {
    const Cell& cell = choice.cell;
    if (cell.collective == check.cell.collective && cell.ranks <= check.cell.ranks) {
      ranks = std::max(ranks, cell.ranks);
    }
  }
  std::vector<Cell> accused;
  const Cell* below = nullptr;
  const Cell* above = nullptr;
  for (const auto& choice : result.by_cell) {
    const Cell& cell = choice.cell;
    if (cell.collective != check.cell.collective || cell.ranks != ranks) continue;
    if (cell.bytes <= check.cell.bytes && (below == nullptr || cell.bytes > below->bytes)) {
      below = &cell;
    }
    if (cell.bytes >= check.cell.bytes && (above == nullptr || cell.bytes < above->bytes)) {
      above = &cell;
    }
  }
  for (const Cell* const cell : {below, above}) {
    if (cell != nullptr) accused.push_back(*cell);
  }
  return accused;
}

class Tuning {
 public:
  Tuning(const TuneOptions& options, const TimeBudget& budget, SearchOptions search,
         const Basis& basis, const Adapter& adapter, Launcher& launcher, WorkFolder work, Tell tell)
      : options_(options),
        budget_(budget),
        search_(std::move(search)),
        adapter_(adapter),
        launcher_(launcher),
        work_(std::move(work)),
        record_(new_record(basis, options, search_)),
        tell_(std::move(tell)) {
    record_.search.unsettable = search_.safety.unsettable;
    const std::string folder =
        options.output.empty() ? "stripline-" + options.target : options.output;
    folder_ = fs::absolute(folder);
  }

  Result<ExportRecord> run() {
    // Before minutes of measuring.
    STRIPLINE_RETURN_IF_ERROR(check_target(folder_, options_.target));
    STRIPLINE_RETURN_IF_ERROR(check_replaceable(folder_ / kRecordName, kAdvice));
    for (const std::string& name : adapter_.file_names()) {
      STRIPLINE_RETURN_IF_ERROR(check_replaceable(folder_ / name, kAdvice));
    }
    // Without alternatives by operation there is no race that the rest would be for.
    const bool has_race = adapter_.target().candidates != nullptr;
    search_.knob_budget_s = budget_.left_s(has_race ? kKnobsEnd : kSearchEnd);
    STRIPLINE_RETURN_IF_ERROR(search_knobs(launcher_, search_, tell_, record_.search));
    search_.budget_s = budget_.left_s(kSearchEnd);
    STRIPLINE_RETURN_IF_ERROR(search_collectives(launcher_, search_, tell_, record_.search));
    STRIPLINE_RETURN_IF_ERROR(write_files());
    if (!tried_.empty()) STRIPLINE_RETURN_IF_ERROR(validate_files());
    STRIPLINE_RETURN_IF_ERROR(look_at_guidelines());
    STRIPLINE_RETURN_IF_ERROR(export_files());
    name_earlier_files();
    return record_;
  }

  const fs::path& folder() const { return folder_; }
  // What was validated; empty: nothing was.
  const fs::path& file() const { return file_; }

 private:
  // Files of an earlier run may be in use, and stay; the record no longer vouches for them.
  void name_earlier_files() const {
    for (const std::string& name : adapter_.file_names()) {
      std::error_code ignored;
      if (record_.files.contains(name) || !fs::exists(folder_ / name, ignored)) continue;
      tell_("'" + (folder_ / name).string() +
            "' is of an earlier run, and this one does not confirm it: remove it");
    }
  }

  // What was found, as files that will be in this folder.
  Result<std::vector<ExportFile>> files_in(const fs::path& folder) const {
    const Decisions decisions = decisions_of(adapter_.target(), record_.search, search_);
    if (decisions.empty()) return std::vector<ExportFile>();
    const std::string use =
        !options_.use.empty()
            ? options_.use
            : "To validate it again, and that it is read: stripline export verify " +
                  (folder_ / "FILE").string();
    std::vector<std::string> comments = comments_of(record_, use);
    const auto predicted = predictions_in(decisions, search_.grid.ranks);
    for (std::string& line : prediction_lines(predicted)) comments.push_back(std::move(line));
    return adapter_.files(decisions, search_.safety, folder, comments);
  }

  // What is left after validation, where anything departs. A cell that went back has the default's
  // times.
  Status look_at_guidelines() {
    SearchReport& search = record_.search;
    std::vector<targets::CellSeries> left;
    bool departs = false;
    for (size_t i = 0; i < search.times.size(); ++i) {
      const bool departs_here = search.result.by_cell[i].candidate.id != 0;
      const targets::CellTimes& times = search.times[i];
      left.push_back({times.cell, departs_here ? times.value_s : times.default_s});
      departs = departs || departs_here;
    }
    if (!departs) return {};
    STRIPLINE_ASSIGN_OR_RETURN(search.tuned_violations,
                               targets::violated_guidelines(left, search_.rule));
    return {};
  }

  // To be validated. Nothing is written where the default is kept everywhere.
  Status write_files() {
    tried_.clear();
    STRIPLINE_ASSIGN_OR_RETURN(const auto files, files_in(work_.path()));
    for (const ExportFile& one : files) {
      STRIPLINE_RETURN_IF_ERROR(write_atomically(work_ / one.name, one.text));
    }
    if (!files.empty()) tried_ = work_ / files.front().name;
    return {};
  }

  // An export that is there is only replaced by what was validated.
  Status export_files() {
    Bundle bundle;
    if (record_.validated) {
      record_.predicted = predictions_in(decisions_of(adapter_.target(), record_.search, search_),
                                         search_.grid.ranks);
      STRIPLINE_ASSIGN_OR_RETURN(bundle.files, files_in(folder_));
      file_ = folder_ / bundle.files.front().name;
    }
    for (ExportFile& one : bundle.files) {
      one.text = sealed(one.text);
      record_.files[one.name] = sha256_hex(one.text);
    }
    bundle.record = to_json(record_).dump(2) + "\n";
    return write_bundle(bundle, folder_, false, kAdvice);
  }

  // A file that something else overrides would be compared with what does it.
  Status check_effective() const {
    STRIPLINE_ASSIGN_OR_RETURN(const auto complaints,
                               adapter_.complaints(tried_, search_.safety, tried_));
    if (complaints.empty()) return {};
    for (const std::string& one : complaints) tell_(one);
    return Error(ErrorCode::failed_precondition,
                 "what was found would have no effect here: " + complaints.front());
  }

  Status validate_files() {
    STRIPLINE_RETURN_IF_ERROR(check_effective());
    ValidationOptions validation{
        .rule = search_.rule, .processors = search_.processors, .seed = options_.seed + 1};
    bool begun_again = false;
    for (size_t at = 0; at < kStages.size();) {
      validation.budget_s =
          begun_again ? kShareOfRest * budget_.left_s() : budget_.left_s(kStageEnds[at]);
      STRIPLINE_ASSIGN_OR_RETURN(const bool again, pass_stage(kStages[at], validation));
      if (again) {
        record_.stages.clear();
        record_.checked.clear();
        at = 0;
        begun_again = true;
        continue;
      }
      if (!record_.stages.back().passed) return {};
      ++at;
    }
    record_.validated = true;
    const Decisions decisions = decisions_of(adapter_.target(), record_.search, search_);
    for (const Probe& probe : probes_for(record_.search, decisions)) {
      validation.budget_s = budget_.left_s();
      const auto factor = prove_reading(launcher_, tried_, probe, validation);
      if (!factor.ok()) {
        record_.proofs.clear();
        return factor.error().with_context("'" + tried_.filename().string() + "'");
      }
      record_.proofs.push_back({probe, *factor});
    }
    return {};
  }

  // A stage of validation. Cells that it does not confirm go back to the default. Returns whether
  // all stages have to be passed again: knobs went back, with which everything was compared.
  Result<bool> pass_stage(Stage stage, const ValidationOptions& validation) {
    SearchResult& result = record_.search.result;
    const auto checks = checks_of(adapter_.target(), result.by_cell, record_.search.settings,
                                  options_.ranks, search_.processors, search_.safety);
    STRIPLINE_ASSIGN_OR_RETURN(const auto checked,
                               validate(launcher_, tried_, checks, stage, validation, tell_));
    std::vector<Checked> kept;
    // A program may be slower because of knobs, or of rules: without the knobs it shows.
    const bool knobs_depart = !record_.search.settings.empty();
    const auto speaks_against_knobs = [](const Checked& one) {
      return !targets::is_accepted(one.test) &&
             (one.check.of_knobs || one.check.stage == Stage::programs);
    };
    const bool knobs_lose = knobs_depart && std::ranges::any_of(checked, speaks_against_knobs);
    if (knobs_lose) {
      const bool slower = std::ranges::any_of(
          checked, [&](const Checked& one) { return speaks_against_knobs(one) && is_slower(one); });
      demote_knobs(slower);
      tell_(slower ? "knobs back to their defaults, as something got slower with them"
                   : "knobs back to their defaults, as a comparison with them stays inconclusive");
      STRIPLINE_RETURN_IF_ERROR(write_files());
      if (!tried_.empty()) return true;
    }
    const Decisions decisions = decisions_of(adapter_.target(), record_.search, search_);
    for (const Checked& one : checked) {
      if (one.check.of_knobs && knobs_lose) continue;
      if (is_predicted(one.check, decisions)) {
        if (!is_not_slower(one)) predict_no_more(one.check.cell.collective);
        kept.push_back(one);
        continue;
      }
      const auto accused = accused_by(one, result);
      for (const Cell& cell : accused) demote(adapter_.target(), cell, one, result);
      if (accused.empty()) kept.push_back(one);
    }
    // Some were demoted, or are not predicted any more, together with another one.
    const Decisions left = decisions_of(adapter_.target(), record_.search, search_);
    std::erase_if(kept, [&](const Checked& one) {
      return is_default(one.check) ||
             (is_predicted(one.check, decisions) && !is_predicted(one.check, left));
    });
    if (kept.size() < checked.size()) {
      tell_("back to the default, as validation did not confirm a gain: " +
            count_text(checked.size() - kept.size(), "comparison"));
    }
    record_.checked.insert(record_.checked.end(), kept.begin(), kept.end());
    // The comments have the gains of the validation from here on.
    STRIPLINE_RETURN_IF_ERROR(write_files());
    record_.stages.push_back(judge_stage(stage, tried_.empty() ? checked : kept, validation));
    record_.stages.back().inconclusive =
        static_cast<size_t>(std::ranges::count_if(checked, is_inconclusive));
    if (tried_.empty()) {
      record_.stages.back().passed = false;
      record_.stages.back().verdict += "; no gain was confirmed";
    }
    return false;
  }

  // All of them go back to their defaults, as they were compared together.
  void demote_knobs(bool slower) {
    for (KnobResult& knob : record_.search.knobs) {
      if (std::ranges::find(record_.search.settings, knob.setting) ==
          record_.search.settings.end()) {
        continue;
      }
      knob.decision.outcome =
          slower ? targets::KnobOutcome::loses : targets::KnobOutcome::not_shown;
      knob.together.clear();
      knob.failure = slower ? "validation found something slower with the knobs that gained"
                            : "validation was inconclusive with the knobs that gained";
    }
    record_.search.settings.clear();
  }

  // As a prediction is not shown to be as fast as the default.
  void predict_no_more(targets::Collective collective) {
    if (!record_.search.not_predicted.insert(collective).second) return;
    tell_(std::string(to_string(collective)) +
          ": no predictions for numbers of ranks that were not measured, as one is not shown to be "
          "as fast as the default");
  }

  // True if a comparison is of ranks that were not measured, and these decisions have a choice
  // there.
  bool is_predicted(const Check& check, const Decisions& decisions) const {
    if (check.stage != Stage::held_out || check.of_knobs) return false;
    const auto ranks = targets::predictable_ranks(search_.grid.ranks, search_.processors);
    if (std::ranges::find(ranks, check.cell.ranks) == ranks.end()) return false;
    return std::ranges::any_of(decisions.rules, [&](const targets::CollectiveRules& one) {
      return one.collective == check.cell.collective &&
             targets::chosen_by(one, check.cell.ranks, check.cell.bytes) != nullptr;
    });
  }

  // True if a comparison is of a cell that is at the default by now.
  bool is_default(const Check& check) const {
    const auto& cells = record_.search.result.by_cell;
    const auto found = std::ranges::find_if(
        cells, [&](const targets::Choice& choice) { return choice.cell == check.cell; });
    return check.stage != Stage::programs && !check.of_knobs && found != cells.end() &&
           found->candidate.id == 0;
  }

  const TuneOptions& options_;
  const TimeBudget& budget_;
  SearchOptions search_;
  const Adapter& adapter_;
  Launcher& launcher_;
  WorkFolder work_;
  ExportRecord record_;
  Tell tell_;
  fs::path folder_;
  fs::path tried_;  // in the work folder
  fs::path file_;
};

}  // namespace

namespace {

// In how many cells, and of how many values, it is certain that nothing gains; empty: nothing was
// looked at.
std::string sureness_of(const SearchReport& search) {
  const auto& decisions = search.result.decisions;
  const auto best = std::ranges::count(decisions, targets::Outcome::default_best,
                                       &targets::CellDecision::outcome);
  const auto without_gain = std::ranges::count_if(search.knobs, [](const KnobResult& knob) {
    const auto outcome = knob.decision.outcome;
    return knob.failure.empty() && knob.together.empty() &&
           (outcome == targets::KnobOutcome::no_effect || outcome == targets::KnobOutcome::loses ||
            outcome == targets::KnobOutcome::slower);
  });
  std::string text;
  if (!decisions.empty()) {
    text += "the default is the best in " + std::to_string(best) + " of " +
            count_text(decisions.size(), "cell");
  }
  if (!search.knobs.empty()) {
    text += (text.empty() ? "" : ", and ") + std::to_string(without_gain) + " of " +
            count_text(search.knobs.size(), "value") + " of knobs change nothing or lose";
  }
  return text.empty() ? text : "; with 95 % confidence " + text;
}

}  // namespace

bool has_loser(const ExportRecord& record) {
  return std::ranges::any_of(record.checked, is_slower);
}

std::string why_default(const ExportRecord& record) {
  if (const auto slower = std::ranges::find_if(record.checked, is_slower);
      slower != record.checked.end()) {
    return "with the settings that were found, something got slower: " +
           slower->check.asked.operation + " of " + count_text(slower->check.asked.ranks, "rank");
  }
  if (!record.stages.empty()) {
    return "validation has not confirmed what was found: " + record.stages.back().verdict;
  }
  return formatted("nothing is certain to gain more than %.1f %%", 100 * record.margin) +
         sureness_of(record.search);
}

std::string conclusion(const Tuned& tuned) {
  if (!tuned.file.empty()) return "Written: " + tuned.file.string();
  return "Keep the default: " + why_default(tuned.record) + ".";
}

Result<Tuned> tune(const TuneOptions& options, const Tell& tell) {
  const TimeBudget budget(options.minutes * 60);
  STRIPLINE_ASSIGN_OR_RETURN(SearchOptions search, search_options(options));
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Target* target, targets::find_target(options.target));
  STRIPLINE_ASSIGN_OR_RETURN(const Session session, open_session(*target, options.accept_untried));
  Launcher launcher(*session.adapter, session.driver.string(), session.folder, search.path,
                    options.cancel_fd);
  launcher.set_stall_limit(options.stall_s);
  tell(std::string(target->title) + " " + to_string(session.installed.version) + ", " +
       std::to_string(search.processors) + " processors, path " + options.path);
  search.grid.one_node = session.adapter->is_one_node(search.path);
  STRIPLINE_ASSIGN_OR_RETURN(const auto differences, session.adapter->differences());
  for (const std::string& one : differences) tell(one);
  launcher.end_within(budget.left_s());
  STRIPLINE_ASSIGN_OR_RETURN(search.safety.unsettable, unsettable_variables(launcher));
  STRIPLINE_ASSIGN_OR_RETURN(const Basis basis, basis_here(*session.adapter));
  STRIPLINE_ASSIGN_OR_RETURN(WorkFolder work, WorkFolder::create(session.folder.path()));
  Tuning tuning(options, budget, search, basis, *session.adapter, launcher, std::move(work), tell);
  STRIPLINE_ASSIGN_OR_RETURN(ExportRecord record, tuning.run());
  return Tuned{std::move(record), tuning.folder(), tuning.file()};
}

namespace {

Result<int> tune_here(const TuneOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const Tuned tuned, tune(options, print_progress));
  if (!tuned.file.empty()) note_export(tuned.file);
  if (options.json) {
    std::cout << to_json(tuned.record).dump() << '\n';
  } else {
    std::cout << summary_of(tuned.record);
    std::cout << '\n' << conclusion(tuned) << '\n';
    std::cout << "Record: " << (tuned.folder / kRecordName).string() << "\n";
  }
  return has_loser(tuned.record) ? kExitFailure : kExitOk;
}

}  // namespace

int tune_command(const TuneOptions& options) { return exit_code_of(tune_here(options)); }

}  // namespace stripline::suites::tune
