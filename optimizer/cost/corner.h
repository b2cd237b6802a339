// The end of the parameters' intervals that a cost is evaluated at.
#pragma once

#include <cstddef>

#include "optimizer/model/tuned_model.h"

namespace stripline::cost {

/// Times rise with every parameter, so that `low` and `high` bound them.
enum class Corner : size_t { nominal, low, high };

inline constexpr size_t kCorners = 3;

/// The value or an end of the interval; never negative.
inline double at_corner(const model::Parameter& parameter, Corner corner) {
  const double value = corner == Corner::nominal ? parameter.value
                       : corner == Corner::low   ? parameter.ci_low
                                                 : parameter.ci_high;
  return value > 0 ? value : 0.0;
}

}  // namespace stripline::cost
