// The nodes that have failed runs lately: they are taken last, and after several failures not at
// all for a while. Pure: the caller passes the time. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace stripline::server {

class NodeHealth {
 public:
  /// A run of the campaign failed on this node. `for_good`: it would fail there again.
  void failed(int64_t campaign, const std::string& node, bool for_good, const std::string& reason,
              double now_s);
  /// A run has ended well there: what was before does not matter any more.
  void succeeded(const std::string& node);
  /// An agent speaks for the node. A new one starts without failures: somebody has seen to it.
  void connected(const std::string& node, const std::string& instance);
  /// The campaign has ended: only what concerns all campaigns is remembered.
  void forget(int64_t campaign);

  /// Nodes on which this campaign has failed.
  const std::set<std::string>& suspects(int64_t campaign) const;
  /// Nodes on which it failed for good.
  const std::set<std::string>& unfit(int64_t campaign) const;
  /// How often runs of any campaign have failed there; each counts half after ten minutes.
  double failures(const std::string& node, double now_s) const;
  /// Why no run is given to it now: three runs have failed there within minutes. It lasts a minute,
  /// and twice as long, up to an hour, with each further failure. Empty: there is no reason.
  std::string quarantine(const std::string& node, double now_s) const;
  /// When the next quarantine ends; nullopt without any.
  std::optional<double> next_release_s(double now_s) const;

 private:
  struct Nodes {
    std::set<std::string> suspects;
    std::set<std::string> unfit;
  };
  struct Node {
    double failures = 0;
    double at_s = 0;
    double quarantine_s = 0;  // the length of the last
    double released_s = 0;
    std::string last_reason;
    std::string instance;
  };
  const Nodes& of(int64_t campaign) const;

  std::map<int64_t, Nodes> campaigns_;
  std::map<std::string, Node> nodes_;
};

}  // namespace stripline::server
