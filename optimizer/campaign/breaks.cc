#include "optimizer/campaign/breaks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/segments.h"
#include "optimizer/fit/typical_curve.h"

namespace stripline::campaign {
namespace {

constexpr int kParts = 4;
constexpr double kGranule = 8;
constexpr const char* kBytes = experiment::factor::kBytes;
// A step has to be so many times what times are uncertain by.
constexpr double kClearly = 2;

// Points that differ in size alone, by their sizes. What no run has measured yet has no medians.
struct LatencyCurve {
  experiment::Point like;
  fit::SizeCurve medians;

  bool is_measured() const {
    return std::ranges::none_of(medians, [](const auto& one) { return one.second.empty(); });
  }
};

std::vector<LatencyCurve> latency_curves(const PointTable& table, uint32_t grid) {
  std::map<std::string, LatencyCurve> curves;
  for (uint32_t place = 0; place < table.points().size(); ++place) {
    const PointStatus& status = table.points()[place];
    if (!(status.point.experiment == experiment::micro::kLatency)) continue;
    if (status.medians.empty() && (place >= grid || status.failed > 0)) continue;
    const auto bytes = experiment::number_param(status.point, kBytes);
    experiment::Point key = status.point;
    if (key.params.erase(kBytes) == 0 || !bytes || !(*bytes >= 0)) continue;
    LatencyCurve& curve = curves[point_key(key)];
    curve.like = status.point;
    fit::RunMedians& medians = curve.medians[static_cast<uint64_t>(*bytes)];
    for (const auto& [run, median] : status.medians) {
      if (median > 0) medians[run] = median;
    }
  }
  std::vector<LatencyCurve> all;
  for (auto& [key, curve] : curves) all.push_back(std::move(curve));
  return all;
}

// Sizes between two of a curve.
struct Gap {
  const LatencyCurve* curve = nullptr;
  double low = 0;
  double high = 0;
  int parts = 2;  // that new sizes cut it into

  double ratio() const { return high / std::max(1.0, low); }
  bool is_near() const { return high <= kNearRatio * low || high - low <= kNearBytes; }
};

// Collects new points.
class Added {
 public:
  Added(const PointTable& table, size_t most) : table_(table), most_(most) {}

  void add(const std::vector<Gap>& gaps) {
    for (const Gap& gap : gaps) {
      for (int part = 1; part < gap.parts && !gap.is_near(); ++part) {
        add(gap,
            std::max(1.0, gap.low) * std::pow(gap.ratio(), static_cast<double>(part) / gap.parts));
      }
    }
  }

  std::vector<experiment::Point> take() { return std::move(points_); }

 private:
  void add(const Gap& gap, double size) {
    if (points_.size() == most_) return;
    experiment::Point point = gap.curve->like;
    const auto bytes = static_cast<int64_t>(std::round(size / kGranule) * kGranule);
    point.params[kBytes] = bytes;
    // A size of the plan that no run has measured yet is measured too late: its neighbour is not.
    const auto known = table_.find(point);
    if (known && table_.points()[*known].runs() == 0) {
      point.params[kBytes] = bytes + static_cast<int64_t>(kGranule);
    }
    const bool twice = std::ranges::find(points_, point) != points_.end();
    if (!twice && !table_.find(point)) points_.push_back(std::move(point));
  }

  const PointTable& table_;
  const size_t most_;
  std::vector<experiment::Point> points_;
};

std::vector<Gap> gaps_at_breaks(const LatencyCurve& curve, const fit::TypicalCurve& typical) {
  const fit::Curve curves[] = {typical.curve};
  fit::SegmentOptions options;
  options.noise = typical.noise;
  if (typical.noise > 0) options.noise_freedom = typical.freedom;
  const auto segmentation = fit::segment_curves(curves, options);
  std::vector<Gap> gaps;
  if (!segmentation.ok()) return gaps;  // no sizes: nothing to find there
  for (const fit::Breakpoint& at : segmentation->breaks) {
    gaps.push_back(
        {&curve, static_cast<double>(at.last_below), static_cast<double>(at.first_above), kParts});
  }
  return gaps;
}

// By how much a curve steps between the places i and i + 1 (0 to 2 on either side are measured):
// what is measured at one of them, less what the line through the two on the other side says; the
// smaller of both steps, as a bend of the curve makes but one.
bool steps(const fit::TypicalCurve& typical, size_t i) {
  struct Step {
    double seconds = 0;
    double error = 0;
  };
  const fit::Curve& at = typical.curve;
  const auto error = [&](size_t place) { return typical.noise / std::sqrt(at[place].weight); };
  const auto bytes = [&](size_t place) { return static_cast<double>(at[place].bytes); };
  const auto extrapolated = [&](size_t from, size_t through, size_t to) -> Step {
    const double reach = (bytes(to) - bytes(through)) / (bytes(through) - bytes(from));
    const double said = at[through].value + reach * (at[through].value - at[from].value);
    return {std::abs(at[to].value - said),
            std::hypot(error(to), (1 + reach) * error(through), reach * error(from))};
  };
  std::optional<Step> least;
  if (i > 0) least = extrapolated(i - 1, i, i + 1);
  if (i + 2 < at.size()) {
    const Step other = extrapolated(i + 2, i + 1, i);
    if (!least || other.seconds < least->seconds) least = other;
  }
  if (!least) return false;
  return least->seconds > kStepThatCounts * at[i].value && least->seconds > kClearly * least->error;
}

std::vector<Gap> gaps_at_steps(const LatencyCurve& curve, const fit::TypicalCurve& typical) {
  const fit::Curve& at = typical.curve;
  std::vector<bool> stepping;
  for (size_t i = 0; i + 1 < at.size(); ++i) stepping.push_back(steps(typical, i));
  std::vector<Gap> gaps;
  for (size_t i = 0; i < stepping.size(); ++i) {
    // At either end a line through two sizes that a step lies between says nothing.
    const bool misled = (i == 0 && stepping.size() > 1 && stepping[1]) ||
                        (i > 0 && i + 1 == stepping.size() && stepping[i - 1]);
    if (!stepping[i] || misled) continue;
    gaps.push_back(
        {&curve, static_cast<double>(at[i].bytes), static_cast<double>(at[i + 1].bytes), kParts});
  }
  return gaps;
}

std::vector<Gap> coarse_gaps(const LatencyCurve& curve) {
  std::vector<Gap> gaps;
  if (curve.medians.size() >= kSizesOfALine) return gaps;
  std::optional<double> low;
  for (const auto& [bytes, medians] : curve.medians) {
    const auto high = static_cast<double>(bytes);
    if (low) gaps.push_back({&curve, *low, high});
    low = high;
  }
  return gaps;
}

}  // namespace

std::vector<experiment::Point> points_at_breaks(const PointTable& table, uint32_t grid,
                                                size_t most) {
  const std::vector<LatencyCurve> curves = latency_curves(table, grid);
  std::vector<Gap> breaks;
  std::vector<Gap> stepping;
  std::vector<Gap> coarse;
  const auto append = [](std::vector<Gap>& all, const std::vector<Gap>& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  for (const LatencyCurve& curve : curves) {
    append(coarse, coarse_gaps(curve));
    if (!curve.is_measured()) continue;  // the next run knows more
    const fit::TypicalCurve typical = fit::typical_curve(curve.medians);
    append(breaks, gaps_at_breaks(curve, typical));
    // How much the times of one run err, nothing says.
    if (typical.noise > 0) append(stepping, gaps_at_steps(curve, typical));
  }
  std::ranges::stable_sort(coarse, std::greater<>(), &Gap::ratio);
  Added added(table, most);
  added.add(breaks);
  added.add(stepping);
  added.add(coarse);
  return added.take();
}

}  // namespace stripline::campaign
