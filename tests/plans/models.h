// The models that the recorded decisions are made with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/strip_costs.h"
#include "optimizer/plan/update.h"
#include "optimizer/plan/vis_costs.h"

namespace stripline::plan_corpus {

/// A network as the planners see it; all null without a model.
struct Network {
  std::string name;
  std::optional<plan::StripCosts> strip;
  std::optional<plan::VisCosts> vis;
  std::optional<plan::UpdateCosts> update;

  const plan::StripCosts* strip_costs() const { return strip ? &*strip : nullptr; }
  const plan::VisCosts* vis_costs() const { return vis ? &*vis : nullptr; }
  const plan::UpdateCosts* update_costs() const { return update ? &*update : nullptr; }
};

/// No model; every shipped profile of an emulated network, known exactly ("opteron-vapi") and as a
/// campaign knows it, with intervals and all sections ("opteron-vapi,measured"); and networks that
/// nobody built ("synthetic-0", ...). Always in this order.
std::vector<Network> networks();

}  // namespace stripline::plan_corpus
