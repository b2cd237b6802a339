// What a table of decisions shows of a mechanism's plan.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "optimizer/plan/mechanism.h"
#include "runtime/decide/trace.h"

namespace stripline::decide {

/// What an execution had beside its plan.
struct CarriedOut {
  /// It was carried out to learn what the computation takes, before there was a plan.
  bool unplanned = false;
  /// What the plan's prediction is of this execution, which may be a part of what was planned, or
  /// more; 0: not to be compared with its time; none: the plan's.
  std::optional<double> predicted_s{};
  std::string obstacle{};  ///< Choice::obstacle
  std::string detail{};    ///< Choice::detail
};

/// The plan of an execution, as it was carried out. Allocates; for programs that are traced.
template <plan::Mechanism M>
Choice choice_of(const typename M::Request& request, const typename M::Plan& plan,
                 CarriedOut carried_out = {}) {
  return {.text = plan::brief_text<M>(
              request, plan, carried_out.unplanned ? "being timed" : plan::short_text(plan.reason)),
          .reason = plan.reason,
          .predicted_s = carried_out.predicted_s.value_or(plan.predicted_s),
          .unplanned = carried_out.unplanned,
          .obstacle = std::move(carried_out.obstacle),
          .detail = std::move(carried_out.detail)};
}

}  // namespace stripline::decide
