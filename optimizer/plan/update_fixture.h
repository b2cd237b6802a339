// What tests of updates plan with.
#pragma once

#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/update.h"

namespace stripline::plan {

inline UpdateCosts update_costs_of(const model::TunedModel& m) {
  return {m, m.network.at("inter-node")};
}

/// A histogram over 64 ranks, most of whose buckets are counted several times by each of them.
inline UpdateRequest histogram() {
  return {.updates = 1000000, .cells = 65536, .span_bytes = 8 << 20, .ranks = 64};
}

}  // namespace stripline::plan
