// Measuring points: starts fresh ranks of stripline-worker on this host, hands them an assignment,
// and collects the series.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::suites::bench {

/// On what to measure.
struct Target {
  std::string fabric = "tcp";
  std::string clock = "real";
  /// How ranks of one node reach each other (Options::same_node): what is measured is the network
  /// unless something else is asked for.
  std::string same_node = "network";
  uint32_t ranks = 2;
  std::string model_path;     ///< empty: none
  uint64_t seed = 0;          ///< of the order of points and of an emulated fabric's jitter
  double time_limit_s = 600;  ///< for one launch
  std::string worker;         ///< path of stripline-worker
  std::string matrix_path;    ///< Session::matrix_file(); empty: none
  std::string segment_bytes;  ///< STRIPLINE_SEGMENT_BYTES; empty: as inherited
  int cancel_fd = -1;         ///< readable when the user wants to stop
  int suspend_fd = -1;        ///< readable when the user wants to pause (JobOptions::suspend_fd)

  /// What was measured, as results name it: "tcp", or "tcp,same_node=mapped".
  std::string path() const {
    return same_node == "network" ? fabric : fabric + ",same_node=" + same_node;
  }
};

/// True if times there are those of this host: false on the virtual clock where computation is
/// declared or takes none.
bool depends_on_host(const Target& target);

/// One run: fresh ranks measure all points, in an order that depends on the seed and the run.
/// Points may be given several times; each time yields a series. Errors: as the job ended, with the
/// code that exit_code_for() (base/exit_codes.h) maps back to its exit code; deadline_exceeded also
/// names the limit.
Result<std::vector<experiment::SampleSeries>> measure_run(
    const Target& target, uint32_t run, const experiment::StopRule& rule,
    const std::vector<experiment::Point>& points);

}  // namespace stripline::suites::bench
