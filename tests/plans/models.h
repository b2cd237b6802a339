// The models that the recorded decisions are made with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimizer/model/sections/shared_update.h"
#include "optimizer/plan/compiled_model.h"

namespace stripline::plan_corpus {

/// A network as the planners see it; all null without a model.
struct Network {
  std::string name;
  std::optional<plan::CompiledPath> path;
  std::optional<model::SharedUpdateModel> shared{};  ///< of its nodes

  const plan::CompiledPath* costs() const { return path ? &*path : nullptr; }
  const plan::StripCosts* strip_costs() const { return path ? &path->strip : nullptr; }
  const plan::VisCosts* vis_costs() const { return path ? &path->vis : nullptr; }
  const plan::UpdateCosts* update_costs() const { return path ? &path->update : nullptr; }
  const model::SharedUpdateModel* shared_costs() const { return shared ? &*shared : nullptr; }
};

/// No model; every shipped profile of an emulated network, known exactly ("opteron-vapi") and as a
/// campaign knows it, with intervals and all sections ("opteron-vapi,measured"); and networks that
/// no one built ("synthetic-0", ...). Always in this order.
std::vector<Network> networks();

}  // namespace stripline::plan_corpus
