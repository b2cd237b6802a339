// The commands of stripline-bench that measure. Each prints its result to standard output, problems
// to standard error, and returns the exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bootstrap/hosts_command.h"
#include "suites/bench/measure.h"

namespace stripline::suites::bench {

/// What `run` and `table` have in common.
struct CommonOptions {
  std::string experiment;
  std::vector<std::string> params;
  Target target;
  uint32_t runs = 12;
  uint32_t reps = 200;                  ///< most repetitions of a point within a run
  std::optional<double> time_budget_s;  ///< for the whole command
};

struct RunOptions {
  CommonOptions common;
  std::vector<std::string> variants;  ///< empty: all that can be measured here, but only_by_name()
  bool json = false;
};
int run_command(const RunOptions& options);

struct TableOptions {
  CommonOptions common;
  std::string json_file;  ///< empty: none
};
int table_command(const TableOptions& options);

/// What models were worth in all tables that wrote these files. Exits with kExitFailure if one
/// lost.
struct VerdictOptions {
  std::vector<std::string> files;  ///< TableOptions::json_file
};
int verdict_command(const VerdictOptions& options);

/// A campaign's plan ('stripline campaign export-plan'), measured without a server. What the
/// results file holds of it already is not measured again.
struct PlanOptions {
  std::string plan_file;
  std::string results_file;
  bootstrap::HostsCommand hosts;
  std::string worker;  ///< path of stripline-worker
  int cancel_fd = -1;  ///< readable when the user wants to stop
};
int plan_command(const PlanOptions& options);

}  // namespace stripline::suites::bench
