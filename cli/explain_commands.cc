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
int explain(const Global& global, const Explain<M>& command) {
  const auto model = find_model(global, command.source);
  if (!model.ok()) return print_error(model.error());
  std::string about;
  const auto explanation = plan::ask<M>(*model, command.path, command.request, about);
  if (!explanation.ok()) return print_error(explanation.error());
  print(global.json ? plan::to_json(*explanation, M::kWords).dump() + "\n"
                    : about + "\n" + plan::to_text(*explanation, M::kWords));
  return kExitOk;
}

}  // namespace

int run(const Global& global, const ExplainAny& command) {
  return std::visit([&](const auto& chosen) { return explain(global, chosen); }, command);
}

int run(const Global& global, const ExplainList& /*command*/) {
  print(global.json ? plan::kinds_json().dump() + "\n" : plan::kinds_text());
  return kExitOk;
}

}  // namespace stripline::cli
