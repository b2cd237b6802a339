#include "runtime/rma/explain_command.h"

#include "base/shell_words.h"
#include "optimizer/plan/ask.h"

namespace stripline::detail {
namespace {

// What a command line may hold: one argument of a program on Linux, and some room.
constexpr size_t kMostCommandBytes = 120000;

}  // namespace

std::string explain_command(const ContextState& state, plan::Reason reason,
                            std::string_view command, std::optional<model::Path> path,
                            std::string_view options) {
  if (reason == plan::Reason::forced || reason == plan::Reason::own_memory) return {};
  std::string line = "stripline explain " + std::string(command) + " ";
  const auto& known = state.job.model();
  const auto* const entry = known != nullptr && path ? model::find_path(*known, *path) : nullptr;
  if (reason == plan::Reason::no_model || known == nullptr || (path && entry == nullptr)) {
    line += plan::kWithoutModel;
  } else {
    if (state.job.options().model_path.empty()) return {};
    line += quote_word(state.job.options().model_path);
    if (path) line += " --path " + quote_word(entry->first);
  }
  line += options;
  return line.size() > kMostCommandBytes ? std::string() : line;
}

}  // namespace stripline::detail
