// How much the chosen method of updates loses against the best one of a sweep, on cells of several
// operators, densities, localities and skews, with few ranks on real networks and with many on
// emulated ones.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "suites/results/cell_result.h"
#include "suites/results/cells.h"
#include "suites/results/choices.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// What decisions are judged on: at least 60 cells on tcp, shm and, with declared computation,
/// three profiles, as far as options.only and options.cells select them. Quick: few. Errors:
/// invalid_argument if nothing is selected, with the names that there are.
Result<std::vector<Cell>> update_cells(const Options& options);

/// The rows of a cell's updates: kChosenRow first, then the sweep: buffers of several sizes, where
/// updates may be merged also unmerged, and for few updates messages, operations of the network,
/// and locks. Errors: internal when the kernel no longer accepts a point.
Result<RowPoints> update_rows(const Cell& cell);

/// What is asked of choices for updates.
ChoiceQuestion update_question();

/// Fits a model to each network, measures the cells with it, and prints the tables.
Status print_update_choices(const Options& options);

}  // namespace stripline::suites::results
