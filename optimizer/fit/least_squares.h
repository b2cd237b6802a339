// Weighted straight lines, the building block of the LogGP fit.
//
// Pure functions. Weights say how much a squared residual counts: 1/variance, or 1/y^2 when only
// the relative error is known; without them the largest messages own the fit.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace stripline::fit {

/// One observation of a line.
struct LinePoint {
  double x = 0.0;
  double y = 0.0;
  double weight = 1.0;  ///< >= 0; 0 leaves the point out.
};

struct LineOptions {
  /// Huber's k in units of the residual scale; residuals beyond it count linearly (Huber, Robust
  /// Statistics, 1981). 0 is plain least squares, as is any k with three points or fewer.
  double huber_k = 0.0;
};

/// The k that has 95% efficiency under normal noise.
inline constexpr double kHuber = 1.345;

/// y = intercept + slope x.
struct LineFit {
  double intercept = 0.0;
  double slope = 0.0;
  /// From the residuals; 0 with two points. With Huber's loss the sizes count as last reweighted.
  double intercept_variance = 0.0;
  double slope_variance = 0.0;
  double sse = 0.0;        ///< Weighted sum of squared residuals (with the original weights).
  std::size_t points = 0;  ///< With a weight above zero.
};

/// Fits a line. Errors: invalid_argument for a value that is not finite or a negative weight;
/// failed_precondition when fewer than two distinct x have a weight: a line is not identifiable
/// then.
Result<LineFit> fit_line(std::span<const LinePoint> points, const LineOptions& options = {});

}  // namespace stripline::fit
