#include "optimizer/experiment/experiment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "base/enum_names.h"
#include "base/suggest.h"

namespace stripline::experiment {
namespace {

constexpr std::array<std::string_view, 3> kRankCounts = {"any", "power_of_two", "square"};
constexpr std::array<std::string_view, 4> kStopReasons = {"converged", "max_reps", "time_budget",
                                                          "cancelled"};
// 2^63: the first double that no longer fits int64_t.
constexpr double kInt64Limit = 9223372036854775808.0;

bool is_number(const ParamValue& value) { return !std::holds_alternative<std::string>(value); }

double as_double(const ParamValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  return std::get<double>(value);
}

std::string number_text(double value) {
  std::array<char, 32> buffer{};
  const double plain = value + 0.0;  // -0 equals 0 and must read like it
  const auto [end, ec] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), plain);
  return ec == std::errc() ? std::string(buffer.data(), end) : std::string("nan");
}

bool looks_like_number(std::string_view text) {
  double ignored = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), ignored);
  return ec != std::errc::invalid_argument && end == text.data() + text.size();
}

void append_escaped(std::string_view text, std::string& out, bool escape_first) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool reserved = byte <= ' ' || byte == '%' || byte == '&' || byte == '=' || byte == '?' ||
                          byte == '/' || byte == 0x7f;
    if (reserved || (i == 0 && escape_first)) {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += text[i];
    }
  }
}

std::string value_text(const ParamValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "\"" + *text + "\"";
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  return number_text(std::get<double>(value));
}

template <typename Range, typename Text>
std::string join(const Range& range, Text text) {
  std::string out;
  for (const auto& element : range) {
    if (!out.empty()) out += ", ";
    out += text(element);
  }
  return out.empty() ? "none" : out;
}

std::string range_text(const Factor& factor) {
  std::string out;
  if (factor.minimum) out += " of at least " + number_text(*factor.minimum);
  if (factor.maximum) {
    out += (factor.minimum ? " and at most " : " of at most ") + number_text(*factor.maximum);
  }
  if (!factor.unit.empty() && factor.unit != "1") out += " " + factor.unit;
  return out;
}

// Gives the value the kind of the factor's grid, so that 64 and 64.0 name the same point.
std::optional<std::string> normalise(const Factor& factor, ParamValue& value) {
  const std::string what = "factor '" + factor.name + "': " + value_text(value);
  if (!is_number(factor.values.front())) {
    if (!is_number(value)) {
      const auto known = std::find(factor.values.begin(), factor.values.end(), value);
      if (known != factor.values.end()) return std::nullopt;
    }
    return what + " is not accepted; use one of " + join(factor.values, value_text);
  }
  if (!is_number(value)) return what + " is not a number; give one" + range_text(factor);
  const double number = as_double(value);
  if (!std::isfinite(number)) return what + " is not finite; give a number" + range_text(factor);
  if ((factor.minimum && number < *factor.minimum) ||
      (factor.maximum && number > *factor.maximum)) {
    return what + " is out of range; give a number" + range_text(factor);
  }
  if (std::holds_alternative<int64_t>(factor.values.front())) {
    if (std::holds_alternative<int64_t>(value)) return std::nullopt;
    if (number != std::floor(number) || number >= kInt64Limit || number < -kInt64Limit) {
      return what + " is not an integer; give one" + range_text(factor);
    }
    value = static_cast<int64_t>(number);
  } else {
    value = number;
  }
  return std::nullopt;
}

}  // namespace

std::string point_key(const Point& point) {
  std::string key;
  append_escaped(point.experiment, key, false);
  key += '/';
  append_escaped(point.variant, key, false);
  char separator = '?';
  for (const auto& [name, value] : point.params) {
    key += separator;
    separator = '&';
    append_escaped(name, key, false);
    key += '=';
    if (const auto* text = std::get_if<std::string>(&value)) {
      append_escaped(*text, key, looks_like_number(*text));
    } else {
      key += value_text(value);
    }
  }
  return key;
}

std::optional<double> number_param(const Point& point, std::string_view name) {
  const auto it = point.params.find(std::string(name));
  if (it == point.params.end() || !is_number(it->second)) return std::nullopt;
  return as_double(it->second);
}

std::optional<std::string> text_param(const Point& point, std::string_view name) {
  const auto it = point.params.find(std::string(name));
  if (it == point.params.end() || is_number(it->second)) return std::nullopt;
  return std::get<std::string>(it->second);
}

std::string_view to_string(RankCount count) { return enum_name(kRankCounts, count); }

std::optional<RankCount> rank_count_from_string(std::string_view name) {
  return enum_named<RankCount>(kRankCounts, name);
}

std::string describe(RankCount count) {
  constexpr std::array<std::string_view, 3> kTexts = {"any number", "a power of two", "a square"};
  return std::string(enum_name(kTexts, count));
}

std::optional<std::string> complete_point(const Experiment& declaration, Point& point) {
  const std::string where = "experiment '" + declaration.name + "': ";
  if (point.experiment != declaration.name) {
    return where + "the point belongs to '" + point.experiment + "'";
  }
  const auto& variants = declaration.variants;
  if (std::find(variants.begin(), variants.end(), point.variant) == variants.end()) {
    return where + "unknown variant '" + point.variant + "'" +
           did_you_mean(point.variant, variants) + "; use one of " +
           join(variants, [](const std::string& name) { return name; });
  }
  for (const auto& param : point.params) {
    const bool known =
        std::any_of(declaration.factors.begin(), declaration.factors.end(),
                    [&](const Factor& factor) { return factor.name == param.first; });
    if (!known) {
      std::vector<std::string> names;
      for (const Factor& factor : declaration.factors) names.push_back(factor.name);
      return where + "unknown factor '" + param.first + "'" + did_you_mean(param.first, names) +
             "; its factors are " +
             join(declaration.factors, [](const Factor& factor) { return factor.name; });
    }
  }
  for (const Factor& factor : declaration.factors) {
    if (factor.values.empty()) {  // NOLINTNEXTLINE(performance-inefficient-string-concatenation)
      return where + "factor '" + factor.name + "' declares no values";
    }
    auto [it, inserted] = point.params.try_emplace(factor.name, factor.values.front());
    if (auto problem = normalise(factor, it->second)) return where + *problem;
  }
  return std::nullopt;
}

std::vector<Params> crossed(const std::vector<Params>& combinations, const std::string& factor,
                            const std::vector<ParamValue>& values) {
  std::vector<Params> extended;
  for (const Params& params : combinations) {
    for (const ParamValue& value : values) {
      extended.push_back(params);
      extended.back()[factor] = value;
    }
  }
  return extended;
}

void append_points(const Experiment& declaration, std::vector<Point>& points) {
  std::vector<Params> combinations{{}};
  for (const Factor& factor : declaration.factors) {
    combinations = crossed(combinations, factor.name, factor.values);
  }
  for (const std::string& variant : declaration.variants) {
    for (const Params& params : combinations) {
      points.push_back({declaration.name, variant, params});
    }
  }
}

std::string_view to_string(StopReason reason) { return enum_name(kStopReasons, reason); }

std::optional<StopReason> stop_reason_from_string(std::string_view name) {
  return enum_named<StopReason>(kStopReasons, name);
}

}  // namespace stripline::experiment
