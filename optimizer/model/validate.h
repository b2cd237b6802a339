// The rules that a tuned model satisfies whichever way it came about. The fitter, the reader and
// the writer of model files all apply them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::model {

/// No size or footprint in a model exceeds this: integers up to 2^53 survive every JSON reader.
inline constexpr uint64_t kMaxBytes = uint64_t{1} << 53;
inline constexpr uint32_t kMaxRanks = 1U << 20;  ///< A global pointer has 20 bits of rank.

/// What a parameter may be.
struct ParameterRule {
  std::string_view unit;  ///< as in the file: "s", "s/B", "1"
  double minimum = 0;     ///< smallest and largest accepted value
  double maximum = 0;
};

inline constexpr ParameterRule kSecondsRule{"s", 0, 1e6};
inline constexpr ParameterRule kSecondsPerByteRule{"s/B", 0, 1e6};
inline constexpr ParameterRule kQueueDepthRule{"1", 1, 1e9};
inline constexpr ParameterRule kGainRule{"1", 0, 1};
inline constexpr ParameterRule kRatioRule{"1", 1e-6, 1e6};

/// Every number finite and within its rule, ci_low <= value <= ci_high, segments ascending and
/// without gaps, footprints ascending, sizes and counts bounded, names present, all texts valid
/// UTF-8, as JSON demands. ci_low may lie below a rule's minimum: an interval is an estimate.
/// Errors: invalid_argument naming the member by its path in the file, e.g.
/// "network.inter-node.get.segments[1].L_s".
Status validate(const TunedModel& model);

}  // namespace stripline::model
