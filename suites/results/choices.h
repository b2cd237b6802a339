// How much a choice of the runtime loses against the best method of a sweep, on cells of several
// problems, networks and numbers of ranks: what measurements of updates and of gathers share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/results/cell_result.h"
#include "suites/results/cells.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// The row of what the runtime chooses with a model.
inline constexpr const char* kChosenRow = "chosen";

/// What is asked of choices of one kind.
struct ChoiceQuestion {
  std::string name;       ///< of the file and the folder that hold its measurements: "updates"
  std::string problems;   ///< the heading of what is chosen for
  std::string explained;  ///< which methods the sweep has, in a sentence
  bool mixes = false;     ///< what is chosen may be another method of these for each pair of ranks
  /// The points of a campaign on a network that a model for these choices rests on.
  std::function<std::vector<experiment::Point>(const Network&, bool quick)> campaign;
  /// The rows of a cell: kChosenRow first, then the sweep.
  std::function<Result<RowPoints>(const Cell&)> rows;
};

/// "no cell on '' has 'x' in its name; they are on tcp, shm": for a selection that is empty.
Error no_such_cell(const Options& options, const std::vector<std::string>& networks);

/// Table rows of cells that were measured, and the verdict of each network. Pure. Errors:
/// failed_precondition for a cell without two runs.
Result<std::string> choice_tables(const ChoiceQuestion& question,
                                  const std::vector<CellResult>& cells);

/// Fits a model to each network, measures the cells with it, as far as they are not kept, and
/// prints the tables.
Status print_choices(const ChoiceQuestion& question, const Options& options,
                     const std::vector<Cell>& cells);

}  // namespace stripline::suites::results
