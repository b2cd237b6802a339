#include "suites/targets/export_record.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/command_line.h"
#include "base/formatted.h"
#include "base/quantity.h"
#include "base/table.h"
#include "optimizer/targets/registry.h"
#include "suites/targets/bundle.h"
#include "suites/targets/knob_search.h"

namespace stripline::suites::tune {
namespace {

using targets::Cell;

std::string percent(double share) { return formatted("%.1f %%", 100 * share); }

std::string factor_text(double factor) { return formatted("%.2f", factor); }

std::string bytes_or_dash(const Cell& cell) {
  return cell.collective == targets::Collective::barrier ? "-" : exact_bytes_text(cell.bytes);
}

Json cell_json(const Cell& cell) {
  return {{"collective", to_string(cell.collective)},
          {"ranks", cell.ranks},
          {"ranks_per_node", cell.ranks_per_node},
          {"bytes", cell.bytes}};
}

Result<Cell> cell_from_json(const Json& json, std::string_view where) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string name, get_string(json, "collective", where));
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t ranks, get_integer(json, "ranks", where));
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t bytes, get_integer(json, "bytes", where));
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t of_node, get_integer(json, "ranks_per_node", where));
  const auto collective = targets::collective_from_string(name);
  if (!collective || ranks < 2 || ranks > 1 << 20 || of_node < 1 || of_node > ranks || bytes < 0) {
    return Error(ErrorCode::data_loss, std::string(where) + ": is not a cell");
  }
  return Cell{*collective, static_cast<uint32_t>(ranks), static_cast<uint32_t>(of_node),
              static_cast<uint64_t>(bytes)};
}

// NaN and infinity have no form in JSON.
Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json violations_json(const std::vector<targets::Violation>& violations) {
  Json all = Json::array();
  for (const targets::Violation& one : violations) {
    Json entry = cell_json(one.cell);
    entry["guideline"] = one.guideline;
    entry["ratio"] = number_json(one.test.ratio);
    entry["lower"] = number_json(one.test.lower);
    all.push_back(std::move(entry));
  }
  return all;
}

Json proof_json(const Proof& proof) {
  const Probe& probe = proof.probe;
  Json json = cell_json(probe.cell);
  if (probe.setting) {
    json["setting"] = {{"name", probe.setting->name}, {"value", probe.setting->value}};
    json["operation"] = probe.operation;
  } else {
    json["candidate"] = probe.candidate.name;
  }
  json["factor"] = number_json(proof.factor);
  return json;
}

// Empty without any.
std::string violations_table(const std::string& title,
                             const std::vector<targets::Violation>& violations) {
  if (violations.empty()) return {};
  Table table({{title},
               {"collective"},
               {"ranks", Table::Align::right},
               {"bytes", Table::Align::right},
               {"ratio", Table::Align::right},
               {"at least", Table::Align::right}});
  for (const targets::Violation& one : violations) {
    table.add({one.guideline, std::string(to_string(one.cell.collective)),
               std::to_string(one.cell.ranks), bytes_or_dash(one.cell), factor_text(one.test.ratio),
               factor_text(one.test.lower)});
  }
  return "\n" + table.text();
}

std::optional<targets::Candidate> candidate_named(const targets::Target& target,
                                                  targets::Collective collective,
                                                  const std::string& name) {
  if (target.candidates == nullptr) return std::nullopt;
  for (auto& candidate : target.candidates(collective)) {
    if (candidate.name == name) return candidate;
  }
  return std::nullopt;
}

Result<Probe> probe_from_json(const Json& json, const targets::Target& target,
                              const ExportRecord& record) {
  constexpr std::string_view kWhere = "export record.proofs";
  Probe probe;
  STRIPLINE_ASSIGN_OR_RETURN(probe.cell, cell_from_json(json, kWhere));
  if (!json.contains("setting")) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string name, get_string(json, "candidate", kWhere));
    const auto candidate = candidate_named(target, probe.cell.collective, name);
    if (!candidate) return Error(ErrorCode::data_loss, "export record: '" + name + "' is unknown");
    probe.candidate = *candidate;
    return probe;
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* setting, get_object(json, "setting", kWhere));
  targets::Setting given;
  STRIPLINE_ASSIGN_OR_RETURN(given.name, get_string(*setting, "name", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(given.value, get_string(*setting, "value", kWhere));
  probe.setting = std::move(given);
  STRIPLINE_ASSIGN_OR_RETURN(probe.operation, get_string(json, "operation", kWhere));
  const auto operations = knob_cells(target, record.ranks, record.processors);
  if (std::ranges::find(operations, probe.operation, &DriverCell::operation) == operations.end()) {
    return Error(ErrorCode::data_loss,
                 "export record: its probe is of an operation that is not known here");
  }
  return probe;
}

// The time of a choice over the default's: that of the validation, which chose nothing, where there
// is one; else that of the search.
struct Shown {
  double value = 1;
  double low = 1;
  double high = 1;
};

Shown shown_ratio(const ExportRecord& record, size_t at) {
  const Cell& cell = record.search.result.by_cell[at].cell;
  for (const Checked& one : record.checked) {
    if (one.check.stage == Stage::fitted && one.check.cell == cell) {
      return {one.test.ratio, one.test.lower, one.test.upper};
    }
  }
  const stats::Ratio& ratio = record.search.result.decisions[at].ratio;
  return {ratio.value, ratio.interval.low, ratio.interval.high};
}

// "4 ranks on one node", as the target has seen them.
std::string nodes_text(const SearchReport& search) {
  const bool one_node = !search.result.by_cell.empty()
                            ? is_one_node(search.result.by_cell.front().cell)
                            : !search.settings_probe || is_one_node(search.settings_probe->cell);
  return one_node ? " ranks on one node" : " ranks, each as on a node of its own";
}

// A line for each range of sizes with one choice.
// Why a value is taken, or what was found of it alone.
std::string found_of(const KnobResult& knob) {
  return knob.together.empty() ? describe(knob.decision) : knob.together;
}

std::vector<std::string> gain_lines(const ExportRecord& record) {
  std::vector<std::string> lines;
  const auto& cells = record.search.result.by_cell;
  for (size_t i = 0; i < cells.size();) {
    size_t end = i + 1;
    const auto& first = cells[i];
    while (end < cells.size() && cells[end].cell.collective == first.cell.collective &&
           cells[end].cell.ranks == first.cell.ranks &&
           cells[end].candidate.name == first.candidate.name) {
      ++end;
    }
    if (first.candidate.id != 0) {
      Shown all{0, std::numeric_limits<double>::infinity(), 0};
      for (size_t k = i; k < end; ++k) {
        const Shown one = shown_ratio(record, k);
        all.value += std::log(one.value) / static_cast<double>(end - i);
        all.low = std::min(all.low, one.low);
        all.high = std::max(all.high, one.high);
      }
      std::string sizes = bytes_or_dash(first.cell);
      if (end - i > 1) sizes += " to " + exact_bytes_text(cells[end - 1].cell.bytes);
      lines.push_back(std::string(to_string(first.cell.collective)) + ", " +
                      std::to_string(first.cell.ranks) + " ranks, " + sizes + ": " +
                      first.candidate.name + ", " + factor_text(std::exp(all.value)) +
                      " of the default's time (" + factor_text(all.low) + " to " +
                      factor_text(all.high) + ")");
    }
    i = end;
  }
  return lines;
}

}  // namespace

Json to_json(const ExportRecord& record) {
  Json cells = Json::array();
  const auto& result = record.search.result;
  for (size_t i = 0; i < result.by_cell.size(); ++i) {
    const auto& decision = result.decisions[i];
    Json cell = cell_json(decision.cell);
    cell["chosen"] = result.by_cell[i].candidate.name;
    cell["outcome"] = targets::to_string(decision.outcome);
    if (decision.ratio.runs > 0) {
      cell["ratio"] = number_json(decision.ratio.value);
      cell["ratio_low"] = number_json(decision.ratio.interval.low);
      cell["ratio_high"] = number_json(decision.ratio.interval.high);
      cell["runs"] = decision.ratio.runs;
    }
    cells.push_back(std::move(cell));
  }
  Json knobs = Json::array();
  for (const KnobResult& knob : record.search.knobs) {
    knobs.push_back({{"name", knob.setting.name},
                     {"value", knob.setting.value},
                     {"outcome", targets::to_string(knob.decision.outcome)},
                     {"ratio", number_json(knob.decision.ratio.value)},
                     {"ratio_low", number_json(knob.decision.ratio.lower)},
                     {"ratio_high", number_json(knob.decision.ratio.upper)},
                     {"failure", knob.failure}});
    if (!knob.together.empty()) knobs.back()["together"] = knob.together;
  }
  Json settings = Json::object();
  for (const targets::Setting& one : record.search.settings) settings[one.name] = one.value;
  Json rejected = Json::array();
  for (const Rejected& one : record.search.rejected) {
    Json entry = cell_json(one.cell);
    entry["candidate"] = one.candidate;
    entry["reason"] = one.reason;
    rejected.push_back(std::move(entry));
  }
  Json checked = Json::array();
  for (const Checked& one : record.checked) {
    checked.push_back({{"operation", one.check.asked.operation},
                       {"ranks", one.check.asked.ranks},
                       {"bytes", one.check.asked.bytes},
                       {"type", one.check.asked.type},
                       {"in_place", one.check.asked.in_place},
                       {"stage", to_string(one.check.stage)},
                       {"verdict", stats::to_string(one.test.verdict)},
                       {"ratio", number_json(one.test.ratio)},
                       {"lower", number_json(one.test.lower)},
                       {"upper", number_json(one.test.upper)},
                       {"pairs", one.pairs}});
  }
  Json predicted = Json::array();
  for (const Prediction& one : record.predicted) {
    predicted.push_back({{"collective", to_string(one.collective)},
                         {"ranks", one.ranks},
                         {"first_bytes", one.range.first},
                         {"last_bytes", one.range.last},
                         {"chosen", one.range.candidate.name}});
  }
  Json stages = Json::array();
  for (const StageResult& one : record.stages) {
    stages.push_back({{"stage", to_string(one.stage)},
                      {"passed", one.passed},
                      {"verdict", one.verdict},
                      {"inconclusive", one.inconclusive}});
  }
  Json json = {{"target", record.target},
               {"version", record.version},
               {"path", to_string(record.path)},
               {"ranks", record.ranks},
               {"processors", record.processors},
               {"host", record.host},
               {"kernel", record.kernel},
               {"configuration", record.configuration},
               {"user", record.user},
               {"time", record.time},
               {"seed", record.seed},
               {"largest_job", record.largest_job},
               {"margin", record.margin},
               {"commutative_only", record.commutative_only},
               {"validated", record.validated},
               {"files", record.files},
               {"runs", record.search.runs},
               {"cells", std::move(cells)},
               {"knobs", std::move(knobs)},
               {"settings", std::move(settings)},
               {"unsettable", record.search.unsettable},
               {"rejected", std::move(rejected)},
               {"predicted", std::move(predicted)},
               {"violations", violations_json(record.search.violations)},
               {"tuned_violations", violations_json(record.search.tuned_violations)},
               {"stages", std::move(stages)},
               {"checks", std::move(checked)}};
  json["proofs"] = Json::array();
  for (const Proof& one : record.proofs) json["proofs"].push_back(proof_json(one));
  return json;
}

Result<ExportRecord> record_from_json(const Json& json) {
  constexpr std::string_view kWhere = "export record";
  ExportRecord record;
  STRIPLINE_ASSIGN_OR_RETURN(record.target, get_string(json, "target", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(record.version, get_string(json, "version", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(record.margin, get_number(json, "margin", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(record.commutative_only, get_bool(json, "commutative_only", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(record.validated, get_bool(json, "validated", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(record.time, get_string(json, "time", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(record.host, get_string(json, "host", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(record.kernel, get_string(json, "kernel", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(record.user, get_string(json, "user", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t processors, get_integer(json, "processors", kWhere));
  if (json.contains("configuration")) {
    STRIPLINE_ASSIGN_OR_RETURN(record.configuration, get_string(json, "configuration", kWhere));
  }
  const auto seed = json.find("seed");
  if (processors < 1 || processors > 1 << 20 || seed == json.end() || !seed->is_number_unsigned()) {
    return Error(ErrorCode::data_loss, "export record: its processors or its seed are not valid");
  }
  record.processors = static_cast<uint32_t>(processors);
  record.seed = seed->get<uint64_t>();
  STRIPLINE_ASSIGN_OR_RETURN(const std::string path, get_string(json, "path", kWhere));
  bool known = false;
  for (const auto one : {targets::Path::any, targets::Path::shared_memory, targets::Path::tcp}) {
    if (to_string(one) != path) continue;
    record.path = one;
    known = true;
  }
  const auto target = targets::find_target(record.target);
  if (!target.ok() || !known) {
    return Error(ErrorCode::data_loss, "export record: its target or path is not known here");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* ranks, get_array(json, "ranks", kWhere));
  for (const Json& one : *ranks) {
    if (!one.is_number_unsigned() || one.get<uint64_t>() < 2 || one.get<uint64_t>() > 1 << 20) {
      return Error(ErrorCode::data_loss, "export record: ranks are not numbers of 2 and more");
    }
    record.ranks.push_back(one.get<uint32_t>());
  }
  if (record.ranks.empty()) {
    return Error(ErrorCode::data_loss, "export record: it has no numbers of ranks");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* files, get_object(json, "files", kWhere));
  for (const auto& [name, hash] : files->items()) {
    if (!hash.is_string()) return Error(ErrorCode::data_loss, "export record: a hash is not text");
    record.files[name] = hash.get<std::string>();
  }
  // Earlier versions did not record them.
  if (json.contains("settings")) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* settings, get_object(json, "settings", kWhere));
    for (const auto& [name, value] : settings->items()) {
      if (!value.is_string()) {
        return Error(ErrorCode::data_loss, "export record: a setting is not text");
      }
      record.search.settings.push_back({name, value.get<std::string>()});
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* cells, get_array(json, "cells", kWhere));
  for (const Json& one : *cells) {
    targets::Choice choice;
    STRIPLINE_ASSIGN_OR_RETURN(choice.cell, cell_from_json(one, "export record.cells"));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string name, get_string(one, "chosen", kWhere));
    const auto candidate = candidate_named(**target, choice.cell.collective, name);
    if (!candidate) return Error(ErrorCode::data_loss, "export record: '" + name + "' is unknown");
    choice.candidate = *candidate;
    record.search.result.by_cell.push_back(std::move(choice));
  }
  if (json.contains("proofs")) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* proofs, get_array(json, "proofs", kWhere));
    for (const Json& one : *proofs) {
      STRIPLINE_ASSIGN_OR_RETURN(Probe probe, probe_from_json(one, **target, record));
      record.proofs.push_back({.probe = std::move(probe)});
    }
  }
  return record;
}

std::vector<std::string> stale_reasons(const ExportRecord& record, const Basis& here) {
  std::vector<std::string> reasons;
  if (here.version != record.version) {
    reasons.push_back("it was validated for version " + record.version + ", and " + here.version +
                      " is installed");
  }
  if (here.kernel != record.kernel) {
    reasons.push_back("it was validated on Linux " + record.kernel + ", and this is " +
                      here.kernel);
  }
  if (!record.configuration.empty() && here.configuration != record.configuration) {
    reasons.emplace_back(
        "how the target is built, or what other files set, or the environment, is not what it was "
        "validated with");
  }
  return reasons;
}

Result<ExportRecord> read_record_of(const std::filesystem::path& file) {
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle bundle, read_bundle(file));
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(bundle.record, "export record"));
  return record_from_json(json);
}

std::vector<std::string> comments_of(const ExportRecord& record, const std::string& use) {
  const auto target = targets::find_target(record.target);
  std::string ranks;
  for (const uint32_t count : record.ranks) {
    ranks.append(ranks.empty() ? "" : ", ").append(std::to_string(count));
  }
  std::vector<std::string> lines = {
      std::string(kMark) + " " + std::string(program_version()) + ": settings of " +
          std::string(target.ok() ? (*target)->title : std::string_view(record.target)) + " " +
          record.version,
      record.time + ", by " + record.user + " on " + record.host + " (" +
          count_text(record.processors, "processor") + ", Linux " + record.kernel + ")",
      "For " + ranks + nodes_text(record.search) + ", over " + std::string(to_string(record.path)) +
          "; " +
          (record.commutative_only ? "operations must be commutative"
                                   : "for operations of every kind"),
      "Everything else keeps the default: a choice gains more than " + percent(record.margin) +
          " with 95 % confidence, or is not here",
      use,
      ""};
  if (!record.search.settings.empty()) {
    lines.push_back("Memory that settings take was estimated for jobs of " +
                    std::to_string(record.largest_job) + " ranks");
  }
  for (const auto& setting : record.search.settings) {
    for (const KnobResult& knob : record.search.knobs) {
      if (knob.setting == setting) {
        lines.push_back(setting.name + " = " + setting.value + ": " + found_of(knob));
      }
    }
  }
  for (std::string& line : gain_lines(record)) lines.push_back(std::move(line));
  return lines;
}

std::string summary_of(const ExportRecord& record) {
  const auto& result = record.search.result;
  std::map<targets::Outcome, size_t> outcomes;
  for (const auto& decision : result.decisions) ++outcomes[decision.outcome];
  std::string text;
  // A later validation has no search to report.
  if (!result.decisions.empty()) {
    text = std::to_string(result.decisions.size()) + " cells in " +
           count_text(record.search.runs, "run") + ": " +
           std::to_string(outcomes[targets::Outcome::departs]) + " depart from the default, in " +
           std::to_string(outcomes[targets::Outcome::default_best]) + " it is the best, in " +
           std::to_string(outcomes[targets::Outcome::tie]) + " no gain is certain, " +
           std::to_string(outcomes[targets::Outcome::few_runs]) + " had too few runs";
    const size_t back =
        outcomes[targets::Outcome::not_confirmed] + outcomes[targets::Outcome::refuted];
    if (back > 0) text += ", " + std::to_string(back) + " went back to it in validation";
    text += "\n";
    if (outcomes[targets::Outcome::few_runs] > 0) {
      text +=
          "The time was up before all cells were measured often enough: those keep the default; "
          "more --minutes decide about them\n";
    }
  }
  Table gains({{"collective"},
               {"ranks", Table::Align::right},
               {"bytes", Table::Align::right},
               {"choice"},
               {"time / default's", Table::Align::right},
               {"95 %"}});
  for (size_t i = 0; i < result.by_cell.size(); ++i) {
    const Cell& cell = result.by_cell[i].cell;
    if (result.by_cell[i].candidate.id == 0) continue;
    const Shown shown = shown_ratio(record, i);
    gains.add({std::string(to_string(cell.collective)), std::to_string(cell.ranks),
               bytes_or_dash(cell), result.by_cell[i].candidate.name, factor_text(shown.value),
               factor_text(shown.low) + " to " + factor_text(shown.high)});
  }
  if (!gains.empty()) text += "\n" + gains.text();
  Table knobs({{"knob"}, {"value"}, {"found"}});
  for (const KnobResult& knob : record.search.knobs) {
    knobs.add({knob.setting.name, knob.setting.value,
               knob.failure.empty() ? found_of(knob) : knob.failure});
  }
  if (!knobs.empty()) text += "\n" + knobs.text();
  for (const std::string& name : record.search.unsettable) {
    text += name + " cannot be set in this version: what it decides keeps the default\n";
  }
  text += violations_table("the default violates", record.search.violations);
  text += violations_table("the tuned settings violate", record.search.tuned_violations);
  if (!record.stages.empty()) {
    text += "\nValidation, with a margin of " + percent(record.margin) + ":\n";
    for (const Stage stage : kStages) {
      const auto found = std::ranges::find(record.stages, stage, &StageResult::stage);
      text += "  " + std::string(title_of(stage)) + ": ";
      text += found == record.stages.end()
                  ? "not looked at, as the stage before has failed\n"
                  : (found->passed ? "passed: " : "failed: ") + found->verdict + "\n";
    }
    for (const Checked& one : record.checked) {
      if (targets::is_accepted(one.test)) continue;
      const bool slower = is_slower(one);
      text += std::string(slower ? "  slower: " : "  inconclusive: ") + one.check.asked.operation +
              ", " + std::to_string(one.check.asked.ranks) + " ranks, " +
              exact_bytes_text(one.check.asked.bytes) + ", " + one.check.asked.type +
              (one.check.asked.in_place ? ", in place" : "") + ": " + factor_text(one.test.ratio) +
              (slower ? " (from " + factor_text(one.test.lower)
                      : " (up to " + factor_text(one.test.upper)) +
              ")\n";
    }
  }
  if (record.proofs.empty() && record.validated) {
    text += "That the target reads it was not proven: nothing that was measured is slow enough\n";
  }
  for (const Proof& one : record.proofs) {
    text += "Read by the target: a probe (" + describe(one.probe) + ") took " +
            factor_text(one.factor) + " times as long\n";
  }
  return text;
}

}  // namespace stripline::suites::tune
