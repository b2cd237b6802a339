#include "runtime/rma/explain_command.h"

#include <type_traits>

#include "base/shell_words.h"
#include "optimizer/plan/mechanisms.h"

namespace stripline::detail {
namespace {

// What a command line may hold: one argument of a program on Linux, and some room.
constexpr size_t kMostCommandBytes = 120000;

// Empty also where a path is asked about of which the model has none, and decided nothing.
template <plan::Mechanism M>
std::string command_for(const ContextState& state, const typename M::Request& request,
                        model::Path path) {
  if (state.job.model() == nullptr || state.job.options().model_path.empty()) return {};
  std::string command = std::string("stripline explain ") + M::kWords.command + " " +
                        quote_word(state.job.options().model_path);
  if constexpr (std::is_same_v<typename M::Model, plan::CompiledPath>) {
    const auto* const entry = model::find_path(*state.job.model(), path);
    if (entry == nullptr) return {};
    command += " --path " + quote_word(entry->first);
  }
  command += plan::command_of<M>(request);
  return command.size() > kMostCommandBytes ? std::string() : command;
}

}  // namespace

std::string explain_command(const ContextState& state, const plan::StripRequest& request,
                            model::Path path) {
  return command_for<plan::StripMechanism>(state, request, path);
}

std::string explain_command(const ContextState& state, const plan::NestRequest& request) {
  return command_for<plan::NestMechanism>(state, request, {});
}

std::string explain_command(const ContextState& state, const plan::WavefrontRequest& request,
                            model::Path path) {
  return command_for<plan::WavefrontMechanism>(state, request, path);
}

std::string explain_command(const ContextState& state, const plan::VisRequest& request,
                            model::Path path) {
  return command_for<plan::VisMechanism>(state, request, path);
}

}  // namespace stripline::detail
