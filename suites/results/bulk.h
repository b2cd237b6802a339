// Programs that copy in blocking calls, in bulk regions, beside themselves without one and beside
// the same made nonblocking by hand: kernels of Chen, Optimizing PGAS Programs for Cluster
// Architectures (2007), section 7.3, with 16 and 64 ranks on two networks of the thesis, under
// declared computation.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "suites/results/cell_result.h"
#include "suites/results/cells.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// A program: a kernel with the variants of it that go together.
struct BulkProgram {
  const char* name;
  const char* kernel;
  const char* blocking;
  const char* manual;
  const char* automatic;
};
/// All of them. A kernel may have several.
const std::vector<BulkProgram>& bulk_programs();

/// The row of a variant that is measured with a model. The rows of a cell are its kernel's
/// variants, and those in regions once more so; with more than 16 ranks these only so.
std::string with_model(const std::string& variant);

/// One cell for each kernel, network and number of ranks, as far as options.only and options.cells
/// select them. Quick: on one network, with 4 ranks, of class S. Errors: invalid_argument for a
/// selection that is empty; internal when a kernel no longer accepts a problem.
Result<std::vector<Cell>> bulk_cells(const Options& options);

/// The criteria by network and number of ranks, and all programs, as Markdown. Pure. Errors: those
/// of optimizer/stats; failed_precondition for a cell that lacks a row.
Result<std::string> bulk_tables(const std::vector<CellResult>& cells);

/// Measures what options.folder does not hold, and prints the tables of all.
Status print_bulk(const Options& options);

}  // namespace stripline::suites::results
