// How often a rank that goes through a loop looks for what its peers ask of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "optimizer/plan/strip_costs.h"
#include "runtime/fabric/fabric.h"

namespace stripline::detail {

/// Counts the steps of a loop between two looks. Where operations go on without calls, a look
/// serves nothing but messages of peers, and is made so seldom that all of them take a small part
/// of the loop. Elsewhere the transfers of the loop and those of its peers depend on calls, and
/// every step is followed by one.
class Attention {
 public:
  /// Looks after every step.
  Attention() = default;

  /// For steps that are expected to take `step_s` seconds. Without a model (null), or if it does
  /// not say what a step costs the engine, as the other one.
  Attention(const fabric::Info& info, const plan::StripCosts* costs, double step_s) {
    if (!info.goes_on_without_calls || costs == nullptr || !(step_s > 0)) return;
    const double look_s = costs->strip_overhead(cost::Corner::nominal);
    const double steps = std::ceil(look_s / (kMostShare * step_s));
    every_ = static_cast<uint32_t>(std::clamp(steps, 1.0, kMostSteps));
  }

  /// After a step: whether to look now.
  bool due() {
    if (++steps_ < every_) return false;
    steps_ = 0;
    return true;
  }
  /// The rank has waited, and served its peers meanwhile.
  void has_looked() { steps_ = 0; }

 private:
  static constexpr double kMostShare = 0.005;  // of the loop's time
  static constexpr double kMostSteps = 1 << 20;

  uint32_t every_ = 1;
  uint32_t steps_ = 0;
};

}  // namespace stripline::detail
