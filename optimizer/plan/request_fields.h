// The tables of the requests' members (fields.h), and what is made of them: options, as a command
// takes them.
#pragma once

#include <span>
#include <string>

#include "optimizer/plan/fields.h"
#include "optimizer/plan/surroundings.h"

namespace stripline::plan {

/// The members of a request that `stripline explain` takes as options, without the surroundings.
/// Each planner's is beside its explanation (explain.cc, explain_vis.cc, explain_wavefront.cc).
template <typename Request>
std::span<const Field<Request>> fields_of();

/// The request that `stripline explain` has before its options: what need not be said.
template <typename Request>
Request usual_request();

struct SurroundingsField {
  Fact fact;
  Field<Surroundings> field;
};
std::span<const SurroundingsField> surroundings_fields();

/// Those that are not as usual, for people: ", 4 ranks sharing a NIC, targets only poll".
std::string surroundings_text(const Surroundings& surroundings, Fact facts);

/// Calls visit(text, value, usual value) for every member, then for every fact of the surroundings.
template <typename Request, typename Visit>
void for_each_field(const Request& request, const Visit& visit) {
  const Request usual = usual_request<Request>();
  for (const Field<Request>& field : fields_of<Request>()) {
    visit(field.text, field.get(request), field.get(usual));
  }
  for (const auto& [fact, field] : surroundings_fields()) {
    if (!has(Request::kFacts, fact)) continue;
    visit(field.text, field.get(request.surroundings), field.get(usual.surroundings));
  }
}

/// What `stripline explain` has to be told of a request, each option after a space.
template <typename Request>
std::string options_text(const Request& request) {
  std::string options;
  for_each_field(request,
                 [&](const FieldText& text, const FieldValue& value, const FieldValue& usual) {
                   if (text.required || value != usual) options += option_text(text, value);
                 });
  return options;
}

}  // namespace stripline::plan
