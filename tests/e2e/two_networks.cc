#include "tests/e2e/two_networks.h"

#include <unistd.h>
#include <utility>

#include "base/testing/processes.h"

namespace stripline::e2e {
namespace {

bool ip(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "ip");
  return run_program(std::move(arguments), 10).exit_code == 0;
}

}  // namespace

TwoNetworks::TwoNetworks() {
  const std::string id = std::to_string(::getpid());
  for (const char* side : {"a", "b"}) names_.push_back("stripline-e2e-" + id + side);
  cable_ = "se" + id;
  usable_ = ip({"netns", "add", names_[0]}) && ip({"netns", "add", names_[1]}) &&
            ip({"link", "add", cable_ + "a", "netns", names_[0], "type", "veth", "peer", "name",
                cable_ + "b", "netns", names_[1]});
  for (size_t side = 0; side < 2 && usable_; ++side) {
    const std::string device = cable_ + (side == 0 ? "a" : "b");
    usable_ = ip({"-n", names_[side], "link", "set", "lo", "up"}) &&
              ip({"-n", names_[side], "addr", "add", address(side) + "/24", "dev", device}) &&
              ip({"-n", names_[side], "link", "set", device, "up"});
  }
}

TwoNetworks::~TwoNetworks() {
  for (const std::string& name : names_) ip({"netns", "del", name});
}

bool TwoNetworks::connect(bool connected) const {
  return ip({"-n", names_[0], "link", "set", cable_ + "a", connected ? "up" : "down"});
}

}  // namespace stripline::e2e
