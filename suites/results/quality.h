// Quality of decisions: in each cell the tuned plan against the blocking, the hand-written and the
// best plan that exhaustive search finds. The search chooses on runs of its own; all rows are then
// measured interleaved in fresh runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "suites/results/cell_result.h"
#include "suites/results/cells.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// The rows of a cell whose decisions are judged. "hand4" is variant packed where a kernel has
/// strided transfers, "hand" is blocking where nothing can be issued before it is waited for (CG);
/// "hand_t" what a search over programs by hand chose, "best" that over all plans
/// (search_candidates()). Where computing takes the host's time, of which a model does not say
/// everything, there is kGuardedRow, too.
inline constexpr const char* kRows[] = {"blocking", "hand", "hand4", "tuned", "hand_t", "best"};

/// Measures one cell with this model. Errors: as measure_rows().
Result<CellResult> measure_cell(const Options& options, const Cell& cell, const std::string& model);

/// These cells with their rows: those that a file of options.folder holds and, newly measured and
/// kept there, those that are missing. `command` is the name that progress is printed under.
/// Errors: as measure_rows() and model_file().
Result<std::vector<CellResult>> load_or_measure_cells(const Options& options, const char* command,
                                                      const std::vector<Cell>& cells,
                                                      const char* records_file);

/// What the networks of these cells offer to strips (largest_hidden_share() of gets), from the
/// campaigns that their models were fitted from; not of networks whose model the user gave. Errors:
/// as load_or_measure().
Result<std::map<std::string, double>> hidden_shares(const Options& options,
                                                    const std::vector<Cell>& cells);

/// Measures the cells of quality_cells() that options.folder does not hold yet and prints the
/// tables of all of them: of few ranks, and of many. Errors: as measure_run(); invalid_argument for
/// a choice of networks or models that means none.
Status print_quality(const Options& options);
Status print_scale(const Options& options);

}  // namespace stripline::suites::results
