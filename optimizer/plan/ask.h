// A question about a decision, asked of a whole model by the name of one of its paths, or of none:
// what the command line and the server have in common.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/mechanism.h"

namespace stripline::plan {

using NamedPath = decltype(model::TunedModel::network)::value_type;

/// The model's path of this name; of no name, its first. Errors: failed_precondition when it has
/// none, invalid_argument when it has others, which the message names.
Result<const NamedPath*> path_named(const model::TunedModel& model, const std::string& name);

/// Explains what is asked, of the path of that name if the mechanism plans by paths. `about`
/// becomes the name of what was asked. Errors: those of path_named() and answer().
template <Mechanism M>
Result<Explanation> ask(const model::TunedModel& model, const std::string& path,
                        const typename M::Asked& asked, std::string& about) {
  about = model.name;
  if constexpr (std::is_same_v<typename M::Model, CompiledPath>) {
    STRIPLINE_ASSIGN_OR_RETURN(const NamedPath* const named, path_named(model, path));
    about += ", path " + named->first;
    return answer<M>(asked, CompiledPath(model, *named));
  } else {
    return answer<M>(asked, CompiledModel(model));
  }
}

/// What stands for no model where `stripline explain` and `stripline run --model` take one.
inline constexpr std::string_view kWithoutModel = "none";

/// Explains what is done without a model. Errors: those of answer().
template <Mechanism M>
Result<Explanation> ask_without_model(const typename M::Asked& asked) {
  if constexpr (requires { M::answer(asked, CompiledModel()); }) {
    return M::answer(asked, CompiledModel());
  } else {
    STRIPLINE_ASSIGN_OR_RETURN(const typename M::Request request, M::request_of(asked));
    return Explanation(explain<M>(request, nullptr));
  }
}

}  // namespace stripline::plan
