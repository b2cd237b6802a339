// The tables of the requests' members (fields.h), and what is made of them: options, as a command
// takes them, and what people read.
#pragma once

#include <span>
#include <string>

#include "optimizer/plan/fields.h"
#include "optimizer/plan/surroundings.h"

namespace stripline::plan {

struct SurroundingsField {
  Fact fact;
  Field<Surroundings> field;
};
std::span<const SurroundingsField> surroundings_fields();

/// Surroundings that are not as usual, for people: ", 4 ranks sharing a NIC, targets only poll".
std::string surroundings_text(const Surroundings& surroundings, Fact facts);

/// Calls visit(text, value, usual value) for every member of what a mechanism (mechanism.h) is
/// asked, then for every fact of the surroundings that it looks at.
template <typename Mechanism, typename Visit>
void for_each_field(const typename Mechanism::Asked& asked, const Visit& visit) {
  const typename Mechanism::Asked usual = Mechanism::usual();
  for (const auto& field : Mechanism::fields()) {
    visit(field.text, field.get(asked), field.get(usual));
  }
  for (const auto& [fact, field] : surroundings_fields()) {
    if (!has(Mechanism::Asked::kFacts, fact)) continue;
    visit(field.text, field.get(asked.surroundings), field.get(usual.surroundings));
  }
}

/// What `stripline explain` has to be given, each option after a space.
template <typename Mechanism>
std::string options_text(const typename Mechanism::Asked& asked) {
  std::string options;
  for_each_field<Mechanism>(
      asked, [&](const FieldText& text, const FieldValue& value, const FieldValue& usual) {
        if (text.required || value != usual) options += option_text(text, value);
      });
  return options;
}

}  // namespace stripline::plan
