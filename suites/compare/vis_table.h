// The cells of VisSection as a table and as JSON lines.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "suites/compare/vis_section.h"

namespace stripline::suites::compare {

/// Median bandwidths, and the paired ratio of times of what was chosen to the better of the loop
/// and the hand-packed transfer. Errors: those of stats::paired_ratio().
Result<std::string> vis_table(const std::vector<VisCell>& cells, bool markdown);

/// One line per cell and way, as the other rows of the program.
std::string vis_json_lines(const std::vector<VisCell>& cells, const std::string& fabric);

}  // namespace stripline::suites::compare
