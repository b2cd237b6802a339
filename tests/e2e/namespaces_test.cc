// Two agents in two networks that share nothing but a cable: the ranks must find each other by the
// addresses that travel through the server.
#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "tests/e2e/processes.h"
#include "tests/e2e/two_networks.h"

namespace stripline::e2e {
namespace {

TEST(Namespaces, ACampaignOnTcpBetweenTwoNetworks) {
  const TwoNetworks networks;
  if (!networks.usable()) GTEST_SKIP() << kNoNetworks;
  const TempFolder folder;
  ServerSetup setup;
  setup.prefix = networks.inside(0);
  setup.door = Door::anyone;
  setup.listen = TwoNetworks::address(0) + ":7411";
  const ServerProcess server(folder, setup);
  ASSERT_FALSE(server.address().empty()) << server.log();
  // No one says which addresses to use: it is those by which the agents reach the server.
  const AgentProcess a(folder, server.address(), "a", networks.inside(0));
  const AgentProcess b(folder, server.address(), "b", networks.inside(1));
  // Other tests keep this host busy, for whose end campaigns wait.
  std::vector<std::string> command = networks.inside(0);
  command.insert(command.end(), {program("stripline"), "--server", server.address(), "campaign",
                                 "run", "--fabric", "tcp", "--runs", "6", "--experiment",
                                 "micro.latency", "--time-budget", "60", "--when-busy", "measure"});
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
