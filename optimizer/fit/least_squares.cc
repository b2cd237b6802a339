#include "optimizer/fit/least_squares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

constexpr int kHuberIterations = 50;

double weighted_sse(std::span<const LinePoint> points, double intercept, double slope) {
  double sse = 0.0;
  for (const LinePoint& p : points) {
    const double residual = p.y - intercept - slope * p.x;
    sse += p.weight * residual * residual;
  }
  return sse;
}

struct Coefficients {
  double intercept = 0.0;
  double slope = 0.0;
  double sum_w = 0.0;
  double mean_x = 0.0;
  double sxx = 0.0;
};

// Centred normal equations: sizes span six decades and the raw ones would cancel.
Coefficients solve(std::span<const LinePoint> points) {
  Coefficients c;
  double mean_y = 0.0;
  for (const LinePoint& p : points) {
    c.sum_w += p.weight;
    c.mean_x += p.weight * p.x;
    mean_y += p.weight * p.y;
  }
  c.mean_x /= c.sum_w;
  mean_y /= c.sum_w;
  double sxy = 0.0;
  for (const LinePoint& p : points) {
    c.sxx += p.weight * (p.x - c.mean_x) * (p.x - c.mean_x);
    sxy += p.weight * (p.x - c.mean_x) * (p.y - mean_y);
  }
  c.slope = sxy / c.sxx;
  c.intercept = mean_y - c.slope * c.mean_x;
  return c;
}

// Iteratively reweighted least squares with the scale from the MAD of the standardised residuals.
Coefficients solve_huber(const std::vector<LinePoint>& points, double huber_k) {
  Coefficients c = solve(points);
  std::vector<LinePoint> reweighted = points;
  std::vector<double> sizes(points.size());
  for (int iteration = 0; iteration < kHuberIterations; ++iteration) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double residual = points[i].y - c.intercept - c.slope * points[i].x;
      sizes[i] = std::abs(residual) * std::sqrt(points[i].weight);
    }
    const double limit = huber_k * stats::kNormalMadScale * stats::median(sizes);
    if (!(limit > 0.0)) return c;  // More than half of the points lie on the line.
    for (std::size_t i = 0; i < points.size(); ++i) {
      reweighted[i].weight = points[i].weight * (sizes[i] > limit ? limit / sizes[i] : 1.0);
    }
    const Coefficients next = solve(reweighted);
    const double moved = std::abs(next.intercept - c.intercept) +
                         std::abs(next.slope - c.slope) * std::abs(c.mean_x);
    const double size = std::abs(c.intercept) + std::abs(c.slope * c.mean_x);
    c = next;
    if (moved <= 1e-10 * size) break;
  }
  return c;
}

}  // namespace

Result<LineFit> fit_line(std::span<const LinePoint> points, const LineOptions& options) {
  std::vector<LinePoint> used;
  used.reserve(points.size());
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const LinePoint& p : points) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.weight) || p.weight < 0.0) {
      return Error(ErrorCode::invalid_argument,
                   "a line needs finite values and weights that are not negative");
    }
    if (p.weight == 0.0) continue;
    used.push_back(p);
    low = std::min(low, p.x);
    high = std::max(high, p.x);
  }
  if (used.size() < 2 || !(high > low)) {
    return Error(ErrorCode::failed_precondition,
                 "a line needs two different sizes; measure more sizes");
  }
  const bool robust = options.huber_k > 0.0 && used.size() > 3;
  const Coefficients c = robust ? solve_huber(used, options.huber_k) : solve(used);
  LineFit fit;
  fit.intercept = c.intercept;
  fit.slope = c.slope;
  fit.points = used.size();
  fit.sse = weighted_sse(used, c.intercept, c.slope);
  if (used.size() > 2) {
    const double scale = fit.sse / static_cast<double>(used.size() - 2);
    fit.slope_variance = scale / c.sxx;
    fit.intercept_variance = scale * (1.0 / c.sum_w + c.mean_x * c.mean_x / c.sxx);
  }
  return fit;
}

}  // namespace stripline::fit
