// A machine that obeys the equations of docs/measurement.md with known parameters: what scripted
// agents "measure".
#pragma once

#include <cstdint>
#include <limits>

#include "optimizer/experiment/experiment.h"

namespace stripline::server {

/// Seconds and bytes, as in docs/measurement.md.
struct SyntheticMachine {
  double o_base = 1e-6;
  double o_per_byte = 0.05e-9;
  double L = 5e-6;
  double g = 3e-6;
  double G = 1e-9;
  double r_base = 0.6e-6;
  double r_per_byte = 0.02e-9;
  double queue = 64;
  double switch_bytes = std::numeric_limits<double>::infinity();
  double more_L = 0;      ///< from there on
  double off_grid = 1;    ///< factor of the times of sizes that are no power of two
  double slow_loops = 1;  ///< microseconds that variant "blocking" of kernel.loop takes

  /// The noise-free time of one repetition. Unknown experiments take a microsecond.
  double time_s(const experiment::Point& point) const;

 private:
  double in_window(const experiment::Point& point) const;
};

/// Repetitions of a point with noise of 1% between runs and repetitions, the same for equal
/// arguments.
experiment::SampleSeries measure(const SyntheticMachine& machine, const experiment::Point& point,
                                 uint32_t run, uint64_t seed);

}  // namespace stripline::server
