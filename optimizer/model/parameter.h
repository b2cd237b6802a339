// What every figure of a tuned model is, and what it may be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stripline::model {

/// An estimate with its interval and its origin.
struct Parameter {
  double value = 0;
  double ci_low = 0;  ///< 95 % interval over runs
  double ci_high = 0;
  uint32_t runs = 0;     ///< runs that gave an estimate
  uint32_t samples = 0;  ///< repetitions of the operation or primitive that was fitted, in all runs
  std::string method;    ///< how the samples became the value, e.g. "wls-per-run+t"
  bool at_least = false;  ///< The value is only a lower bound (a queue that never filled).
};

/// What a parameter may be.
struct ParameterRule {
  std::string_view unit;  ///< as in the file: "s", "s/B", "1"
  double minimum = 0;     ///< smallest and largest accepted value
  double maximum = 0;
  std::string_view name;  ///< of its definition in the schema
  std::string_view what;  ///< the same in words
};

inline constexpr ParameterRule kSecondsRule{"s", 0, 1e6, "seconds", "A time"};
inline constexpr ParameterRule kSecondsPerByteRule{"s/B", 0, 1e6, "seconds_per_byte",
                                                   "A time per byte"};
inline constexpr ParameterRule kQueueDepthRule{"1", 1, 1e9, "count", "A count"};
inline constexpr ParameterRule kGainRule{"1", 0, 1, "gain", "A relative gain"};
inline constexpr ParameterRule kRatioRule{"1", 1e-6, 1e6, "ratio", "A ratio of times"};

/// No size or footprint in a model exceeds this: integers up to 2^53 survive every JSON reader.
inline constexpr uint64_t kMaxBytes = uint64_t{1} << 53;
inline constexpr uint32_t kMaxRanks = 1U << 20;  ///< A global pointer has 20 bits of rank.

}  // namespace stripline::model
