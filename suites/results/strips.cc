#include "suites/results/strips.h"

#include <cstdio>
#include <string>
#include <vector>

#include "suites/results/cells.h"
#include "suites/results/fabrics.h"
#include "suites/results/quality.h"
#include "suites/results/strips_summary.h"

namespace stripline::suites::results {

Status print_strips(const Options& options) {
  STRIPLINE_RETURN_IF_ERROR(check_models(options));
  STRIPLINE_ASSIGN_OR_RETURN(const StripCells cells, strip_cells(options));
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<Cell> kernels,
                             quality_cells(options, CellKind::many_ranks));
  std::erase_if(kernels, [](const Cell& cell) { return !is_cut(cell); });
  if (cells.sweep.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "strips are judged on emulated networks, and none "
                 "of their names contains '" +
                     options.only + "'");
  }
  StripResults results;
  STRIPLINE_ASSIGN_OR_RETURN(
      results.kernels, load_or_measure_cells(options, "strips, kernels", kernels, "scale.jsonl"));
  STRIPLINE_ASSIGN_OR_RETURN(
      results.sweep, load_or_measure_cells(options, "strips, sizes", cells.sweep, "strips.jsonl"));
  STRIPLINE_ASSIGN_OR_RETURN(
      results.applications,
      load_or_measure_cells(options, "strips, applications", cells.applications, "strips.jsonl"));
  STRIPLINE_ASSIGN_OR_RETURN(const auto hidden, hidden_shares(options, cells.sweep));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, strip_tables(results, hidden));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace stripline::suites::results
