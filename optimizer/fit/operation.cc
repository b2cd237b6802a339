#include "optimizer/fit/operation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "optimizer/fit/least_squares.h"
#include "optimizer/fit/operation_segments.h"
#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/run_lines.h"
#include "optimizer/fit/stragglers.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

// Targets are taken to serve operations at a cost where that is more than this share of the time of
// a blocking operation, in the mean over all sizes, at the stated confidence.
constexpr double kServeShare = 0.05;

class OperationFitter {
 public:
  OperationFitter(OperationSamples samples, Kind kind, const OperationOptions& options)
      : samples_(std::move(samples)), kind_(kind), options_(options) {}

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
    STRIPLINE_RETURN_IF_ERROR(fit_segments(samples_, costs_, kind_, options_, fit_));
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
      if (!slopes.empty()) costs_.stream[bytes] = std::move(slopes);
    }
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
    const auto found = costs_.nic_bound.find(bytes);
    if (found == costs_.nic_bound.end()) return std::nullopt;
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
        costs_.issue[bytes][run] = stats::mean_and_variance(costs).mean;
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
    const PublishedLines published(samples_.raw_samples, options_.confidence);
    costs_.serve_base_s = published.intercept(lines);
    costs_.serve_per_byte_s = published.slope(lines);
  }

  // Sizes whose stream clearly costs more than the CPU work in it.
  void find_nic_bound_sizes() {
    if (kind_ == Kind::am || costs_.stream.empty()) return;
    if (samples_.overlap.empty()) {
      note("g is absent: without overlap samples the CPU's share of a stream is unknown");
      return;
    }
    const double margin = std::log(options_.nic_bound_ratio);
    for (const auto& [bytes, medians] : costs_.stream) {
      // Where more operations take no longer in some run, none is bound by the NIC.
      if (std::ranges::any_of(medians, [](const auto& run) { return !(run.second > 0.0); }))
        continue;
      const double cpu = interpolate(samples_.overlap, bytes);
      if (!(cpu > 0.0)) {
        costs_.nic_bound[bytes] = medians;  // The CPU's part is below what can be measured.
        continue;
      }
      std::vector<double> ratios;
      for (const auto& [run, value] : medians) ratios.push_back(std::log(value / cpu));
      const auto interval = stats::mean_interval(ratios, options_.confidence);
      if (interval.ok() && interval->low > margin) costs_.nic_bound[bytes] = medians;
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
    for (auto size = costs_.nic_bound.begin(); size != costs_.nic_bound.end();) {
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
      costs_.queue_bound.insert(*size);
      size = costs_.nic_bound.erase(size);
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

  OperationSamples samples_;  // With logarithms linearized.
  Kind kind_;
  const OperationOptions& options_;
  OperationFit fit_;
  std::optional<HingeFit> hinge_;
  OperationCosts costs_;
};

}  // namespace

Result<OperationFit> fit_operation(const OperationSamples& samples, Kind kind,
                                   const OperationOptions& options) {
  return OperationFitter(samples, kind, options).fit();
}

}  // namespace stripline::fit
