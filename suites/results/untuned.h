// The runtime without a model beside vectorised blocking transfers: what no one has tuned is not to
// be slower than the baseline.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "suites/results/cell_result.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// The rows of a cell here.
inline constexpr const char* kRowsWithoutModel[] = {"blocking", "untuned"};

/// The criterion, the networks and all cells as Markdown. `hidden` is the share of transfers that
/// each network lets computation hide. Errors: those of optimizer/stats. Pure.
Result<std::string> untuned_tables(const std::vector<CellResult>& cells,
                                   const std::map<std::string, double>& hidden);

/// Measures what options.folder does not hold, and prints the tables of all: the cells of
/// quality_cells() with many ranks on emulated networks, with few on others. Errors: as
/// measure_rows() and load_or_measure().
Status print_untuned(const Options& options);

}  // namespace stripline::suites::results
