// What the run-time analysis takes of kernels' time: kernel.analysis on every network.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "suites/results/cell_result.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// The rows of a cell here: seconds of a kernel's run, and of the analysis in it, on its CPU.
inline constexpr const char* kRowsOfAnalysis[] = {"run", "analysis"};

/// All cells, with the criterion on the share of each, as Markdown. On emulated networks it is on
/// what the analysis would take a CPU that is as much slower than the host's as the profile says.
/// `hidden` is the share of transfers that each network lets computation hide. Errors: those of
/// parse_profile(). Pure.
Result<std::string> analysis_table(const std::vector<CellResult>& cells,
                                   const std::map<std::string, double>& hidden);

/// Measures what options.folder does not hold, and prints the table of all: kernels with the models
/// of their networks, on 2 ranks of tcp and shm, and on 4 of emulated networks under declared
/// computation. Errors: as measure_run(), load_or_measure() and model_file().
Status print_analysis(const Options& options);

}  // namespace stripline::suites::results
