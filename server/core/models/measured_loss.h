// What follows from reports of runs that a version made slower: when they count, and where. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/store/model_records.h"

namespace stripline::server {

/// What a place of a program took more by the model's decision than the baseline, as a share, if
/// it surely did: both were timed several times, or the guard has given the decision up. Nullopt:
/// it did not, or it cannot be known.
std::optional<double> loss_of(const model::FeedbackPlace& place);

/// A version lost time where runs used it.
struct MeasuredLoss {
  /// "2 places lost, in reports of 1 run: transpose.cc:17, get 1 MiB, took 134 % longer than the
  /// baseline (program, by nodes/a), ...", the worst first.
  std::string why;
  std::vector<std::string> nodes;  ///< Nodes whose agents reported it, without "nodes/", sorted.
  bool by_users = false;           ///< Users have, who do not say where.
};

/// What the reports that came since then say; nullopt: they name a loss at fewer than two places,
/// and in fewer than two runs.
std::optional<MeasuredLoss> measured_loss(const std::vector<FeedbackRecord>& reports,
                                          double since_unix_s);

/// Whether a node uses what others of its group use.
struct NodeGroup {
  std::string node;
  std::string cluster;
};

/// The nodes of other groups than those where it was seen, sorted; all of the network's nodes are
/// `all`. Empty: it was seen in all of them, or who has reported it does not say where.
std::vector<std::string> elsewhere(const MeasuredLoss& loss, const std::vector<NodeGroup>& all);

}  // namespace stripline::server
