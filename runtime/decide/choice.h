// What a table of decisions shows of a mechanism's plan.
#pragma once

#include "optimizer/plan/mechanism.h"
#include "runtime/decide/trace.h"

namespace stripline::decide {

/// The plan of an execution, as it was carried out. `unplanned`: it was carried out to learn what
/// the computation takes, before there was a plan. Allocates; for programs that are traced.
template <plan::Mechanism M>
Choice choice_of(const typename M::Request& request, const typename M::Plan& plan,
                 bool unplanned = false) {
  return {.text = plan::brief_text<M>(request, plan, short_reason(plan.reason, unplanned)),
          .reason = plan.reason,
          .predicted_s = plan.predicted_s,
          .unplanned = unplanned};
}

}  // namespace stripline::decide
