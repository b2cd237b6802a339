// What a model is worth, and what a wrong one costs: rows of the tables on updates, gathers,
// indexed loops, solvers, and updates that a node shares, each with the model of its network,
// without one, and with that model after its parameters were multiplied at random; guards are on.
// In virtual time where a network is emulated.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "suites/results/cell_result.h"
#include "suites/results/cells.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// A row of a table of docs/results.
struct AblatedRow {
  std::string table;  ///< "updates", "solvers", ...
  Cell cell;          ///< with the problem as the runtime chooses for it
};

/// As far as options.only and options.cells select them; what runs on a node only over real
/// networks. Quick: few. Errors: as networks(); invalid_argument if nothing is selected; internal
/// when a kernel no longer accepts a problem.
Result<std::vector<AblatedRow>> ablated_rows(const Options& options);

/// A summary by table, then each row. `results` are those of `rows`, with the times of every model.
/// Pure.
std::string ablation_tables(const std::vector<AblatedRow>& rows,
                            const std::vector<CellResult>& results);

/// Measures what options.folder does not hold yet, and prints the tables. Errors: as
/// ablated_rows(), model_file() and measure_run(); failed_precondition for a result that is wrong.
Status print_ablation(const Options& options);

}  // namespace stripline::suites::results
