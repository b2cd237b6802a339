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

/// `command` of `stripline explain` with the job's model and these options. `path`: what it asks
/// about. Empty without a model in a file, where the model has no such path, and where a command
/// line holds no such command.
std::string explain_command(const ContextState& state, std::string_view command,
                            std::optional<model::Path> path, std::string_view options);

/// The command for a request of a mechanism, over a path unless it plans by the whole model.
template <plan::Mechanism M>
std::string explain_command(const ContextState& state, const typename M::Request& request,
                            model::Path path) {
  static_assert(std::is_same_v<typename M::Model, plan::CompiledPath>);
  return explain_command(state, M::kWords.command, path, plan::command_of<M>(request));
}
template <plan::Mechanism M>
std::string explain_command(const ContextState& state, const typename M::Request& request) {
  static_assert(std::is_same_v<typename M::Model, plan::CompiledModel>);
  return explain_command(state, M::kWords.command, std::nullopt, plan::command_of<M>(request));
}

}  // namespace stripline::detail
