#include "optimizer/fit/segments.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "optimizer/fit/stream_bound.h"
#include "optimizer/stats/interval.h"

namespace stripline::fit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Relative variance below which a better fit means nothing: clocks and rounding.
constexpr double kNoiseFloor = 1e-8;
constexpr std::size_t kPoints = 4;  // of the first curve in every segment
constexpr std::size_t kMostSegments = 4;
constexpr double kBicMargin = 2.0;  // a smaller number of segments within this of the best BIC wins
// A break must change the fitted cost by at least this share at some size of some curve. Judged at
// the size where it matters most: a jump in L is a small part of the cost soon after it, and an
// average over all sizes would hide it.
constexpr double kLeastChange = 0.01;
constexpr double kManyFreedoms = 100;  // of an error that was measured
constexpr double kFalseBreaks = 0.01;  // Accepted share of curves with a break that is none.

// Sums over a range of points of one curve.
struct Sums {
  long double n = 0, w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, wyy = 0;

  Sums operator-(const Sums& o) const {
    return {n - o.n, w - o.w, wx - o.wx, wy - o.wy, wxx - o.wxx, wxy - o.wxy, wyy - o.wyy};
  }

  // What is left beside the best line that rises by no more than `most`.
  double line_sse(long double most) const {
    if (n < 2 || !(w > 0)) return 0.0;
    const long double sxx = wxx - wx * wx / w;
    const long double sxy = wxy - wx * wy / w;
    const long double syy = wyy - wy * wy / w;
    const long double slope = slope_of(sxx, sxy, most);
    if (n < 3 && slope < most) return 0.0;  // through both of them
    return std::max(0.0, static_cast<double>(syy - slope * (2 * sxy - slope * sxx)));
  }

  // That line at x; the points' mean where all have the same x. There must be a point.
  long double line_at(long double x, long double most) const {
    const long double sxx = wxx - wx * wx / w;
    const long double slope = n > 1 ? slope_of(sxx, wxy - wx * wy / w, most) : 0;
    return wy / w + slope * (x - wx / w);
  }

 private:
  static long double slope_of(long double sxx, long double sxy, long double most) {
    return sxx > 0 ? std::min(sxy / sxx, most) : 0;
  }
};

// All curves on their common axis of sizes, with cost(i, j) in constant time.
class Axis {
  struct OfCurve {
    std::vector<Sums> prefix;          // [i] sums the sizes below index i.
    std::vector<long double> streams;  // Their slopes at the sizes.

    // What holds for the sizes [begin, end).
    Sums sums(std::size_t begin, std::size_t end) const { return prefix[end] - prefix[begin]; }
    long double most_slope(std::size_t begin, std::size_t end) const {
      const auto first = streams.begin();
      const auto points = static_cast<std::size_t>(sums(begin, end).n);
      return most_over_stream(points) *
             *std::min_element(first + static_cast<std::ptrdiff_t>(begin),
                               first + static_cast<std::ptrdiff_t>(end));
    }
  };

 public:
  static Result<Axis> build(std::span<const Curve> curves) {
    if (curves.empty() || curves[0].empty()) {
      return Error(ErrorCode::invalid_argument, "no points to segment; measure some sizes");
    }
    Axis axis;
    for (const Curve& curve : curves) {
      for (const CurvePoint& p : curve) axis.sizes_.push_back(p.bytes);
    }
    std::sort(axis.sizes_.begin(), axis.sizes_.end());
    axis.sizes_.erase(std::unique(axis.sizes_.begin(), axis.sizes_.end()), axis.sizes_.end());
    axis.largest_ = static_cast<long double>(std::max<uint64_t>(1, axis.sizes_.back()));
    for (const Curve& curve : curves) {
      std::vector<Sums> at(axis.sizes_.size() + 1);
      std::vector<long double> streams(axis.sizes_.size(), kInfinity);
      for (const CurvePoint& p : curve) {
        if (!std::isfinite(p.value) || !std::isfinite(p.weight) || p.weight < 0.0) {
          return Error(ErrorCode::invalid_argument,
                       "a curve needs finite values and weights that are not negative, which " +
                           std::to_string(p.bytes) + " bytes lacks");
        }
        Sums& here = at[axis.position(p.bytes) + 1];
        if (here.n > 0) {
          return Error(ErrorCode::invalid_argument,
                       "a curve holds " + std::to_string(p.bytes) + " bytes twice");
        }
        const long double x = axis.scaled(p.bytes);
        const long double y = p.value;
        const long double w = p.weight;
        here = {1, w, w * x, w * y, w * x * x, w * x * y, w * y * y};
        streams[axis.position(p.bytes)] = p.stream_slope * axis.largest_;
        axis.points_ += 1.0;
      }
      for (std::size_t i = 1; i < at.size(); ++i) {
        const Sums& before = at[i - 1];
        Sums& here = at[i];
        here = {here.n + before.n,    here.w + before.w,     here.wx + before.wx,
                here.wy + before.wy,  here.wxx + before.wxx, here.wxy + before.wxy,
                here.wyy + before.wyy};
      }
      axis.curves_.push_back({std::move(at), std::move(streams)});
    }
    return axis;
  }

  const std::vector<uint64_t>& sizes() const { return sizes_; }
  double points() const { return points_; }
  double curves() const { return static_cast<double>(curves_.size()); }

  double primary_points(std::size_t begin, std::size_t end) const {
    return static_cast<double>(curves_[0].sums(begin, end).n);
  }

  // Sum of squares of one line per curve through the sizes [begin, end).
  double cost(std::size_t begin, std::size_t end) const {
    double sse = 0.0;
    for (const OfCurve& curve : curves_) {
      sse += curve.sums(begin, end).line_sse(curve.most_slope(begin, end));
    }
    return sse;
  }

  // By how much two lines through [begin, middle) and [middle, end) differ from a single one at the
  // size and curve where they do most, relative to the value there.
  double largest_change(std::size_t begin, std::size_t middle, std::size_t end) const {
    long double largest = 0;
    for (const OfCurve& curve : curves_) {
      const Sums single = curve.sums(begin, end);
      const Sums below = curve.sums(begin, middle);
      const Sums above = curve.sums(middle, end);
      const long double most = curve.most_slope(begin, end);
      const long double most_below = curve.most_slope(begin, middle);
      const long double most_above = curve.most_slope(middle, end);
      for (std::size_t i = begin; i < end; ++i) {
        const Sums point = curve.sums(i, i + 1);
        const long double value = std::abs(point.wy);
        if (!(value > 0)) continue;
        const long double x = scaled(sizes_[i]);
        const long double own =
            i < middle ? below.line_at(x, most_below) : above.line_at(x, most_above);
        const long double change = std::abs(own - single.line_at(x, most));
        largest = std::max(largest, change * point.w / value);
      }
    }
    return static_cast<double>(largest);
  }

 private:
  // Sizes scaled to at most 1, so that their squares stay comparable with the other sums.
  long double scaled(uint64_t bytes) const { return static_cast<long double>(bytes) / largest_; }

  std::size_t position(uint64_t bytes) const {
    return static_cast<std::size_t>(std::lower_bound(sizes_.begin(), sizes_.end(), bytes) -
                                    sizes_.begin());
  }

  std::vector<uint64_t> sizes_;
  std::vector<OfCurve> curves_;
  double points_ = 0.0;
  long double largest_ = 1;
};

// Starts of the segments after the first one, as indices into the sizes.
using Starts = std::vector<std::size_t>;

double total_cost(const Axis& axis, const Starts& starts) {
  double sse = 0.0;
  std::size_t begin = 0;
  for (const std::size_t start : starts) {
    sse += axis.cost(begin, start);
    begin = start;
  }
  return sse + axis.cost(begin, axis.sizes().size());
}

double parameters(const Axis& axis, std::size_t segments) {
  const auto k = static_cast<double>(segments);
  return 2.0 * axis.curves() * k + k - 1.0;
}

// The best partition into k segments for every k up to the limit; fewer when none is admissible.
std::vector<Starts> best_partitions(const Axis& axis, const SegmentOptions& options) {
  const std::size_t n = axis.sizes().size();
  const auto least = static_cast<double>(options.noise > 0 ? kPointsOfKnownNoise : kPoints);
  std::vector<std::vector<double>> best(1, std::vector<double>(n + 1, kInfinity));
  std::vector<std::vector<std::size_t>> from(1, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t j = 1; j <= n; ++j) best[0][j] = axis.cost(0, j);
  std::vector<Starts> partitions{Starts{}};
  for (std::size_t k = 1; k < kMostSegments; ++k) {
    best.emplace_back(n + 1, kInfinity);
    from.emplace_back(n + 1, 0);
    for (std::size_t j = 1; j <= n; ++j) {
      for (std::size_t i = 1; i < j; ++i) {
        if (axis.primary_points(i, j) < least) continue;
        if (k == 1 && axis.primary_points(0, i) < least) continue;
        const double sse = best[k - 1][i] + axis.cost(i, j);
        if (sse < best[k][j]) {
          best[k][j] = sse;
          from[k][j] = i;
        }
      }
    }
    if (!std::isfinite(best[k][n])) break;
    Starts starts;
    std::size_t end = n;
    for (std::size_t level = k; level > 0; --level) {
      end = from[level][end];
      starts.insert(starts.begin(), end);
    }
    partitions.push_back(std::move(starts));
  }
  return partitions;
}

double bic(const Axis& axis, const SegmentOptions& options, const Starts& starts) {
  const double n = axis.points();
  if (options.noise > 0) {
    return total_cost(axis, starts) / (options.noise * options.noise) +
           parameters(axis, starts.size() + 1) * std::log(n);
  }
  return n * std::log(std::max(kNoiseFloor, total_cost(axis, starts) / n)) +
         parameters(axis, starts.size() + 1) * std::log(n);
}

Starts choose_by_bic(const Axis& axis, const SegmentOptions& options) {
  const std::vector<Starts> partitions = best_partitions(axis, options);
  std::vector<double> scores;
  for (const Starts& starts : partitions) {
    const bool spare = options.noise > 0 || axis.points() > parameters(axis, starts.size() + 1);
    scores.push_back(starts.empty() || spare ? bic(axis, options, starts) : kInfinity);
  }
  const double lowest = *std::min_element(scores.begin(), scores.end());
  for (std::size_t k = 0; k < scores.size(); ++k) {
    if (scores[k] <= lowest + kBicMargin) return partitions[k];
  }
  return {};
}

// Removes breaks that buy too little: against the noise (F test), or because the cost is nearly the
// same without them.
void drop_weak_breaks(const Axis& axis, const SegmentOptions& options, Starts& starts) {
  // The place of a break was chosen among all sizes, so each place gets its share of the level.
  const double confidence = 1.0 - kFalseBreaks / static_cast<double>(axis.sizes().size());
  while (!starts.empty()) {
    const double total = total_cost(axis, starts);
    const double dof = axis.points() - parameters(axis, starts.size() + 1);
    std::size_t weakest = 0;
    double weakest_gain = kInfinity;
    double weakest_change = 0.0;
    for (std::size_t b = 0; b < starts.size(); ++b) {
      const std::size_t begin = b == 0 ? 0 : starts[b - 1];
      const std::size_t end = b + 1 < starts.size() ? starts[b + 1] : axis.sizes().size();
      const double gain =
          axis.cost(begin, end) - axis.cost(begin, starts[b]) - axis.cost(starts[b], end);
      if (gain < weakest_gain) {
        weakest = b;
        weakest_gain = gain;
        weakest_change = axis.largest_change(begin, starts[b], end);
      }
    }
    const double saved = 2.0 * axis.curves() + 1.0;
    const bool small = weakest_change < kLeastChange;
    // With a known noise, as many degrees of freedom as many repetitions have.
    const double error = options.noise > 0 ? options.noise * options.noise
                         : dof >= 1.0      ? total / dof
                                           : 0.0;
    const bool noise =
        error > 0.0 &&
        weakest_gain / saved <
            stats::f_quantile(confidence, saved, options.noise > 0 ? kManyFreedoms : dof) * error;
    if (!small && !noise) return;
    starts.erase(starts.begin() + static_cast<std::ptrdiff_t>(weakest));
  }
}

Breakpoint describe(const Axis& axis, const SegmentOptions& options, const Starts& starts,
                    std::size_t index) {
  const std::vector<uint64_t>& sizes = axis.sizes();
  const std::size_t at = starts[index];
  Breakpoint result;
  result.last_below = sizes[at - 1];
  result.first_above = sizes[at];
  const double middle = std::sqrt(static_cast<double>(result.last_below)) *
                        std::sqrt(static_cast<double>(result.first_above));
  result.from_bytes = std::clamp(static_cast<uint64_t>(std::ceil(middle)), result.last_below + 1,
                                 result.first_above);
  const std::size_t begin = index == 0 ? 0 : starts[index - 1];
  const std::size_t end = index + 1 < starts.size() ? starts[index + 1] : sizes.size();
  const double total = total_cost(axis, starts);
  const double dof = axis.points() - parameters(axis, starts.size() + 1);
  double limit = total;
  if (options.noise > 0) {
    limit = total + options.noise * options.noise *
                        stats::f_quantile(options.confidence, 1.0, kManyFreedoms);
  } else if (dof >= 1.0) {
    const double noise = std::max(total, kNoiseFloor * axis.points());
    limit = total + noise * stats::f_quantile(options.confidence, 1.0, dof) / dof;
  }
  const double rest = total - axis.cost(begin, at) - axis.cost(at, end);
  result.interval_low = result.last_below;
  result.interval_high = result.first_above;
  for (std::size_t i = begin + 1; i < end; ++i) {
    if (rest + axis.cost(begin, i) + axis.cost(i, end) > limit) continue;
    result.interval_low = std::min(result.interval_low, sizes[i - 1]);
    result.interval_high = std::max(result.interval_high, sizes[i]);
  }
  return result;
}

}  // namespace

Result<Segmentation> segment_curves(std::span<const Curve> curves, const SegmentOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const Axis axis, Axis::build(curves));
  const auto found_with = [&](double noise) {
    SegmentOptions how = options;
    how.noise = noise;
    Starts starts = choose_by_bic(axis, how);
    drop_weak_breaks(axis, how, starts);
    return std::pair(std::move(starts), how);
  };
  // Residuals may be smaller than what repetitions say, where runs are fast or slow as a whole.
  auto [starts, how] = found_with(0);
  if (options.noise > 0) {
    auto known = found_with(options.noise);
    if (known.first.size() > starts.size()) std::tie(starts, how) = std::move(known);
  }
  Segmentation result;
  result.misfit = std::sqrt(total_cost(axis, starts) / axis.points());
  for (std::size_t b = 0; b < starts.size(); ++b) {
    result.breaks.push_back(describe(axis, how, starts, b));
  }
  return result;
}

}  // namespace stripline::fit
