#include "optimizer/experiment/json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_scan.h"
#include "base/number_text.h"

namespace stripline::experiment {
namespace {

// Bounds on what one message may hold: far above any campaign of ours, far below what exhausts a
// server.
constexpr size_t kMaxTextBytes = 4096;
constexpr size_t kMaxModelBytes = size_t{16} << 20;
constexpr size_t kMaxResultBytes = size_t{4} << 20;
constexpr size_t kMaxEntries = 1 << 20;

Error bad(const std::string& where, const std::string& expected) {
  return {ErrorCode::data_loss, where + ": expected " + expected};
}

// Reads the members of one object. The first failure is kept; later reads do nothing, so that a
// struct reads as a list of lines.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) error_ = bad(where_, "an object");
  }

  // Tells whether the member exists; one that does not is an error when `required`.
  const Json* member(const char* key, bool required) {
    if (error_) return nullptr;
    const auto it = object_.find(key);
    if (it != object_.end()) return &*it;
    if (required) error_ = bad(where_ + "." + key, "this member, which is missing");
    return nullptr;
  }

  void fail(const char* key, const std::string& expected) {
    if (!error_) error_ = bad(where_ + "." + key, expected);
  }
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  void text(const char* key, std::string& out, bool required, size_t limit = kMaxTextBytes) {
    const Json* json = member(key, required);
    if (json == nullptr) return;
    if (!json->is_string() || json->get_ref<const std::string&>().size() > limit) {
      return fail(key, "a string of at most " + std::to_string(limit) + " bytes");
    }
    out = json->get<std::string>();
  }

  void number(const char* key, double& out, double minimum, double maximum) {
    const Json* json = member(key, false);
    if (json == nullptr) return;
    const double value = json->is_number() ? json->get<double>() : std::nan("");
    if (!(value >= minimum && value <= maximum)) {
      return fail(key, "a number from " + Json(minimum).dump() + " to " + Json(maximum).dump());
    }
    out = value;
  }

  template <typename Integer>
  void integer(const char* key, Integer& out, uint64_t minimum,
               uint64_t maximum = std::numeric_limits<Integer>::max()) {
    const Json* json = member(key, false);
    if (json == nullptr) return;
    // nlohmann stores a value set from a signed type as signed even when it is not negative.
    const bool countable =
        json->is_number_unsigned() || (json->is_number_integer() && json->get<int64_t>() >= 0);
    const uint64_t value = countable ? json->get<uint64_t>() : 0;
    if (!countable || value < minimum || value > maximum) {
      return fail(key,
                  "an integer from " + std::to_string(minimum) + " to " + std::to_string(maximum));
    }
    out = static_cast<Integer>(value);
  }

  void boolean(const char* key, bool& out) {
    const Json* json = member(key, false);
    if (json == nullptr) return;
    if (!json->is_boolean()) return fail(key, "true or false");
    out = json->get<bool>();
  }

  // Calls `read(element, where)`, which returns a Status, for each element of an array.
  template <typename Read>
  void array(const char* key, bool required, Read read) {
    const Json* json = member(key, required);
    if (json == nullptr) return;
    if (!json->is_array() || json->size() > kMaxEntries) {
      return fail(key, "an array of at most " + std::to_string(kMaxEntries) + " elements");
    }
    size_t index = 0;
    for (const Json& element : *json) {
      const Status status = read(element, where_ + "." + key + "[" + std::to_string(index) + "]");
      if (!status) return fail(status.error());
      ++index;
    }
  }

  void texts(const char* key, std::vector<std::string>& out) {
    array(key, false, [&](const Json& element, const std::string& where) -> Status {
      if (!element.is_string() || element.get_ref<const std::string&>().size() > kMaxTextBytes) {
        return bad(where, "a string of at most " + std::to_string(kMaxTextBytes) + " bytes");
      }
      out.push_back(element.get<std::string>());
      return {};
    });
  }

  void numbers(const char* key, std::vector<double>& out, bool required) {
    array(key, required, [&](const Json& element, const std::string& where) -> Status {
      if (!element.is_number() || !std::isfinite(element.get<double>())) {
        return bad(where, "a finite number");
      }
      out.push_back(element.get<double>());
      return {};
    });
  }

  template <typename T>
  Result<T> finish(T value) && {
    if (error_) return *std::move(error_);
    return value;
  }

 private:
  const Json& object_;
  std::string where_;
  std::optional<Error> error_;
};

Json value_to_json(const ParamValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Result<ParamValue> value_from_json(const Json& json, const std::string& where) {
  if (json.is_string() && json.get_ref<const std::string&>().size() <= kMaxTextBytes) {
    return ParamValue(json.get<std::string>());
  }
  constexpr auto kMaxInt64 = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (json.is_number_integer() &&
      !(json.is_number_unsigned() && json.get<uint64_t>() > kMaxInt64)) {
    return ParamValue(json.get<int64_t>());
  }
  if (json.is_number() && std::isfinite(json.get<double>())) return ParamValue(json.get<double>());
  return bad(where, "an integer, a finite number or a string of at most " +
                        std::to_string(kMaxTextBytes) + " bytes");
}

Result<Point> read_point(const Json& json, const std::string& where) {
  Point point;
  Reader reader(json, where);
  reader.text("experiment", point.experiment, true);
  reader.text("variant", point.variant, true);
  if (const Json* params = reader.member("params", true)) {
    if (!params->is_object() || params->size() > kMaxEntries) {
      reader.fail("params", "an object of at most " + std::to_string(kMaxEntries) + " members");
    } else {
      const std::string prefix = where + ".params.";
      for (const auto& [name, member] : params->items()) {
        auto value = value_from_json(member, prefix + name);
        if (!value) {
          reader.fail(value.error());
          break;
        }
        point.params[name] = *std::move(value);
      }
    }
  }
  return std::move(reader).finish(std::move(point));
}

Result<StopRule> read_stop_rule(const Json& json, const std::string& where) {
  StopRule rule;
  Reader reader(json, where);
  reader.integer("min_reps", rule.min_reps, 1, 1'000'000);
  reader.integer("max_reps", rule.max_reps, 1, 1'000'000);
  reader.integer("min_runs", rule.min_runs, 1, 10'000);
  reader.number("confidence", rule.confidence, 0.5, 0.9999);
  reader.number("relative_half_width", rule.relative_half_width, 0, 1e6);
  reader.number("time_budget_s", rule.time_budget_s, 0, 1e6);
  if (rule.max_reps < rule.min_reps) reader.fail("max_reps", "at least min_reps");
  return std::move(reader).finish(rule);
}

Json factor_to_json(const Factor& factor) {
  Json json = {{"name", factor.name},
               {"unit", factor.unit},
               {"description", factor.description},
               {"values", Json::array()}};
  for (const ParamValue& value : factor.values) json["values"].push_back(value_to_json(value));
  if (factor.minimum) json["minimum"] = *factor.minimum;
  if (factor.maximum) json["maximum"] = *factor.maximum;
  return json;
}

Result<Factor> read_factor(const Json& json, const std::string& where) {
  constexpr double kAny = std::numeric_limits<double>::max();
  Factor factor;
  Reader reader(json, where);
  reader.text("name", factor.name, true);
  reader.text("unit", factor.unit, true);
  reader.text("description", factor.description, false);
  reader.array("values", true, [&](const Json& element, const std::string& at) -> Status {
    STRIPLINE_ASSIGN_OR_RETURN(ParamValue value, value_from_json(element, at));
    factor.values.push_back(std::move(value));
    return {};
  });
  if (factor.values.empty()) reader.fail("values", "at least one value");
  for (auto [key, bound] : {std::pair("minimum", &factor.minimum), {"maximum", &factor.maximum}}) {
    if (!json.is_object() || !json.contains(key)) continue;
    double value = 0;
    reader.number(key, value, -kAny, kAny);
    *bound = value;
  }
  if (factor.minimum && factor.maximum && *factor.maximum < *factor.minimum) {
    reader.fail("maximum", "at least minimum");
  }
  return std::move(reader).finish(std::move(factor));
}

}  // namespace

Json to_json(const Point& point) {
  Json params = Json::object();
  for (const auto& [name, value] : point.params) params[name] = value_to_json(value);
  return {{"experiment", point.experiment}, {"variant", point.variant}, {"params", params}};
}

Json to_json(const Experiment& experiment) {
  Json factors = Json::array();
  for (const Factor& factor : experiment.factors) factors.push_back(factor_to_json(factor));
  return {{"name", experiment.name},
          {"version", experiment.version},
          {"title", experiment.title},
          {"description", experiment.description},
          {"factors", factors},
          {"variants", experiment.variants},
          {"metric",
           {{"name", experiment.metric.name},
            {"unit", experiment.metric.unit},
            {"lower_is_better", experiment.metric.lower_is_better}}},
          {"min_ranks", experiment.min_ranks},
          {"max_ranks", experiment.max_ranks},
          {"rank_count", to_string(experiment.rank_count)},
          {"verification", experiment.verification},
          {"feeds", experiment.feeds}};
}

Json to_json(const StopRule& rule) {
  return {{"min_reps", rule.min_reps},
          {"max_reps", rule.max_reps},
          {"min_runs", rule.min_runs},
          {"confidence", rule.confidence},
          {"relative_half_width", rule.relative_half_width},
          {"time_budget_s", rule.time_budget_s}};
}

Json to_json(const SampleSeries& series) {
  Json json = {{"point", to_json(series.point)},
               {"run", series.run},
               {"values", series.values},
               {"timestamps_s", series.timestamps_s},
               {"warmup_dropped", series.warmup_dropped},
               {"stop_reason", to_string(series.stop_reason)},
               {"verified", series.verified},
               {"note", series.note}};
  if (!series.result.empty()) json["result"] = series.result;
  return json;
}

Json to_json(const Assignment& assignment) {
  Json points = Json::array();
  for (const Point& point : assignment.points) points.push_back(to_json(point));
  return {{"name", assignment.name},
          {"fence", assignment.fence},
          {"fabric", assignment.fabric},
          {"clock", assignment.clock},
          {"ranks", assignment.ranks},
          {"run", assignment.run},
          {"seed", assignment.seed},
          {"model_json", assignment.model_json},
          {"deadline_s", assignment.deadline_s},
          {"stop_rule", to_json(assignment.stop_rule)},
          {"points", points}};
}

Result<Experiment> experiment_from_json(const Json& json) {
  Experiment experiment;
  Reader reader(json, "experiment");
  reader.text("name", experiment.name, true);
  reader.integer("version", experiment.version, 1);
  reader.text("title", experiment.title, false);
  reader.text("description", experiment.description, false);
  reader.array("factors", true, [&](const Json& element, const std::string& where) -> Status {
    STRIPLINE_ASSIGN_OR_RETURN(Factor factor, read_factor(element, where));
    experiment.factors.push_back(std::move(factor));
    return {};
  });
  reader.texts("variants", experiment.variants);
  if (experiment.variants.empty()) reader.fail("variants", "at least one variant");
  if (const Json* metric = reader.member("metric", true)) {
    Reader inner(*metric, "experiment.metric");
    inner.text("name", experiment.metric.name, true);
    inner.text("unit", experiment.metric.unit, true);
    inner.boolean("lower_is_better", experiment.metric.lower_is_better);
    const Result<bool> status = std::move(inner).finish(true);
    if (!status) reader.fail(status.error());
  }
  reader.integer("min_ranks", experiment.min_ranks, 1, 1 << 20);
  reader.integer("max_ranks", experiment.max_ranks, 1, 1 << 20);
  if (experiment.max_ranks < experiment.min_ranks) reader.fail("max_ranks", "at least min_ranks");
  std::string rank_count(to_string(experiment.rank_count));
  reader.text("rank_count", rank_count, false);
  if (const auto parsed = rank_count_from_string(rank_count)) {
    experiment.rank_count = *parsed;
  } else {
    reader.fail("rank_count", "any, power_of_two or square");
  }
  reader.text("verification", experiment.verification, false);
  reader.texts("feeds", experiment.feeds);
  return std::move(reader).finish(std::move(experiment));
}

Result<Point> point_from_json(const Json& json) { return read_point(json, "point"); }

namespace {

// The length of the number that a text begins with, as JSON has it; 0: it begins with none.
size_t number_at(std::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at > begin;
  };
  const auto is = [&](char c) { return at < text.size() && text[at] == c; };
  if (is('-')) ++at;
  if (is('0')) {
    ++at;
  } else if (!digits()) {
    return 0;
  }
  if (is('.')) {
    ++at;
    if (!digits()) return 0;
  }
  if (is('e') || is('E')) {
    ++at;
    if (is('+') || is('-')) ++at;
    if (!digits()) return 0;
  }
  return at;
}

// The elements of an array of numbers; nullopt: it is not one, or a number has no double.
std::optional<std::vector<double>> numbers_of(std::string_view array) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const auto skip_spaces = [&] {
    array.remove_prefix(std::min(array.find_first_not_of(kSpaces), array.size()));
  };
  if (!array.starts_with('[') || !array.ends_with(']')) return std::nullopt;
  array.remove_prefix(1);
  array.remove_suffix(1);
  std::vector<double> numbers;
  skip_spaces();
  while (!array.empty()) {
    const size_t length = number_at(array);
    const auto number = number_from_text<double>(array.substr(0, length));
    if (!number) return std::nullopt;
    if (numbers.size() == kMaxEntries) return std::nullopt;
    numbers.push_back(*number);
    array.remove_prefix(length);
    skip_spaces();
    if (array.empty()) break;
    if (!array.starts_with(',')) return std::nullopt;
    array.remove_prefix(1);
    skip_spaces();
    if (array.empty()) return std::nullopt;
  }
  return numbers;
}

// Reads the arrays of numbers by themselves, and as JSON what remains without them. Nullopt: it is
// not a series of the usual form.
std::optional<SampleSeries> series_by_columns(std::string_view text) {
  JsonScan scan(text);
  std::optional<std::vector<double>> values;
  std::optional<std::vector<double>> timestamps;
  std::string rest = "{";
  if (!scan.take('{')) return std::nullopt;
  do {
    const std::string_view name = scan.value();
    if (!scan.take(':')) return std::nullopt;
    const std::string_view value = scan.value();
    auto* column = name == "\"values\""         ? &values
                   : name == "\"timestamps_s\"" ? &timestamps
                                                : nullptr;
    if (column != nullptr) *column = numbers_of(value);
    if (column != nullptr && !*column) return std::nullopt;
    if (rest.size() > 1) rest += ',';
    rest.append(name).append(":").append(column == nullptr ? value : std::string_view("[]"));
  } while (scan.take(','));
  if (!scan.take('}') || !scan.at_end() || !values) return std::nullopt;
  if (timestamps && !timestamps->empty() && timestamps->size() != values->size()) {
    return std::nullopt;
  }
  const auto json = parse_json(rest + "}", "series");
  if (!json.ok()) return std::nullopt;
  auto series = sample_series_from_json(*json);
  if (!series.ok()) return std::nullopt;
  series->values = *std::move(values);
  if (timestamps) series->timestamps_s = *std::move(timestamps);
  return *std::move(series);
}

}  // namespace

Result<SampleSeries> sample_series_from_json(const Json& json) {
  SampleSeries series;
  Reader reader(json, "series");
  if (const Json* point = reader.member("point", true)) {
    auto parsed = read_point(*point, "series.point");
    if (parsed) {
      series.point = *std::move(parsed);
    } else {
      reader.fail(parsed.error());
    }
  }
  reader.integer("run", series.run, 0);
  reader.numbers("values", series.values, true);
  reader.numbers("timestamps_s", series.timestamps_s, false);
  if (!series.timestamps_s.empty() && series.timestamps_s.size() != series.values.size()) {
    reader.fail("timestamps_s", "as many elements as in values, or none");
  }
  reader.integer("warmup_dropped", series.warmup_dropped, 0);
  std::string reason(to_string(series.stop_reason));
  reader.text("stop_reason", reason, false);
  if (const auto parsed = stop_reason_from_string(reason)) {
    series.stop_reason = *parsed;
  } else {
    reader.fail("stop_reason", "converged, max_reps, time_budget or cancelled");
  }
  reader.boolean("verified", series.verified);
  reader.text("note", series.note, false);
  reader.text("result", series.result, false, kMaxResultBytes);
  return std::move(reader).finish(std::move(series));
}

Result<SampleSeries> sample_series_from_text(std::string_view text) {
  if (auto series = series_by_columns(text)) return *std::move(series);
  // Something is wrong, which is said as of any JSON, or out of the ordinary.
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(text, "series"));
  return sample_series_from_json(json);
}

Result<Assignment> assignment_from_json(const Json& json) {
  Assignment assignment;
  Reader reader(json, "assignment");
  reader.text("name", assignment.name, true);
  reader.integer("fence", assignment.fence, 0);
  reader.text("fabric", assignment.fabric, true);
  reader.text("clock", assignment.clock, false);
  if (assignment.clock != "real" && assignment.clock != "virtual") {
    reader.fail("clock", "real or virtual");
  }
  reader.integer("ranks", assignment.ranks, 1, 1 << 20);
  reader.integer("run", assignment.run, 0);
  reader.integer("seed", assignment.seed, 0);
  reader.text("model_json", assignment.model_json, false, kMaxModelBytes);
  reader.number("deadline_s", assignment.deadline_s, 0, 1e7);
  if (const Json* rule = reader.member("stop_rule", false)) {
    auto parsed = read_stop_rule(*rule, "assignment.stop_rule");
    if (parsed) {
      assignment.stop_rule = *parsed;
    } else {
      reader.fail(parsed.error());
    }
  }
  reader.array("points", true, [&](const Json& element, const std::string& where) -> Status {
    STRIPLINE_ASSIGN_OR_RETURN(Point point, read_point(element, where));
    assignment.points.push_back(std::move(point));
    return {};
  });
  return std::move(reader).finish(std::move(assignment));
}

Result<std::pair<std::string, ParamValue>> parse_param(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Error(ErrorCode::invalid_argument,
                 "parameter '" + std::string(text) + "' is not of the form NAME=VALUE");
  }
  std::string name(text.substr(0, equals));
  const std::string_view value = text.substr(equals + 1);
  if (const auto integer = number_from_text<int64_t>(value)) {
    return std::pair(std::move(name), ParamValue(*integer));
  }
  if (const auto number = number_from_text<double>(value); number && std::isfinite(*number)) {
    return std::pair(std::move(name), ParamValue(*number));
  }
  return std::pair(std::move(name), ParamValue(std::string(value)));
}

}  // namespace stripline::experiment
