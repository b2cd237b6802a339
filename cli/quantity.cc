#include "cli/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

namespace stripline::cli {
namespace {

struct Unit {
  std::string_view name;
  double scale;
};

constexpr double kKi = 1024;
constexpr std::array<Unit, 13> kByteUnits = {{{"", 1},
                                              {"B", 1},
                                              {"k", kKi},
                                              {"K", kKi},
                                              {"KiB", kKi},
                                              {"kB", 1e3},
                                              {"KB", 1e3},
                                              {"M", kKi* kKi},
                                              {"MiB", kKi* kKi},
                                              {"MB", 1e6},
                                              {"G", kKi* kKi* kKi},
                                              {"GiB", kKi* kKi* kKi},
                                              {"GB", 1e9}}};
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

}  // namespace

Result<uint64_t> parse_bytes(std::string_view text) {
  constexpr double kLimit = 9e15;  // what a double counts exactly
  const double value = scaled(text, kByteUnits);
  if (!(value >= 0 && value <= kLimit) || value != std::floor(value)) {
    return Error(
        ErrorCode::invalid_argument,
        "'" + std::string(text) + "' is no number of bytes; write e.g. 4096, 64KiB or 1MiB");
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

}  // namespace stripline::cli
