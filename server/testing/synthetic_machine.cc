#include "server/testing/synthetic_machine.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

namespace stripline::server {
namespace {

constexpr int kRepetitions = 8;
constexpr double kNoise = 0.01;

// No power of two, as grids of tests have them.
bool is_odd(double bytes) { return bytes > 0 && std::exp2(std::round(std::log2(bytes))) != bytes; }

}  // namespace

// Regions by an operation each, this many of which are in flight.
double SyntheticMachine::in_window(const experiment::Point& point) const {
  const double region_bytes = number_param(point, "region_bytes").value_or(1);
  const double regions = std::floor(number_param(point, "bytes").value_or(0) / region_bytes);
  const double window = std::min(queue, number_param(point, "window").value_or(1));
  const double o = o_base + o_per_byte * region_bytes;
  const double r = r_base + r_per_byte * region_bytes;
  const double one = o + 2 * L + G * region_bytes + r;
  return one + (regions - 1) * std::max({o + r, g + G * region_bytes, one / window});
}

double SyntheticMachine::time_s(const experiment::Point& point) const {
  const double bytes = number_param(point, "bytes").value_or(0);
  const double o = o_base + o_per_byte * bytes;
  const double r = r_base + r_per_byte * bytes;
  const double nic = g + G * bytes;
  const double latency = L + (bytes < switch_bytes ? 0 : more_L);
  const double blocking = o + 2 * latency + G * bytes + r;
  if (point.experiment == "micro.latency") return blocking * (is_odd(bytes) ? off_grid : 1);
  if (point.experiment == "micro.overlap") return o + r;
  if (point.experiment == "micro.flood") {
    const double count = number_param(point, "count").value_or(1);
    return blocking + (count - 1) * std::max(o + r, nic);
  }
  if (point.experiment == "micro.issue") {
    const double burst = number_param(point, "burst").value_or(1);
    return o * std::min(burst, queue) + std::max(o, nic) * std::max(0.0, burst - queue);
  }
  if (point.experiment == "micro.vis_window") return in_window(point);
  return point.variant == "blocking" ? slow_loops * 1e-6 : 1e-6;
}

experiment::SampleSeries measure(const SyntheticMachine& machine, const experiment::Point& point,
                                 uint32_t run, uint64_t seed) {
  std::mt19937_64 random(seed ^ std::hash<std::string>{}(point_key(point)));
  std::normal_distribution<double> noise(1.0, kNoise);
  experiment::SampleSeries series;
  series.point = point;
  series.run = run;
  series.verified = true;
  const double time_s = machine.time_s(point) * noise(random);
  for (int i = 0; i < kRepetitions; ++i) {
    series.values.push_back(time_s * noise(random));
    series.timestamps_s.push_back(static_cast<double>(i) * time_s);
  }
  return series;
}

}  // namespace stripline::server
