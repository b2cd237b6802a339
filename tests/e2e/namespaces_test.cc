// Two agents in two networks that share nothing but a cable: the ranks must find each other by the
// addresses that travel through the server.
#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

/// Two network namespaces, joined by a veth pair. Removed with its object.
class TwoNetworks {
 public:
  TwoNetworks() {
    const std::string id = std::to_string(::getpid());
    for (const char* side : {"a", "b"}) names_.push_back("stripline-e2e-" + id + side);
    const std::string cable = "se" + id;
    usable_ = ip({"netns", "add", names_[0]}) && ip({"netns", "add", names_[1]}) &&
              ip({"link", "add", cable + "a", "netns", names_[0], "type", "veth", "peer", "name",
                  cable + "b", "netns", names_[1]});
    for (size_t side = 0; side < 2 && usable_; ++side) {
      const std::string device = cable + (side == 0 ? "a" : "b");
      usable_ = ip({"-n", names_[side], "link", "set", "lo", "up"}) &&
                ip({"-n", names_[side], "addr", "add", address(side) + "/24", "dev", device}) &&
                ip({"-n", names_[side], "link", "set", device, "up"});
    }
  }
  ~TwoNetworks() {
    for (const std::string& name : names_) ip({"netns", "del", name});
  }
  TwoNetworks(const TwoNetworks&) = delete;
  TwoNetworks& operator=(const TwoNetworks&) = delete;

  bool usable() const { return usable_; }
  static std::string address(size_t side) { return side == 0 ? "10.214.9.1" : "10.214.9.2"; }
  std::vector<std::string> inside(size_t side) const {
    return {"ip", "netns", "exec", names_[side]};
  }

 private:
  static bool ip(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ip");
    return run_program(std::move(arguments), 10).exit_code == 0;
  }
  std::vector<std::string> names_;
  bool usable_ = false;
};

TEST(Namespaces, ACampaignOnTcpBetweenTwoNetworks) {
  const TwoNetworks networks;
  if (!networks.usable()) GTEST_SKIP() << "network namespaces need root and iproute2's 'ip netns'";
  const TempFolder folder;
  ServerSetup setup;
  setup.prefix = networks.inside(0);
  setup.dev = false;
  setup.listen = TwoNetworks::address(0) + ":7411";
  const ServerProcess server(folder, setup);
  ASSERT_FALSE(server.address().empty()) << server.log();
  const AgentProcess a(folder, server.address(), "a", networks.inside(0),
                       {{"STRIPLINE_ADDRESS", TwoNetworks::address(0)}});
  const AgentProcess b(folder, server.address(), "b", networks.inside(1),
                       {{"STRIPLINE_ADDRESS", TwoNetworks::address(1)}});
  std::vector<std::string> command = networks.inside(0);
  command.insert(command.end(),
                 {program("stripline"), "--server", server.address(), "campaign", "run", "--fabric",
                  "tcp", "--runs", "6", "--experiment", "micro.latency", "--time-budget", "60"});
  const Finished campaign = run_program(command, 90);
  EXPECT_EQ(campaign.exit_code, kExitOk)
      << campaign.out << campaign.err << server.log() << a.log() << b.log();

  command = networks.inside(0);
  command.insert(command.end(), {program("stripline"), "--server", server.address(), "--json",
                                 "campaign", "show", "c1"});
  const auto shown = parse_json(run_program(command).out, "campaign");
  ASSERT_TRUE(shown.ok());
  EXPECT_EQ((*shown)["runs_done"], 6);
  EXPECT_EQ((*shown)["message"], "6 of 6 runs measured; no model was asked for");
}

}  // namespace
}  // namespace stripline::e2e
