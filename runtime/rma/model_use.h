// Says where a model that was given decides nothing, or decides by another path's entry: loads and
// stores need no plan, and a model has entries only for what was measured.
#pragma once

#include <string>

namespace stripline::detail {
struct ContextState;
}  // namespace stripline::detail

namespace stripline::rma {

/// What a person should know before taking a run for one that the model has planned, and how to
/// change it: whole lines, or empty. Of a job whose ranks know how they reach each other.
std::string model_use_text(const detail::ContextState& state);

/// Stands in `--trace` for the table of what was chosen, where there was nothing to choose.
std::string nothing_traced_text(const detail::ContextState& state);

}  // namespace stripline::rma
