// Decisions on transfers of many regions: half of a grid of cells is fitted, and on the other half
// the choices of the fitted planner are held against the best method measured.
#pragma once

#include "base/result.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// Measures what options.folder does not hold yet (the campaign of each network, then the cells
/// under the chunk and window that it found best) and prints the table. Errors: as
/// load_or_measure() and fit_network().
Status print_vis(const Options& options);

}  // namespace stripline::suites::results
