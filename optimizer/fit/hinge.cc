#include "optimizer/fit/hinge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "optimizer/fit/least_squares.h"

namespace stripline::fit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kStepsPerOctave = 8.0;
constexpr int kGoldenSteps = 24;
constexpr double kNoiseFloor = 1e-8;

Status check(std::span<const BurstCurve> curves) {
  if (curves.empty()) {
    return Error(ErrorCode::invalid_argument, "no bursts to fit; measure some");
  }
  for (const BurstCurve& curve : curves) {
    const std::string where = "bursts of " + std::to_string(curve.bytes) + " bytes";
    if (curve.points.empty()) return Error(ErrorCode::invalid_argument, where + ": none measured");
    if (curve.stream_s && !std::isfinite(*curve.stream_s)) {
      return Error(ErrorCode::invalid_argument, where + ": the stream cost is not finite");
    }
    for (const BurstPoint& p : curve.points) {
      if (!std::isfinite(p.burst) || !std::isfinite(p.time_s) || !std::isfinite(p.weight) ||
          p.burst < 1.0 || p.time_s < 0.0 || p.weight < 0.0) {
        return Error(ErrorCode::invalid_argument,
                     where + ": a burst must be at least 1 with a finite time and weight");
      }
    }
  }
  return {};
}

// Queue depth of one curve in operations when the common limit is q.
double depth_of(const BurstCurve& curve, QueueLimit limit, double q) {
  if (limit == QueueLimit::operations) return q;
  return q / static_cast<double>(std::max<uint64_t>(1, curve.bytes));
}

std::size_t bursts_beyond(const BurstCurve& curve, double depth) {
  return static_cast<std::size_t>(std::count_if(
      curve.points.begin(), curve.points.end(),
      [&](const BurstPoint& p) { return p.weight > 0.0 && p.burst > depth * (1.0 + 1e-9); }));
}

struct CurveFit {
  double o = 0.0;
  double drain = 0.0;
  double sse = 0.0;
};

// Marginal costs of one size for a given depth. T = o b + extra max(b - Q, 0), extra >= 0.
CurveFit fit_curve(const BurstCurve& curve, double depth) {
  const bool use_stream = curve.stream_s && bursts_beyond(curve, depth) < 2;
  std::vector<TwoTermPoint> points;
  points.reserve(curve.points.size());
  CurveFit fit;
  if (use_stream) {
    // The drain is given; o is what remains: T - drain max(b - Q, 0) = o min(b, Q).
    double uu = 0.0;
    double uy = 0.0;
    for (const BurstPoint& p : curve.points) {
      const double u = std::min(p.burst, depth);
      uu += p.weight * u * u;
      uy += p.weight * u * (p.time_s - *curve.stream_s * std::max(0.0, p.burst - depth));
    }
    fit.o = uu > 0.0 ? std::max(0.0, uy / uu) : 0.0;
    if (fit.o <= *curve.stream_s) {
      fit.drain = *curve.stream_s;
      for (const BurstPoint& p : curve.points) {
        const double residual = p.time_s - fit.o * std::min(p.burst, depth) -
                                fit.drain * std::max(0.0, p.burst - depth);
        fit.sse += p.weight * residual * residual;
      }
      return fit;
    }
    // Issuing is slower than the stream: a line, as below without a second term.
  }
  for (const BurstPoint& p : curve.points) {
    const double beyond = use_stream ? 0.0 : std::max(0.0, p.burst - depth);
    points.push_back({p.burst, beyond, p.time_s, p.weight});
  }
  const TwoTerm terms = fit_two_terms(points);
  fit.o = terms.a;
  fit.drain = terms.a + terms.b;
  fit.sse = terms.sse;
  return fit;
}

double joint_sse(std::span<const BurstCurve> curves, QueueLimit limit, double q) {
  double sse = 0.0;
  for (const BurstCurve& curve : curves) sse += fit_curve(curve, depth_of(curve, limit, q)).sse;
  return sse;
}

struct Range {
  double low = kInfinity;
  double high = 0.0;
};

// Where the limit may lie: from the smallest to the largest amount ever outstanding.
Range limit_range(std::span<const BurstCurve> curves, QueueLimit limit) {
  Range range;
  for (const BurstCurve& curve : curves) {
    const double unit =
        limit == QueueLimit::bytes ? static_cast<double>(std::max<uint64_t>(1, curve.bytes)) : 1.0;
    for (const BurstPoint& p : curve.points) {
      range.low = std::min(range.low, p.burst * unit);
      range.high = std::max(range.high, p.burst * unit);
    }
  }
  return range;
}

// Minimises the joint misfit over the limit: a fine geometric grid, then golden sections around its
// best point, because between two measured bursts the misfit is smooth.
double best_limit(std::span<const BurstCurve> curves, QueueLimit limit) {
  const Range range = limit_range(curves, limit);
  const double octaves = std::log2(range.high / range.low);
  const auto steps = static_cast<int>(std::ceil(octaves * kStepsPerOctave));
  if (steps == 0) return range.low;
  const auto at = [&](double step) { return range.low * std::exp2(octaves * step / steps); };
  int best = 0;
  double best_sse = kInfinity;
  for (int step = 0; step <= steps; ++step) {
    const double sse = joint_sse(curves, limit, at(step));
    if (sse < best_sse) {
      best_sse = sse;
      best = step;
    }
  }
  double low = std::max(0, best - 1);
  double high = std::min(steps, best + 1);
  constexpr double kGolden = 0.6180339887498949;
  double a = high - kGolden * (high - low);
  double b = low + kGolden * (high - low);
  double at_a = joint_sse(curves, limit, at(a));
  double at_b = joint_sse(curves, limit, at(b));
  for (int i = 0; i < kGoldenSteps; ++i) {
    if (at_a <= at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - kGolden * (high - low);
      at_a = joint_sse(curves, limit, at(a));
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + kGolden * (high - low);
      at_b = joint_sse(curves, limit, at(b));
    }
  }
  const double refined = at((low + high) / 2.0);
  return joint_sse(curves, limit, refined) <= best_sse ? refined : at(best);
}

HingeFit fit_limit(std::span<const BurstCurve> curves, QueueLimit limit, double q) {
  HingeFit fit;
  fit.limit = limit;
  fit.queue_depth = q;
  fit.largest_burst = limit_range(curves, QueueLimit::operations).high;
  for (const BurstCurve& curve : curves) {
    const CurveFit one = fit_curve(curve, depth_of(curve, limit, q));
    fit.costs.push_back({curve.bytes, one.o, one.drain});
    fit.sse += one.sse;
  }
  return fit;
}

// A knee can be placed when some size rises beyond it, with two bursts there or a known stream
// cost.
bool identified(std::span<const BurstCurve> curves, const HingeFit& fit, double min_extra) {
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const BurstCost& cost = fit.costs[i];
    const double depth = depth_of(curves[i], fit.limit, fit.queue_depth);
    const std::size_t beyond = bursts_beyond(curves[i], depth);
    if (beyond >= (curves[i].stream_s ? 1U : 2U) && beyond < curves[i].points.size() &&
        cost.drain_s > (1.0 + min_extra) * cost.o_s) {
      return true;
    }
  }
  return false;
}

double score(double sse, double parameters, double points) {
  return points * std::log(std::max(kNoiseFloor, sse / points)) + parameters * std::log(points);
}

// Largest burst up to which the sizes still look like one line each.
double straight_up_to(std::span<const BurstCurve> curves, const HingeFit& hinge) {
  double burst = 1.0;
  for (const BurstCurve& curve : curves) {
    for (const BurstPoint& p : curve.points) {
      if (p.burst <= depth_of(curve, hinge.limit, hinge.queue_depth)) {
        burst = std::max(burst, p.burst);
      }
    }
  }
  return burst;
}

}  // namespace

Result<HingeFit> fit_hinge(std::span<const BurstCurve> curves, const HingeOptions& options) {
  STRIPLINE_RETURN_IF_ERROR(check(curves));
  double points = 0.0;
  for (const BurstCurve& curve : curves) points += static_cast<double>(curve.points.size());
  const auto sizes = static_cast<double>(curves.size());

  std::vector<BurstCurve> plain(curves.begin(), curves.end());
  for (BurstCurve& curve : plain) curve.stream_s.reset();
  HingeFit line = fit_limit(plain, QueueLimit::operations, kInfinity);
  line.limit = QueueLimit::none_seen;
  line.queue_depth = line.largest_burst;
  const double line_score = score(line.sse, sizes, points);

  HingeFit best = line;
  double best_score = line_score - options.bic_margin;
  for (const QueueLimit limit : {QueueLimit::operations, QueueLimit::bytes}) {
    if (limit == QueueLimit::bytes && curves.size() < 2) continue;  // Not to be told apart.
    const HingeFit fit = fit_limit(curves, limit, best_limit(curves, limit));
    const double fit_score = score(fit.sse, 2.0 * sizes + 1.0, points);
    const bool rises = std::any_of(fit.costs.begin(), fit.costs.end(), [&](const BurstCost& c) {
      return c.drain_s > (1.0 + options.min_extra) * c.o_s;
    });
    if (!rises || !(fit_score < best_score)) continue;
    if (identified(curves, fit, options.min_extra)) {
      best = fit;
      best_score = fit_score;
    } else {
      // Something rises, but only in the last burst: the knee is above what still was straight.
      best.queue_depth = std::min(best.queue_depth, straight_up_to(curves, fit));
    }
  }
  return best;
}

Result<std::optional<HingeFit>> fit_known_hinge(std::span<const BurstCurve> curves,
                                                QueueLimit limit) {
  STRIPLINE_RETURN_IF_ERROR(check(curves));
  if (limit == QueueLimit::none_seen) {
    return Error(ErrorCode::invalid_argument, "a known knee is limited by operations or by bytes");
  }
  HingeFit fit = fit_limit(curves, limit, best_limit(curves, limit));
  if (!identified(curves, fit, 0.0)) return std::optional<HingeFit>();
  return std::optional<HingeFit>(std::move(fit));
}

}  // namespace stripline::fit
