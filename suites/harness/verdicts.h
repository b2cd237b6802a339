// What cells come to together: how many are not slower than something else by more than a margin,
// and the mean of their ratios. Pure.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "optimizer/stats/compare.h"
#include "suites/harness/asked.h"

namespace stripline::suites {

/// By which a method may be slower than another one, and count as not slower.
inline constexpr double kMargin = asked::kMargin;

struct Verdicts {
  size_t non_inferior = 0;
  size_t inferior = 0;
  size_t inconclusive = 0;

  void add(stats::NonInferiority verdict) {
    switch (verdict) {
      case stats::NonInferiority::non_inferior:
        ++non_inferior;
        break;
      case stats::NonInferiority::inferior:
        ++inferior;
        break;
      case stats::NonInferiority::inconclusive:
        ++inconclusive;
        break;
    }
  }

  /// "12 NON_INFERIOR, 0 INFERIOR, 1 INCONCLUSIVE".
  std::string text() const {
    return std::to_string(non_inferior) + " NON_INFERIOR, " + std::to_string(inferior) +
           " INFERIOR, " + std::to_string(inconclusive) + " INCONCLUSIVE";
  }
};

/// Ratios of times of cells: their geometric mean, and the largest.
struct Ratios {
  double logs = 0;
  size_t count = 0;
  double worst = 0;
  std::string worst_name;

  void add(double ratio, const std::string& name = {}) {
    logs += std::log(ratio);
    ++count;
    if (ratio <= worst) return;
    worst = ratio;
    worst_name = name;
  }
  double mean() const { return count == 0 ? 1 : std::exp(logs / static_cast<double>(count)); }
};

}  // namespace stripline::suites
