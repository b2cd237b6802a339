// A job on two hosts, through a real sshd and a network between them. What needs neither is in
// runtime/bootstrap/hosts_launcher_test.cc.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "tests/e2e/processes.h"
#include "tests/e2e/two_networks.h"

namespace stripline::e2e {
namespace {

using Words = std::vector<std::string>;

/// The host where jobs are started, and another one with an sshd, its own network and its own
/// process numbers. Programs are copies, so that remains of them can be identified.
class TwoHosts : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    sshd_path_ = "/usr/sbin/sshd";
    if (!std::filesystem::exists(sshd_path_) || find_in_path("ssh").empty()) {
      missing_ = "needs sshd (openssh-server)";
      return;
    }
    networks_ = std::make_unique<TwoNetworks>();
    if (!networks_->usable()) {
      missing_ = kNoNetworks;
      return;
    }
    folder_ = std::make_unique<TempFolder>();
    for (const char* name : {"stripline-run", "hello", "waits"}) {
      std::filesystem::copy_file(program(name), *folder_ / name);
    }
    start_sshd();
  }
  static void TearDownTestSuite() {
    sshd_.reset();
    networks_.reset();
    folder_.reset();
  }
  void SetUp() override {
    if (!missing_.empty()) GTEST_SKIP() << missing_;
  }
  void TearDown() override {
    if (missing_.empty()) expect_nothing_left(20);
  }

  static void start_sshd() {
    const std::string folder = folder_->path().string();
    for (const char* name : {"key", "host_key"}) {
      ASSERT_EQ(
          run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder + "/" + name})
              .exit_code,
          0);
    }
    std::ofstream(folder + "/known_hosts")
        << "[" << remote() << "]:2222 " << read_file(folder + "/host_key.pub");
    std::ofstream(folder + "/sshd_config")
        << "Port 2222\nHostKey " << folder << "/host_key\nAuthorizedKeysFile " << folder
        << "/key.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n";
    std::filesystem::create_directories("/run/sshd");  // of its unprivileged processes
    Words argv = networks_->inside(1);
    const Words rest = {
        "unshare",
        "--pid",
        "--uts",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "sh",
        "-c",
        "hostname other-host && exec " + sshd_path_ + " -D -e -f " + folder + "/sshd_config"};
    argv.insert(argv.end(), rest.begin(), rest.end());
    sshd_ = std::make_unique<Program>(*folder_, "sshd", argv);
    ASSERT_TRUE(
        eventually([] { return sshd_->err().find("listening on") != std::string::npos; }, 20))
        << sshd_->err();
  }

  static std::string remote() { return TwoNetworks::address(1); }
  static std::string both() { return TwoNetworks::address(0) + "," + remote(); }
  static std::string copy(const std::string& name) { return (*folder_ / name).string(); }

  static Words command(const Words& options, const Words& program,
                       const std::string& port = "2222") {
    Words argv = networks_->inside(0);
    const std::string ssh = "ssh -p " + port + " -i " + copy("key") + " -F none" +
                            " -o UserKnownHostsFile=" + copy("known_hosts");
    const Words start = {copy("stripline-run"), "--ssh", ssh, "--segment", "1M"};
    argv.insert(argv.end(), start.begin(), start.end());
    argv.insert(argv.end(), options.begin(), options.end());
    argv.emplace_back("--");
    argv.insert(argv.end(), program.begin(), program.end());
    return argv;
  }

  static Finished run(const Words& options, const Words& program,
                      const std::string& peer_timeout = "20") {
    return run_program(command(options, program), 60, {{"STRIPLINE_PEER_TIMEOUT", peer_timeout}});
  }

  /// A job of four ranks that waits for ever, and has come so far.
  static std::unique_ptr<Program> waiting_job(const std::string& name,
                                              const std::string& peer_timeout) {
    auto job = std::make_unique<Program>(
        *folder_, name, command({"-n", "4", "--hosts", both()}, {copy("hello"), "--wait"}),
        std::map<std::string, std::string>{{"STRIPLINE_PEER_TIMEOUT", peer_timeout}});
    EXPECT_TRUE(eventually([&] { return lines_with(job->out(), "greeted by") == 4; }, 30))
        << job->err();
    return job;
  }

  static void expect_nothing_left(double within_s) {
    for (const char* name : {"hello", "waits", "stripline-run"}) {
      EXPECT_TRUE(eventually([&] { return processes_of(copy(name)).empty(); }, within_s)) << name;
    }
  }

  static std::string sshd_path_;
  static std::string missing_;
  static std::unique_ptr<TwoNetworks> networks_;
  static std::unique_ptr<TempFolder> folder_;
  static std::unique_ptr<Program> sshd_;
};

std::string TwoHosts::sshd_path_;
std::string TwoHosts::missing_;
std::unique_ptr<TwoNetworks> TwoHosts::networks_;
std::unique_ptr<TempFolder> TwoHosts::folder_;
std::unique_ptr<Program> TwoHosts::sshd_;

TEST_F(TwoHosts, RanksMeetAndThoseOfOneHostShareMemory) {
  const Finished job = run({"-n", "4", "--hosts", both(), "--label", "--verbose"}, {copy("hello")});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err << sshd_->err();
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_EQ(lines_with(job.out, std::string(rank) + ": hello from rank " + rank + " of 4"), 1U)
        << job.out;
  }
  EXPECT_EQ(lines_with(job.out, ", next to me"), 2U) << job.out;
  EXPECT_NE(job.err.find("ranks 2-3 reach ranks 2-3 by mapped memory, 0-1 by network"),
            std::string::npos)
      << job.err;
}

TEST_F(TwoHosts, ArgumentsAndInputReachTheOtherHostAsTheyAre) {
  const Words odd = {"a b", "it's", "$HOME", "\"", "new\nline"};
  Words program = {"sh", "-c", "cat; printf '<%s>' \"$@\"; exec " + copy("hello"), "sh"};
  program.insert(program.end(), odd.begin(), odd.end());
  Words argv = {"sh", "-c", "echo given | \"$@\"", "sh"};
  const Words job_argv =
      command({"--hosts", remote() + ":1," + TwoNetworks::address(0) + ":1"}, program);
  argv.insert(argv.end(), job_argv.begin(), job_argv.end());
  const Finished job = run_program(argv);
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.out, "given"), 1U) << job.out;
  EXPECT_NE(job.out.find("<a b><it's><$HOME><\"><new\nline>"), std::string::npos) << job.out;
}

TEST_F(TwoHosts, RanksThatFailThereAreNamed) {
  const Finished exits = run({"-n", "4", "--hosts", both()}, {copy("hello"), "--exit", "3", "9"});
  EXPECT_EQ(exits.exit_code, 9);
  EXPECT_NE(exits.err.find("rank 3 on other-host exited with code 9 before it left"),
            std::string::npos)
      << exits.err;
  const Finished stopped = run({"--hosts", both()}, {copy("waits"), "barrier"}, "4");
  EXPECT_EQ(stopped.exit_code, kExitRankDied);
  EXPECT_NE(stopped.err.find("rank 1 has been stopped"), std::string::npos) << stopped.err;
  EXPECT_NE(stopped.err.find(" on " + remote() + ")"), std::string::npos) << stopped.err;
}

TEST_F(TwoHosts, AHostThatSshDoesNotReachIsNamed) {
  const Finished refused = run_program(command({"--hosts", both()}, {copy("hello")}, "2223"));
  EXPECT_EQ(refused.exit_code, kExitUnavailable);
  EXPECT_NE(refused.err.find("cannot reach host " + remote() + ": ssh: connect to host"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(refused.out, "");
}

TEST_F(TwoHosts, SignalsEndTheJob) {
  const auto job = waiting_job("cancelled", "20");
  job->process().signal(SIGTERM);
  const Finished finished = job->finish(20);
  EXPECT_EQ(finished.exit_code, kExitCancelled) << finished.err;
  EXPECT_NE(finished.err.find("ranks 0-3: waiting for "), std::string::npos) << finished.err;
}

TEST_F(TwoHosts, NothingIsLeftOfAJobWhoseLauncherIsKilled) {
  const auto job = waiting_job("killed", "60");
  job->process().signal(SIGKILL);
  EXPECT_LT(job->finish(20).exit_code, 0);
  expect_nothing_left(20);
}

TEST_F(TwoHosts, ALostConnectionEndsTheJobEverywhere) {
  const auto job = waiting_job("lost", "60");
  // sshd's process for the connection: whoever started the program there.
  const auto sshd = children_of(sshd_->process().pid());
  ASSERT_EQ(sshd.size(), 1U);
  for (const pid_t connection : children_of(sshd.front())) ::kill(connection, SIGKILL);
  const Finished finished = job->finish(20);
  EXPECT_EQ(finished.exit_code, kExitRankDied);
  EXPECT_NE(finished.err.find("host " + remote() + " is lost with ranks 2-3: ssh exited with "),
            std::string::npos)
      << finished.err;
  expect_nothing_left(20);
}

TEST_F(TwoHosts, AHostThatIsCutOffEndsTheJobEverywhere) {
  const auto job = waiting_job("cut", "2");
  ASSERT_TRUE(networks_->connect(false));
  const Finished finished = job->finish(30);
  EXPECT_EQ(finished.exit_code, kExitRankDied) << finished.err;
  expect_nothing_left(20);
  EXPECT_TRUE(networks_->connect(true));
}

}  // namespace
}  // namespace stripline::e2e
