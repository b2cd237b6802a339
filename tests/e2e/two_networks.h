// Two machines' worth of network on one host, for tests that run as root.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stripline::e2e {

/// Two network namespaces, joined by a veth pair. Removed with its object.
class TwoNetworks {
 public:
  TwoNetworks();
  ~TwoNetworks();
  TwoNetworks(const TwoNetworks&) = delete;
  TwoNetworks& operator=(const TwoNetworks&) = delete;

  bool usable() const { return usable_; }
  static std::string address(size_t side) { return side == 0 ? "10.214.9.1" : "10.214.9.2"; }
  /// What comes before a command that is to run there.
  std::vector<std::string> inside(size_t side) const {
    return {"ip", "netns", "exec", names_[side]};
  }
  /// Pulls the cable out, or puts it in.
  bool connect(bool connected) const;

 private:
  std::vector<std::string> names_;
  std::string cable_;
  bool usable_ = false;
};

/// Why tests that need TwoNetworks are skipped where there are none.
inline constexpr const char* kNoNetworks = "network namespaces need root and iproute2's 'ip netns'";

}  // namespace stripline::e2e
