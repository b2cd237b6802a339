// How many cells are not slower than something else by more than a margin, and are.
#pragma once

#include <cstddef>
#include <string>

#include "optimizer/stats/compare.h"

namespace stripline::suites::results {

/// By which a way may be slower than another one, and count as not slower.
inline constexpr double kMargin = 0.02;

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

}  // namespace stripline::suites::results
