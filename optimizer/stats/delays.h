// Repetitions of one run that other work on the host has delayed: what tells them from the others,
// and a location that they do not move. Pure.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace stripline::stats {

/// What is above `limit` was delayed.
struct Delays {
  double limit = std::numeric_limits<double>::infinity();
  std::size_t delayed = 0;
};

/// Finds delayed repetitions of a run by what they can only do: make times longer, by more than the
/// run's own noise. The mode of the times (half-sample mode: Bickel and Fruehwirth, Comput. Stat.
/// Data Anal. 50, 2006), which delays of less than half of them do not move, and the spread below
/// it, which none does, say how far above it undelayed times may be; then the median and the spread
/// below it of what is not above that. Nothing is called delayed unless that is a tenth of the
/// times or more, nor with fewer than kLeastForDelays times, nor where one is zero or less: the
/// medians of such runs are left alone.
///
/// The median of the others estimates the median of the undelayed times: without bias where their
/// logarithms are symmetric and delays are long, else with one below a third of their spread. A
/// network may have two modes by itself, which looks alike: to be used for runs only of which
/// something else says that their hosts were busy.
Delays find_delays(std::span<const double> times);

inline constexpr std::size_t kLeastForDelays = 8;

}  // namespace stripline::stats
