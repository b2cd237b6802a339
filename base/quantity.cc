#include "base/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <system_error>

namespace stripline {
namespace {

struct Unit {
  std::string_view name;
  double scale;
};

constexpr double kKi = 1024;
constexpr double kMi = kKi * kKi;
constexpr double kGi = kMi * kKi;
constexpr double kTi = kGi * kKi;
constexpr auto kByteUnits = std::to_array<Unit>({{"", 1},
                                                 {"B", 1},
                                                 {"k", kKi},
                                                 {"K", kKi},
                                                 {"KiB", kKi},
                                                 {"kB", 1e3},
                                                 {"KB", 1e3},
                                                 {"m", kMi},
                                                 {"M", kMi},
                                                 {"MiB", kMi},
                                                 {"MB", 1e6},
                                                 {"g", kGi},
                                                 {"G", kGi},
                                                 {"GiB", kGi},
                                                 {"GB", 1e9},
                                                 {"t", kTi},
                                                 {"T", kTi},
                                                 {"TiB", kTi},
                                                 {"TB", 1e12}});
constexpr std::array kByteNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
constexpr std::array<Unit, 5> kTimeUnits = {
    {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};

// The number times its unit; NaN when it is neither.
template <typename Units>
double scaled(std::string_view text, const Units& units) {
  double value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc()) return std::nan("");
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const Unit& known : units) {
    if (known.name == unit) return value * known.scale;
  }
  return std::nan("");
}

std::string significant(double value, int digits) {
  std::array<char, 32> text{};
  const double magnitude = std::fabs(value);
  int decimals = digits - 1;
  // Rounding may carry: with three digits, 9.996 is 10.0.
  for (double next = 10 - 5 * std::pow(10, -digits); decimals > 0 && magnitude >= next;
       next = 10 * next) {
    --decimals;
  }
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

}  // namespace

Result<uint64_t> parse_bytes(std::string_view text, std::string_view what) {
  constexpr double kLimit = 9e15;  // what a double counts exactly
  const double value = scaled(text, kByteUnits);
  if (!(value >= 0 && value <= kLimit) || value != std::floor(value)) {
    return Error(ErrorCode::invalid_argument,
                 std::string(what) + " '" + std::string(text) +
                     "' is no number of bytes; write e.g. 4096, 64KiB or 1MiB");
  }
  return static_cast<uint64_t>(value);
}

Result<double> parse_seconds(std::string_view text) {
  const double value = scaled(text, kTimeUnits);
  if (!(value >= 0) || !std::isfinite(value)) {
    return Error(ErrorCode::invalid_argument,
                 "'" + std::string(text) + "' is no time; write e.g. 0.5, 120ms or 350us");
  }
  return value;
}

std::string bytes_text(uint64_t bytes) {
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kByteNames.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  const bool whole = value == std::floor(value);
  std::snprintf(text.data(), text.size(), "%.*f %s", whole ? 0 : 1, value, kByteNames[unit]);
  return text.data();
}

std::string exact_bytes_text(uint64_t bytes) {
  size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kByteNames.size()) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + " " + kByteNames[unit];
}

std::string seconds_text(double seconds, int digits) {
  if (seconds == 0) return "0 s";
  constexpr auto kUnits = std::to_array<Unit>({{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}});
  // Rounding may carry: with three digits, 999.96 us is 1.00 ms.
  const double carries = 1 - 0.5 * std::pow(10, -digits);
  size_t unit = 0;
  while (unit + 1 < kUnits.size() && std::fabs(seconds) < kUnits[unit].scale * carries) ++unit;
  return significant(seconds / kUnits[unit].scale, digits) + " " + std::string(kUnits[unit].name);
}

}  // namespace stripline
