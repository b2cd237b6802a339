// Requests as JSON, by the tables of their members.
#pragma once

#include "base/json.h"
#include "optimizer/plan/request_fields.h"

namespace stripline::plan {

Json json_of(const FieldValue& value);

/// Adds every member of a request and of its surroundings to an object; none that is not known, or
/// has no limit.
template <typename Request>
void add_fields(Json& object, const Request& request) {
  for_each_field(request, [&](const FieldText& text, const FieldValue& value, const FieldValue&) {
    if (Json json = json_of(value); !json.is_null()) object[text.name] = std::move(json);
  });
}

}  // namespace stripline::plan
