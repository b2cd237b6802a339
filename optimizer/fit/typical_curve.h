// What an operation costs by size in a typical run, and by how much that errs: what breaks are
// looked for in (segments.h).
#pragma once

#include "optimizer/fit/run_lines.h"
#include "optimizer/fit/segments.h"

namespace stripline::fit {

struct TypicalCurve {
  /// Weights make residuals relative, and errors of sizes equal that fewer runs have measured, or
  /// whose runs disagree more (weights_of()).
  Curve curve;
  /// Relative standard error of a point that most runs have measured, kLeastNoise or more. 0: too
  /// few sizes and runs tell.
  double noise = 0;
  double freedom = 0;  ///< Degrees of freedom of the noise.
};

/// Times that are no line in the size are off one by so much, however well they are known.
inline constexpr double kLeastNoise = 0.01;

/// Medians over runs of what is left of times when each is divided by what its run is slower by at
/// all sizes: sizes that were added to a campaign lack its first runs, and would seem to lie above
/// or below their neighbours where those were fast or slow. By median polish (Tukey, Exploratory
/// Data Analysis, 1977, chapter 11). Costs that are not above zero are taken as they are.
TypicalCurve typical_curve(const SizeCurve& curve);

}  // namespace stripline::fit
