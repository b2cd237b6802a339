// The factors by which the variant `forced` of a kernel is told its decomposition, and the variants
// that kernels with communication have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::suites {

inline constexpr const char* kStripBytesFactor = "strip_bytes";
inline constexpr const char* kScheduleFactor = "schedule";
inline constexpr const char* kWindowFactor = "window";

/// How the data are fetched. In the order of the declaration.
enum class Variant { blocking, fine, hand, hand4, untuned, tuned, forced };

/// Their names: "blocking" is the baseline.
std::vector<std::string> variant_names();
Variant variant_of(const experiment::Point& point);

/// strip_bytes (0: one piece), schedule (A or B) and window (operations ahead under B).
std::vector<experiment::Factor> decomposition_factors();

/// A forced decomposition.
struct Decomposition {
  uint64_t strip_bytes = 0;
  bool pipelined = false;  ///< schedule B
  uint32_t window = 0;
};

/// What the point asks for. Errors: invalid_argument when a variant other than forced is given a
/// decomposition, or window does not go with the schedule.
Result<Decomposition> decomposition_of(const experiment::Point& point);

/// Bytes of one contiguous transfer of the kernel, which strips divide. Errors: invalid_argument
/// for an experiment that is not such a kernel, or a problem that does not go with the ranks.
Result<uint64_t> transfer_bytes(const experiment::Point& point, uint32_t ranks);

}  // namespace stripline::suites
