// The variants of carrying out a problem, measured side by side: the rows of a cell.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/stats/compare.h"
#include "suites/bench/measure.h"
#include "suites/results/cells.h"
#include "suites/results/kept_records.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

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
/// Reads a record that holds these rows, and perhaps others. Errors: data_loss.
Result<CellResult> cell_result_from_json(const Json& json, std::span<const char* const> rows);

using KeptCells = KeptRecords<CellResult, &CellResult::key>;

/// The results of cells, of which each has these `rows`: those that `file` of options.folder holds
/// and, newly measured and kept there, those that are missing. `command` is whose progress is
/// shown. Errors: data_loss for a damaged file; those of `measure`.
Result<std::vector<CellResult>> kept_or_measured(
    const Options& options, const std::string& command, const std::vector<Cell>& cells,
    const std::string& file, std::span<const char* const> rows,
    const std::function<Result<CellResult>(const Cell&)>& measure);

/// The cells of each fabric.
std::map<std::string, std::vector<CellResult>> by_fabric(const std::vector<CellResult>& cells);

/// The times of a row over those of another one, paired by run: the geometric mean over cells.
/// Errors: those of optimizer/stats, such as a cell with one run.
Result<stats::GeometricMean> mean_ratio(const std::vector<CellResult>& cells,
                                        const std::string& row, const std::string& baseline);

/// The share of a fabric as a table shows it; "–" where it is not known.
std::string share_text(const std::map<std::string, double>& by_fabric, const std::string& fabric);

/// Where a network is measured with `ranks` ranks. `model` is a file; empty: none.
bench::Target target_of(const Options& options, const Network& network, uint32_t ranks,
                        const std::string& model);

/// The row, and the variant, of what programs have: plans together with the guards that compare
/// them with the baseline.
inline constexpr const char* kGuardedRow = "guarded";

/// These points, each as often as it is carried out in a run: those with guards, or that choose how
/// updates go, in several times as many rounds as others.
std::vector<experiment::Point> in_rounds(const std::vector<experiment::Point>& points,
                                         const bench::Target& target);

/// Without those rounds in which guards have found out: as many are left as of other points.
std::vector<experiment::SampleSeries> settled(std::vector<experiment::SampleSeries> series);

/// How often a point is repeated in a round where times are not those of this host.
experiment::StopRule rule_without_host();

/// This number of repetitions, whatever time they take.
experiment::StopRule exactly(uint32_t repetitions);

/// The median of the second half of a series, before which guards have given up what loses.
double steady_time(const experiment::SampleSeries& series);

/// What is measured of a cell, by row. Rows may be the same point.
using RowPoints = std::vector<std::pair<std::string, experiment::Point>>;

/// Measures these rows interleaved, in fresh runs: `asked_runs`, or as many as intervals need.
/// Points with guards, or that choose methods, are carried out in several times as many rounds as
/// others, and as many count, the last ones: what finding out costs is left out. Errors: as
/// measure_run(); a wrong result of a kernel is failed_precondition, one that cannot be measured
/// invalid_argument.
Result<CellResult> measure_rows(const Options& options, const Cell& cell, const std::string& model,
                                const RowPoints& rows,
                                std::optional<uint32_t> asked_runs = std::nullopt);

}  // namespace stripline::suites::results
