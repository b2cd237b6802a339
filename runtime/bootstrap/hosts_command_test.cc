#include "runtime/bootstrap/hosts_command.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/command_line.h"
#include "runtime/bootstrap/testing/scoped_environment.h"

namespace stripline::bootstrap {
namespace {

TEST(HostsCommand, ProgramsHaveOnePathOnAllHosts) {
  EXPECT_EQ(program_for_hosts("/opt/app", "/home/ada"), "/opt/app");
  EXPECT_EQ(program_for_hosts("./app", "/home/ada"), "/home/ada/app");
  EXPECT_EQ(program_for_hosts("../bin/app", "/home/ada"), "/home/bin/app");
  EXPECT_EQ(program_for_hosts("no-such-program-anywhere", "/home/ada"), "no-such-program-anywhere");
  const std::filesystem::path shell = program_for_hosts("sh", "/home/ada");
  EXPECT_TRUE(shell.is_absolute());
  EXPECT_EQ(shell.filename(), "sh");
}

TEST(HostsCommand, VariablesOfOneHostStayThere) {
  const ScopedEnvironment set({{"STRIPLINE_FABRIC", "tcp"},
                               {"STRIPLINE_SEED", "7"},
                               {"STRIPLINE_ADDRESS", "10.0.0.1"},
                               {"STRIPLINE_RANK", "3"},
                               {"FI_OFI_RXM_RX_SIZE", "64"},
                               {"OMP_NUM_THREADS", "4"}});
  std::map<std::string, std::string> environment = {{"STRIPLINE_SEED", "9"}};
  ASSERT_TRUE(add_environment_for_hosts({"OMP_NUM_THREADS", "A=b=c", "E="}, environment).ok());
  EXPECT_EQ(environment.at("STRIPLINE_FABRIC"), "tcp");
  EXPECT_EQ(environment.at("STRIPLINE_SEED"), "9");
  EXPECT_EQ(environment.at("FI_OFI_RXM_RX_SIZE"), "64");
  EXPECT_EQ(environment.at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(environment.at("A"), "b=c");
  EXPECT_EQ(environment.at("E"), "");
  for (const char* stays : {"STRIPLINE_ADDRESS", "STRIPLINE_RANK", "PATH"}) {
    EXPECT_FALSE(environment.contains(stays)) << stays;
  }
  EXPECT_FALSE(add_environment_for_hosts({"=x"}, environment).ok());
  EXPECT_FALSE(add_environment_for_hosts({"NOT_SET_ANYWHERE"}, environment).ok());
}

TEST(HostsCommand, TheCommandForSshIsTheOptionsElseTheVariables) {
  const ScopedEnvironment usual(
      std::map<std::string, std::string>{{"STRIPLINE_SSH", "ssh -p 2222"}});
  HostsCommand command;
  command.hosts = "a:2,b:2";
  auto options = hosts_options(command, 3);
  ASSERT_TRUE(options.ok()) << options.error().message();
  EXPECT_EQ(options->ssh, (std::vector<std::string>{"ssh", "-p", "2222"}));
  EXPECT_EQ(options->shares, (std::vector<HostRanks>{{"a", 0, 2}, {"b", 2, 1}}));
  EXPECT_TRUE(std::filesystem::equivalent(options->folder, std::filesystem::current_path()));
  command.ssh = "my-ssh";
  EXPECT_EQ(hosts_options(command, 3)->ssh, std::vector<std::string>{"my-ssh"});
  command.ssh = "'";
  EXPECT_EQ(hosts_options(command, 3).error().code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stripline::bootstrap
