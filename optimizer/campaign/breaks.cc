#include "optimizer/campaign/breaks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/segments.h"

namespace stripline::campaign {
namespace {

constexpr int kParts = 4;
constexpr double kGranule = 8;
constexpr const char* kBytes = experiment::factor::kBytes;
// Standard errors in half an interval, and the least that a median is believed to be known within:
// times are no exact line in the size.
constexpr double kErrorsInInterval = 2;
constexpr double kLeastNoise = 0.01;
// A step has to be so many times what medians are uncertain by.
constexpr double kClearly = 2;

// One size of a curve.
struct Place {
  double bytes = 0;
  std::optional<double> median_s;  // none: the next run measures it
  std::optional<double> error_s;   // half of the interval of the median; none: of one run
};

// Points that differ in size alone, ascending.
struct LatencyCurve {
  experiment::Point like;
  std::vector<Place> places;
};

std::vector<LatencyCurve> latency_curves(const PointTable& table, uint32_t grid) {
  std::map<std::string, LatencyCurve> curves;
  for (uint32_t place = 0; place < table.points().size(); ++place) {
    const PointStatus& status = table.points()[place];
    if (!(status.point.experiment == experiment::micro::kLatency)) continue;
    if (status.medians.empty() && place >= grid) continue;
    const auto bytes = experiment::number_param(status.point, kBytes);
    experiment::Point key = status.point;
    if (key.params.erase(kBytes) == 0 || !bytes || !(*bytes >= 0)) continue;
    Place one;
    one.bytes = *bytes;
    if (const auto estimate = estimate_of(status, kPointConfidence)) {
      if (!(estimate->median > 0)) continue;
      one.median_s = estimate->median;
      if (estimate->low && estimate->high) one.error_s = (*estimate->high - *estimate->low) / 2;
    }
    LatencyCurve& curve = curves[point_key(key)];
    curve.like = status.point;
    curve.places.push_back(one);
  }
  std::vector<LatencyCurve> all;
  for (auto& [key, curve] : curves) {
    std::ranges::stable_sort(curve.places, {}, &Place::bytes);
    all.push_back(std::move(curve));
  }
  return all;
}

bool are_near(double low, double high) {
  return high <= kNearRatio * low || high - low <= kNearBytes;
}

// Collects new points of a curve.
class Added {
 public:
  Added(const PointTable& table, std::vector<experiment::Point>& points)
      : table_(table), points_(points) {}

  // Cuts the distance between two sizes into so many parts.
  void between(const LatencyCurve& curve, double low, double high, int parts) {
    if (are_near(low, high)) return;
    const double ratio = high / std::max(1.0, low);
    for (int part = 1; part < parts; ++part) {
      const double size = std::max(1.0, low) * std::pow(ratio, static_cast<double>(part) / parts);
      experiment::Point point = curve.like;
      auto bytes = static_cast<int64_t>(std::round(size / kGranule) * kGranule);
      point.params[kBytes] = bytes;
      // A size of the plan that no run has measured yet is measured too late: its neighbour is not.
      if (const auto known = table_.find(point); known && !was_measured(*known)) {
        point.params[kBytes] = bytes + static_cast<int64_t>(kGranule);
      }
      const bool twice = std::ranges::find(points_, point) != points_.end();
      if (!twice && !table_.find(point)) points_.push_back(std::move(point));
    }
  }

 private:
  bool was_measured(uint32_t place) const { return table_.points()[place].runs() > 0; }

  const PointTable& table_;
  std::vector<experiment::Point>& points_;
};

// Relative standard error of a median, of the size in the middle; 0: of one run, which does not
// tell.
double noise_of(const std::vector<Place>& places) {
  std::vector<double> errors;
  for (const Place& one : places) {
    if (!one.error_s) return 0;
    errors.push_back(*one.error_s / *one.median_s / kErrorsInInterval);
  }
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::ranges::nth_element(errors, middle);
  return std::max(*middle, kLeastNoise);
}

// By how much a curve steps between the places i and i + 1 (0 to 2 on either side are measured):
// what is measured at one of them, less what the line through the two on the other side says; the
// smaller of both steps, as a bend of the curve makes but one.
bool steps(const std::vector<Place>& at, size_t i) {
  struct Step {
    double seconds = 0;
    double error = 0;
  };
  const auto extrapolated = [&](size_t from, size_t through, size_t to) -> Step {
    const double reach = (at[to].bytes - at[through].bytes) / (at[through].bytes - at[from].bytes);
    const double said =
        *at[through].median_s + reach * (*at[through].median_s - *at[from].median_s);
    return {
        std::abs(*at[to].median_s - said),
        std::hypot(*at[to].error_s, (1 + reach) * *at[through].error_s, reach * *at[from].error_s)};
  };
  std::optional<Step> least;
  if (i > 0) least = extrapolated(i - 1, i, i + 1);
  if (i + 2 < at.size()) {
    const Step other = extrapolated(i + 2, i + 1, i);
    if (!least || other.seconds < least->seconds) least = other;
  }
  if (!least) return false;
  return least->seconds > kStepThatCounts * *at[i].median_s &&
         least->seconds > kClearly * least->error;
}

}  // namespace

std::vector<experiment::Point> points_at_breaks(const PointTable& table, uint32_t grid) {
  std::vector<experiment::Point> points;
  Added added(table, points);
  for (const LatencyCurve& curve : latency_curves(table, grid)) {
    const std::vector<Place>& places = curve.places;
    if (places.size() < kSizesOfALine) {
      for (size_t i = 0; i + 1 < places.size(); ++i) {
        added.between(curve, places[i].bytes, places[i + 1].bytes, 2);
      }
      continue;
    }
    if (!std::ranges::all_of(places, [](const Place& one) { return one.median_s.has_value(); })) {
      continue;  // the next run knows more
    }
    fit::Curve medians;
    for (const Place& one : places) {
      const double median_s = *one.median_s;
      medians.push_back({static_cast<uint64_t>(one.bytes), median_s, 1 / (median_s * median_s)});
    }
    const fit::Curve curves[] = {medians};
    fit::SegmentOptions options;
    options.noise = noise_of(places);
    const auto segmentation = fit::segment_curves(curves, options);
    if (!segmentation.ok()) continue;  // a size twice: nothing to find there
    for (const fit::Breakpoint& at : segmentation->breaks) {
      added.between(curve, static_cast<double>(at.last_below), static_cast<double>(at.first_above),
                    kParts);
    }
    // How much the median of one run errs, nothing says.
    if (!std::ranges::all_of(places, [](const Place& one) { return one.error_s.has_value(); })) {
      continue;
    }
    std::vector<bool> stepping;
    for (size_t i = 0; i + 1 < places.size(); ++i) stepping.push_back(steps(places, i));
    for (size_t i = 0; i < stepping.size(); ++i) {
      // At either end a line through two sizes that a step lies between says nothing.
      const bool misled = (i == 0 && stepping.size() > 1 && stepping[1]) ||
                          (i > 0 && i + 1 == stepping.size() && stepping[i - 1]);
      if (stepping[i] && !misled) {
        added.between(curve, places[i].bytes, places[i + 1].bytes, kParts);
      }
    }
  }
  return points;
}

}  // namespace stripline::campaign
