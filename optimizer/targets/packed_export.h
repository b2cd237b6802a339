// A packed export (base/packed_export.h) as services read it: what it is of, and how its validation
// ended. What it takes to install it is for suites/targets. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline::targets {

struct PackedExport {
  std::string target;           ///< "openmpi"
  std::string version;          ///< of the target, "4.1.4"
  std::string path;             ///< "shm"
  std::string host;             ///< where it was tuned
  std::string time;             ///< and when, RFC 3339
  std::vector<uint32_t> ranks;  ///< numbers of ranks that it was tuned for
  size_t departing = 0;         ///< cells that depart from the default
  size_t settings = 0;          ///< knobs that do
  bool validated = false;       ///< All stages of its validation passed.
  /// By what factor a probe slowed a cell down, which shows that the target reads what is exported:
  /// the least of those of rules and of settings; 0: one of them was not shown.
  double probe_factor = 0;

  // Comparisons with the target's default settings, in paired fresh launches.
  size_t compared = 0;
  /// Geometric mean of the time with the settings over that without, and of the lower ends of its
  /// one-sided intervals at 95 %.
  double ratio = 1;
  double ratio_low = 1;
  size_t inconclusive = 0;  ///< comparisons that are not accepted, and not slower for certain
  size_t slower = 0;        ///< comparisons that are slower by more than the margin, for certain
  std::string worst;        ///< the worst of these: "halo, 4 ranks, 1024 bytes"
  double worst_ratio = 1;   ///< and its time with the settings over that without
};

/// Errors: data_loss for what is not a packed export, texts that no line has room for, a target
/// that is not known here, or files that are not those that its record lists.
Result<PackedExport> read_packed_export(std::string_view text, std::string_view what);

/// One line: "Open MPI 4.1.4, shm, 2, 4 ranks: 12 cells and 1 knob depart, 0.74 of the default's
/// time in the mean of 40 comparisons".
std::string describe(const PackedExport& one);

}  // namespace stripline::targets
