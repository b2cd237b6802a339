// Which nodes have failed runs lately: they are taken last. Pure: the caller passes the time. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace stripline::server {

class NodeHealth {
 public:
  /// A run of the campaign failed on this node. `for_good`: in a way that will come back there.
  void failed(int64_t campaign, const std::string& node, bool for_good, double now_s);
  /// The campaign has ended: only what concerns all campaigns is remembered.
  void forget(int64_t campaign);

  /// Nodes on which this campaign has failed.
  const std::set<std::string>& suspects(int64_t campaign) const;
  /// Nodes on which it failed for good.
  const std::set<std::string>& unfit(int64_t campaign) const;
  /// How often runs of any campaign have failed there; each counts half after ten minutes.
  double failures(const std::string& node, double now_s) const;

 private:
  struct Nodes {
    std::set<std::string> suspects;
    std::set<std::string> unfit;
  };
  struct Count {
    double failures = 0;
    double at_s = 0;
  };
  const Nodes& of(int64_t campaign) const;

  std::map<int64_t, Nodes> campaigns_;
  std::map<std::string, Count> counts_;
};

}  // namespace stripline::server
