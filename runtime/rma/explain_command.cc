#include "runtime/rma/explain_command.h"

#include "base/shell_words.h"

namespace stripline::detail {
namespace {

// What a command line may hold: one argument of a program on Linux, and some room.
constexpr size_t kMostCommandBytes = 120000;

}  // namespace

std::string explain_command(const ContextState& state, std::string_view command,
                            std::optional<model::Path> path, std::string_view options) {
  if (state.job.model() == nullptr || state.job.options().model_path.empty()) return {};
  std::string line = "stripline explain " + std::string(command) + " " +
                     quote_word(state.job.options().model_path);
  if (path) {
    // It decided nothing where the model has none.
    const auto* const entry = model::find_path(*state.job.model(), *path);
    if (entry == nullptr) return {};
    line += " --path " + quote_word(entry->first);
  }
  line += options;
  return line.size() > kMostCommandBytes ? std::string() : line;
}

}  // namespace stripline::detail
