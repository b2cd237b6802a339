// Values of columns as JSON: what many rows are sent as (point_columns.h). Pure.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>

namespace stripline::server {

/// Appends the number.
template <std::integral Number>
void append_value(std::string& text, Number number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(digits, end);
}

/// Appends the number with six digits; null for one that is not there, or not finite.
inline void append_value(std::string& text, const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) {
    text += "null";
    return;
  }
  constexpr int kDigits = 6;
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, *value, std::chars_format::general, kDigits)
          .ptr;
  text.append(digits, end);
}

}  // namespace stripline::server
