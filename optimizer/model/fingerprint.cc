#include "optimizer/model/fingerprint.h"

#include <algorithm>
#include <array>

#include "base/enum_names.h"
#include "base/network_name.h"

namespace stripline::model {
namespace {

constexpr std::string_view kAnything = "*";

constexpr std::string_view kNone = "none";

// Settings of a machine which a model need not hold, by the beginnings of their names, and what a
// model without them was measured with. Empty: it does not say.
struct Setting {
  std::string_view begins;
  std::string_view without;
};
constexpr std::array<Setting, 4> kSettings = {{{"cpu.quota", kNone},
                                               {"libfabric.variables", kNone},
                                               {"memory.huge_pages.", ""},
                                               {"tcp.", ""}}};

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
    out += difference.of_model.empty()
               ? std::string(", the model does not say with what it was measured\n")
               : ", the model was measured with '" + difference.of_model + "'\n";
  }
}

}  // namespace

std::string_view to_string(MatchRule rule) {
  constexpr std::array<std::string_view, 3> kNames = {"hard", "soft", "ignore"};
  return enum_name(kNames, rule);
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
  for (const auto& [field, value] : machine) {
    if (value == kNone || value == kAnything || of_model.contains(field)) continue;
    const auto setting =
        std::ranges::find_if(kSettings, [name = std::string_view(field)](const Setting& one) {
          return name.starts_with(one.begins);
        });
    if (setting == kSettings.end()) continue;
    const bool known = !setting->without.empty();
    (known ? report.soft : report.informative)
        .push_back({field, std::string(setting->without), value,
                    known ? MatchRule::soft : MatchRule::ignore});
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
  for (auto* const differences : {&report.soft, &report.informative}) {
    std::ranges::sort(*differences, {}, &Difference::field);
  }
  return report;
}

}  // namespace stripline::model
