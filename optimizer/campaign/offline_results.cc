#include "optimizer/campaign/offline_results.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/sha256.h"
#include "optimizer/campaign/bundle_json.h"
#include "optimizer/experiment/json.h"

namespace stripline::campaign {
namespace {

constexpr FileKind kResults{"stripline campaign results", 1,
                            "a results file of 'stripline campaign run-plan'"};
constexpr int64_t kMostLostRuns = 100'000;
constexpr size_t kMostFacts = 256;
constexpr size_t kMostTextBytes = 4096;

Error bad(const std::string& where, const std::string& what) {
  return {ErrorCode::data_loss, where + ": " + what};
}

// Numbers that JSON cannot hold are refused.
Status add_line(const Json& json, std::string& text) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string line, canonical_json(json));
  text += line;
  text += '\n';
  if (text.size() <= kMaxResultsBytes) return {};
  return Error(ErrorCode::resource_exhausted, "the results exceed " +
                                                  std::to_string(kMaxResultsBytes >> 20) +
                                                  " MiB; plan fewer runs or experiments");
}

Status add_run(const OfflineRun& run, std::string& text) {
  Json added = Json::array();
  for (const experiment::Point& point : run.added) added.push_back(experiment::to_json(point));
  STRIPLINE_RETURN_IF_ERROR(add_line({{"run",
                                       {{"grid", run.grid},
                                        {"start_s", run.start_s},
                                        {"duration_s", run.duration_s},
                                        {"ended_unix_s", run.ended_unix_s},
                                        {"rank_nodes", run.rank_nodes},
                                        {"facts", run.facts},
                                        {"added", std::move(added)}}}},
                                     text));
  for (const auto& batch : run.batches) {
    Json list = Json::array();
    for (const auto& series : batch) list.push_back(experiment::to_json(series));
    STRIPLINE_RETURN_IF_ERROR(add_line({{"series", std::move(list)}}, text));
  }
  return {};
}

// Reads the lines one after the other.
class ResultsReader {
 public:
  explicit ResultsReader(std::string_view what) : what_(what) {}

  Result<OfflineResults> read(std::string_view text) {
    if (text.size() > kMaxResultsBytes) return bad(what_, "it is larger than any that is written");
    std::string_view rest = text;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      if (end == std::string_view::npos) return bad(what_, "it is cut off");
      const std::string where = what_ + ", line " + std::to_string(++line_);
      const size_t before = static_cast<size_t>(rest.data() - text.data());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (line_ == 1) {
        STRIPLINE_RETURN_IF_ERROR(take_plan(line));
        continue;
      }
      STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(line, where));
      if (!json.is_object()) return bad(where, "expected an object");
      if (json.contains("end")) {
        STRIPLINE_RETURN_IF_ERROR(take_end(json, where, text.substr(0, before)));
        if (!rest.empty()) return bad(where, "something follows the end");
        return std::move(results_);
      } else if (json.contains("run")) {
        STRIPLINE_RETURN_IF_ERROR(take_run(json, where));
      } else {
        STRIPLINE_RETURN_IF_ERROR(take_series(json, where, end));
      }
    }
    return bad(what_, "it is cut off: its end is missing");
  }

 private:
  Status take_plan(std::string_view line) {
    const auto json = parse_json(line, "its first line");
    if (!json.ok()) return not_of_kind(kResults, what_, json.error().message());
    STRIPLINE_RETURN_IF_ERROR(check_kind(*json, kResults, what_));
    STRIPLINE_ASSIGN_OR_RETURN(const Json* plan, get_object(*json, "plan", what_));
    STRIPLINE_ASSIGN_OR_RETURN(results_.plan, bundle_from_json(*plan, what_ + ": its plan"));
    for (const auto& point : results_.plan.assignment.points) points_.insert(point_key(point));
    return {};
  }

  Status take_run(const Json& json, const std::string& where) {
    STRIPLINE_RETURN_IF_ERROR(end_run(where));
    STRIPLINE_ASSIGN_OR_RETURN(const Json* object, get_object(json, "run", where));
    if (results_.runs.size() >= size_t{results_.plan.rule.runs} + kExtraRuns) {
      return bad(where, "more runs than the plan allows");
    }
    OfflineRun run;
    STRIPLINE_ASSIGN_OR_RETURN(const int64_t grid,
                               get_whole(*object, "grid", where, 0, results_.plan.rule.all_points));
    run.grid = static_cast<uint32_t>(grid);
    STRIPLINE_ASSIGN_OR_RETURN(run.start_s, get_seconds(*object, "start_s", where));
    STRIPLINE_ASSIGN_OR_RETURN(run.duration_s, get_seconds(*object, "duration_s", where));
    STRIPLINE_ASSIGN_OR_RETURN(run.ended_unix_s, get_number(*object, "ended_unix_s", where));
    STRIPLINE_RETURN_IF_ERROR(take_nodes(*object, where, run));
    STRIPLINE_RETURN_IF_ERROR(take_facts(*object, where, run));
    STRIPLINE_ASSIGN_OR_RETURN(const Json* added, get_array(*object, "added", where));
    for (const Json& element : *added) {
      STRIPLINE_ASSIGN_OR_RETURN(experiment::Point point, experiment::point_from_json(element));
      if (!results_.plan.requirements.contains(point.experiment) ||
          !points_.insert(point_key(point)).second) {
        return bad(where, "the point " + point_key(point) + " cannot be added to the plan");
      }
      run.added.push_back(std::move(point));
    }
    results_.runs.push_back(std::move(run));
    return {};
  }

  Status take_nodes(const Json& object, const std::string& where, OfflineRun& run) const {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* nodes, get_array(object, "rank_nodes", where));
    for (const Json& node : *nodes) {
      if (!is_short_text(node)) return bad(where, "a node's name is not a string, or too long");
      run.rank_nodes.push_back(node.get<std::string>());
    }
    if (run.rank_nodes.size() == results_.plan.assignment.ranks) return {};
    return bad(where, "it does not name the node of each rank");
  }

  static Status take_facts(const Json& object, const std::string& where, OfflineRun& run) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* facts, get_object(object, "facts", where));
    for (const auto& [node, of_node] : facts->items()) {
      if (std::ranges::find(run.rank_nodes, node) == run.rank_nodes.end()) {
        return bad(where, "facts of a node that has no rank");
      }
      if (!of_node.is_object() || of_node.size() > kMostFacts) {
        return bad(where, "expected at most " + std::to_string(kMostFacts) + " facts of a node");
      }
      for (const auto& [field, value] : of_node.items()) {
        if (!is_short_text(value) || field.size() > kMostTextBytes) {
          return bad(where, "a fact is not a string, or too long");
        }
        run.facts[node][field] = value.get<std::string>();
      }
    }
    const bool all_told = std::ranges::all_of(
        run.rank_nodes, [&](const std::string& node) { return run.facts.contains(node); });
    return all_told ? Status() : bad(where, "a node says nothing of itself");
  }

  Status take_series(const Json& json, const std::string& where, size_t bytes) {
    if (results_.runs.empty()) return bad(where, "samples before the first run");
    if (bytes > kMostBatchBytes) return bad(where, "more samples at once than are accepted");
    STRIPLINE_ASSIGN_OR_RETURN(const Json* list, get_array(json, "series", where));
    std::vector<experiment::SampleSeries> batch;
    for (const Json& element : *list) {
      auto series = experiment::sample_series_from_json(element);
      if (!series.ok()) return series.error().with_context(where);
      if (series->run != results_.runs.size()) return bad(where, "samples of another run");
      const std::string key = point_key(series->point);
      if (!points_.contains(key)) return bad(where, key + " is not a point of the plan");
      if (!of_run_.insert(key).second) return bad(where, key + " was measured twice in one run");
      batch.push_back(*std::move(series));
    }
    results_.runs.back().batches.push_back(std::move(batch));
    return {};
  }

  Status end_run(const std::string& where) {
    if (!results_.runs.empty() && of_run_.empty()) {
      return bad(where, "the run before it has no samples");
    }
    of_run_.clear();
    return {};
  }

  Status take_end(const Json& json, const std::string& where, std::string_view before) {
    STRIPLINE_RETURN_IF_ERROR(end_run(where));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string sha256, get_string(json, "sha256", where));
    if (sha256 != sha256_hex(before)) {
      return bad(where, "the file was changed, or is damaged: its hash differs");
    }
    STRIPLINE_ASSIGN_OR_RETURN(const Json* end, get_object(json, "end", where));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string reason, get_string(*end, "reason", where));
    const auto known = stop_reason_from_string(reason);
    if (!known) return bad(where, "'" + reason + "' is not a reason to stop");
    results_.reason = *known;
    STRIPLINE_ASSIGN_OR_RETURN(const int64_t lost,
                               get_whole(*end, "lost_runs", where, 0, kMostLostRuns));
    results_.lost_runs = static_cast<uint32_t>(lost);
    STRIPLINE_ASSIGN_OR_RETURN(results_.spent_s, get_seconds(*end, "spent_s", where));
    return take_left_out(*end, where);
  }

  Status take_left_out(const Json& end, const std::string& where) {
    auto left_out = experiment::left_out_of(end);
    if (!left_out.ok()) return left_out.error().with_context(where);
    results_.left_out = *std::move(left_out);
    const auto& requirements = results_.plan.requirements;
    for (const auto& [name, why] : results_.left_out) {
      if (requirements.contains(name) && why.size() <= kMostTextBytes) continue;
      return bad(where,
                 "what is left out is not an experiment of the plan, or the reason too long");
    }
    if (results_.left_out.empty() || results_.left_out.size() < requirements.size()) return {};
    return bad(where, "all experiments of the plan are left out");
  }

  static bool is_short_text(const Json& json) {
    return json.is_string() && json.get_ref<const std::string&>().size() <= kMostTextBytes;
  }

  const std::string what_;
  OfflineResults results_;
  std::set<std::string> points_;  // of the plan, and added
  std::set<std::string> of_run_;
  size_t line_ = 0;
};

}  // namespace

uint32_t OfflineRun::points() const {
  size_t points = 0;
  for (const auto& batch : batches) points += batch.size();
  return static_cast<uint32_t>(points);
}

Result<std::string> results_text(const OfflineResults& results) {
  std::string text;
  STRIPLINE_ASSIGN_OR_RETURN(Json plan, to_json(results.plan));
  STRIPLINE_RETURN_IF_ERROR(add_line(
      {{"kind", kResults.kind}, {"schema_version", kResults.version}, {"plan", std::move(plan)}},
      text));
  for (const OfflineRun& run : results.runs) STRIPLINE_RETURN_IF_ERROR(add_run(run, text));
  const std::string sha256 = sha256_hex(text);
  Json end = {{"reason", to_string(results.reason)},
              {"lost_runs", results.lost_runs},
              {"spent_s", results.spent_s}};
  if (!results.left_out.empty()) end[experiment::kLeftOutMember] = results.left_out;
  STRIPLINE_RETURN_IF_ERROR(add_line({{"end", std::move(end)}, {"sha256", sha256}}, text));
  return text;
}

Result<OfflineResults> read_results(std::string_view text, std::string_view what) {
  return ResultsReader(what).read(text);
}

PointTable table_of(const OfflineResults& results) {
  PointTable table(results.plan.assignment.points);
  uint32_t number = 0;
  for (const OfflineRun& run : results.runs) {
    for (const experiment::Point& point : run.added) table.add(point);
    std::vector<PointResult> said;
    for (const auto& batch : run.batches) {
      for (const auto& series : batch) {
        const auto place = table.find(series.point);
        if (place) said.push_back(result_of(series, *place));
      }
    }
    table.add_run(++number, said);
  }
  return table;
}

Next next_of(const OfflineResults& results, const PointTable& table) {
  Progress progress;
  for (const OfflineRun& run : results.runs) {
    progress.runs.push_back(
        {run.grid > 0 ? run.grid : run.points(), run.points(), run.start_s, run.duration_s});
  }
  progress.spent_s = results.spent_s;
  progress.points = results.runs.empty() ? nullptr : &table;
  return next_run(results.plan.rule, progress);
}

}  // namespace stripline::campaign
