// Which end of the parameters' intervals a cost is evaluated at.
#pragma once

#include <array>
#include <cstddef>

#include "optimizer/model/tuned_model.h"

namespace stripline::cost {

/// Costs rise with every parameter, so `low` and `high` bound a time. A relative gain of many small
/// messages over one large one falls with o, r and g, but may move either way with L and G: the
/// other corners hold o, r and g high and take L or G or both low, so that `high` and these three
/// bound such a gain from below.
enum class Corner : size_t { nominal, low, high, high_but_L, high_but_G, high_but_L_and_G };

inline constexpr size_t kCorners = 6;

/// The corners that bound a gain from below.
inline constexpr std::array kAdverseCorners = {Corner::high, Corner::high_but_L, Corner::high_but_G,
                                               Corner::high_but_L_and_G};

/// The end of a parameter's interval at a corner; never negative. `is_L` and `is_G` say what the
/// parameter is.
inline double at_corner(const model::Parameter& parameter, Corner corner, bool is_L = false,
                        bool is_G = false) {
  const auto clamp = [](double value) { return value > 0 ? value : 0.0; };
  const bool low_L = corner == Corner::high_but_L || corner == Corner::high_but_L_and_G;
  const bool low_G = corner == Corner::high_but_G || corner == Corner::high_but_L_and_G;
  if (corner == Corner::nominal) return clamp(parameter.value);
  if (corner == Corner::low || (is_L && low_L) || (is_G && low_G)) return clamp(parameter.ci_low);
  return clamp(parameter.ci_high);
}

}  // namespace stripline::cost
