#include "optimizer/search/grid.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

namespace stripline::search {

Result<std::vector<uint64_t>> geometric_grid(const GridRange& range, unsigned per_octave) {
  const uint64_t unit = range.multiple_of;
  if (range.low == 0 || range.high < range.low || unit == 0 || per_octave == 0 ||
      per_octave > kMaxPerOctave) {
    return Error(ErrorCode::invalid_argument,
                 "a grid from " + std::to_string(range.low) + " to " + std::to_string(range.high) +
                     " in multiples of " + std::to_string(unit) + " with " +
                     std::to_string(per_octave) +
                     " points per octave cannot be made; it needs 1 <= low <= high, a positive "
                     "multiple and 1 to " +
                     std::to_string(kMaxPerOctave) + " points per octave");
  }
  const uint64_t last = range.high / unit;
  const uint64_t first = range.low / unit + (range.low % unit != 0 ? 1 : 0);
  if (first > last) {
    return Error(ErrorCode::invalid_argument, "no multiple of " + std::to_string(unit) +
                                                  " lies between " + std::to_string(range.low) +
                                                  " and " + std::to_string(range.high));
  }
  // Counted in units, so that rounding to a multiple cannot overflow or leave the range.
  std::vector<uint64_t> units{first, last};
  const auto per = static_cast<double>(per_octave);
  const auto unit_d = static_cast<double>(unit);
  const auto from = static_cast<int>(std::ceil(std::log2(static_cast<double>(range.low)) * per));
  const auto to = static_cast<int>(std::floor(std::log2(static_cast<double>(range.high)) * per));
  for (int k = from; k <= to; ++k) {
    const double ideal = std::round(std::exp2(k / per) / unit_d);
    if (ideal <= static_cast<double>(first) || ideal >= static_cast<double>(last)) continue;
    units.push_back(static_cast<uint64_t>(ideal));
  }
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  for (uint64_t& size : units) size *= unit;
  return units;
}

std::optional<uint64_t> bisect(uint64_t low, uint64_t high, uint64_t multiple_of,
                               double tolerance) {
  if (low == 0 || high <= low || multiple_of == 0) return std::nullopt;
  const auto low_d = static_cast<double>(low);
  const auto high_d = static_cast<double>(high);
  if (high_d / low_d <= 1.0 + tolerance) return std::nullopt;
  const uint64_t first = low / multiple_of + 1;    // First multiple above low.
  const uint64_t last = (high - 1) / multiple_of;  // Last multiple below high.
  if (first > last) return std::nullopt;
  const double middle = std::sqrt(low_d) * std::sqrt(high_d) / static_cast<double>(multiple_of);
  const double rounded =
      std::clamp(std::round(middle), static_cast<double>(first), static_cast<double>(last));
  return std::clamp(static_cast<uint64_t>(rounded), first, last) * multiple_of;
}

std::vector<uint64_t> refine_around_best(std::span<const Measured> measured, const GridRange& range,
                                         double min_log2_step) {
  std::vector<Measured> sorted(measured.begin(), measured.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Measured& a, const Measured& b) { return a.size < b.size; });
  std::size_t best = sorted.size();
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (!std::isfinite(sorted[i].cost)) continue;
    if (best == sorted.size() || sorted[i].cost < sorted[best].cost) best = i;
  }
  std::vector<uint64_t> next;
  if (best == sorted.size()) return next;
  const double tolerance = std::exp2(min_log2_step) - 1.0;
  const auto propose = [&](uint64_t low, uint64_t high) {
    const auto size = bisect(low, high, range.multiple_of, tolerance);
    if (size && *size >= range.low && *size <= range.high) next.push_back(*size);
  };
  const uint64_t best_size = sorted[best].size;
  const auto at_best =
      std::equal_range(sorted.begin(), sorted.end(), Measured{best_size, 0.0},
                       [](const Measured& a, const Measured& b) { return a.size < b.size; });
  if (at_best.first != sorted.begin()) propose(std::prev(at_best.first)->size, best_size);
  if (at_best.second != sorted.end()) propose(best_size, at_best.second->size);
  return next;
}

}  // namespace stripline::search
