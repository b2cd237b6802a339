#include "cli/explain_commands.h"

#include <string>
#include <type_traits>
#include <variant>

#include "base/exit_codes.h"
#include "cli/console.h"
#include "cli/find_model.h"

namespace stripline::cli {
namespace {

using NamedPath = decltype(model::TunedModel::network)::value_type;

// The path of this name, or the first.
Result<const NamedPath*> path_of(const model::TunedModel& model, const std::string& name) {
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

// What a command asks, of a path of the model or of all of it. `about` becomes the name of that.
template <plan::Mechanism M>
Result<plan::Explanation> answer(const Global& global, const Explain<M>& command,
                                 std::string& about) {
  STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel model, find_model(global, command.source));
  about = model.name;
  if constexpr (std::is_same_v<typename M::Model, plan::CompiledPath>) {
    STRIPLINE_ASSIGN_OR_RETURN(const NamedPath* const path, path_of(model, command.path));
    about += ", path " + path->first;
    return plan::answer<M>(command.request, plan::CompiledPath(model, *path));
  } else {
    return plan::answer<M>(command.request, plan::CompiledModel(model));
  }
}

template <plan::Mechanism M>
int explain(const Global& global, const Explain<M>& command) {
  std::string about;
  const auto explanation = answer(global, command, about);
  if (!explanation.ok()) return print_error(explanation.error());
  print(global.json ? plan::to_json(*explanation, M::kWords).dump() + "\n"
                    : about + "\n" + plan::to_text(*explanation, M::kWords));
  return kExitOk;
}

}  // namespace

int run(const Global& global, const ExplainAny& command) {
  return std::visit([&](const auto& chosen) { return explain(global, chosen); }, command);
}

}  // namespace stripline::cli
