#include "runtime/rma/explain_command.h"

#include "base/shell_words.h"
#include "optimizer/plan/ask.h"

namespace stripline::detail {
namespace {

// What a command line may hold: one argument of a program on Linux, and some room.
constexpr size_t kMostCommandBytes = 120000;

// The planner was asked, and its plan is carried out: not what a caller or a guard has chosen.
bool is_of_planner(plan::Reason reason) {
  switch (reason) {
    case plan::Reason::forced:
    case plan::Reason::own_memory:
    case plan::Reason::tied:
    case plan::Reason::guarded:
      return false;
    case plan::Reason::no_model:
    case plan::Reason::no_faster_plan:
    case plan::Reason::below_margin:
    case plan::Reason::tuned:
    case plan::Reason::measured:
      break;
  }
  return true;
}

}  // namespace

std::string explain_command(const ContextState& state, plan::Reason reason,
                            std::string_view command, std::optional<model::Path> path,
                            std::string_view options) {
  if (!is_of_planner(reason)) return {};
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
