#include "optimizer/fit/testing/synthetic.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>

#include "optimizer/experiment/catalogue.h"

namespace stripline::fit {
namespace {

namespace micro = experiment::micro;
using experiment::Params;
using experiment::Point;
using experiment::SampleSeries;

// Operation by operation: each issue waits until the queue has room, and the NIC drains one at a
// time.
double issue_time(const TrueOperation& operation, uint64_t bytes, uint64_t burst) {
  const TrueSegment& s = operation.at(bytes);
  const auto size = static_cast<double>(bytes);
  const double o = s.o_base + s.o_per_byte * size;
  const double drain = s.g + s.G * size;
  const bool held = operation.name != "put";
  const double reply = (operation.name == "am" ? 1.0 : 2.0) * s.L + s.G * size;
  const auto depth = static_cast<uint64_t>(operation.queue_depth);
  std::vector<double> departed(burst + 1, 0.0);
  double now = 0.0;
  for (uint64_t i = 1; i <= burst; ++i) {
    if (i > depth) now = std::max(now, departed[i - depth]);
    now += o;
    const double before = i > 1 ? departed[i - 1] : 0.0;
    departed[i] = held ? std::max(now + reply, before + drain) : std::max(now, before) + drain;
  }
  return now;
}

double exposed_time(const TrueSegment& s, double size) {
  return s.o_base + s.r_base + (s.o_per_byte + s.r_per_byte) * size;
}

double blocking_time(const TrueSegment& s, double size) {
  return exposed_time(s, size) + 2.0 * s.L + s.G * size;
}

// Gets of which no more are outstanding than the queue holds, one by one: the initiator retires the
// oldest one where it needs its place.
double queued_time(const TrueOperation& operation, uint64_t bytes, uint64_t count) {
  const TrueSegment& s = operation.at(bytes);
  const auto size = static_cast<double>(bytes);
  const double o = s.o_base + s.o_per_byte * size;
  const double retire = s.r_base + s.r_per_byte * size;
  const auto depth = static_cast<uint64_t>(operation.queue_depth);
  if (count <= depth) return 0.0;  // nothing waits
  std::vector<double> arrived(count + 1, 0.0);
  double now = 0.0;
  for (uint64_t i = 1; i <= count; ++i) {
    if (i > depth) now = std::max(now, arrived[i - depth]) + retire;
    now += o;
    const double before = i > 1 ? arrived[i - 1] + s.g + s.G * size : 0.0;
    arrived[i] = std::max(now + 2.0 * s.L + s.G * size, before);
  }
  for (uint64_t i = count - depth + 1; i <= count; ++i) now = std::max(now, arrived[i]) + retire;
  return now;
}

double flood_time(const TrueOperation& operation, uint64_t bytes, uint64_t count) {
  const TrueSegment& s = operation.at(bytes);
  const auto size = static_cast<double>(bytes);
  const double per_operation = std::max(exposed_time(s, size) - s.r_saved, s.g + s.G * size);
  const double free = blocking_time(s, size) + static_cast<double>(count - 1) * per_operation;
  if (operation.name == "put") return free;  // leaves the queue when it is sent
  return std::max(free, queued_time(operation, bytes, count));
}

// Samples of one run around true values.
class Recorder {
 public:
  Recorder(uint32_t reps, uint64_t full_reps_up_to, const NoiseModel& noise, uint64_t seed)
      : reps_(reps), full_reps_up_to_(full_reps_up_to), noise_(noise), random_(seed) {}

  void begin_run(uint32_t run) {
    run_ = run;
    run_factor_ = std::exp(noise_.between_runs * normal_(random_));
  }

  void record(const Point& point, double truth) {
    SampleSeries series;
    series.point = point;
    series.run = run_;
    series.verified = true;
    const auto bytes = experiment::number_param(point, "bytes").value_or(0.0);
    const auto most = static_cast<double>(full_reps_up_to_);
    const auto reps =
        bytes <= most ? reps_ : std::max<uint32_t>(1, static_cast<uint32_t>(reps_ * most / bytes));
    const double factor = noise_.effect == RunEffect::shared
                              ? run_factor_
                              : std::exp(noise_.between_runs * normal_(random_));
    series.values.reserve(reps);
    for (uint32_t i = 0; i < reps; ++i) {
      series.values.push_back(truth * factor * std::exp(noise_.within_run * normal_(random_)));
    }
    series_.push_back(std::move(series));
  }

  std::vector<SampleSeries> take() { return std::move(series_); }

 private:
  const uint32_t reps_;
  const uint64_t full_reps_up_to_;
  const NoiseModel& noise_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  uint32_t run_ = 0;
  double run_factor_ = 1.0;
  std::vector<SampleSeries> series_;
};

Params size_of(uint64_t bytes) { return {{"bytes", static_cast<int64_t>(bytes)}}; }

Params size_and(uint64_t bytes, const char* factor, uint64_t value) {
  Params params = size_of(bytes);
  params[factor] = static_cast<int64_t>(value);
  return params;
}

void add_points(const TrueOperation& operation, const SyntheticCampaign& campaign,
                std::vector<Point>& points) {
  const bool unanswered = operation.name == "am";
  const auto add = [&](const char* experiment, Params params) {
    points.push_back({experiment, operation.name, std::move(params)});
  };
  for (const uint64_t bytes : campaign.sizes) {
    add(micro::kLatency.name, size_of(bytes));
    if (unanswered) continue;
    for (const uint64_t count : campaign.counts) {
      add(micro::kFlood.name, size_and(bytes, "count", count));
    }
  }
  for (const uint64_t bytes : campaign.issue_sizes) {
    for (const uint64_t burst : campaign.bursts) {
      add(micro::kIssue.name, size_and(bytes, "burst", burst));
    }
  }
  if (unanswered) return;
  for (const uint64_t bytes : campaign.overlap_sizes) {
    add(micro::kOverlap.name, size_of(bytes));
    const TrueSegment& s = operation.at(bytes);
    if (s.s_base == 0.0 && s.s_per_byte == 0.0) continue;  // a NIC serves
    add(micro::kServe.name, size_of(bytes));
  }
}

double whole(const Point& point, const char* name) {
  return experiment::number_param(point, name).value_or(0.0);
}

double time_of(const TrueOperation& operation, const Point& point) {
  const double size = whole(point, "bytes");
  const auto bytes = static_cast<uint64_t>(size);
  const TrueSegment& s = operation.at(bytes);
  if (point.experiment == micro::kFlood.name) {
    return flood_time(operation, bytes, static_cast<uint64_t>(whole(point, "count")));
  }
  if (point.experiment == micro::kIssue.name) {
    return issue_time(operation, bytes, static_cast<uint64_t>(whole(point, "burst")));
  }
  if (point.experiment == micro::kOverlap.name) return exposed_time(s, size);
  if (point.experiment == micro::kServe.name) return s.s_base + s.s_per_byte * size;
  return operation.name == "am" ? s.o_base + s.o_per_byte * size + s.L + s.G * size
                                : blocking_time(s, size);
}

// `count` of the values, the first and the last among them; all where there are no more.
std::vector<uint64_t> some_of(const std::vector<uint64_t>& values, size_t count) {
  if (values.size() <= count) return values;
  std::vector<uint64_t> some;
  for (size_t i = 0; i < count; ++i) {
    some.push_back(values[(i * (values.size() - 1) + (count - 1) / 2) / (count - 1)]);
  }
  return some;
}

}  // namespace

const TrueSegment& TrueOperation::at(uint64_t bytes) const {
  const TrueSegment* found = &segments.front();
  for (const TrueSegment& segment : segments) {
    if (segment.from_bytes <= bytes) found = &segment;
  }
  return *found;
}

SyntheticCampaign full_campaign() {
  SyntheticCampaign campaign;
  for (uint64_t bytes = 8; bytes <= (uint64_t{1} << 20); bytes *= 2)
    campaign.sizes.push_back(bytes);
  campaign.issue_sizes = campaign.sizes;
  campaign.overlap_sizes = campaign.sizes;
  return campaign;
}

std::vector<TrueOperation> example_machine() {
  constexpr uint64_t kEagerLimit = 8193;
  return {
      {"get",
       {{0, 1.1e-6, 0.0, 5.0e-6, 2.0e-6, 1.30e-9, 0.5e-6, 0.00e-9},
        {kEagerLimit, 2.0e-6, 0.0, 9.0e-6, 3.0e-6, 1.15e-9, 0.8e-6, 0.00e-9}},
       64.0},
      {"put",
       {{0, 0.9e-6, 0.05e-9, 4.0e-6, 2.2e-6, 1.20e-9, 0.6e-6, 0.03e-9},
        {kEagerLimit, 1.5e-6, 0.05e-9, 8.0e-6, 2.6e-6, 1.10e-9, 0.6e-6, 0.03e-9}},
       64.0},
      {"am",
       {{0, 1.0e-6, 0.10e-9, 6.0e-6, 2.0e-6, 1.40e-9, 0.0, 0.0},
        {kEagerLimit, 2.5e-6, 0.10e-9, 12.0e-6, 2.0e-6, 1.20e-9, 0.0, 0.0}},
       32.0},
  };
}

std::vector<Point> points_of(const std::vector<TrueOperation>& machine,
                             const SyntheticCampaign& campaign) {
  std::vector<Point> points;
  for (const TrueOperation& operation : machine) add_points(operation, campaign, points);
  return points;
}

SyntheticCampaign thinned(SyntheticCampaign campaign, size_t sizes, size_t bursts) {
  campaign.sizes = some_of(campaign.sizes, sizes);
  campaign.issue_sizes = campaign.overlap_sizes = campaign.sizes;
  campaign.bursts = some_of(campaign.bursts, bursts);
  return campaign;
}

NestedPoints nested_points(const std::vector<TrueOperation>& machine,
                           std::span<const SyntheticCampaign> grids) {
  NestedPoints nested;
  std::set<std::string> known;
  for (const SyntheticCampaign& grid : grids) {
    for (Point& point : points_of(machine, grid)) {
      if (known.insert(point_key(point)).second) nested.points.push_back(std::move(point));
    }
    const auto size = static_cast<uint32_t>(nested.points.size());
    if (nested.least == 0) {
      nested.least = size;
    } else if (nested.core == 0) {
      nested.core = size;
    }
  }
  return nested;
}

double true_time(const std::vector<TrueOperation>& machine, const Point& point) {
  const auto found = std::ranges::find(machine, point.variant, &TrueOperation::name);
  return time_of(*found, point);
}

std::vector<SampleSeries> measure(const std::vector<TrueOperation>& machine,
                                  const std::vector<Point>& points, uint32_t run, uint32_t reps,
                                  const NoiseModel& noise, uint64_t seed) {
  Recorder recorder(reps, std::numeric_limits<uint64_t>::max(), noise, seed);
  recorder.begin_run(run);
  for (const Point& point : points) recorder.record(point, true_time(machine, point));
  return recorder.take();
}

std::vector<SampleSeries> synthesize(const std::vector<TrueOperation>& machine,
                                     const SyntheticCampaign& campaign, const NoiseModel& noise,
                                     uint64_t seed) {
  Recorder recorder(campaign.reps, campaign.full_reps_up_to, noise, seed);
  const std::vector<Point> points = points_of(machine, campaign);
  for (uint32_t run = 0; run < campaign.runs; ++run) {
    recorder.begin_run(run);
    for (const Point& point : points) recorder.record(point, true_time(machine, point));
  }
  return recorder.take();
}

}  // namespace stripline::fit
