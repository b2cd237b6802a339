// Quality of decisions: in each cell the tuned plan against the blocking, the hand-written and the
// best plan that exhaustive search finds. The search chooses on runs of its own; all rows are then
// measured interleaved in fresh runs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "suites/results/cells.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// The rows of a cell. "hand4" is variant packed where a kernel has strided transfers, "hand" is
/// blocking where nothing can be issued before it is waited for (CG); "hand_t"
/// what a search over programs by hand chose, "best" that over all plans (search_candidates()).
inline constexpr const char* kRows[] = {"blocking", "hand", "hand4", "tuned", "hand_t", "best"};

/// One cell as measured.
struct CellResult {
  std::string key;  ///< Cell::key()
  std::string fabric;
  uint32_t ranks = 0;
  std::string problem;
  std::map<std::string, std::string> plans;          ///< by row, as the kernel reports them
  std::map<std::string, std::vector<double>> times;  ///< by row: medians of the confirming runs
  size_t candidates = 0;                             ///< plans that the search for "best" tried
};

Json to_json(const CellResult& cell);
/// Of a record that holds these rows. Errors: data_loss.
Result<CellResult> cell_result_from_json(const Json& json,
                                         std::span<const char* const> rows = kRows);

/// Measures one cell with this model. Errors: as measure_run(); a wrong result of a kernel is
/// failed_precondition, one that cannot be measured invalid_argument.
Result<CellResult> measure_cell(const Options& options, const Cell& cell, const std::string& model);

/// Measures the cells of quality_cells() that options.folder does not hold yet and prints the
/// tables of all of them: of few ranks, and of many. Errors: as measure_run(); invalid_argument for
/// a choice of networks or models that means none.
Status print_quality(const Options& options);
Status print_scale(const Options& options);

}  // namespace stripline::suites::results
