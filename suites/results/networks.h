// What the decisions of models lose on networks that no one described, on problems that no one
// thought of: a model each of random emulated networks, judged against sweeps and against doing
// without a model.
#pragma once

#include "base/result.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// Judges each of options.models, all of emulated networks, on problems that options.seed draws
/// (drawn_cells.h), as far as options.folder does not hold them yet, and prints the tables of all.
/// What is chosen, what would be done without a model, and all rows of a sweep are carried out
/// without jitter, which shows the best; these three are measured again in paired runs with jitter.
/// Errors: invalid_argument without a model, or for one of another network; those of measuring.
Status print_networks(const Options& options);

}  // namespace stripline::suites::results
