#include "suites/bench/points.h"

#include <algorithm>
#include <utility>

#include "base/quantity.h"
#include "optimizer/experiment/json.h"
#include "suites/registry.h"

namespace stripline::suites::bench {
namespace {

using experiment::Experiment;
using experiment::Factor;
using experiment::ParamValue;
using experiment::Point;

const Factor* find_factor(const Experiment& declaration, const std::string& name) {
  for (const Factor& factor : declaration.factors) {
    if (factor.name == name) return &factor;
  }
  return nullptr;
}

// The values that "NAME=V1,V2" asks for.
Result<std::vector<ParamValue>> values_of(const Factor& factor, std::string_view text) {
  if (text == "all") return factor.values;
  std::vector<ParamValue> values;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    STRIPLINE_ASSIGN_OR_RETURN(
        auto parsed,
        experiment::parse_param(factor.name + "=" + std::string(text.substr(at, comma - at))));
    values.push_back(std::move(parsed.second));
    at = comma + 1;
  }
  return values;
}

}  // namespace

Result<const Experiment*> find_experiment(const std::string& name) {
  if (const Benchmark* benchmark = find_benchmark(name)) return &benchmark->declaration;
  std::string message = "unknown experiment '" + name + "'; did you mean";
  const char* separator = " ";
  for (const std::string& known : nearest_benchmarks(name)) {
    message += separator;
    message += known;
    separator = " or ";
  }
  return Error(ErrorCode::not_found, message + "? 'stripline-bench list' shows all of them");
}

Result<std::vector<Point>> points_from(const Experiment& declaration,
                                       const std::vector<std::string>& variants,
                                       const std::vector<std::string>& params) {
  std::vector<experiment::Params> combinations{{}};
  std::vector<std::string> seen;
  for (const std::string& text : params) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || name.empty()) {
      return Error(ErrorCode::invalid_argument,
                   "parameter '" + text + "' is not of the form NAME=VALUE");
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      return Error(ErrorCode::invalid_argument,
                   "parameter '" + name + "' is given twice; write " + name + "=V1,V2");
    }
    seen.push_back(name);
    std::vector<ParamValue> values{ParamValue(text.substr(equals + 1))};
    if (const Factor* factor = find_factor(declaration, name)) {
      STRIPLINE_ASSIGN_OR_RETURN(values, values_of(*factor, text.substr(equals + 1)));
    }  // else complete_point() says what is known
    combinations = experiment::crossed(combinations, name, values);
  }

  std::vector<Point> points;
  for (const experiment::Params& combination : combinations) {
    for (const std::string& variant : variants.empty() ? declaration.variants : variants) {
      Point point{declaration.name, variant, combination};
      if (auto problem = experiment::complete_point(declaration, point)) {
        return Error(ErrorCode::invalid_argument, *problem);
      }
      if (std::find(points.begin(), points.end(), point) == points.end()) {
        points.push_back(std::move(point));
      }
    }
  }
  return points;
}

std::string value_text(const Factor& factor, const ParamValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    if (factor.unit != "B" || *integer < 0) return std::to_string(*integer);
    return exact_bytes_text(static_cast<uint64_t>(*integer));
  }
  std::string text = std::to_string(std::get<double>(value));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace stripline::suites::bench
