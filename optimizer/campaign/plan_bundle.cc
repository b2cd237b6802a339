#include "optimizer/campaign/plan_bundle.h"

#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/random.h"
#include "base/sha256.h"
#include "optimizer/campaign/bundle_json.h"
#include "optimizer/experiment/json.h"

namespace stripline::campaign {
namespace {

constexpr FileKind kPlan{"stripline campaign plan", 1,
                         "a plan of 'stripline campaign export-plan'"};
constexpr std::string_view kWhere = "plan";
constexpr int64_t kMostRuns = 100'000;
constexpr int64_t kMostNodes = 100'000;
constexpr int64_t kMostPoints = 1'000'000;
constexpr size_t kMostExperiments = 1000;
constexpr size_t kMostKindBytes = 64;  // of another file, in a message

Json to_json(const Rule& rule) {
  Json json = {{"runs", rule.runs},
               {"enough_runs", rule.enough_runs},
               {"fewest_runs", rule.fewest_runs},
               {"width", rule.width},
               {"pilot", rule.pilot},
               {"least_points", rule.least_points},
               {"core_points", rule.core_points},
               {"all_points", rule.all_points},
               {"nodes", rule.nodes},
               {"refine_breaks", rule.refine_breaks},
               {"race", rule.race},
               {"straddle", rule.straddle}};
  // JSON has no infinity: a budget that is not there is left out.
  if (std::isfinite(rule.time_budget_s)) json["time_budget_s"] = rule.time_budget_s;
  if (std::isfinite(rule.node_budget_s)) json["node_budget_s"] = rule.node_budget_s;
  return json;
}

Result<uint32_t> get_count(const Json& json, std::string_view key, int64_t least, int64_t most) {
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t value, get_whole(json, key, "plan.rule", least, most));
  return static_cast<uint32_t>(value);
}

Result<double> get_budget(const Json& json, const char* key) {
  if (!json.contains(key)) return std::numeric_limits<double>::infinity();
  return get_seconds(json, key, "plan.rule");
}

Result<Rule> rule_from_json(const Json& json) {
  constexpr std::string_view kRule = "plan.rule";
  Rule rule;
  STRIPLINE_ASSIGN_OR_RETURN(rule.runs, get_count(json, "runs", 1, kMostRuns));
  STRIPLINE_ASSIGN_OR_RETURN(rule.enough_runs, get_count(json, "enough_runs", 1, kMostRuns));
  STRIPLINE_ASSIGN_OR_RETURN(rule.fewest_runs, get_count(json, "fewest_runs", 1, kMostRuns));
  STRIPLINE_ASSIGN_OR_RETURN(rule.width, get_seconds(json, "width", kRule));
  STRIPLINE_ASSIGN_OR_RETURN(rule.pilot, get_bool(json, "pilot", kRule));
  STRIPLINE_ASSIGN_OR_RETURN(rule.all_points, get_count(json, "all_points", 1, kMostPoints));
  STRIPLINE_ASSIGN_OR_RETURN(rule.core_points, get_count(json, "core_points", 1, rule.all_points));
  STRIPLINE_ASSIGN_OR_RETURN(rule.least_points,
                             get_count(json, "least_points", 0, rule.core_points));
  STRIPLINE_ASSIGN_OR_RETURN(rule.nodes, get_count(json, "nodes", 1, kMostNodes));
  STRIPLINE_ASSIGN_OR_RETURN(rule.refine_breaks, get_bool(json, "refine_breaks", kRule));
  STRIPLINE_ASSIGN_OR_RETURN(rule.race, get_bool(json, "race", kRule));
  STRIPLINE_ASSIGN_OR_RETURN(rule.straddle, get_bool(json, "straddle", kRule));
  STRIPLINE_ASSIGN_OR_RETURN(rule.time_budget_s, get_budget(json, "time_budget_s"));
  STRIPLINE_ASSIGN_OR_RETURN(rule.node_budget_s, get_budget(json, "node_budget_s"));
  return rule;
}

Error bad(const std::string& what) { return {ErrorCode::data_loss, "plan: " + what}; }

// The plan holds each point once, of experiments whose versions it names.
Status check_points(const PlanBundle& bundle) {
  std::set<std::string> keys;
  for (const experiment::Point& point : bundle.assignment.points) {
    if (!keys.insert(point_key(point)).second) {
      return bad("the point " + point_key(point) + " stands in it twice");
    }
    if (!bundle.requirements.contains(point.experiment)) {
      return bad("the version of '" + point.experiment + "' is missing");
    }
  }
  if (keys.size() != bundle.rule.all_points) {
    return bad("it has " + std::to_string(keys.size()) + " points, not " +
               std::to_string(bundle.rule.all_points));
  }
  if (bundle.assignment.run != 1 || bundle.rule.nodes > bundle.assignment.ranks) {
    return bad("its assignment is not that of a first run on its nodes");
  }
  return {};
}

}  // namespace

Result<int64_t> get_whole(const Json& object, std::string_view key, std::string_view where,
                          int64_t least, int64_t most) {
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t value, get_integer(object, key, where));
  if (value >= least && value <= most) return value;
  return Error(ErrorCode::data_loss, std::string(where) + "." + std::string(key) + ": expected " +
                                         std::to_string(least) + " to " + std::to_string(most));
}

Result<double> get_seconds(const Json& object, std::string_view key, std::string_view where) {
  constexpr double kMost = 1e9;
  STRIPLINE_ASSIGN_OR_RETURN(const double value, get_number(object, key, where));
  if (value >= 0 && value <= kMost) return value;
  return Error(ErrorCode::data_loss, std::string(where) + "." + std::string(key) +
                                         ": expected a number from 0 to a thousand million");
}

Error not_of_kind(const FileKind& kind, std::string_view what, const std::string& why) {
  return {ErrorCode::data_loss, std::string(what) + " is not " + std::string(kind.name) + ": " +
                                    why + "; name the file that this command wrote"};
}

Status check_kind(const Json& json, const FileKind& kind, std::string_view what) {
  const auto named =
      json.is_object() ? get_string(json, "kind", what) : Result<std::string>(std::string());
  if (!named.ok() || named->empty() || named->size() > kMostKindBytes) {
    return not_of_kind(kind, what, "it does not say what it is");
  }
  if (*named != kind.kind) return not_of_kind(kind, what, "its kind is '" + *named + "'");
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t is, get_integer(json, "schema_version", what));
  if (is == kind.version) return {};
  return Error(ErrorCode::unimplemented,
               std::string(what) + " is " + std::string(kind.name) + " in version " +
                   std::to_string(is) + " of its form, and this program reads version " +
                   std::to_string(kind.version) + "; take the release that wrote it");
}

Result<Json> to_json(const PlanBundle& bundle) {
  STRIPLINE_ASSIGN_OR_RETURN(Json spec, parse_json(bundle.spec_json, "spec"));
  Json json = {{"kind", kPlan.kind},
               {"schema_version", kPlan.version},
               {"origin", bundle.origin},
               {"spec", std::move(spec)},
               {"requirements", bundle.requirements},
               {"feeds_model", bundle.feeds_model},
               {"planned_run_s", bundle.planned_run_s},
               {"rule", to_json(bundle.rule)},
               {"seed", bundle.seed},
               {"assignment", experiment::to_json(bundle.assignment)}};
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, canonical_json(json));
  json["sha256"] = sha256_hex(text);
  return json;
}

namespace {

// The rest of what says that it is a plan.
Result<PlanBundle> content_of(const Json& json) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string sha256, get_string(json, "sha256", kWhere));
  Json rest = json;
  rest.erase("sha256");
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, canonical_json(rest));
  if (sha256_hex(text) != sha256) return bad("it was changed, or is damaged: its hash differs");

  PlanBundle bundle;
  STRIPLINE_ASSIGN_OR_RETURN(bundle.origin, get_string(json, "origin", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* spec, get_object(json, "spec", kWhere));
  bundle.spec_json = dumped(*spec);
  STRIPLINE_ASSIGN_OR_RETURN(const Json* requirements, get_object(json, "requirements", kWhere));
  if (requirements->size() > kMostExperiments) return bad("it names too many experiments");
  for (const auto& [name, version] : requirements->items()) {
    STRIPLINE_ASSIGN_OR_RETURN(
        bundle.requirements[name],
        get_whole(*requirements, name, "plan.requirements", 0, std::numeric_limits<int>::max()));
  }
  STRIPLINE_ASSIGN_OR_RETURN(bundle.feeds_model, get_bool(json, "feeds_model", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(bundle.planned_run_s, get_seconds(json, "planned_run_s", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* rule, get_object(json, "rule", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(bundle.rule, rule_from_json(*rule));
  const auto seed = json.find("seed");
  if (seed == json.end() || !seed->is_number_unsigned()) return bad("its seed is missing");
  bundle.seed = seed->get<uint64_t>();
  STRIPLINE_ASSIGN_OR_RETURN(const Json* assignment, get_object(json, "assignment", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(bundle.assignment, experiment::assignment_from_json(*assignment));
  if (bundle.feeds_model && !bundle.rule.race) {
    bundle.rule.held_out = {bundle.seed, bundle.assignment.ranks};
  }
  STRIPLINE_RETURN_IF_ERROR(check_points(bundle));
  return bundle;
}

}  // namespace

Result<PlanBundle> bundle_from_json(const Json& json, std::string_view what) {
  STRIPLINE_RETURN_IF_ERROR(check_kind(json, kPlan, what));
  auto bundle = content_of(json);
  if (!bundle.ok()) return bundle.error().with_context(what);
  return bundle;
}

Result<std::string> bundle_text(const PlanBundle& bundle) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, to_json(bundle));
  return json.dump() + "\n";
}

Result<PlanBundle> read_bundle(std::string_view text, std::string_view what) {
  if (text.size() > kMaxBundleBytes) return not_of_kind(kPlan, what, "it is larger than any");
  const auto json = parse_json(text, "its text");
  if (!json.ok()) return not_of_kind(kPlan, what, json.error().message());
  return bundle_from_json(*json, what);
}

experiment::Assignment assignment_of(const PlanBundle& bundle, const PointTable& table,
                                     const Next& next, uint32_t run) {
  experiment::Assignment assignment = bundle.assignment;
  assignment.run = run;
  assignment.seed = derive_seed(bundle.seed, run);
  assignment.points.clear();
  const auto& known = table.points();
  for (const uint32_t place : next.places) assignment.points.push_back(known.at(place).point);
  for (uint32_t place = 0; next.places.empty() && place < next.grid; ++place) {
    assignment.points.push_back(known.at(place).point);
  }
  assignment.points.insert(assignment.points.end(), next.added.begin(), next.added.end());
  return assignment;
}

}  // namespace stripline::campaign
