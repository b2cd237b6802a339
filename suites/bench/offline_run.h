// One run of a campaign that is measured without a server: its ranks on this host or on several,
// as agents would start them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/campaign/offline_results.h"
#include "optimizer/experiment/experiment.h"
#include "runtime/bootstrap/hosts_launcher.h"

namespace stripline::suites::bench {

/// Where the ranks of a plan run.
struct OfflineGroup {
  uint32_t nodes = 1;  ///< Rank r runs on the r mod nodes-th.
  /// Without shares: through ssh, if there are hosts.
  bootstrap::HostsOptions elsewhere;
  std::vector<std::string> hosts;  ///< As ssh takes them, `nodes` or more; empty: this host.
  std::map<std::string, std::string> environment;  ///< That goes along to them.
  std::string worker;                              ///< Path of stripline-worker.
  int cancel_fd = -1;                              ///< Readable when the user wants to stop.
};

/// The hosts of a run: where there are more than it needs, each run takes the next ones. Pure.
std::vector<std::string> hosts_of_run(const std::vector<std::string>& hosts, uint32_t nodes,
                                      uint32_t run);

/// The name of each rank's node: its host's, numbered where several nodes are on one. Pure.
std::vector<std::string> node_names(const std::vector<std::string>& hosts, uint32_t ranks);

/// Whether a plan asks for nothing but what an agent would do for a server: it comes as a file,
/// from wherever. Pure. Errors: failed_precondition for options of the fabric that name files of
/// this host or disturb the network.
Status check_offline(const experiment::Assignment& assignment);

/// Starts fresh ranks, has them measure the assignment within this time, and collects what they
/// send. All but OfflineRun::grid and `added` is set. Errors: check_offline(); as the job ended
/// (measure.h); deadline_exceeded after `time_limit_s`; data_loss for what is not the protocol, or
/// where samples of points are missing.
Result<campaign::OfflineRun> measure_offline(const OfflineGroup& group,
                                             const experiment::Assignment& assignment,
                                             double time_limit_s);

}  // namespace stripline::suites::bench
