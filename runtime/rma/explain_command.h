// The command that explains what was chosen at a place: `stripline explain` (docs/cli.md) with
// everything that the planner was asked. For a person to copy from what `--trace` shows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "optimizer/plan/mechanism.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {

/// `command` of `stripline explain` with these options and the job's model, or without one, if it
/// decided nothing. `reason`: of the decision; `path`: what it is about. Empty where the planner
/// was not asked, where a guard carries out another plan than the planner's, for a model in no
/// file, and where a command line holds no such command.
std::string explain_command(const ContextState& state, plan::Reason reason,
                            std::string_view command, std::optional<model::Path> path,
                            std::string_view options);

/// The command for a request of a mechanism, over a path unless it plans by the whole model.
template <plan::Mechanism M>
std::string explain_command(const ContextState& state, const typename M::Request& request,
                            plan::Reason reason, model::Path path) {
  static_assert(std::is_same_v<typename M::Model, plan::CompiledPath>);
  return explain_command(state, reason, M::kWords.command, path, plan::command_of<M>(request));
}
template <plan::Mechanism M>
std::string explain_command(const ContextState& state, const typename M::Request& request,
                            plan::Reason reason) {
  static_assert(std::is_same_v<typename M::Model, plan::CompiledModel>);
  return explain_command(state, reason, M::kWords.command, std::nullopt,
                         plan::command_of<M>(request));
}

}  // namespace stripline::detail
