// What a soak is asked to show, and whether it did. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stripline::load {

/// Memory of the server at a time.
struct Resident {
  double at_s = 0;
  double mib = 0;
};

/// The median of the last fifth of these over that of the first fifth. 1 with fewer than ten.
double growth(std::span<const Resident> course);

struct SoakFigures {
  double p99_s = 0;              ///< from a batch to its acknowledgement, of all batches
  double p99_quiet_s = 0;        ///< of those of agents and browsers alone
  double p99_with_viewer_s = 0;  ///< of those while a viewer did his worst
  /// From what a browser asks for to its answer, of those beside agents alone.
  double pages_p99_quiet_s = 0;
  double pages_p99_with_viewer_s = 0;  ///< of those while a viewer did his worst
  double memory_growth = 1;            ///< growth() once everybody was there
  uint64_t samples_measured = 0;
  uint64_t samples_acknowledged = 0;
  uint64_t samples_stored = 0;
  uint64_t runs_lost = 0;
  uint64_t pages_answered = 0;
  uint64_t pages_deferred = 0;  ///< asked to come back later
  uint64_t pages_failed = 0;
  uint64_t events_streamed = 0;
  std::vector<std::string> idle_attackers;  ///< that got through nothing of what they try
};

/// What is asked for and not met, a sentence each. Empty: all is met.
std::vector<std::string> unmet(const SoakFigures& figures);

}  // namespace stripline::load
