// What every figure of a tuned model is.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace stripline::model
