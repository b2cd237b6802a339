// All kinds of decision as a list: what each is about, who decides and for how long, and what may
// be forced. Made from the words of the mechanisms (mechanisms.h).
#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "optimizer/plan/explanation.h"

namespace stripline::plan {

/// The words of every mechanism, in the order of `stripline explain`.
std::span<const Words* const> all_kinds();

/// For people: several lines of each.
std::string kinds_text();

/// For programs: [{"kind", "help", "decides", "holds_for", "baseline", "settings", "sized_by",
/// "variants", "methods", "number"}], null where there is none.
Json kinds_json();

}  // namespace stripline::plan
