// One run that has been given out: which nodes hold it, until when their leases last, which ranks
// have joined. Pure state: the caller passes the time. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/store/names.h"

namespace stripline::server {

class RunGroup {
 public:
  struct Times {
    double lease_s = 0;
    double join_timeout_s = 0;
  };

  /// `rank_nodes`: the node of each rank. Leases and the join timeout start at `now_s`.
  RunGroup(const RunKey& run, uint64_t fence, std::vector<std::string> rank_nodes,
           const Times& times, double now_s);

  const RunKey& run() const { return run_; }
  uint64_t fence() const { return fence_; }
  double started_s() const { return started_s_; }
  const std::vector<std::string>& rank_nodes() const { return rank_nodes_; }

  /// Each node once, in order of its first rank.
  const std::vector<std::string>& nodes() const { return nodes_; }
  bool has_node(const std::string& node) const { return leases_.contains(node); }
  std::vector<uint32_t> ranks_of(const std::string& node) const;

  /// A sign of life from a node: its lease starts again.
  void renew(const std::string& node, double now_s);

  /// Rank `rank` joined from `node`; joining again replaces the address until the group is ready.
  /// False when that rank does not belong to that node.
  bool join(const std::string& node, uint32_t rank, const std::string& address);

  /// Every rank has joined.
  bool ready() const { return joined_ == addresses_.size(); }

  /// By rank. Only when ready.
  std::vector<std::string> addresses() const;

  /// All nodes get `delay_s` longer: the server did not look for a while.
  void postpone(double delay_s);

  /// The node's part has ended well; it needs no lease any more.
  void finish(const std::string& node);
  bool finished(const std::string& node) const { return leases_.count(node) > 0 && !lease(node); }
  bool all_finished() const;

  /// Why the run must be given up at `now_s`: a lease has run out or ranks have not joined in time.
  std::optional<std::string> lost(double now_s) const;

  /// The node that makes lost() give the run up, if it is one alone.
  std::optional<std::string> lost_at(double now_s) const;

  /// When lost() may change its answer, unless something happens before.
  std::optional<double> next_deadline_s() const;

 private:
  const std::optional<double>& lease(const std::string& node) const { return leases_.at(node); }

  RunKey run_;
  uint64_t fence_;
  std::vector<std::string> rank_nodes_;
  std::vector<std::string> nodes_;
  Times times_;
  double started_s_;
  double join_end_s_;
  std::map<std::string, std::optional<double>> leases_;  // end of each node's; nullopt: finished
  std::vector<std::optional<std::string>> addresses_;
  size_t joined_ = 0;
};

}  // namespace stripline::server
