#include "optimizer/model/validate_parts.h"

#include <cmath>

#include "base/json.h"

namespace stripline::model::detail {
namespace {

constexpr size_t kMaxTextBytes = 4096;

// std::to_string() would show a nanosecond as zero.
std::string number_text(double value) { return Json(value).dump(); }

}  // namespace

Error wrong(const std::string& where, const std::string& what) {
  return {ErrorCode::invalid_argument, where + ": " + what};
}

// Asks the writer of JSON itself, which throws on what it cannot write.
Status check_utf8(const std::string& where, const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return {};
  } catch (const Json::type_error&) {
    return wrong(where, "not valid UTF-8, which JSON demands; correct it at its source");
  }
}

Status check_text(const std::string& where, const std::string& text) {
  if (text.size() > kMaxTextBytes) {
    return wrong(where, "longer than " + std::to_string(kMaxTextBytes) + " bytes");
  }
  return check_utf8(where, text);
}

Status check_parameter(const std::string& where, const Parameter& parameter,
                       const ParameterRule& rule) {
  if (!std::isfinite(parameter.value) || !std::isfinite(parameter.ci_low) ||
      !std::isfinite(parameter.ci_high)) {
    return wrong(where, "value and interval must be finite");
  }
  if (parameter.value < rule.minimum || parameter.value > rule.maximum) {
    return wrong(where, "value " + number_text(parameter.value) + " is outside [" +
                            number_text(rule.minimum) + ", " + number_text(rule.maximum) + "]");
  }
  if (parameter.ci_low > parameter.value || parameter.value > parameter.ci_high) {
    return wrong(where, "the interval does not contain the value");
  }
  return check_text(where + ".method", parameter.method);
}

Status check_optional(const std::string& where, const std::optional<Parameter>& parameter,
                      const ParameterRule& rule) {
  return parameter ? check_parameter(where, *parameter, rule) : Status();
}

}  // namespace stripline::model::detail
