// How much the chosen method of gathers loses against the best of a sweep, on sparse matrices of
// several patterns and densities, with inspections that are used often and seldom, with few ranks
// on real networks and with many on emulated ones.
#pragma once

#include <vector>

#include "base/result.h"
#include "suites/results/cells.h"
#include "suites/results/choices.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// What decisions are judged on: at least 60 cells over tcp, through mapped memory, on nodes of two
/// ranks, and on three profiles under declared computation, as far as options.only and
/// options.cells select them. Quick: few. Errors: invalid_argument if nothing is selected, with the
/// names that there are.
Result<std::vector<Cell>> gather_cells(const Options& options);

/// The rows of a cell's gathers: kChosenRow first, then the sweep: whole parts, and each method for
/// all pairs of ranks that is another one there. Errors: internal when the kernel no longer accepts
/// a point.
Result<RowPoints> gather_rows(const Cell& cell);

/// What is asked of choices for gathers.
ChoiceQuestion gather_question();

/// Fits a model to each network, measures the cells with it, and prints the tables.
Status print_gather_choices(const Options& options);

}  // namespace stripline::suites::results
