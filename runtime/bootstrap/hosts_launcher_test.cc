// stripline-run --hosts from the outside, with a script in the place of ssh that runs its command
// on this host. With a real sshd, and a network between hosts: tests/e2e/hosts_test.cc.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/testing/processes.h"

namespace stripline {
namespace {

using Words = std::vector<std::string>;

/// What a script does that is called as ssh: options, the host, one word with the command.
constexpr const char* kRunHere = R"(exec sh -c "$command")";

class SeveralHosts : public ::testing::Test {
 protected:
  /// The command for --ssh; what it does with $host and $command is `does`.
  std::string ssh(const std::string& does = kRunHere) const {
    const std::string path = (folder_ / "ssh").string();
    std::ofstream(path) << "while [ $# -gt 2 ]; do shift; done\nhost=$1; command=$2\n" << does;
    return "sh " + path;
  }

  static Words command(const Words& options, const Words& program, const std::string& by) {
    Words argv = {stripline::program("stripline-run"), "--ssh", by};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.emplace_back("--");
    argv.insert(argv.end(), program.begin(), program.end());
    return argv;
  }

  Finished run(const Words& options, const Words& program) const {
    return run_by(ssh(), options, program);
  }
  Finished run_by(const std::string& by, const Words& options, const Words& program) const {
    return run_program(command(options, program, by), 60,
                       {{"STRIPLINE_PEER_TIMEOUT", "20"}, {"STRIPLINE_SEGMENT_BYTES", "1M"}});
  }

  TempFolder folder_;
  const std::string hello_ = stripline::program("hello");
};

/// A rank that prints what `says` prints, and then takes part.
Words saying(const std::string& says) {
  return {"sh", "-c", says + "; exec " + program("hello"), "sh"};
}

TEST_F(SeveralHosts, RanksOfAllHostsAreOneJob) {
  const Finished job = run({"-n", "4", "--hosts", "alpha,beta", "--verbose"}, {hello_});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.out, "of 4, greeted by"), 4U) << job.out;
  EXPECT_NE(job.err.find("STRIPLINE_PEER_TIMEOUT"), std::string::npos) << job.err;
  EXPECT_EQ(run({"--hosts", "alpha:2,localhost:1"}, {hello_}).exit_code, kExitOk);
  std::ofstream(folder_ / "hosts") << "# all\nalpha slots=2\nbeta:1\n";
  const Finished listed = run({"--hosts-file", (folder_ / "hosts").string()}, {hello_});
  EXPECT_EQ(lines_with(listed.out, "of 3, greeted by"), 3U) << listed.err;
}

TEST_F(SeveralHosts, ArgumentsEnvironmentAndFolderArriveAsTheyAre) {
  const Words odd = {"a b", "it's", "$HOME", "`id`", "\"", "\\", "new\nline", "", "*", "\xff!"};
  Words program = saying(R"(printf '<%s>' "$@"; printf '[%s][%s][%s]\n' "$ODD" "$HERE" "$PWD")");
  program.insert(program.end(), odd.begin(), odd.end());
  std::string expected;
  for (const std::string& word : odd) expected += "<" + word + ">";
  // hello takes its first argument, which says nothing to it.
  const Finished job = run(
      {"-n", "2", "--hosts", "alpha,beta", "--export", "ODD=a 'b'\n$c", "-x", "HERE=1", "--label"},
      program);
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  expected += "[a 'b'\n$c][1][" + std::filesystem::current_path().string() + "]\n";
  for (const std::string rank : {"0: ", "1: "}) {
    std::istringstream lines(job.out);  // of one rank in order, and of both in any
    std::string said;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(rank)) said += line.substr(rank.size()) + "\n";
    }
    EXPECT_TRUE(said.starts_with(expected)) << job.out;
  }
}

TEST_F(SeveralHosts, NothingOfTheJobStandsInTheCommandLine) {
  const std::string seen = (folder_ / "seen").string();
  const Finished job =
      run_by(ssh("echo \"$command\" >>" + seen + "\n" + kRunHere),
             {"-n", "2", "--hosts", "alpha,beta", "--export", "KEY=secret"}, {hello_, "argument"});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  const std::string command = "exec " + program("stripline-run") + " --share-of-a-job\n";
  EXPECT_EQ(read_file(seen), command + command);
}

TEST_F(SeveralHosts, ManyBytesOfOutputAndInputArrive) {
  std::ofstream(folder_ / "input") << std::string(300'000, 'i');
  const std::string rank =
      "head -c 1000000 /dev/zero; head -c 300000 /dev/zero >&2; cat; exec " + program("hello");
  const std::string line = "exec \"$@\" <" + (folder_ / "input").string();
  Words argv = {"sh", "-c", line, "sh"};
  const Words job_argv = command({"-n", "2", "--hosts", "alpha,beta"}, {"sh", "-c", rank}, ssh());
  argv.insert(argv.end(), job_argv.begin(), job_argv.end());
  const Finished job = run_program(argv);
  EXPECT_EQ(job.exit_code, kExitOk);
  EXPECT_EQ(std::ranges::count(job.out, '\0'), 2'000'000);
  EXPECT_EQ(std::ranges::count(job.err, '\0'), 600'000);
  EXPECT_GE(std::ranges::count(job.out, 'i'), 300'000);
  EXPECT_EQ(lines_with(job.out, "greeted by"), 2U);
}

TEST_F(SeveralHosts, RanksLearnThatNobodyReads) {
  const Words argv = command({"-n", "2", "--hosts", "alpha,beta"}, {"yes"}, ssh());
  Words shell = {"sh", "-c", "\"$@\" | head -n 1", "sh"};
  shell.insert(shell.end(), argv.begin(), argv.end());
  const Finished job = run_program(shell);
  EXPECT_EQ(job.out, "y\n");
  EXPECT_NE(job.err.find("SIGPIPE"), std::string::npos) << job.err;
}

TEST_F(SeveralHosts, ExitCodesArePassedOn) {
  EXPECT_EQ(run({"-n", "2", "--hosts", "alpha,beta"}, {hello_, "--return", "8"}).exit_code, 8);
  const Finished early = run({"-n", "2", "--hosts", "alpha,beta"}, {hello_, "--exit", "1", "3"});
  EXPECT_EQ(early.exit_code, 3);
  EXPECT_NE(early.err.find("rank 1 on "), std::string::npos) << early.err;
  const Finished killed = run({"-n", "2", "--hosts", "alpha,beta"}, {hello_, "--kill", "1"});
  EXPECT_EQ(killed.exit_code, kExitRankDied);
  EXPECT_NE(killed.err.find("killed by signal 9 (SIGKILL); its last operation was "),
            std::string::npos)
      << killed.err;
}

TEST_F(SeveralHosts, LoginShellsMaySaySomethingFirst) {
  const Finished job = run_by(ssh(std::string("printf 'Welcome!\\n{}\\n\\0 no newline'\n") +
                                  "echo 'Warning: added to known hosts' >&2\n" + kRunHere),
                              {"-n", "2", "--hosts", "alpha,beta"}, {hello_});
  EXPECT_EQ(job.exit_code, kExitOk);
  EXPECT_EQ(job.err, "");
}

TEST_F(SeveralHosts, HostsThatCannotTakePartEndTheJobBeforeItStarts) {
  const auto refused = [&](const std::string& does, const Words& options, const Words& program,
                           int exit_code, const std::string& what) {
    Words all = {"-n", "2"};
    all.insert(all.end(), options.begin(), options.end());
    const Finished job = run_by(ssh(does), all, program);
    EXPECT_EQ(job.exit_code, exit_code) << job.err;
    EXPECT_NE(job.err.find(what), std::string::npos) << job.err;
    EXPECT_EQ(job.out, "");
    EXPECT_EQ(lines_with(job.err, ""), 1U) << job.err;
  };
  const Words both = {"--hosts", "alpha,beta"};
  const Words prints = {"echo", "started"};
  const std::string of_beta = std::string("[ $host = beta ] || ") + kRunHere + "\n";
  refused(of_beta + "echo 'ssh: connect to host beta port 22: Connection refused' >&2; exit 255",
          both, prints, kExitUnavailable,
          "cannot reach host beta: ssh: connect to host beta port 22: Connection refused; '" +
              ssh() + " -o BatchMode=yes beta true' has to work");
  refused(of_beta + "exec /nonexistent", both, prints, kExitUsage, "on host beta: ");
  refused(of_beta + "exit 3", both, prints, kExitUnavailable,
          "cannot start ranks on host beta: ssh exited with code 3");
  refused(of_beta + R"(echo '{"type":"host","version":"0.0.1","address":"","caller":""}'; cat)",
          both, prints, kExitBadInput, "host beta has Stripline 0.0.1");
  refused(kRunHere, both, {"/nonexistent/program"}, kExitUsage,
          "a: there is no program '/nonexistent/program'; it has to be");
  refused(kRunHere, {"--hosts", "beta", "--segment", "1T"}, prints, kExitUnavailable,
          "host beta: 2 ranks need");
  refused(of_beta + "sleep 60", {"--hosts", "alpha,beta", "--join-timeout", "0.5"}, prints,
          kExitTimeout, "host beta has not answered within 500 ms");
  refused(kRunHere, {"--hosts", "a:1,b:0"}, prints, kExitUsage, "number of slots");
  refused(kRunHere, {"--hosts", "a:1"}, prints, kExitUsage, "2 ranks do not fit the 1 slot");
  refused(kRunHere, {"--hosts", ""}, prints, kExitUsage, "--hosts: a host without a name");
  refused(kRunHere, {"--hosts-file", "/nonexistent"}, prints, kExitUsage, "/nonexistent");
  refused(kRunHere, {}, prints, kExitUsage, "name these with --hosts");
  refused(kRunHere, {"--hosts", "a,b", "--fabric", "emulated:opteron-vapi"}, prints, kExitUsage,
          "emulated networks exist within one host");
  refused(kRunHere, {"--hosts", "a", "--export", "NOT_SET_ANYWHERE"}, prints, kExitUsage,
          "NOT_SET_ANYWHERE: it is not set here");
  EXPECT_NE(run_by("/nonexistent/ssh", both, prints).err.find("--ssh"), std::string::npos);
}

TEST_F(SeveralHosts, AFolderThatAHostLacksIsTold) {
  const std::string gone = (folder_ / "gone").string();
  std::filesystem::create_directory(gone);
  // The host is asked when the folder has gone.
  const std::string argv_line = "cd " + gone + " && exec \"$@\"";
  Words argv = {"sh", "-c", argv_line, "sh"};
  const Words job_argv = command({"-n", "1", "--hosts", "alpha"}, {hello_},
                                 ssh("rmdir " + gone + "; cd /\n" + kRunHere));
  argv.insert(argv.end(), job_argv.begin(), job_argv.end());
  const Finished job = run_program(argv);
  EXPECT_EQ(job.exit_code, kExitOk);
  EXPECT_EQ(job.err, "stripline-run: warning: host alpha: cannot work in '" + gone +
                         "' (No such file or directory); ranks start in '/'\n");
}

TEST_F(SeveralHosts, ALostConnectionEndsTheJobOnAllHosts) {
  const std::string copy = (folder_ / "hello").string();
  std::filesystem::copy_file(hello_, copy);
  const std::string pid = (folder_ / "pid").string();
  Program job(folder_, "job",
              command({"-n", "2", "--hosts", "alpha,beta"}, {copy, "--wait"},
                      ssh("[ $host = alpha ] || echo $$ >" + pid + "\n" + kRunHere)));
  ASSERT_TRUE(eventually([&] { return lines_with(job.out(), "greeted by") == 2; }, 30));
  ::kill(std::stoi(read_file(pid)), SIGKILL);
  const Finished finished = job.finish(30);
  EXPECT_EQ(finished.exit_code, kExitRankDied);
  EXPECT_NE(finished.err.find("host beta is lost with rank 1: ssh was killed by signal 9"),
            std::string::npos)
      << finished.err;
  EXPECT_TRUE(eventually([&] { return processes_of(copy).empty(); }, 10));
}

TEST_F(SeveralHosts, WhereRanksAreIsTold) {
  const Finished job =
      run({"-n", "2", "--hosts", "alpha,beta", "--timeout", "1.5"}, {hello_, "--wait"});
  EXPECT_EQ(job.exit_code, kExitTimeout);
  EXPECT_NE(job.err.find("Where the ranks were:\n  ranks 0-1: waiting for "), std::string::npos)
      << job.err;
}

}  // namespace
}  // namespace stripline
