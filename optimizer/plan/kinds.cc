#include "optimizer/plan/kinds.h"

#include <array>

#include "optimizer/plan/mechanisms.h"

namespace stripline::plan {
namespace {

template <Mechanism M>
struct WordsOf {
  static constexpr const Words* kOf = &M::kWords;
};
template <typename... Of>
struct List {
  static constexpr std::array<const Words*, sizeof...(Of)> kAll = {Of::kOf...};
};

Json or_null(const char* text) { return text == nullptr ? Json() : Json(text); }

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += " " + std::string(name);
  return text;
}

}  // namespace

std::span<const Words* const> all_kinds() { return OfEachMechanism<List, WordsOf>::kAll; }

std::string kinds_text() {
  std::string text;
  for (const Words* const kind : all_kinds()) {
    text += std::string(kind->command) + ": " + kind->help + "\n    decided by " +
            std::string(to_string(kind->scope.decider)) + ", for " +
            std::string(to_string(kind->scope.until));
    if (kind->baseline != nullptr) text += "; baseline: " + std::string(kind->baseline);
    text += kind->sized_by != nullptr
                ? "\n    forced by " + std::string(kind->sized_by) + ": baseline"
                : "\n    set by " + std::string(kind->settings) + ":";
    text += joined(kind->methods);
    if (kind->number != nullptr) text += " or a number (" + std::string(kind->number) + ")";
    if (!kind->variants.empty()) text += "\n    of each of:" + joined(kind->variants);
    text += "\n";
  }
  return text;
}

Json kinds_json() {
  Json kinds = Json::array();
  for (const Words* const kind : all_kinds()) {
    kinds.push_back({{"kind", kind->command},
                     {"help", kind->help},
                     {"decides", to_string(kind->scope.decider)},
                     {"holds_for", to_string(kind->scope.until)},
                     {"baseline", or_null(kind->baseline)},
                     {"sized_by", or_null(kind->sized_by)},
                     {"settings", or_null(kind->settings)},
                     {"variants", kind->variants},
                     {"methods", kind->methods},
                     {"number", or_null(kind->number)}});
  }
  return kinds;
}

}  // namespace stripline::plan
