#include "optimizer/plan/ask.h"

namespace stripline::plan {

Result<const NamedPath*> path_named(const model::TunedModel& model, const std::string& name) {
  const auto path = name.empty() ? model.network.begin() : model.network.find(name);
  if (path != model.network.end()) return &*path;
  if (model.network.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "model " + model.name +
                     " has no path between ranks: its campaign measured no transfers, and nothing "
                     "can be planned by it; measure with two ranks or more ('stripline campaign "
                     "run')");
  }
  std::string known;
  for (const auto& [other, ignored] : model.network) known += (known.empty() ? "" : ", ") + other;
  return Error(ErrorCode::invalid_argument,
               "model " + model.name + " has no path '" + name + "'; it has: " + known);
}

}  // namespace stripline::plan
