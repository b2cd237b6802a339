#include "optimizer/fit/hinge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace stripline::fit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kStepsPerOctave = 4.0;
constexpr int kGoldenSteps = 20;
constexpr int kRounds = 6;
constexpr double kNoiseFloor = 1e-8;
// BIC advantage over a line that counts as evidence for a knee.
constexpr double kEvidence = 6.0;
// Depths up to this one are tried one by one where a queue may be refilled in waves, whose number
// changes with each of them.
constexpr double kFewOperations = 64.0;

// What counts as a knee.
struct LeastRises {
  // Relative rise of the marginal cost, in the geometric mean over the sizes that would have
  // waited: over o, and over what an operation of the smallest burst costs, which finds an empty
  // queue. Smaller ones come about without a knee, e.g. by caches, and a second operation in a row
  // may be cheaper than all others.
  double extra = 0.25;
  // By how much an operation of the largest burst has to take longer than o, on average over the
  // burst and in the geometric mean over the sizes: a knee near the largest burst explains any
  // rise of it, however small, and those of a few percent have other causes.
  double whole = 0.1;
};
constexpr LeastRises kUsualRises{};

Status check(std::span<const BurstCurve> curves) {
  if (curves.empty()) return Error(ErrorCode::invalid_argument, "no bursts to fit; measure some");
  for (const BurstCurve& curve : curves) {
    const std::string where = "bursts of " + std::to_string(curve.bytes) + " bytes";
    if (curve.points.empty()) return Error(ErrorCode::invalid_argument, where + ": none measured");
    if ((curve.stream_s && !std::isfinite(*curve.stream_s)) ||
        (curve.reply_s && !std::isfinite(*curve.reply_s))) {
      return Error(ErrorCode::invalid_argument, where + ": the stream or reply time is not finite");
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

// Queue depth of one curve in operations when the common limit is q. One operation finds room
// whatever its size.
double depth_of(const BurstCurve& curve, QueueLimit limit, double q) {
  if (limit == QueueLimit::operations) return q;
  return std::max(1.0, q / static_cast<double>(std::max<uint64_t>(1, curve.bytes)));
}

// What operations beyond the queue's depth wait for; see the header.
enum class Flow {
  drained,  // The NIC, which sends one after the other.
  waves,    // Replies, of as many as the queue holds at a time.
};

struct CurveFit {
  Flow flow = Flow::drained;
  double o = 0.0;
  double drain = 0.0;   // Between two operations that leave the queue one after the other.
  double beyond = 0.0;  // Per operation of a long burst.
  double sse = 0.0;
  double misfit = 0.0;        // With that of the stream.
  std::size_t blocked = 0;    // Bursts that waited for the queue.
  double largest_free = 0.0;  // Largest burst that did not.
};

// When issue number `burst` ends that had to wait for the queue; see the header.
struct Blocked {
  double steps = 0.0;   // Drains waited for.
  double offset = 0.0;  // What else the time holds.
};

Blocked blocked_issue(const BurstCurve& curve, double burst, double depth, double o, Flow flow) {
  const double departed = burst - depth;
  if (!curve.reply_s) return {departed, 2.0 * o};
  if (flow == Flow::drained) return {std::max(0.0, departed - 1.0), 2.0 * o + *curve.reply_s};
  constexpr double kRounding = 1e-9;
  const double waves = std::max(1.0, std::floor((burst - 1.0) / depth + kRounding));
  return {std::max(0.0, burst - waves * depth - 1.0), o + waves * (o + *curve.reply_s)};
}

// How operations proceed that leave the queue at this distance.
Flow flow_of(const BurstCurve& curve, double depth, double o, double drain) {
  return curve.reply_s && depth * std::max(o, drain) < o + *curve.reply_s ? Flow::waves
                                                                          : Flow::drained;
}

double predict(const BurstCurve& curve, double burst, double depth, double o, double drain) {
  const Flow flow = flow_of(curve, depth, o, drain);
  if (burst <= depth || (flow == Flow::drained && drain <= o)) return o * burst;
  const Blocked blocked = blocked_issue(curve, burst, depth, o, flow);
  return std::max(o * burst, blocked.offset + blocked.steps * std::max(o, drain));
}

// What an operation takes in a long burst.
double cost_in_stream(const BurstCurve& curve, double depth, double o, double drain) {
  const double spacing = std::max(o, drain);
  return curve.reply_s ? std::max(spacing, (o + *curve.reply_s) / depth) : spacing;
}

double fit_issue_cost(const BurstCurve& curve, const std::vector<bool>& blocked) {
  double bb = 0.0;
  double bt = 0.0;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const BurstPoint& p = curve.points[i];
    if (blocked[i]) continue;
    bb += p.weight * p.burst * p.burst;
    bt += p.weight * p.burst * p.time_s;
  }
  return bb > 0.0 ? bt / bb : 0.0;
}

// The drain that explains the blocked bursts and the stream, if there are any of either. A stream
// in waves tells nothing of it.
double fit_drain(const BurstCurve& curve, const std::vector<bool>& blocked, double depth, double o,
                 Flow flow) {
  double uu = 0.0;
  double uy = 0.0;
  if (flow == Flow::drained && curve.stream_s && *curve.stream_s > 0.0) {
    uu = 1.0 / (*curve.stream_s * *curve.stream_s);
    uy = 1.0 / *curve.stream_s;
  }
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    if (!blocked[i]) continue;
    const BurstPoint& p = curve.points[i];
    const Blocked issue = blocked_issue(curve, p.burst, depth, o, flow);
    uu += p.weight * issue.steps * issue.steps;
    uy += p.weight * issue.steps * (p.time_s - issue.offset);
  }
  return uu > 0.0 ? uy / uu : o;
}

const BurstPoint& smallest_burst(const BurstCurve& curve) {
  return *std::min_element(
      curve.points.begin(), curve.points.end(),
      [](const BurstPoint& a, const BurstPoint& b) { return a.burst < b.burst; });
}

// Marginal costs of one size for a given depth, if they proceed so. Which bursts were blocked
// follows from the costs and the costs from that, so the two are settled in turn, beginning with
// all bursts beyond the depth.
CurveFit fit_flow(const BurstCurve& curve, double depth, Flow flow) {
  const std::size_t n = curve.points.size();
  std::vector<bool> blocked(n);
  for (std::size_t i = 0; i < n; ++i) blocked[i] = curve.points[i].burst > depth;
  if (std::find(blocked.begin(), blocked.end(), false) == blocked.end()) {
    // Nothing to read o from: the smallest burst has to do.
    blocked[static_cast<std::size_t>(&smallest_burst(curve) - curve.points.data())] = false;
  }
  CurveFit fit;
  fit.flow = flow;
  for (int round = 0; round < kRounds; ++round) {
    fit.o = fit_issue_cost(curve, blocked);
    fit.drain = fit_drain(curve, blocked, depth, fit.o, flow);
    bool changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      const double burst = curve.points[i].burst;
      const bool now = predict(curve, burst, depth, fit.o, fit.drain) > fit.o * burst;
      changed = changed || now != blocked[i];
      blocked[i] = now;
    }
    if (!changed) break;
  }
  fit.drain = std::max(fit.drain, fit.o);
  for (std::size_t i = 0; i < n; ++i) {
    const BurstPoint& p = curve.points[i];
    const double residual = p.time_s - predict(curve, p.burst, depth, fit.o, fit.drain);
    fit.sse += p.weight * residual * residual;
    if (blocked[i]) {
      ++fit.blocked;
    } else {
      fit.largest_free = std::max(fit.largest_free, p.burst);
    }
  }
  fit.beyond = fit.blocked > 0 ? cost_in_stream(curve, depth, fit.o, fit.drain) : fit.drain;
  fit.misfit = fit.sse;
  if (curve.stream_s && *curve.stream_s > 0.0) {
    const double residual = 1.0 - cost_in_stream(curve, depth, fit.o, fit.drain) / *curve.stream_s;
    fit.misfit += residual * residual;
  }
  return fit;
}

// The same, whichever of the two explains the bursts better.
CurveFit fit_curve(const BurstCurve& curve, double depth) {
  CurveFit drained = fit_flow(curve, depth, Flow::drained);
  if (!curve.reply_s || std::isinf(depth)) return drained;
  CurveFit waves = fit_flow(curve, depth, Flow::waves);
  return waves.misfit < drained.misfit ? waves : drained;
}

// One line through the origin.
CurveFit fit_straight(const BurstCurve& curve) {
  BurstCurve plain = curve;
  plain.stream_s.reset();
  return fit_curve(plain, kInfinity);
}

double joint_sse(std::span<const BurstCurve> curves, QueueLimit limit, double q) {
  double sse = 0.0;
  for (const BurstCurve& curve : curves) sse += fit_curve(curve, depth_of(curve, limit, q)).sse;
  return sse;
}

// Minimises the joint misfit over the limit. The misfit is smooth while no measured burst crosses
// the limit and may jump where one does, so each interval between such places gets a grid of its
// own; the best grid point is refined by golden sections within its interval. It jumps at many
// places where bursts are answered in waves: small depths are tried one by one.
double best_limit(std::span<const BurstCurve> curves, QueueLimit limit) {
  std::vector<double> edges;
  for (const BurstCurve& curve : curves) {
    const double unit =
        limit == QueueLimit::bytes ? static_cast<double>(std::max<uint64_t>(1, curve.bytes)) : 1.0;
    for (const BurstPoint& p : curve.points) edges.push_back(p.burst * unit);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  double best = edges.front();
  double best_sse = joint_sse(curves, limit, best);
  double best_low = best;
  double best_high = best;
  for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
    const double below_next = edges[k + 1] * (1.0 - 1e-9);
    const double octaves = std::log2(edges[k + 1] / edges[k]);
    const auto steps = static_cast<int>(std::ceil(octaves * kStepsPerOctave));
    const auto at = [&](int step) {
      return std::min(below_next, edges[k] * std::exp2(octaves * step / steps));
    };
    for (int step = 0; step <= steps; ++step) {
      const double sse = joint_sse(curves, limit, at(step));
      if (sse < best_sse) {
        best_sse = sse;
        best = at(step);
        best_low = at(std::max(0, step - 1));
        best_high = at(std::min(steps, step + 1));
      }
    }
  }
  const bool may_have_waves =
      limit == QueueLimit::operations && std::ranges::any_of(curves, [](const BurstCurve& curve) {
        return curve.reply_s.has_value();
      });
  const double most = may_have_waves ? std::min(edges.back(), kFewOperations + 1.0) : 0.0;
  for (double depth = std::ceil(edges.front()); depth < most; depth += 1.0) {
    const double sse = joint_sse(curves, limit, depth);
    if (!(sse < best_sse)) continue;
    best_sse = sse;
    best = depth;
    best_low = std::max(edges.front(), depth - 1.0);
    best_high = std::min(edges.back() * (1.0 - 1e-9), depth + 1.0);
  }
  constexpr double kGolden = 0.6180339887498949;
  double low = best_low;
  double high = best_high;
  double a = high - kGolden * (high - low);
  double b = low + kGolden * (high - low);
  double at_a = joint_sse(curves, limit, a);
  double at_b = joint_sse(curves, limit, b);
  for (int i = 0; i < kGoldenSteps; ++i) {
    if (at_a <= at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - kGolden * (high - low);
      at_a = joint_sse(curves, limit, a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + kGolden * (high - low);
      at_b = joint_sse(curves, limit, b);
    }
  }
  const double refined = (low + high) / 2.0;
  return joint_sse(curves, limit, refined) < best_sse ? refined : best;
}

const BurstPoint& largest_burst(const BurstCurve& curve) {
  return *std::max_element(
      curve.points.begin(), curve.points.end(),
      [](const BurstPoint& a, const BurstPoint& b) { return a.burst < b.burst; });
}

// True if a size has a burst between its smallest and its largest one.
bool can_show_knee(std::span<const BurstCurve> curves) {
  return std::ranges::any_of(curves, [](const BurstCurve& curve) {
    const double smallest = smallest_burst(curve).burst;
    const double largest = largest_burst(curve).burst;
    return std::ranges::any_of(
        curve.points, [&](const BurstPoint& p) { return smallest < p.burst && p.burst < largest; });
  });
}

// By how much operations cost more beyond a knee: the geometric mean over sizes.
struct Rise {
  double log_sum = 0.0;
  double sizes = 0.0;
  void add(double ratio) {
    log_sum += std::log(std::max(1.0, ratio));
    sizes += 1.0;
  }
  bool exceeds(double extra) const { return log_sum > sizes * std::log1p(extra); }
};

// What an operation costs between a burst that is there, or none (0), and the largest one.
double cost_beyond(const BurstCurve& curve, double smaller) {
  const BurstPoint& largest = largest_burst(curve);
  double smaller_s = 0.0;
  for (const BurstPoint& p : curve.points) {
    if (p.burst == smaller) smaller_s = p.time_s;
  }
  return largest.burst > smaller ? (largest.time_s - smaller_s) / (largest.burst - smaller) : 0.0;
}

struct JointFit {
  HingeFit hinge;
  bool rises = false;        // Operations clearly cost more beyond the knee.
  bool identified = false;   // Enough bursts lie there to place it, too.
  double lower_bound = 1.0;  // What Q is at least, by the largest bursts that did not wait.
};

JointFit fit_limit(std::span<const BurstCurve> curves, QueueLimit limit, double q,
                   const LeastRises& least) {
  JointFit joint;
  HingeFit& fit = joint.hinge;
  fit.limit = limit;
  fit.queue_depth = q;
  Rise any;     // For sizes with bursts that waited, and
  Rise placed;  // of those with as many as place the knee;
  Rise whole;   // of these, of the largest burst as a whole.
  for (const BurstCurve& curve : curves) {
    const double depth = depth_of(curve, limit, q);
    const CurveFit one = fit_curve(curve, depth);
    fit.costs.push_back({curve.bytes, one.o, one.beyond});
    fit.sse += one.sse;
    for (const BurstPoint& p : curve.points) {
      fit.largest_burst = std::max(fit.largest_burst, p.burst);
    }
    if (one.blocked == 0) continue;
    const BurstPoint& smallest = smallest_burst(curve);
    const double first = smallest.burst <= depth ? smallest.time_s / smallest.burst : 0.0;
    const bool tells_drain = curve.stream_s && one.flow == Flow::drained;
    const bool places = one.largest_free > 0.0 && one.blocked >= (tells_drain ? 1U : 2U);
    // One burst beyond a knee that it does not place is explained by any drain.
    const double beyond = places ? one.beyond : cost_beyond(curve, one.largest_free);
    const double ratio = beyond / std::max(one.o, first);
    any.add(ratio);
    if (places) {
      placed.add(ratio);
      const BurstPoint& largest = largest_burst(curve);
      whole.add(largest.time_s / largest.burst / std::max(one.o, first));
    }
    if (!(ratio > 1.0 + least.extra)) continue;
    // A queue that drains while it fills is never longer than this share of the burst.
    const double share = curve.reply_s ? 1.0 : 1.0 - one.o / beyond;
    joint.lower_bound = std::max(joint.lower_bound, std::floor(one.largest_free * share));
  }
  joint.identified = placed.exceeds(least.extra) && whole.exceeds(least.whole);
  // A size that would place it but does not rise says nothing of those that rise too late.
  joint.rises = joint.identified || any.exceeds(least.extra);
  fit.straight_burst = limit == QueueLimit::operations ? q : fit.largest_burst;
  return joint;
}

double score(double sse, double parameters, double points) {
  return points * std::log(std::max(kNoiseFloor, sse / points)) + parameters * std::log(points);
}

}  // namespace

Result<HingeFit> fit_hinge(std::span<const BurstCurve> curves) {
  STRIPLINE_RETURN_IF_ERROR(check(curves));
  double points = 0.0;
  for (const BurstCurve& curve : curves) points += static_cast<double>(curve.points.size());
  const auto sizes = static_cast<double>(curves.size());

  HingeFit best;
  for (const BurstCurve& curve : curves) {
    const CurveFit straight = fit_straight(curve);
    best.costs.push_back({curve.bytes, straight.o, straight.o});
    best.sse += straight.sse;
    for (const BurstPoint& p : curve.points) {
      best.largest_burst = std::max(best.largest_burst, p.burst);
    }
  }
  best.queue_depth = best.largest_burst;
  best.straight_burst = best.largest_burst;
  double best_score = score(best.sse, sizes, points) - kEvidence;
  if (!can_show_knee(curves)) {
    // What the largest burst takes longer may be any queue's doing, or none's.
    Rise beyond;
    for (const BurstCurve& curve : curves) {
      const BurstPoint& smallest = smallest_burst(curve);
      beyond.add(cost_beyond(curve, smallest.burst) / (smallest.time_s / smallest.burst));
    }
    if (beyond.exceeds(kUsualRises.extra)) best.straight_burst = 1.0;
    best.queue_depth = kInfinity;
    return best;
  }

  for (const QueueLimit limit : {QueueLimit::operations, QueueLimit::bytes}) {
    if (limit == QueueLimit::bytes && curves.size() < 2) continue;  // One curve does not tell.
    const JointFit fit = fit_limit(curves, limit, best_limit(curves, limit), kUsualRises);
    const double fit_score = score(fit.hinge.sse, 2.0 * sizes + 1.0, points);
    if (!fit.rises || !(fit_score < best_score)) continue;
    if (fit.identified) {
      best = fit.hinge;
      best_score = fit_score;
    } else if (best.limit == QueueLimit::none_seen) {
      // Something rises, but too late to place the knee: what did not wait bounds it below.
      best.queue_depth = std::min(best.queue_depth, fit.lower_bound);
      best.straight_burst = std::min(best.straight_burst, fit.lower_bound);
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
  if (!can_show_knee(curves)) return std::optional<HingeFit>();
  constexpr LeastRises kAnyRise{.extra = 0.0, .whole = 0.0};
  JointFit fit = fit_limit(curves, limit, best_limit(curves, limit), kAnyRise);
  if (!fit.identified) return std::optional<HingeFit>();
  return std::optional<HingeFit>(std::move(fit.hinge));
}

}  // namespace stripline::fit
