// The rows of stripline-compare, as measured in one launch or several, as a table and as JSON
// lines.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace stripline::suites::compare {

/// What one launch saw of a row.
struct RowTimes {
  std::string name;
  std::string metric;             ///< "latency", "rate" or "bandwidth"
  double amount = 1;              ///< operations or bytes per operation, for rates
  double most = 0;                ///< largest ratio that is accepted; 0: none stated
  std::string baseline;           ///< what the second side is
  std::vector<double> first_s{};  ///< seconds per operation, by round
  std::vector<double> second_s{};
  bool verified = true;
  /// For merged ones: the ratio of times of each launch.
  std::vector<double> launch_ratios{};
};

/// Between the processes.
Json to_json(const std::vector<RowTimes>& rows);
/// Errors: data_loss for what to_json() did not write.
Result<std::vector<RowTimes>> rows_from_json(const Json& json);

/// The rows of several launches as those of one: a round's times are the medians of a launch. Of
/// one launch, its own. Errors: data_loss if the launches have different rows; those of
/// stats::paired_ratio().
Result<std::vector<RowTimes>> merge_launches(const std::vector<std::vector<RowTimes>>& launches);

/// Medians, and paired ratios of times with 95 % intervals; of several launches, the median ratio
/// and its interval by ranks, which six launches have at least: a connection of the kernel that
/// fell into a slow mode takes several times as long, on either side. Errors: those of
/// stats::paired_ratio().
Result<std::string> row_table(const std::vector<RowTimes>& rows, bool markdown);

/// Two lines per row, one for each side.
std::string row_json_lines(const std::vector<RowTimes>& rows, const std::string& fabric);

}  // namespace stripline::suites::compare
