// A service delay as the header of a message carries it: 8 bits, in steps of an eighth of a power
// of two (9 %), from a quarter of a microsecond to a quarter of an hour.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stripline::am {

inline constexpr uint8_t kNoDelayCode = 0;        ///< nothing is said
inline constexpr uint8_t kPromptCode = 1;         ///< served at once
inline constexpr double kPromptSeconds = 250e-9;  ///< up to which a message is served at once

/// `delay_s` is not negative.
inline uint8_t encode_delay(double delay_s) {
  if (delay_s <= kPromptSeconds) return kPromptCode;
  const double steps = std::ceil(8 * std::log2(delay_s / kPromptSeconds));
  return static_cast<uint8_t>(std::clamp(steps + kPromptCode, 2.0, 255.0));
}

/// Seconds; 0 for kNoDelayCode and kPromptCode.
inline double decode_delay(uint8_t code) {
  return code <= kPromptCode ? 0.0 : kPromptSeconds * std::exp2((code - kPromptCode) / 8.0);
}

}  // namespace stripline::am
