// Says where a model that was given decides nothing, or decides by another path's entry: loads and
// stores need no plan, and a model has entries only for what was measured. Names the rules of
// STRIPLINE_TUNING that have decided nothing, too.
#pragma once

#include <string>

namespace stripline {
class Context;
}  // namespace stripline
namespace stripline::detail {
struct ContextState;
}  // namespace stripline::detail

namespace stripline::rma {

/// What a person should know before taking a run for one that the model has planned, and how to
/// change it: whole lines, or empty. Of a job whose ranks know how they reach each other.
std::string model_use_text(const detail::ContextState& state);

/// Stands in `--trace` for the table of what was chosen, where there was nothing to choose.
std::string nothing_traced_text(const detail::ContextState& state);

/// Collective, at the end of a job: names the rules of a score map that no rank has applied, in a
/// line for people. Empty if there are none, and on all ranks but rank 0.
std::string unapplied_rules_text(Context& context);

}  // namespace stripline::rma
