#include "optimizer/model/fingerprint.h"

#include "base/network_name.h"

namespace stripline::model {
namespace {

constexpr std::string_view kAnything = "*";

// What is set for a run, and was not set for a model that does not hold it.
constexpr const char* kVariables = "libfabric.variables";
constexpr const char* kNone = "none";

bool alike(std::string_view field, const std::string& of_model, const std::string& here) {
  if (here == of_model || here == kAnything) return true;
  return field == "fabric" && network_name(here) == network_name(of_model);
}

void append_lines(std::string_view verdict, const std::vector<Difference>& differences,
                  std::string& out) {
  for (const Difference& difference : differences) {
    out += verdict;
    out += difference.field;
    out += difference.of_machine ? " is '" + *difference.of_machine + "' here"
                                 : std::string(" is not reported by this machine");
    out += ", the model was measured with '" + difference.of_model + "'\n";
  }
}

}  // namespace

std::string_view to_string(MatchRule rule) {
  switch (rule) {
    case MatchRule::hard:
      return "hard";
    case MatchRule::soft:
      return "soft";
    case MatchRule::ignore:
      return "ignore";
  }
  return "soft";
}

std::string MatchReport::text() const {
  std::string out;
  append_lines("refused: ", hard, out);
  append_lines("warning: ", soft, out);
  append_lines("note: ", informative, out);
  return out;
}

MatchReport match(const Fingerprint& of_model, const std::map<std::string, std::string>& machine) {
  MatchReport report;
  if (const auto here = machine.find(kVariables); here != machine.end() && here->second != kNone &&
                                                  here->second != kAnything &&
                                                  !of_model.contains(kVariables)) {
    report.soft.push_back({kVariables, kNone, here->second, MatchRule::soft});
  }
  for (const auto& [field, expected] : of_model) {
    if (expected.value == kAnything) continue;
    const auto here = machine.find(field);
    Difference difference{field, expected.value, std::nullopt, expected.rule};
    if (here != machine.end()) {
      if (alike(field, expected.value, here->second)) continue;
      difference.of_machine = here->second;
    }
    switch (expected.rule) {
      case MatchRule::hard:
        report.hard.push_back(std::move(difference));
        break;
      case MatchRule::soft:
        report.soft.push_back(std::move(difference));
        break;
      case MatchRule::ignore:
        report.informative.push_back(std::move(difference));
        break;
    }
  }
  return report;
}

}  // namespace stripline::model
