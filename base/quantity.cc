#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "base/cut_text.h"
#include "base/formatted.h"
#include "base/number_text.h"

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
constexpr auto kTimeUnits = std::to_array<Unit>({{"", 1},
                                                 {"s", 1},
                                                 {"ms", 1e-3},
                                                 {"us", 1e-6},
                                                 {"ns", 1e-9},
                                                 {"min", 60},
                                                 {"m", 60},
                                                 {"h", 3600},
                                                 {"d", 86400}});
// In which times are written: the largest one that leaves a number of at least one.
constexpr auto kSmallTimeUnits =
    std::to_array<Unit>({{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}});

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

// "3:05" and "1:02:03" as duration_text() writes them; NaN when it is neither.
double clock_seconds(std::string_view text) {
  constexpr double kSixty = 60;
  double seconds = 0;
  size_t parts = 0;
  for (size_t at = 0; at <= text.size(); ++parts) {
    const size_t end = std::min(text.find(':', at), text.size());
    const std::string_view digits = text.substr(at, end - at);
    const auto value = number_from_text<unsigned>(digits);
    if (!value || (parts > 0 && (digits.size() != 2 || *value >= kSixty))) return std::nan("");
    seconds = seconds * kSixty + *value;
    at = end + 1;
  }
  return parts == 2 || parts == 3 ? seconds : std::nan("");
}

Error out_of_range(std::string_view text, const TimeRange& range) {
  const std::string least = exact_seconds_text(range.least_s);
  const std::string most = exact_seconds_text(range.most_s);
  const bool bounded = range.most_s < TimeRange().most_s;
  return {ErrorCode::invalid_argument, quoted_text(text) + " is out of range; write a time " +
                                           (range.least_s == 0 ? "of at most " + most
                                            : bounded          ? "from " + least + " to " + most
                                                               : "from " + least + " on")};
}

// The largest unit in which `seconds` times `carries` is at least one, else the last one.
const Unit& unit_for(double seconds, double carries) {
  size_t unit = 0;
  while (unit + 1 < kSmallTimeUnits.size() &&
         std::fabs(seconds) < kSmallTimeUnits[unit].scale * carries) {
    ++unit;
  }
  return kSmallTimeUnits[unit];
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
                 std::string(what) + " " + quoted_text(text) +
                     " is not a number of bytes; write e.g. 4096, 64KiB or 1MiB");
  }
  return static_cast<uint64_t>(value);
}

Result<double> parse_seconds(std::string_view text, const TimeRange& range) {
  const bool clock = text.find(':') != std::string_view::npos;
  const double value = clock ? clock_seconds(text) : scaled(text, kTimeUnits);
  if (std::isnan(value)) {
    return Error(
        ErrorCode::invalid_argument,
        quoted_text(text) + " is not a time; write e.g. 0.5, 350us, 120ms, 2min, 1:30 or 1h");
  }
  if (!(value >= range.least_s && value <= range.most_s)) return out_of_range(text, range);
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
  // Rounding may carry: with three digits, 999.96 us is 1.00 ms.
  const Unit& unit = unit_for(seconds, 1 - 0.5 * std::pow(10, -digits));
  return significant(seconds / unit.scale, digits) + " " + std::string(unit.name);
}

std::string seconds_per_byte_text(double value) {
  const double nanoseconds = value * 1e9;
  return formatted("%.3g ns/B", nanoseconds);
}

std::string exact_seconds_text(double seconds) {
  if (seconds == 0) return "0 s";
  const Unit& unit = unit_for(seconds, 1);
  return formatted("%.10g", seconds / unit.scale) + " " + std::string(unit.name);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::llround(std::max(0.0, seconds)));
  std::array<char, 32> text{};
  if (whole < 60) {
    std::snprintf(text.data(), text.size(), "%ld s", whole);
  } else if (whole < 3600) {
    std::snprintf(text.data(), text.size(), "%ld:%02ld", whole / 60, whole % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
                  whole % 60);
  }
  return text.data();
}

std::string count_text(uint64_t count, std::string_view singular, std::string_view plural) {
  std::string text = std::to_string(count) + " ";
  if (count == 1) return text.append(singular);
  return plural.empty() ? text.append(singular).append("s") : text.append(plural);
}

}  // namespace stripline
