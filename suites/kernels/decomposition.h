// The factors that give the variant `forced` of a kernel its decomposition, and the variants that
// kernels with communication have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/plan/strip.h"

namespace stripline::suites {

inline constexpr const char* kStripBytesFactor = "strip_bytes";
inline constexpr const char* kScheduleFactor = "schedule";
inline constexpr const char* kWindowFactor = "window";

/// How the data are fetched. In the order of the declaration.
/// guarded is tuned as programs have it: plans that lose are given up (LoopOptions::self_check).
enum class Variant { blocking, fine, hand, hand4, untuned, tuned, guarded, forced };

/// Their names: "blocking" is the baseline.
std::vector<std::string> variant_names();
Variant variant_of(const experiment::Point& point);

/// strip_bytes (0: one piece), schedule (A, B or V) and window (operations ahead under B).
std::vector<experiment::Factor> decomposition_factors();

/// True if a factor is one of these: everything else is the problem.
bool is_decomposition_factor(std::string_view name);

/// What the point asks of variant forced. strip_bytes is 0 for one piece per block. Errors:
/// invalid_argument when another variant is given a decomposition, or the factors contradict each
/// other.
Result<plan::StripCandidate> decomposition_of(const experiment::Point& point);

/// What one rank of a kernel fetches: contiguous blocks of equal size.
struct Transfer {
  uint64_t block_bytes = 0;
  uint64_t blocks = 1;
};

/// Errors: invalid_argument for an experiment that is not such a kernel, or a problem that does not
/// go with the ranks.
Result<Transfer> transfer_of(const experiment::Point& point, uint32_t ranks);

}  // namespace stripline::suites
