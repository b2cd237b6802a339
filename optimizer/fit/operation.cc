#include "optimizer/fit/operation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/quantity.h"
#include "optimizer/fit/borrowed_slopes.h"
#include "optimizer/fit/least_squares.h"
#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/run_lines.h"
#include "optimizer/fit/stragglers.h"
#include "optimizer/fit/stream_bound.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

constexpr const char* kMethod = "wls-per-run+t";
constexpr std::size_t kMinSizes = 3;
// This many runs tell how much the median over them errs.
constexpr std::size_t kRunsThatTell = 3;
// Times that are no line in the size are off one by so much, however well they are known.
constexpr double kLeastNoise = 0.01;
// Targets are taken to serve operations at a cost where that is more than this share of the time of
// a blocking operation, in the mean over all sizes, at the stated confidence.
constexpr double kServeShare = 0.05;

// The half-open range of sizes of one segment.
struct SizeRange {
  uint64_t from = 0;
  uint64_t to = std::numeric_limits<uint64_t>::max();
};

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
    leave_out_queue_bound_sizes();
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

  // Cost per operation in a long stream, per run: the slope of the flood over its count, without
  // what stragglers add to it. As these depend on the slope, the two are settled in turn.
  void derive_stream() {
    constexpr int kRounds = 8;
    for (const auto& [bytes, counts] : samples_.flood) {
      RunMedians slopes = slopes_of(counts, [](double) { return 0.0; });
      const StreamScatter scatter = scatter_of(bytes, counts);
      for (int round = 0; round < kRounds && scatter.latency > scatter.stream; ++round) {
        const double each_s = across_runs(slopes);
        if (slopes.empty() || !(each_s > 0.0)) break;
        slopes =
            slopes_of(counts, [&](double count) { return straggling_s(scatter, count, each_s); });
      }
      if (!slopes.empty()) stream_[bytes] = std::move(slopes);
    }
  }

  StreamBound stream_bound() const {
    std::map<uint64_t, double> each_s;
    for (const auto& [bytes, medians] : stream_) each_s[bytes] = across_runs(medians);
    return StreamBound(std::move(each_s));
  }

  // `late_s` of a count is what its stream takes longer than its operations.
  template <typename LateSeconds>
  static RunMedians slopes_of(const std::map<uint64_t, RunMedians>& counts, LateSeconds late_s) {
    std::map<uint32_t, std::vector<LinePoint>> by_run;
    for (const auto& [count, medians] : counts) {
      const double typical = across_runs(medians);
      const double weight = typical > 0.0 ? 1.0 / (typical * typical) : 1.0;
      const auto operations = static_cast<double>(count);
      for (const auto& [run, value] : medians) {
        by_run[run].push_back({operations, value - late_s(operations), weight});
      }
    }
    RunMedians slopes;
    for (const auto& [run, points] : by_run) {
      if (const auto line = fit_line(points); line.ok()) slopes[run] = line->slope;
    }
    return slopes;
  }

  StreamScatter scatter_of(uint64_t bytes, const std::map<uint64_t, RunMedians>& counts) const {
    StreamScatter scatter;
    const auto latency = samples_.latency_scatter.lower_bound(bytes);
    const auto streams = samples_.flood_scatter.find(bytes);
    if (latency == samples_.latency_scatter.end() || streams == samples_.flood_scatter.end()) {
      return scatter;
    }
    const auto longest = streams->second.find(counts.rbegin()->first);
    if (longest == streams->second.end()) return scatter;
    return {interpolate(samples_.latency, bytes), latency->second, longest->second,
            static_cast<double>(longest->first)};
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
    STRIPLINE_ASSIGN_OR_RETURN(hinge_, fit_hinge(curves));
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
    if (!interval.ok() || !(interval->low > kServeShare)) return;
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
      // Where more operations take no longer in some run, none is bound by the NIC.
      if (std::ranges::any_of(medians, [](const auto& run) { return !(run.second > 0.0); }))
        continue;
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

  // Gets that wait for a place in the queue come a round trip's share apart, however fast the NIC
  // is: their streams say of g + G S only that it is no more. The size at which the NIC becomes the
  // bottleneck is no switch of protocols either. Where bursts leave a depth open, as those of
  // multiples of it do, the shares that streams get settle it.
  void leave_out_queue_bound_sizes() {
    auto& depth = fit_.model.queue_depth;
    if (kind_ != Kind::get || !depth || depth->at_least) return;
    const double margin = std::log(options_.nic_bound_ratio);
    std::vector<double> shares;  // of a round trip, by size
    for (auto size = nic_bound_.begin(); size != nic_bound_.end();) {
      std::vector<double> ratios;
      for (const auto& [run, value] : size->second) {
        ratios.push_back(std::log(value / queued_stream(size->first, run, depth->ci_low)));
      }
      const auto interval = stats::mean_interval(ratios, options_.confidence);
      if (interval.ok() && interval->low > margin) {
        ++size;
        continue;
      }
      shares.push_back(interpolate(samples_.latency, size->first) / across_runs(size->second));
      queue_bound_.insert(*size);
      size = nic_bound_.erase(size);
    }
    if (shares.empty()) return;
    depth->value = std::clamp(std::round(stats::median(shares)), depth->ci_low, depth->ci_high);
  }

  // The most that a get of a stream takes where the queue is the bottleneck: its share of a round
  // trip, or what the round trips of the measured counts come to.
  double queued_stream(uint64_t bytes, uint32_t run, double depth) const {
    const double blocking = interpolate(samples_.latency, bytes, run);
    std::vector<LinePoint> points;
    for (const auto& [count, medians] : samples_.flood.at(bytes)) {
      const double typical = across_runs(medians);
      const double weight = typical > 0.0 ? 1.0 / (typical * typical) : 1.0;
      const auto whole = static_cast<double>(count);
      points.push_back({whole, (1.0 + std::floor((whole - 1.0) / depth)) * blocking, weight});
    }
    const auto line = fit_line(points);
    return std::max(blocking / depth, line.ok() ? line->slope : 0.0);
  }

  static Curve relative_curve(const SizeCurve& curve) {
    const std::map<uint64_t, double> weights = weights_of(curve);
    Curve result;
    for (const auto& [bytes, medians] : curve) {
      result.push_back({bytes, across_runs(medians), weights.at(bytes)});
    }
    return result;
  }

  // By how much the medians over runs err, as a share: of the size in the middle. 0: too few runs
  // tell.
  static double noise_of(const SizeCurve& curve) {
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

  Status find_segments() {
    std::vector<Curve> curves{relative_curve(samples_.latency)};
    const StreamBound bound = stream_bound();
    for (CurvePoint& point : curves.front()) point.stream_slope = bound.per_byte(point.bytes);
    if (!nic_bound_.empty()) curves.push_back(relative_curve(nic_bound_));
    SegmentOptions options = options_.segments;
    if (!(options.noise > 0.0)) options.noise = noise_of(samples_.latency);
    STRIPLINE_ASSIGN_OR_RETURN(const Segmentation found, segment_curves(curves, options));
    fit_.breakpoints = found.breaks;
    fit_.misfit = found.misfit;
    std::vector<std::optional<model::Parameter>> slopes(found.breaks.size() + 1);
    const std::vector<std::string> notes = fit_.notes;
    fit_segments(found, slopes);
    slopes = borrowed_slopes(fit_.model.segments);
    if (std::ranges::any_of(slopes, [](const auto& slope) { return slope.has_value(); })) {
      fit_.notes = notes;
      fit_.model.segments.clear();
      fit_segments(found, slopes);
    }
    return {};
  }

  // Those segments whose slopes are given take them.
  void fit_segments(const Segmentation& found,
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
    if (issue_.empty()) {
      note(where + "o is absent, no issue bursts were measured; it is part of L");
    } else {
      const RunLines o = lines_in(issue_, issue_, range, most_issue_slope(range));
      segment.o_base_s = publish_intercept(o);
      segment.o_per_byte_s = publish_slope(o);
      cpu = o;
    }
    if (!one_way_ && !samples_.overlap.empty()) {
      const RunLines r = lines_in(subtract(samples_.overlap, cpu), samples_.overlap, range);
      if (!issue_.empty()) {
        segment.r_base_s = publish_intercept(r);
        segment.r_per_byte_s = publish_slope(r);
      }
      cpu = issue_.empty() ? r : add(cpu, r);
    }
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
    segment.s_base_s = serve_base_s_;
    segment.s_per_byte_s = serve_per_byte_s_;
    return segment;
  }

  void fit_wire(const RunLines& wire, const std::string& where, model::Segment& segment) {
    if (wire.free_slopes.empty()) {
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
    std::vector<double> latencies = wire.free_intercepts;
    for (double& value : latencies) value /= trips;
    segment.L_s =
        publish(latencies, wire.intercept_misfit / (trips * trips), wire.misfit_freedom, method);
    segment.G_s_per_byte = publish_slope(wire);
  }

  // `settled`: G is known better than streams of these sizes tell.
  void fit_stream(SizeRange range, const std::string& where, const RunLines& wire, bool settled,
                  model::Segment& segment) {
    if (one_way_) return;
    const SizeCurve inside = slice(nic_bound_, range);
    if (settled || inside.size() < kMinSizes) {
      // Few sizes tell no line of their own, but what is left of them beside G, which is no more
      // than what is left of the others. A segment between the sizes of streams is taken to be as
      // the other segments.
      const SizeCurve measured = slice(stream_, range);
      const bool any = measured.empty() ? !nic_bound_.empty() : !inside.empty();
      if (any) {
        segment.g_s = gap_beside(measured.empty() ? nic_bound_ : measured, segment.G_s_per_byte);
      }
      if (segment.g_s || samples_.overlap.empty()) return;
      if (const SizeCurve queued = slice(queue_bound_, range); !queued.empty()) {
        note(where + "g is absent, the queue is the bottleneck of a stream of gets; one of " +
             std::to_string(queued.begin()->first) + " bytes occupies the NIC for at most " +
             seconds_text(across_runs(queued.begin()->second)));
      } else {
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
    return publish(per_run, 0.0, 0.0, "stream beyond G+t");
  }

  OperationSamples samples_;  // With logarithms linearized.
  Kind kind_;
  bool one_way_;
  const OperationOptions& options_;
  OperationFit fit_;
  std::optional<HingeFit> hinge_;
  SizeCurve stream_;                              // Per operation in a long stream.
  SizeCurve nic_bound_;                           // The part of it where the NIC is the bottleneck,
  SizeCurve queue_bound_;                         // and the part where the depth of the queue is.
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
