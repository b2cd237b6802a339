#include "cli/explain_commands.h"

#include <string>
#include <variant>

#include "base/exit_codes.h"
#include "cli/console.h"
#include "cli/find_model.h"
#include "optimizer/plan/ask.h"
#include "optimizer/plan/kinds.h"

namespace stripline::cli {
namespace {

template <plan::Mechanism M>
Result<plan::Explanation> answer(const Global& global, const Explain<M>& command,
                                 std::string& about) {
  if (command.source == plan::kWithoutModel) {
    about = "no model";
    return plan::ask_without_model<M>(command.request);
  }
  STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel model, find_model(global, command.source));
  return plan::ask<M>(model, command.path, command.request, about);
}

template <plan::Mechanism M>
Result<int> explain(const Global& global, const Explain<M>& command) {
  std::string about;
  STRIPLINE_ASSIGN_OR_RETURN(const auto explanation, answer(global, command, about));
  print(global.json ? plan::to_json(explanation, M::kWords).dump() + "\n"
                    : about + "\n" + plan::to_text(explanation, M::kWords));
  return kExitOk;
}

}  // namespace

Result<int> run(const Global& global, const ExplainAny& command) {
  return std::visit([&](const auto& chosen) { return explain(global, chosen); }, command);
}

Result<int> run(const Global& global, const ExplainList& /*command*/) {
  print(global.json ? plan::kinds_json().dump() + "\n" : plan::kinds_text());
  return kExitOk;
}

}  // namespace stripline::cli
