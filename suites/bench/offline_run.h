// One run of a campaign that is measured without a server: its ranks on this host or on several,
// as agents would start them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/campaign/offline_results.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/experiment/point_order.h"
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
/// this host or disturb the network, and for points that no experiment of this release declares.
Status check_offline(const experiment::Assignment& assignment);

/// What one run is to do.
struct OfflineOrder {
  experiment::Assignment assignment;
  experiment::LeftOut left_out;  ///< Experiments whose points it passes over, and why.
  double time_limit_s = 0;
  /// Called every two seconds or more often: with the number of points that are measured, and with
  /// what a person should hear, mostly nothing.
  std::function<void(uint32_t points, const std::string& news)> tell;
};

/// Starts fresh ranks, has them measure the order, and collects what they send. All but
/// OfflineRun::grid and `added` is set. `failed_at` becomes the experiment that the ranks measured
/// when they failed, or that they did not get on with, where that is known; else empty. Errors:
/// check_offline(); as the job ended (measure.h); deadline_exceeded after
/// OfflineOrder::time_limit_s, and for points that take too long
/// (optimizer/experiment/point_watch.h); data_loss for what is not the protocol, or where samples
/// of points are missing.
Result<campaign::OfflineRun> measure_offline(const OfflineGroup& group, const OfflineOrder& order,
                                             std::string& failed_at);

}  // namespace stripline::suites::bench
