// How much models of budgeted campaigns vary, and what their decisions lose: several models of one
// emulated network, each judged on strips and on transfers of shapes that no campaign measures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "suites/results/options.h"
#include "suites/results/vis_regret.h"

namespace stripline::suites::results {

/// `count` transfers of which no one has thought: sizes and numbers of regions drawn evenly on a
/// logarithmic scale, all classes of computation, both directions. Deterministic.
std::vector<VisCell> random_vis_cells(size_t count, uint64_t seed);

/// Judges each of options.models, all of emulated networks, which may be those of files. Strips:
/// the loops of strip_cells().sweep, beside the best plan of an exhaustive search. Shapes: the
/// chosen method beside the best one. Errors: invalid_argument without a model, or for one of
/// another network; those of measuring.
Status print_budgeted(const Options& options);

}  // namespace stripline::suites::results
