#include "optimizer/fit/operation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "optimizer/fit/least_squares.h"
#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/run_lines.h"
#include "optimizer/fit/typical_curve.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

constexpr const char* kMethod = "wls-per-run+t";
constexpr std::size_t kMinSizes = 3;
// So many sizes of its own tell a segment's line in each run.
constexpr std::size_t kSizesOfLine = 2;

// The half-open range of sizes of one segment.
struct SizeRange {
  uint64_t from = 0;
  uint64_t to = std::numeric_limits<uint64_t>::max();
};

// The lines of a segment.
struct Lines {
  RunLines likely;
  // Where too few of the segment's sizes were measured to tell: what the lines are at most at no
  // bytes, and what they are at most for each byte. Else none.
  std::vector<RunLines> extremes;

  bool doubtful() const { return !extremes.empty(); }
  const RunLines& extreme(std::size_t i) const { return doubtful() ? extremes[i] : likely; }
};
constexpr std::size_t kExtremes = 2;

Lines sum_of(const Lines& a, const Lines& b) {
  Lines sum{add(a.likely, b.likely), {}};
  if (!a.doubtful() && !b.doubtful()) return sum;
  for (std::size_t i = 0; i < kExtremes; ++i) {
    sum.extremes.push_back(add(a.extreme(i), b.extreme(i)));
  }
  return sum;
}

// The lines through what is known at one size, in each run: constant or proportional to the size,
// and between both as `slopes` say.
Lines lines_through(const RunMedians& level, uint64_t bytes, const RunLines& slopes) {
  const auto size = static_cast<double>(std::max<uint64_t>(1, bytes));
  Lines lines;
  lines.extremes.resize(kExtremes);
  const auto append = [](RunLines& of_runs, uint32_t run, const RunLine& line) {
    of_runs.used[run] = line;
    of_runs.free_intercepts.push_back(line.intercept);
    of_runs.free_slopes.push_back(line.slope);
  };
  for (const auto& [run, value] : level) {
    const auto found = slopes.used.find(run);
    if (found == slopes.used.end()) continue;
    const double at_most = std::max(0.0, value) / size;
    const double slope = std::clamp(found->second.slope, 0.0, at_most);
    append(lines.likely, run, {value - slope * size, slope});
    append(lines.extremes[0], run, {value, 0.0});
    append(lines.extremes[1], run, {0.0, value / size});
  }
  return lines;
}

class OperationFitter {
 public:
  OperationFitter(OperationSamples samples, Kind kind, const OperationOptions& options)
      : samples_(std::move(samples)), kind_(kind), one_way_(kind == Kind::am), options_(options) {}

  Result<OperationFit> fit() {
    STRIPLINE_RETURN_IF_ERROR(check_options());
    std::set<uint32_t> runs;
    for (const auto& [bytes, medians] : samples_.latency) {
      for (const auto& [run, value] : medians) runs.insert(run);
    }
    if (runs.size() < 2) {
      return Error(ErrorCode::failed_precondition,
                   "latency was measured in " + std::to_string(runs.size()) +
                       " runs; an interval needs two, a published parameter six: measure more");
    }
    linearize_logs(samples_.latency);
    linearize_logs(samples_.overlap);
    for (auto& [bytes, bursts] : samples_.issue) linearize_logs(bursts);
    for (auto& [bytes, counts] : samples_.flood) linearize_logs(counts);
    linearize_logs(samples_.serve);
    derive_stream();
    find_nic_bound_sizes();
    STRIPLINE_RETURN_IF_ERROR(fit_queue());
    derive_issue_cost();
    derive_serve_cost();
    STRIPLINE_RETURN_IF_ERROR(find_segments());
    return std::move(fit_);
  }

 private:
  Status check_options() const {
    STRIPLINE_RETURN_IF_ERROR(stats::check_confidence(options_.confidence));
    STRIPLINE_RETURN_IF_ERROR(stats::check_confidence(options_.segments.confidence));
    if (options_.nic_bound_ratio >= 1.0) return {};
    return Error(ErrorCode::invalid_argument,
                 "nic_bound_ratio " + std::to_string(options_.nic_bound_ratio) +
                     " is below 1: streams of which the CPU is the bottleneck would count, too");
  }

  void note(std::string text) { fit_.notes.push_back(std::move(text)); }

  std::optional<model::Parameter> publish(const std::vector<double>& per_run, double misfit,
                                          double freedom,
                                          const std::string& method = kMethod) const {
    OverRunsOptions how{.confidence = options_.confidence};
    if (freedom > 0.0) {
      how.least_half_width = stats::t_two_sided(options_.confidence, freedom) * std::sqrt(misfit);
    }
    return over_runs(per_run, samples_.raw_samples, method, how);
  }

  std::optional<model::Parameter> publish_intercept(const RunLines& lines) const {
    return publish(lines.free_intercepts, lines.intercept_misfit, lines.misfit_freedom);
  }

  std::optional<model::Parameter> publish_slope(const RunLines& lines,
                                                const std::string& method = kMethod) const {
    return publish(lines.free_slopes, lines.slope_misfit, lines.misfit_freedom, method);
  }

  // What is published of the likely lines, with an interval that holds those of the extremes.
  template <typename Publish>
  static std::optional<model::Parameter> publish_all(const Lines& lines, const Publish& publish) {
    std::optional<model::Parameter> parameter = publish(lines.likely);
    for (const RunLines& extreme : lines.extremes) {
      const std::optional<model::Parameter> other = publish(extreme);
      if (!parameter || !other) continue;
      parameter->ci_low = std::min(parameter->ci_low, other->ci_low);
      parameter->ci_high = std::max(parameter->ci_high, other->ci_high);
    }
    return parameter;
  }

  std::optional<model::Parameter> publish_intercept(const Lines& lines) const {
    return publish_all(lines, [&](const RunLines& one) { return publish_intercept(one); });
  }

  std::optional<model::Parameter> publish_slope(const Lines& lines) const {
    return publish_all(lines, [&](const RunLines& one) { return publish_slope(one); });
  }

  // The depth is a whole number and its estimates are skewed: when Q is one of the measured bursts,
  // that burst lies on the cheap line and forbids smaller estimates, but not larger ones. Half of
  // them still lie on either side, so the interval is that of their median, rounded outwards.
  std::optional<model::Parameter> publish_depth(const std::vector<double>& depths) const {
    const auto found = stats::run_median_interval(depths, options_.confidence);
    if (!found.ok()) return std::nullopt;
    model::Parameter depth;
    depth.value = std::max(1.0, std::round(stats::median(depths)));
    depth.ci_low = std::min(depth.value, std::max(1.0, std::floor(found->interval.low)));
    depth.ci_high = std::max(depth.value, std::ceil(found->interval.high));
    depth.runs = static_cast<uint32_t>(depths.size());
    depth.samples = samples_.raw_samples;
    depth.method = std::string("hinge-per-run+") + stats::to_string(found->method);
    return depth;
  }

  // Cost per operation in a long stream, per run: the slope of the flood over its count.
  void derive_stream() {
    for (const auto& [bytes, counts] : samples_.flood) {
      std::map<uint32_t, std::vector<LinePoint>> by_run;
      for (const auto& [count, medians] : counts) {
        const double typical = across_runs(medians);
        const double weight = typical > 0.0 ? 1.0 / (typical * typical) : 1.0;
        for (const auto& [run, value] : medians) {
          by_run[run].push_back({static_cast<double>(count), value, weight});
        }
      }
      for (const auto& [run, points] : by_run) {
        if (const auto line = fit_line(points); line.ok() && line->slope > 0.0) {
          stream_[bytes][run] = line->slope;
        }
      }
    }
  }

  // Cost per operation of a NIC-bound stream, in one run or as the median over all.
  std::optional<double> stream_cost(uint64_t bytes, std::optional<uint32_t> run) const {
    const auto found = nic_bound_.find(bytes);
    if (found == nic_bound_.end()) return std::nullopt;
    if (!run) return across_runs(found->second);
    const auto of_run = found->second.find(*run);
    return of_run == found->second.end() ? std::nullopt : std::optional(of_run->second);
  }

  // How long an operation stays in the queue after it was issued: what is left of a blocking get
  // without the CPU's part, 2L + S G; of a message without its issue, L + S G and the handler.
  double held_time(uint64_t bytes, std::optional<uint32_t> run) const {
    double cpu = 0.0;
    if (kind_ == Kind::am) {
      const auto& [burst, medians] = *samples_.issue.at(bytes).begin();
      cpu = across_runs(medians) / static_cast<double>(burst);
    } else if (!samples_.overlap.empty()) {
      cpu = interpolate(samples_.overlap, bytes, run);
    }
    return std::max(0.0, interpolate(samples_.latency, bytes, run) - cpu);
  }

  // Burst curves of one run, or of the medians over all runs.
  std::vector<BurstCurve> burst_curves(std::optional<uint32_t> run) const {
    std::vector<BurstCurve> curves;
    for (const auto& [bytes, bursts] : samples_.issue) {
      BurstCurve curve;
      curve.bytes = bytes;
      for (const auto& [burst, medians] : bursts) {
        const double typical = across_runs(medians);
        double time = typical;
        if (run) {
          const auto found = medians.find(*run);
          if (found == medians.end()) continue;
          time = found->second;
        }
        curve.points.push_back(
            {static_cast<double>(burst), time, typical > 0.0 ? 1.0 / (typical * typical) : 1.0});
      }
      curve.stream_s = stream_cost(bytes, run);
      if (kind_ != Kind::put) curve.reply_s = held_time(bytes, run);
      if (!curve.points.empty()) curves.push_back(std::move(curve));
    }
    return curves;
  }

  Status fit_queue() {
    const std::vector<BurstCurve> curves = burst_curves(std::nullopt);
    if (curves.empty()) {
      note("queue_depth is absent: no issue bursts were measured");
      return {};
    }
    STRIPLINE_ASSIGN_OR_RETURN(hinge_, fit_hinge(curves, options_.hinge));
    fit_.queue_limit = hinge_->limit;
    std::set<uint32_t> runs;
    for (const auto& [bytes, bursts] : samples_.issue) {
      for (const auto& [burst, medians] : bursts) {
        for (const auto& [run, value] : medians) runs.insert(run);
      }
    }
    if (hinge_->limit == QueueLimit::operations) {
      std::vector<double> depths;
      for (const uint32_t run : runs) {
        STRIPLINE_ASSIGN_OR_RETURN(const auto of_run,
                                   fit_known_hinge(burst_curves(run), hinge_->limit));
        if (of_run) depths.push_back(of_run->queue_depth);
      }
      fit_.model.queue_depth = publish_depth(depths);
      if (!fit_.model.queue_depth) note("queue_depth is absent: too few runs show the knee");
      return {};
    }
    if (hinge_->limit == QueueLimit::none_seen && !(hinge_->queue_depth >= 2.0)) {
      note(
          "queue_depth is absent: operations take longer in bursts than alone, and no burst tells "
          "from how many on");
      return {};
    }
    if (std::isinf(hinge_->queue_depth)) {
      note("queue_depth is absent: no burst between the smallest and the largest one was measured");
      return {};
    }
    model::Parameter bound;
    bound.value = hinge_->queue_depth;
    bound.at_least = true;
    bound.method = "hinge; no knee up to the largest burst";
    if (hinge_->limit == QueueLimit::bytes) {
      const auto largest = static_cast<double>(std::max<uint64_t>(1, curves.back().bytes));
      bound.value = std::max(1.0, std::floor(hinge_->queue_depth / largest));
      bound.method = "hinge; the queue is limited in bytes, this is its depth at the largest size";
      note("the queue is limited to about " + std::to_string(std::llround(hinge_->queue_depth)) +
           " bytes, not to a number of operations");
    }
    bound.ci_low = bound.value;
    bound.ci_high = bound.value;
    bound.runs = static_cast<uint32_t>(runs.size());
    bound.samples = samples_.raw_samples;
    fit_.model.queue_depth = bound;
    return {};
  }

  // o(S) per run from bursts well below the knee.
  void derive_issue_cost() {
    for (const auto& [bytes, bursts] : samples_.issue) {
      double limit = hinge_->straight_burst;
      if (hinge_->limit == QueueLimit::operations) limit = hinge_->queue_depth / 2.0;
      if (hinge_->limit == QueueLimit::bytes) {
        limit = hinge_->queue_depth / static_cast<double>(std::max<uint64_t>(1, bytes)) / 2.0;
      }
      // The smallest burst has to do where the queue is that short.
      limit = std::max(limit, static_cast<double>(bursts.begin()->first));
      std::map<uint32_t, std::vector<double>> by_run;
      for (const auto& [burst, medians] : bursts) {
        if (static_cast<double>(burst) > limit) continue;
        for (const auto& [run, value] : medians) {
          by_run[run].push_back(value / static_cast<double>(burst));
        }
      }
      for (const auto& [run, costs] : by_run) {
        issue_[bytes][run] = stats::mean_and_variance(costs).mean;
      }
    }
  }

  // s(S), where it is anything: one line for all segments, as what a processor does of a transfer
  // does not change with the protocol by much.
  void derive_serve_cost() {
    std::map<uint32_t, std::vector<double>> shares;
    for (const auto& [bytes, medians] : samples_.serve) {
      for (const auto& [run, serve_s] : medians) {
        const double blocking_s = interpolate(samples_.latency, bytes, run);
        if (blocking_s > 0.0) shares[run].push_back(serve_s / blocking_s);
      }
    }
    std::vector<double> per_run;
    for (const auto& [run, of_run] : shares) {
      per_run.push_back(stats::mean_and_variance(of_run).mean);
    }
    const auto interval = stats::mean_interval(per_run, options_.confidence);
    if (!interval.ok() || !(interval->low > options_.serve_share)) return;
    // Differences of times of the order of a blocking operation's, with their noise.
    SizeCurve measured;
    for (const auto& [bytes, medians] : samples_.serve) {
      for (const auto& [run, serve_s] : medians) {
        measured[bytes][run] = interpolate(samples_.latency, bytes, run);
      }
    }
    const RunLines lines = fit_run_lines(samples_.serve, measured, options_.robust);
    serve_base_s_ = publish_intercept(lines);
    serve_per_byte_s_ = publish_slope(lines);
  }

  // Sizes whose stream clearly costs more than the CPU work in it.
  void find_nic_bound_sizes() {
    if (one_way_ || stream_.empty()) return;
    if (samples_.overlap.empty()) {
      note("g is absent: without overlap samples the CPU's share of a stream is unknown");
      return;
    }
    const double margin = std::log(options_.nic_bound_ratio);
    for (const auto& [bytes, medians] : stream_) {
      const double cpu = interpolate(samples_.overlap, bytes);
      if (!(cpu > 0.0)) {
        nic_bound_[bytes] = medians;  // The CPU's part is below what can be measured.
        continue;
      }
      std::vector<double> ratios;
      for (const auto& [run, value] : medians) ratios.push_back(std::log(value / cpu));
      const auto interval = stats::mean_interval(ratios, options_.confidence);
      if (interval.ok() && interval->low > margin) nic_bound_[bytes] = medians;
    }
  }

  Status find_segments() {
    const TypicalCurve latency = typical_curve(samples_.latency);
    std::vector<Curve> curves{latency.curve};
    SegmentOptions options = options_.segments;
    if (!(options.noise > 0.0) && latency.noise > 0.0) {
      options.noise = latency.noise;
      options.noise_freedom = latency.freedom;
    }
    if (!nic_bound_.empty()) {
      TypicalCurve stream = typical_curve(nic_bound_);
      // Streams are differences of times, and err by more.
      const double share = stream.noise > 0.0 && latency.noise > 0.0
                               ? std::min(1.0, latency.noise / stream.noise)
                               : 1.0;
      for (CurvePoint& point : stream.curve) point.weight *= share * share;
      curves.push_back(std::move(stream.curve));
    }
    STRIPLINE_ASSIGN_OR_RETURN(const Segmentation found, segment_curves(curves, options));
    fit_.breakpoints = found.breaks;
    fit_.misfit = found.misfit;
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
      fit_.model.segments.push_back(fit_segment(from, to, without_bands(range, i), begins));
      from = to;
    }
    return {};
  }

  // A size that a switch may lie on either side of tells nothing of a segment that others tell of.
  SizeRange without_bands(SizeRange range, std::size_t segment) const {
    SizeRange sure = range;
    if (segment > 0) sure.from = fit_.breakpoints[segment - 1].interval_high;
    if (segment < fit_.breakpoints.size()) sure.to = fit_.breakpoints[segment].interval_low + 1;
    if (!(sure.from < sure.to)) return range;
    return slice(samples_.latency, sure).size() >= kMinSizes ? sure : range;
  }

  // Lines through the segment's sizes. Where it holds too few of its own, what is known is what the
  // costs are at the nearest size: costs that do not fall with the size leave lines from a constant
  // one to one that is proportional to the size, and other segments say nothing of which of them.
  Lines lines_in(const SizeCurve& curve, const SizeCurve& measured, SizeRange range) const {
    const SizeCurve inside = slice(curve, range);
    if (inside.size() >= std::min(kSizesOfLine, curve.size())) {
      return {fit_run_lines(inside, measured, options_.robust), {}};
    }
    const RunLines all = fit_run_lines(curve, measured, options_.robust);
    auto nearest = curve.lower_bound(range.from);
    if (nearest == curve.end()) --nearest;
    return lines_through(nearest->second, nearest->first, all);
  }

  // What is left of the overlap samples: r.
  Lines retire_lines(const Lines& o, SizeRange range) const {
    Lines r = lines_in(subtract(samples_.overlap, o.likely), samples_.overlap, range);
    if (r.doubtful() || !o.doubtful()) return r;
    for (const RunLines& extreme : o.extremes) {
      r.extremes.push_back(
          lines_in(subtract(samples_.overlap, extreme), samples_.overlap, range).likely);
    }
    return r;
  }

  model::Segment fit_segment(uint64_t from, uint64_t to, SizeRange range,
                             const std::optional<model::SwitchBand>& begins) {
    model::Segment segment;
    segment.from_bytes = from;
    segment.to_bytes = to;
    segment.begins = begins;
    const std::string where = "segment from " + std::to_string(from) + " bytes: ";

    Lines cpu;  // What the CPU does of a blocking operation: o + r, as far as known.
    if (issue_.empty()) {
      note(where + "o is absent, no issue bursts were measured; it is part of L");
    } else {
      const Lines o = lines_in(issue_, issue_, range);
      segment.o_base_s = publish_intercept(o);
      segment.o_per_byte_s = publish_slope(o);
      if (o.doubtful()) {
        note(where + "o was measured at fewer than two of its sizes: its interval reaches from a " +
             "constant to what grows with the size");
      }
      cpu = o;
    }
    if (!one_way_ && !samples_.overlap.empty()) {
      const Lines r = retire_lines(cpu, range);
      if (!issue_.empty()) {
        segment.r_base_s = publish_intercept(r);
        segment.r_per_byte_s = publish_slope(r);
      }
      cpu = issue_.empty() ? r : sum_of(cpu, r);
    }
    const auto wire_beside = [&](const RunLines& of_cpu) {
      return fit_run_lines(slice(subtract(samples_.latency, of_cpu), range), samples_.latency,
                           options_.robust);
    };
    Lines wire{wire_beside(cpu.likely), {}};
    for (const RunLines& extreme : cpu.extremes) wire.extremes.push_back(wire_beside(extreme));
    fit_wire(wire, where, segment);
    fit_stream(range, where, wire, segment);
    segment.s_base_s = serve_base_s_;
    segment.s_per_byte_s = serve_per_byte_s_;
    return segment;
  }

  void fit_wire(const Lines& wire, const std::string& where, model::Segment& segment) {
    if (wire.likely.free_slopes.empty()) {
      note(where + "L and G are absent, they need two sizes in two runs");
      return;
    }
    std::string method = kMethod;
    if (one_way_) {
      method += "; L includes the handler";
    } else if (samples_.overlap.empty()) {
      method += "; L includes r/2";
    }
    if (issue_.empty()) method += "; L includes o";
    const double trips = !one_way_ ? 2.0 : 1.0;
    segment.L_s = publish_all(wire, [&](const RunLines& lines) {
      std::vector<double> latencies = lines.free_intercepts;
      for (double& value : latencies) value /= trips;
      return publish(latencies, lines.intercept_misfit / (trips * trips), lines.misfit_freedom,
                     method);
    });
    segment.G_s_per_byte = publish_slope(wire);
  }

  void fit_stream(SizeRange range, const std::string& where, const Lines& wire,
                  model::Segment& segment) {
    if (one_way_) return;
    const SizeCurve inside = slice(nic_bound_, range);
    if (inside.size() < kMinSizes) {
      // Few sizes tell no line of their own, but what is left of them beside G. A segment between
      // the sizes of streams is taken to be as the others.
      const bool between = slice(stream_, range).empty();
      const SizeCurve& some = between ? nic_bound_ : inside;
      if (!some.empty()) segment.g_s = gap_beside(some, segment.G_s_per_byte);
      if (!segment.g_s && !samples_.overlap.empty()) {
        note(where + "g is absent, the NIC is the bottleneck of a stream at none of its sizes");
      }
      return;
    }
    const RunLines stream = fit_run_lines(inside, inside, options_.robust);
    segment.g_s = publish_intercept(stream);
    const auto slope = publish_slope(stream, "wls-per-run+t; stream");
    if (!slope) return;
    // The better of two estimates of G, by their residuals: choosing the one whose runs happen to
    // agree would make the interval too narrow.
    if (!segment.G_s_per_byte || wire.doubtful() ||
        stream.slope_variance < wire.likely.slope_variance) {
      segment.G_s_per_byte = slope;
    }
  }

  // g, per run, from streams of few sizes: what a message takes there beyond its bytes, in the mean
  // over the sizes by the weights of relative residuals. The least would lie below the truth. What
  // G errs by, all runs share.
  std::optional<model::Parameter> gap_beside(
      const SizeCurve& streams, const std::optional<model::Parameter>& per_byte) const {
    struct Sum {
      double weighted = 0;
      double weight = 0;
    };
    const double of_byte = per_byte ? per_byte->value : 0.0;
    const std::map<uint64_t, double> weights = weights_of(streams);
    std::map<uint32_t, Sum> sums;
    Sum bytes_of_all;
    for (const auto& [bytes, medians] : streams) {
      const double weight = weights.at(bytes);
      bytes_of_all.weighted += weight * static_cast<double>(bytes);
      bytes_of_all.weight += weight;
      for (const auto& [run, value] : medians) {
        sums[run].weighted += weight * (value - of_byte * static_cast<double>(bytes));
        sums[run].weight += weight;
      }
    }
    std::vector<double> per_run;
    for (const auto& [run, sum] : sums) per_run.push_back(sum.weighted / sum.weight);
    auto gap = publish(per_run, 0.0, 0.0, "stream beyond G+t");
    if (!gap || !per_byte) return gap;
    const double mean_bytes = bytes_of_all.weighted / bytes_of_all.weight;
    const auto widened = [&](double of_runs, double of_slope) {
      return std::hypot(of_runs, of_slope * mean_bytes);
    };
    gap->ci_low = std::max(
        0.0, gap->value - widened(gap->value - gap->ci_low, per_byte->ci_high - per_byte->value));
    gap->ci_high =
        gap->value + widened(gap->ci_high - gap->value, per_byte->value - per_byte->ci_low);
    return gap;
  }

  OperationSamples samples_;  // With logarithms linearized.
  Kind kind_;
  bool one_way_;
  const OperationOptions& options_;
  OperationFit fit_;
  std::optional<HingeFit> hinge_;
  SizeCurve stream_;                              // Per operation in a long stream.
  SizeCurve nic_bound_;                           // The part of it where the NIC is the bottleneck.
  SizeCurve issue_;                               // o(S)
  std::optional<model::Parameter> serve_base_s_;  // s(S), where serving costs anything.
  std::optional<model::Parameter> serve_per_byte_s_;
};

}  // namespace

Result<OperationFit> fit_operation(const OperationSamples& samples, Kind kind,
                                   const OperationOptions& options) {
  return OperationFitter(samples, kind, options).fit();
}

}  // namespace stripline::fit
