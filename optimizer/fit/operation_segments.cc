#include "optimizer/fit/operation_segments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "optimizer/fit/borrowed_slopes.h"
#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/stream_bound.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

constexpr std::size_t kMinSizes = 3;
// This many runs tell how much the median over them errs.
constexpr std::size_t kRunsThatTell = 3;
// Times that are no line in the size are off one by so much, however well they are known.
constexpr double kLeastNoise = 0.01;

// The half-open range of sizes of one segment.
struct SizeRange {
  uint64_t from = 0;
  uint64_t to = std::numeric_limits<uint64_t>::max();
};

Curve relative_curve(const SizeCurve& curve) {
  const std::map<uint64_t, double> weights = weights_of(curve);
  Curve result;
  for (const auto& [bytes, medians] : curve) {
    result.push_back({bytes, across_runs(medians), weights.at(bytes)});
  }
  return result;
}

// By how much the medians over runs err, as a share: of the size in the middle. 0: too few runs
// tell.
double noise_of(const SizeCurve& curve) {
  std::vector<double> errors;
  for (const auto& [bytes, medians] : curve) {
    std::vector<double> logs;
    for (const auto& [run, value] : medians) {
      if (value > 0.0) logs.push_back(std::log(value));
    }
    if (logs.size() < kRunsThatTell) continue;
    errors.push_back(
        std::sqrt(stats::mean_and_variance(logs).variance / static_cast<double>(logs.size())));
  }
  return errors.size() < kMinSizes ? 0.0 : std::max(kLeastNoise, stats::median(errors));
}

// A weighted mean.
struct Mean {
  double sum = 0.0;
  double weight = 0.0;
  void add(double value, double of_weight) {
    sum += of_weight * value;
    weight += of_weight;
  }
};

std::vector<double> means_of(const std::map<uint32_t, Mean>& by_run) {
  std::vector<double> means;
  for (const auto& [run, mean] : by_run) means.push_back(mean.sum / mean.weight);
  return means;
}

class SegmentFitter {
 public:
  SegmentFitter(const OperationSamples& samples, const OperationCosts& costs, Kind kind,
                const OperationOptions& options, OperationFit& fit)
      : samples_(samples),
        costs_(costs),
        one_way_(kind == Kind::am),
        options_(options),
        publish_(samples.raw_samples, options.confidence),
        fit_(fit) {}

  Status fit() {
    std::vector<Curve> curves{relative_curve(samples_.latency)};
    const StreamBound bound = stream_bound();
    for (CurvePoint& point : curves.front()) point.stream_slope = bound.per_byte(point.bytes);
    if (!costs_.nic_bound.empty()) curves.push_back(relative_curve(costs_.nic_bound));
    SegmentOptions options = options_.segments;
    if (!(options.noise > 0.0)) options.noise = noise_of(samples_.latency);
    STRIPLINE_ASSIGN_OR_RETURN(const Segmentation found, segment_curves(curves, options));
    fit_.breakpoints = found.breaks;
    fit_.misfit = found.misfit;
    std::vector<std::optional<model::Parameter>> slopes(found.breaks.size() + 1);
    const std::vector<std::string> notes = fit_.notes;
    fit_all(found, slopes);
    slopes = borrowed_slopes(fit_.model.segments);
    if (std::ranges::any_of(slopes, [](const auto& slope) { return slope.has_value(); })) {
      fit_.notes = notes;
      fit_.model.segments.clear();
      fit_all(found, slopes);
    }
    return {};
  }

 private:
  void note(std::string text) { fit_.notes.push_back(std::move(text)); }

  StreamBound stream_bound() const {
    std::map<uint64_t, double> each_s;
    for (const auto& [bytes, medians] : costs_.stream) each_s[bytes] = across_runs(medians);
    return StreamBound(std::move(each_s));
  }

  // Those segments whose slopes are given take them.
  void fit_all(const Segmentation& found,
               const std::vector<std::optional<model::Parameter>>& slopes) {
    uint64_t from = samples_.latency.begin()->first;
    for (std::size_t i = 0; i <= found.breaks.size(); ++i) {
      const bool last = i == found.breaks.size();
      const uint64_t to = last ? samples_.latency.rbegin()->first + 1 : found.breaks[i].from_bytes;
      // Outer segments also serve what other experiments measured beyond the latency's range.
      const SizeRange range{i == 0 ? 0 : from, last ? std::numeric_limits<uint64_t>::max() : to};
      std::optional<model::SwitchBand> begins;
      if (i > 0) {
        begins = {found.breaks[i - 1].interval_low, found.breaks[i - 1].interval_high};
      }
      fit_.model.segments.push_back(fit_segment(from, to, range, begins, slopes[i]));
      from = to;
    }
  }

  // Lines within the segment's sizes. Where it holds too few of its own, their slopes are those
  // over all sizes, and no steeper than `most_slope`.
  RunLines lines_in(const SizeCurve& curve, const SizeCurve& measured, SizeRange range,
                    double most_slope = std::numeric_limits<double>::infinity()) const {
    const SizeCurve inside = slice(curve, range);
    if (inside.size() >= std::min(kMinSizes, curve.size())) {
      return fit_run_lines(inside, measured, options_.robust);
    }
    const RunLines all = fit_run_lines(curve, measured, options_.robust, most_slope);
    return inside.empty() ? all : levelled(all, inside);
  }

  // What issuing takes a byte at most, where too few issues of such sizes were measured: what
  // issuing and retiring take together.
  double most_issue_slope(SizeRange range) const {
    const SizeCurve both = slice(samples_.overlap, range);
    if (both.size() < kMinSizes) return std::numeric_limits<double>::infinity();
    std::vector<double> slopes;
    for (const auto& [run, line] : fit_run_lines(both, both, options_.robust).used) {
      slopes.push_back(line.slope);
    }
    return slopes.empty() ? 0.0 : std::max(0.0, stats::median(slopes));
  }

  // `slope`: what a byte takes, where the segment's own sizes do not tell.
  model::Segment fit_segment(uint64_t from, uint64_t to, SizeRange range,
                             const std::optional<model::SwitchBand>& begins,
                             const std::optional<model::Parameter>& slope) {
    model::Segment segment;
    segment.from_bytes = from;
    segment.to_bytes = to;
    segment.begins = begins;
    const std::string where = "segment from " + std::to_string(from) + " bytes: ";

    RunLines cpu;  // What the CPU does of a blocking operation: o + r, as far as known.
    if (costs_.issue.empty()) {
      note(where + "o is absent, no issue bursts were measured; it is part of L");
    } else {
      const RunLines o = lines_in(costs_.issue, costs_.issue, range, most_issue_slope(range));
      segment.o_base_s = publish_.intercept(o);
      segment.o_per_byte_s = publish_.slope(o);
      cpu = o;
    }
    if (!one_way_ && !samples_.overlap.empty()) {
      const RunLines r = lines_in(subtract(samples_.overlap, cpu), samples_.overlap, range);
      if (!costs_.issue.empty()) {
        segment.r_base_s = publish_.intercept(r);
        segment.r_per_byte_s = publish_.slope(r);
      }
      cpu = costs_.issue.empty() ? r : add(cpu, r);
    }
    segment.r_batched_s = batched(range, segment);
    const SizeCurve inside = slice(subtract(samples_.latency, cpu), range);
    double most_slope = std::numeric_limits<double>::infinity();
    const StreamBound bound = stream_bound();
    for (const auto& [bytes, medians] : inside) {
      most_slope = std::min(most_slope, most_over_stream(inside.size()) * bound.per_byte(bytes));
    }
    const RunLines wire =
        slope ? fit_run_lines_of_slope(inside, samples_.latency, slope->value)
              : fit_run_lines(inside, samples_.latency, options_.robust, most_slope);
    fit_wire(wire, where, segment);
    if (slope) segment.G_s_per_byte = slope;
    fit_stream(range, where, wire, slope.has_value(), segment);
    segment.s_base_s = costs_.serve_base_s;
    segment.s_per_byte_s = costs_.serve_per_byte_s;
    return segment;
  }

  // r of operations that are retired with others: what issuing leaves of a stream that the CPU
  // limits, where it takes clearly less than issuing and retiring one by one.
  std::optional<model::Parameter> batched(SizeRange range, const model::Segment& segment) const {
    if (!segment.r_base_s || !segment.o_base_s) return std::nullopt;
    const auto value = [](const std::optional<model::Parameter>& one) {
      return one ? one->value : 0.0;
    };
    std::map<uint32_t, Mean> ratios;
    std::map<uint32_t, Mean> left_s;
    for (const auto& [bytes, medians] : slice(costs_.stream, range)) {
      const double one_by_one_s = interpolate(samples_.overlap, bytes);
      if (costs_.nic_bound.contains(bytes) || costs_.queue_bound.contains(bytes) ||
          !(one_by_one_s > 0.0)) {
        continue;
      }
      const double other_s =
          segment.o_base_s->value +
          (value(segment.o_per_byte_s) + value(segment.r_per_byte_s)) * static_cast<double>(bytes);
      for (const auto& [run, each_s] : medians) {
        if (!(each_s > 0.0)) continue;
        ratios[run].add(std::log(each_s / one_by_one_s), 1.0);
        left_s[run].add(each_s - other_s, 1.0 / (one_by_one_s * one_by_one_s));
      }
    }
    const auto interval = stats::mean_interval(means_of(ratios), options_.confidence);
    if (!interval.ok() || !(interval->high < -std::log(options_.nic_bound_ratio))) {
      return std::nullopt;
    }
    return publish_.over_runs(means_of(left_s), 0.0, 0.0, "stream beyond o+t");
  }

  void fit_wire(const RunLines& wire, const std::string& where, model::Segment& segment) {
    if (wire.free_slopes.empty()) {
      note(where + "L and G are absent, they need two sizes in two runs");
      return;
    }
    std::string method = PublishedLines::kMethod;
    if (one_way_) {
      method += "; L includes the handler";
    } else if (samples_.overlap.empty()) {
      method += "; L includes r/2";
    }
    if (costs_.issue.empty()) method += "; L includes o";
    const double trips = !one_way_ ? 2.0 : 1.0;
    std::vector<double> latencies = wire.free_intercepts;
    for (double& value : latencies) value /= trips;
    segment.L_s = publish_.over_runs(latencies, wire.intercept_misfit / (trips * trips),
                                     wire.misfit_freedom, method);
    segment.G_s_per_byte = publish_.slope(wire);
  }

  // `settled`: G is known better than streams of these sizes tell.
  void fit_stream(SizeRange range, const std::string& where, const RunLines& wire, bool settled,
                  model::Segment& segment) {
    if (one_way_) return;
    const SizeCurve inside = slice(costs_.nic_bound, range);
    if (settled || inside.size() < kMinSizes) {
      // Few sizes tell no line of their own, but what is left of them beside G, which is no more
      // than what is left of the others. A segment between the sizes of streams is taken to be as
      // the other segments.
      const SizeCurve measured = slice(costs_.stream, range);
      const bool any = measured.empty() ? !costs_.nic_bound.empty() : !inside.empty();
      if (any) {
        segment.g_s =
            gap_beside(measured.empty() ? costs_.nic_bound : measured, segment.G_s_per_byte);
      }
      if (segment.g_s || samples_.overlap.empty()) return;
      if (const SizeCurve queued = slice(costs_.queue_bound, range); !queued.empty()) {
        note(where + "g is absent, the queue is the bottleneck of a stream of gets; one of " +
             std::to_string(queued.begin()->first) + " bytes occupies the NIC for at most " +
             seconds_text(across_runs(queued.begin()->second)));
      } else {
        note(where + "g is absent, the NIC is the bottleneck of a stream at none of its sizes");
      }
      return;
    }
    const RunLines stream = fit_run_lines(inside, inside, options_.robust);
    segment.g_s = publish_.intercept(stream);
    const auto slope = publish_.slope(stream, "wls-per-run+t; stream");
    if (!slope) return;
    // The better of two estimates of G, by their residuals: choosing the one whose runs happen to
    // agree would make the interval too narrow.
    if (!segment.G_s_per_byte || stream.slope_variance < wire.slope_variance) {
      segment.G_s_per_byte = slope;
    }
  }

  // g, per run, from streams of few sizes: what a message takes there beyond its bytes. A size at
  // which more messages typically take no longer says nothing: noise hides what they take.
  std::optional<model::Parameter> gap_beside(
      const SizeCurve& streams, const std::optional<model::Parameter>& per_byte) const {
    const double of_byte = per_byte ? per_byte->value : 0.0;
    std::map<uint32_t, double> least;
    for (const auto& [bytes, medians] : streams) {
      if (!(across_runs(medians) > 0.0)) continue;
      for (const auto& [run, value] : medians) {
        const double left = std::max(0.0, value - of_byte * static_cast<double>(bytes));
        const auto [found, added] = least.emplace(run, left);
        if (!added) found->second = std::min(found->second, left);
      }
    }
    std::vector<double> per_run;
    for (const auto& [run, value] : least) per_run.push_back(value);
    return publish_.over_runs(per_run, 0.0, 0.0, "stream beyond G+t");
  }

  const OperationSamples& samples_;
  const OperationCosts& costs_;
  const bool one_way_;
  const OperationOptions& options_;
  const PublishedLines publish_;
  OperationFit& fit_;
};

}  // namespace

Status fit_segments(const OperationSamples& samples, const OperationCosts& costs, Kind kind,
                    const OperationOptions& options, OperationFit& fit) {
  return SegmentFitter(samples, costs, kind, options, fit).fit();
}

}  // namespace stripline::fit
