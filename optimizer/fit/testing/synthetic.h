// Synthetic machines with known parameters: the ground truth for tests of the fit. Not part of any
// product; the equations are those of docs/measurement.md, written independently of the fitter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::fit {

/// True parameters of sizes from `from_bytes` on. Units: seconds and bytes.
struct TrueSegment {
  uint64_t from_bytes = 0;
  double o_base = 0.0;
  double o_per_byte = 0.0;
  double L = 0.0;
  double g = 0.0;
  double G = 0.0;
  double r_base = 0.0;
  double r_per_byte = 0.0;
  double s_base = 0.0;  ///< Without both, micro.serve is not measured.
  double s_per_byte = 0.0;
  double r_saved = 0.0;  ///< What streams save of r_base.
};

struct TrueOperation {
  std::string name;  ///< "get", "put" or "am"
  std::vector<TrueSegment> segments;
  double queue_depth = 64.0;

  const TrueSegment& at(uint64_t bytes) const;
};

/// How noise is nested. Every median over infinitely many runs is the true cost.
enum class RunEffect {
  shared,     ///< A run is fast or slow as a whole: one factor for all its points.
  per_point,  ///< Every point of a run has a factor of its own.
};

struct NoiseModel {
  double between_runs = 0.03;  ///< Standard deviation of the logarithm.
  double within_run = 0.05;
  RunEffect effect = RunEffect::per_point;
};

struct SyntheticCampaign {
  uint32_t runs = 12;
  uint32_t reps = 16;
  std::vector<uint64_t> sizes;        ///< Latency and flood.
  std::vector<uint64_t> issue_sizes;  ///< Issue bursts.
  std::vector<uint64_t> overlap_sizes;
  std::vector<uint64_t> bursts{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
  std::vector<uint64_t> counts{8, 64};
  /// A time budget: sizes above this get fewer repetitions in proportion, at least one.
  uint64_t full_reps_up_to = std::numeric_limits<uint64_t>::max();
};

/// Powers of two from 8 bytes to 1 MiB throughout.
SyntheticCampaign full_campaign();

/// A network like those of the papers: two segments of each operation, a queue of 64.
std::vector<TrueOperation> example_machine();

/// What a run of the campaign measures, in order.
std::vector<experiment::Point> points_of(const std::vector<TrueOperation>& machine,
                                         const SyntheticCampaign& campaign);

/// The campaign with at most this number of its sizes and of its bursts, the first and the last of
/// them included.
SyntheticCampaign thinned(SyntheticCampaign campaign, size_t sizes, size_t bursts);

/// The points of three grids, the coarser ones first, as plans have them.
struct NestedPoints {
  std::vector<experiment::Point> points;
  uint32_t least = 0;  ///< The number of those of the first grid,
  uint32_t core = 0;   ///< and of the first two.
};
NestedPoints nested_points(const std::vector<TrueOperation>& machine,
                           std::span<const SyntheticCampaign> grids);

/// The seconds that a point, of one of the machine's operations, takes in truth.
double true_time(const std::vector<TrueOperation>& machine, const experiment::Point& point);

/// One run of these points. The same seed gives the same samples.
std::vector<experiment::SampleSeries> measure(const std::vector<TrueOperation>& machine,
                                              const std::vector<experiment::Point>& points,
                                              uint32_t run, uint32_t reps, const NoiseModel& noise,
                                              uint64_t seed);

/// All series of a campaign, as an agent would deliver them. The same seed gives the same samples.
std::vector<experiment::SampleSeries> synthesize(const std::vector<TrueOperation>& machine,
                                                 const SyntheticCampaign& campaign,
                                                 const NoiseModel& noise, uint64_t seed);

}  // namespace stripline::fit
