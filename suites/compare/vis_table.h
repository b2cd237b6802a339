// The cells of VisSection as a table and as JSON lines.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "suites/compare/vis_section.h"

namespace stripline::suites::compare {

/// A table with the verdict on what it shows.
struct VisTable {
  std::string text;
  size_t cells = 0;
  size_t met = 0;           ///< known to be at most 5 % slower
  size_t inconclusive = 0;  ///< neither known to be at most, nor to be more
  size_t not_met() const { return cells - met - inconclusive; }
  std::string verdict() const;  ///< a sentence
};

/// Median bandwidths, and the paired ratio of times of what was chosen to the better of the loop
/// and the hand-packed transfer, with its 95 % interval. The verdict is that of
/// stats::non_inferiority() with a margin of 5 %. Errors: those of stats::paired_ratio().
Result<VisTable> vis_table(const std::vector<VisCell>& cells, bool markdown);

/// One line per cell and method, as the other rows of the program.
std::string vis_json_lines(const std::vector<VisCell>& cells, const std::string& fabric);

}  // namespace stripline::suites::compare
