// stripline-run from the outside, with a real program on real fabrics.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/process_state.h"
#include "base/pushed_models.h"
#include "base/testing/processes.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"

namespace stripline {
namespace {

const std::vector<std::string> kVirtual = {
    "--fabric", "emulated:opteron-vapi,compute=none", "--clock", "virtual", "--segment", "1M"};
const std::vector<std::string> kTcp = {"--fabric", "tcp", "--segment", "1M"};

/// Arguments of stripline-run: options, the fabric's, and the program with its own.
std::vector<std::string> command(const std::vector<std::string>& options,
                                 const std::vector<std::string>& fabric,
                                 const std::vector<std::string>& hello_arguments = {},
                                 const std::string& hello = program("hello")) {
  std::vector<std::string> all = options;
  all.insert(all.end(), fabric.begin(), fabric.end());
  all.insert(all.end(), {"--", hello});
  all.insert(all.end(), hello_arguments.begin(), hello_arguments.end());
  return all;
}

/// A started stripline-run.
class Job {
 public:
  explicit Job(std::vector<std::string> argv) : program_(folder_, "job", std::move(argv)) {}

  pid_t pid() { return program_.process().pid(); }
  std::string out() const { return program_.out(); }

  /// Waits until `count` lines with `text` have been printed.
  bool printed(const std::string& text, size_t count, double within_s) const {
    return eventually([&] { return lines_with(program_.out(), text) >= count; }, within_s);
  }

  Finished finish() {
    Finished finished = program_.finish(60);
    if (finished.exit_code >= 0) {
      EXPECT_EQ(shared_memory_of(pid()), 0U) << "left in /dev/shm";
    }
    return finished;
  }

 private:
  /// Regions of jobs that this launcher started; its job ids begin with its process number.
  static size_t shared_memory_of(pid_t launcher) {
    const std::string prefix = "stripline-" + std::to_string(launcher) + "-";
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
      if (entry.path().filename().string().starts_with(prefix)) ++count;
    }
    return count;
  }

  TempFolder folder_;
  Program program_;
};

Finished run_as(const std::vector<std::string>& argv) { return Job(argv).finish(); }

/// stripline-run with its arguments.
std::vector<std::string> launcher(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {program("stripline-run")};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

Finished run(const std::vector<std::string>& arguments) { return run_as(launcher(arguments)); }

class OnFabric : public ::testing::TestWithParam<bool> {
 protected:
  static std::vector<std::string> fabric() { return GetParam() ? kTcp : kVirtual; }
};

TEST_P(OnFabric, EveryRankGreets) {
  const Finished job = run(command({"-n", "3"}, fabric()));
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.out, "of 3, greeted by"), 3U) << job.out;
  EXPECT_EQ(job.err, "");
}

TEST(StriplineRun, LabelsSayWhoPrinted) {
  const Finished job = run(command({"-n", "3", "--label"}, kVirtual));
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  for (const char* greeting :
       {"0: hello from rank 0 of 3", "1: hello from rank 1 of 3", "2: hello from rank 2 of 3"}) {
    EXPECT_EQ(lines_with(job.out, greeting), 1U) << job.out;
  }
  EXPECT_EQ(lines_with(job.out, ""), 3U) << job.out;
  EXPECT_EQ(job.err, "");
  // What a rank said before it died, which others may not have come to; and the launcher's account,
  // as it is.
  const Finished dead = run(command({"-n", "2", "--label"}, kVirtual, {"--kill", "1"}));
  EXPECT_EQ(dead.exit_code, kExitRankDied);
  EXPECT_EQ(lines_with(dead.out, "1: hello from rank 1 of 2"), 1U) << dead.out;
  EXPECT_NE(dead.err.find("stripline-run: rank 1 on "), std::string::npos) << dead.err;
}

TEST(StriplineRun, RanksOfOneHostReachEachOthersMemoryAsTheyAreTold) {
  struct Case {
    std::vector<std::string> options;
    size_t next_to_each_other;
  };
  const std::vector<Case> cases = {{{}, 3},
                                   {{"--same-node", "mapped"}, 3},
                                   {{"--same-node", "cma"}, 0},
                                   {{"--same-node", "network"}, 0}};
  for (const Case& one : cases) {
    std::vector<std::string> options = {"-n", "3"};
    options.insert(options.end(), one.options.begin(), one.options.end());
    const Finished job = run(command(options, kTcp));
    EXPECT_EQ(job.exit_code, kExitOk) << job.err;
    EXPECT_EQ(lines_with(job.out, "of 3, greeted by"), 3U) << job.out;
    EXPECT_EQ(lines_with(job.out, ", next to me"), one.next_to_each_other) << job.out;
  }
}

TEST(StriplineRun, ClosedStandardDescriptorsAreNobodysSockets) {
  std::string line = "exec 0<&- 1>&- 2>&-; exec " + program("stripline-run");
  for (const auto& word : command({"-n", "3", "--same-node", "network"}, kTcp)) line += " " + word;
  EXPECT_EQ(run_as({"sh", "-c", line}).exit_code, kExitOk);
  // A job of ranks only, as other launchers may start them.
  const Finished job =
      run({"-n", "3", "--same-node", "network", "--fabric", "tcp", "--segment", "1M", "--", "sh",
           "-c", "exec " + program("hello") + " 0<&- 1>&- 2>&-"});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(job.out, "");
}

TEST(StriplineRun, LimitsOfOpenFilesAreRaisedOrRefuse) {
  const auto under = [](const std::string& limits) {
    std::string line = limits + "; exec " + program("stripline-run");
    for (const auto& word : command({"-n", "8"}, kVirtual)) line += " " + word;
    return run_as({"sh", "-c", line});
  };
  const Finished raised = under("ulimit -Sn 12");
  EXPECT_EQ(raised.exit_code, kExitOk) << raised.err;
  const Finished refused = under("ulimit -n 40");
  EXPECT_EQ(refused.exit_code, kExitUnavailable) << refused.err;
  EXPECT_NE(refused.err.find("8 ranks need 48 open files"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.out, "");
}

TEST(StriplineRun, AThreadServesPeersWhereOneIsAskedForAndCanBe) {
  const std::vector<std::string> options = {"-n", "2", "--progress", "thread"};
  for (const char* path : {"mapped", "network"}) {
    auto with_path = options;
    with_path.insert(with_path.end(), {"--same-node", path});
    const Finished job = run(command(with_path, kTcp));
    EXPECT_EQ(job.exit_code, kExitOk) << job.err;
    EXPECT_EQ(lines_with(job.out, "of 2, greeted by"), 2U) << job.out;
  }
  const Finished job = run(command(options, kVirtual));
  EXPECT_EQ(job.exit_code, kExitUsage);
  EXPECT_NE(job.err.find("has progress inside of calls only"), std::string::npos) << job.err;
}

TEST(StriplineRun, RanksThatDifferInWhatMustBeAlikeAreRefused) {
  const Finished job =
      run({"-n", "2", "--", "sh", "-c",
           "STRIPLINE_SEGMENT_BYTES=$((1048576 * (1 + STRIPLINE_RANK))) exec " + program("hello")});
  EXPECT_EQ(job.exit_code, kExitUsage);
  EXPECT_NE(job.err.find("these must be the same for all ranks"), std::string::npos) << job.err;
  const Finished tuned =
      run({"-n", "2", "--tuning", "progress.call_s=1", "--", "sh", "-c",
           "[ $STRIPLINE_RANK = 0 ] || STRIPLINE_TUNING=; export STRIPLINE_TUNING; exec " +
               program("hello")});
  EXPECT_EQ(tuned.exit_code, kExitUsage);
  EXPECT_NE(tuned.err.find("STRIPLINE_TUNING=progress.call_s=1"), std::string::npos) << tuned.err;
  const Finished guarded = run(
      {"-n", "2", "--", "sh", "-c", "STRIPLINE_GUARD=$STRIPLINE_RANK exec " + program("hello")});
  EXPECT_EQ(guarded.exit_code, kExitUsage);
  EXPECT_NE(guarded.err.find("STRIPLINE_GUARD=0"), std::string::npos) << guarded.err;
}

// Before they connect, which may fail after a minute because of it.
TEST(StriplineRun, RanksWithOtherVariablesOfLibfabricAreNamed) {
  const Finished job = run(command({"-n", "3"}, kTcp, {}, program("hello")));
  EXPECT_EQ(lines_with(job.err, "different variables of libfabric"), 0U) << job.err;
  const Finished differs =
      run({"-n", "3", "--fabric", "tcp", "--segment", "1M", "--", "sh", "-c",
           "[ $STRIPLINE_RANK != 1 ] || export FI_UNIVERSE_SIZE=99; exec " + program("hello")});
  EXPECT_EQ(lines_with(differs.err,
                       "warning: the ranks have different variables of libfabric: rank 0 has none, "
                       "rank 1 has FI_UNIVERSE_SIZE=99; they may not reach each other"),
            1U)
      << differs.err;
}

TEST_P(OnFabric, KilledRankEndsTheJobWithItsName) {
  const double start = steady_seconds();
  const Finished job = run(command({"-n", "2"}, fabric(), {"--kill", "1"}));
  EXPECT_EQ(job.exit_code, kExitRankDied);
  EXPECT_NE(job.err.find("stripline-run: rank 1 on "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find("was killed by signal 9 (SIGKILL); its last operation was allreduce "
                         "(hello.cc:"),
            std::string::npos)
      << job.err;
  EXPECT_LT(steady_seconds() - start, 30);
}

TEST_P(OnFabric, RankKilledBeforeItsFirstCallHasJoined) {
  const Finished job = run(command({"-n", "2"}, fabric(), {"--kill-first", "1"}));
  EXPECT_EQ(job.exit_code, kExitRankDied);
  EXPECT_NE(job.err.find("was killed by signal 9 (SIGKILL); its last operation was Context::init, "
                         "after which it has not called"),
            std::string::npos)
      << job.err;
}

TEST_P(OnFabric, DebugModeChecksWhatTheProgramDoes) {
  const Finished correct = run(command({"-n", "3", "--debug"}, fabric()));
  EXPECT_EQ(correct.exit_code, kExitOk) << correct.err;
  EXPECT_EQ(correct.err, "");
  EXPECT_EQ(run(command({"-n", "2"}, fabric(), {"--stale"})).exit_code, kExitOk);
  const Finished stale = run(command({"-n", "2", "--debug"}, fabric(), {"--stale"}));
  EXPECT_EQ(stale.exit_code, kExitUsage);
  EXPECT_NE(stale.err.find("lies in memory that was freed: in an array of 4 bytes"),
            std::string::npos)
      << stale.err;
  EXPECT_EQ(lines_with(stale.err, "hello.cc:"), 1U) << stale.err;
}

TEST_P(OnFabric, ExitCodeOfARankIsPassedOn) {
  const Finished job = run(command({"-n", "2"}, fabric(), {"--exit", "0", "3"}));
  EXPECT_EQ(job.exit_code, 3);
  EXPECT_NE(job.err.find("rank 0 on "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find("exited with code 3 before it left the job"), std::string::npos)
      << job.err;
}

INSTANTIATE_TEST_SUITE_P(Fabrics, OnFabric, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "tcp" : "emulated"; });

TEST(StriplineRun, CodeReturnedAfterLeavingIsPassedOnSilently) {
  const Finished job = run(command({"-n", "2"}, kVirtual, {"--return", "8"}));
  EXPECT_EQ(job.exit_code, 8);
  EXPECT_EQ(job.err, "");
}

TEST(StriplineRun, RankThatNeverJoinsEndsInATimeout) {
  const Finished job =
      run(command({"-n", "2", "--join-timeout", "1.5"}, kVirtual, {"--sleep-before-join", "1"}));
  EXPECT_EQ(job.exit_code, kExitTimeout);
  EXPECT_NE(job.err.find("1 of 2 ranks (1) have not joined within 1.5 s"), std::string::npos)
      << job.err;
}

TEST(StriplineRun, RanksThatTheHostHasNotTheMemoryForAreRefusedBeforeTheyStart) {
  const std::vector<std::string> program = {"--", "sh", "-c", "echo started"};
  std::vector<std::string> arguments = {"-n", "5000", "--segment", "1T"};
  arguments.insert(arguments.end(), program.begin(), program.end());
  const Finished refused = run(arguments);
  EXPECT_EQ(refused.exit_code, kExitUnavailable);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("5000 ranks need 4.9 PiB of memory"), std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find("--overcommit"), std::string::npos) << refused.err;
  arguments = {"-n", "2", "--segment", "1T", "--overcommit"};
  arguments.insert(arguments.end(), program.begin(), program.end());
  const Finished insists = run(arguments);
  EXPECT_EQ(lines_with(insists.out, "started"), 2U) << insists.err;
  EXPECT_NE(insists.err.find("warning: 2 ranks need 2.0 TiB of memory"), std::string::npos)
      << insists.err;
}

// Process numbers come again, and with them the names of what killed ranks have left.
TEST(StriplineRun, SharedMemoryOfAnEarlierProcessIsNotTakenForTheRanksOwn) {
  const Finished job =
      run({"-n", "2", "--fabric", "shm", "--same-node", "network", "--segment", "1M", "--", "sh",
           "-c", ": >/dev/shm/$$:0:0; exec " + program("hello")});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.out, "greeted by"), 2U) << job.out;
}

TEST(StriplineRun, ATerminalSuspendsTheWholeJob) {
  Job job(launcher({"-n", "2", "--fabric", "tcp", "--segment", "1M", "--", "sh", "-c",
                    "echo $$; exec sleep 100"}));
  ASSERT_TRUE(job.printed("", 2, 30));
  std::vector<pid_t> processes = {job.pid()};
  std::istringstream numbers(job.out());
  for (pid_t pid = 0; numbers >> pid;) processes.push_back(pid);
  ASSERT_EQ(processes.size(), 3U);
  const auto all_stopped = [&](bool stopped) {
    return std::ranges::all_of(processes, [&](pid_t pid) {
      const auto state = process_state(pid);
      return state && state->stopped() == stopped;
    });
  };
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(::kill(job.pid(), SIGTSTP), 0);
    EXPECT_TRUE(eventually([&] { return all_stopped(true); }, 30)) << "round " << round;
    ASSERT_EQ(::kill(job.pid(), SIGCONT), 0);
    EXPECT_TRUE(eventually([&] { return all_stopped(false); }, 30)) << "round " << round;
  }
  ASSERT_EQ(::kill(job.pid(), SIGTERM), 0);
  EXPECT_EQ(job.finish().exit_code, kExitCancelled);
}

TEST(StriplineRun, StandardInputIsThatOfRank0) {
  const Finished job =
      run_as({"sh", "-c",
              "echo given | " + program("stripline-run") +
                  " -n 2 --segment 1M -- sh -c 'cat; exec " + program("hello") + "'"});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.out, "given"), 1U) << job.out;
  EXPECT_EQ(lines_with(job.out, "greeted by"), 2U) << job.out;
}

// A virtual clock would notice that everybody waits; a real one cannot.
TEST(StriplineRun, SignalsCancelTheJob) {
  for (const int number : {SIGINT, SIGTERM}) {
    Job job(launcher(command({"-n", "2"}, kTcp, {"--wait"})));
    ASSERT_TRUE(job.printed("greeted by", 2, 30));
    ::kill(job.pid(), number);
    const Finished finished = job.finish();
    EXPECT_EQ(finished.exit_code, kExitCancelled) << finished.err;
    EXPECT_NE(finished.err.find("cancelled"), std::string::npos);
  }
}

TEST(StriplineRun, RanksDieWithTheirLauncher) {
  // A name of its own, so that only this test's ranks are looked for.
  const TempFolder folder;
  const std::string copy = (folder / "hello").string();
  std::filesystem::copy_file(program("hello"), copy);
  for (const bool wrapped : {false, true}) {
    // The shell stays: it has something to do after the rank.
    Job job(launcher(wrapped ? command({"-n", "2"}, kTcp, {"-c", copy + " --wait; true"}, "sh")
                             : command({"-n", "2"}, kTcp, {"--wait"}, copy)));
    EXPECT_TRUE(job.printed("greeted by", 2, 30));
    EXPECT_EQ(processes_of(copy).size(), 2U);
    ::kill(job.pid(), SIGKILL);
    EXPECT_TRUE(eventually([&] { return processes_of(copy).empty(); }, 10))
        << "wrapped: " << wrapped;
    for (const pid_t left : processes_of(copy)) ::kill(left, SIGKILL);
    (void)job.finish();
  }
}

TEST(StriplineRun, LostPeerEndsTheJobOnEveryRank) {
  const Finished job =
      run(command({"-n", "3", "--clock", "virtual"},
                  {"--fabric", "emulated:opteron-vapi,compute=none,lose=1@0.00002"}, {"--wait"}));
  EXPECT_EQ(job.exit_code, kExitRankDied);
  EXPECT_NE(job.err.find("lost contact with rank 1"), std::string::npos) << job.err;
}

TEST(StriplineRun, VerboseShowsRanksAndSettings) {
  const Finished quiet = run(command({"-n", "2"}, kVirtual));
  EXPECT_EQ(quiet.err, "");
  const Finished job = run(
      command({"-n", "3", "--verbose", "--join-timeout", "17", "--bulk", "--coalesce"}, kVirtual));
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_NE(job.err.find("3 ranks on 1 node, virtual clock\n"), std::string::npos) << job.err;
  EXPECT_EQ(lines_with(job.err, " 1 MiB "), 3U) << job.err;
  EXPECT_EQ(lines_with(job.err, "ranks 0-2 reach ranks 0-2 by network (emulated)"), 1U) << job.err;
  EXPECT_EQ(lines_with(job.err, "memory of the runtime per rank: "), 1U) << job.err;
  const auto setting = [&](const std::string& name) {
    std::istringstream lines(job.err);
    std::string first;
    std::string value;
    std::string origin;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream(line) >> first >> value >> origin;
      if (first == name) return value + " " + origin;
    }
    return std::string();
  };
  EXPECT_EQ(setting("STRIPLINE_CLOCK"), "virtual option") << job.err;
  EXPECT_EQ(setting("STRIPLINE_JOIN_TIMEOUT"), "17 option") << job.err;
  EXPECT_EQ(setting("STRIPLINE_SEED"), "0 default") << job.err;
  EXPECT_EQ(setting("STRIPLINE_BULK"), "1 option") << job.err;
  EXPECT_EQ(setting("STRIPLINE_COALESCE"), "1 option") << job.err;
  const auto reached = [](const std::vector<std::string>& options) {
    std::vector<std::string> all = {"-n", "2", "--verbose"};
    all.insert(all.end(), options.begin(), options.end());
    return run(command(all, kTcp)).err;
  };
  const std::string mapped = reached({});
  EXPECT_EQ(lines_with(mapped, "ranks 0-1 reach ranks 0-1 by mapped memory"), 1U) << mapped;
  const std::string network = reached({"--same-node", "network"});
  EXPECT_EQ(lines_with(network, "ranks 0-1 reach ranks 0-1 by network (tcp"), 1U) << network;
  // Where one rank shows nothing, the others speak for themselves.
  const Finished one = run({"-n", "2", "--segment", "1M", "--", "sh", "-c",
                            "STRIPLINE_VERBOSE=$STRIPLINE_RANK exec " + program("hello")});
  EXPECT_EQ(one.exit_code, kExitOk) << one.err;
  EXPECT_EQ(lines_with(one.err, "rank 1 reaches rank 0 by mapped memory"), 1U) << one.err;
  const Finished wrong =
      run({"-n", "2", "--segment", "1M", "--", "env", "STRIPLINE_VERBOSE=yes", program("hello")});
  EXPECT_EQ(wrong.exit_code, kExitUsage) << wrong.err;
}

TEST(StriplineRun, TakesTheModelThatWasPushedToThisHostAndSaysSo) {
  const TempFolder folder;
  model::TunedModel model = model::example_model();
  model.fingerprint = {{"fabric.provider", {"emulated", model::MatchRule::hard}}};
  ASSERT_TRUE(install_pushed_model(folder.path(), kVirtual[1], "emu@3",
                                   *model::content_sha256(model), model::to_json(model)->dump())
                  .ok());
  ::setenv("STRIPLINE_MODELS", folder.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const Finished with = run(command({"-n", "1", "--verbose"}, kVirtual));
  const Finished without = run(command({"-n", "1", "--model", "none"}, kVirtual));
  const Finished elsewhere = run(command({"-n", "1"}, kTcp));
  ::unsetenv("STRIPLINE_MODELS");  // NOLINT(concurrency-mt-unsafe)
  const std::string line =
      "using model emu@3 (sha256 " + model::content_sha256(model)->substr(0, 12) + ")";
  EXPECT_EQ(with.exit_code, kExitOk) << with.err;
  EXPECT_EQ(lines_with(with.err, line), 1U) << with.err;
  EXPECT_EQ(lines_with(with.err, "emu@3-"), 1U) << with.err;  // the file, among the settings
  EXPECT_EQ(without.exit_code, kExitOk) << without.err;
  EXPECT_EQ(lines_with(without.err, "emu@3"), 0U) << without.err;
  EXPECT_EQ(lines_with(elsewhere.err, "emu@3"), 0U) << elsewhere.err;
}

// No one here has asked for it.
TEST(StriplineRun, APushedModelThatDoesNotFitIsLeftAside) {
  const TempFolder folder;
  model::TunedModel model = model::example_model();
  model.fingerprint = {{"fabric.provider", {"verbs;ofi_rxm", model::MatchRule::hard}}};
  ASSERT_TRUE(install_pushed_model(folder.path(), kVirtual[1], "emu@3",
                                   *model::content_sha256(model), model::to_json(model)->dump())
                  .ok());
  ::setenv("STRIPLINE_MODELS", folder.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const Finished job = run(command({"-n", "2"}, kVirtual));
  ::unsetenv("STRIPLINE_MODELS");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.err, "is left aside, this run goes without"), 1U) << job.err;
  EXPECT_EQ(lines_with(job.err, "verbs;ofi_rxm"), 1U) << job.err;
  EXPECT_EQ(lines_with(job.err, "is not a variable of Stripline"), 0U) << job.err;
}

TEST(StriplineRun, ModelThatCannotBeUsedIsBadInput) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("run-model-" + std::to_string(::getpid()) + ".stripline.json");
  const auto with_model = [&] {
    return run(command({"-n", "2", "--model", path.string()}, kVirtual));
  };
  const Finished missing = with_model();
  EXPECT_EQ(missing.exit_code, kExitBadInput);
  EXPECT_EQ(lines_with(missing.err, path.string()), 1U) << missing.err;  // for both ranks
  EXPECT_NE(missing.err.find("(the same on 1 other rank)"), std::string::npos) << missing.err;

  model::TunedModel model = model::example_model();
  model.fingerprint = {{"fabric.provider", {"verbs;ofi_rxm", model::MatchRule::hard}}};
  ASSERT_TRUE(model::save_model(model, path).ok());
  const Finished foreign = with_model();
  EXPECT_EQ(foreign.exit_code, kExitBadInput);
  EXPECT_NE(foreign.err.find("verbs;ofi_rxm"), std::string::npos) << foreign.err;

  model.fingerprint = {{"fabric.provider", {"emulated", model::MatchRule::hard}},
                       {"cpu.model", {"Difference Engine No. 2", model::MatchRule::soft}}};
  ASSERT_TRUE(model::save_model(model, path).ok());
  const Finished differing = with_model();
  EXPECT_EQ(differing.exit_code, kExitOk);
  EXPECT_EQ(lines_with(differing.err, "warning: model file"), 1U) << differing.err;
  EXPECT_NE(differing.err.find("Difference Engine"), std::string::npos) << differing.err;

  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Finished truncated = with_model();
  EXPECT_EQ(truncated.exit_code, kExitBadInput) << truncated.err;
  std::filesystem::remove(path);
}

TEST(StriplineRun, SegmentThatDoesNotFitIsRefused) {
  for (const char* fabric : {"tcp", "emulated:opteron-vapi"}) {
    const Finished job = run({"-n", "2", "--fabric", fabric, "--clock",
                              std::string(fabric) == "tcp" ? "real" : "virtual", "--segment", "8T",
                              "--", program("hello")});
    EXPECT_EQ(job.exit_code, kExitUnavailable) << job.err;
    EXPECT_NE(job.err.find("segment"), std::string::npos) << job.err;
  }
}

TEST(StriplineRun, SmallSharedMemoryIsSaidBeforeAndByRanks) {
  // A /dev/shm of its own, as a container has.
  const auto in_container = [](const std::string& size, const std::string& command) {
    const std::string script =
        "mount -t tmpfs -o size=" + size + " tmpfs /dev/shm && exec " + command;
    return run_as({"unshare", "--mount", "sh", "-c", script});
  };
  if (in_container("1M", "true").exit_code != 0) {
    GTEST_SKIP() << "mounting another /dev/shm needs root";
  }
  const std::string launch = program("stripline-run") + " -n 2 --segment 2M --fabric ";
  const Finished emulated =
      in_container("3M", launch + "emulated:opteron-vapi -- " + program("hello"));
  EXPECT_EQ(emulated.exit_code, kExitUnavailable) << emulated.err;
  EXPECT_NE(emulated.err.find("2 segments of 2 MiB do not fit into /dev/shm, which has 3 MiB free"),
            std::string::npos)
      << emulated.err;
  EXPECT_EQ(emulated.out, "");

  const Finished late = in_container(
      "3M", launch + "tcp -- env STRIPLINE_FABRIC=emulated:opteron-vapi STRIPLINE_CLOCK=virtual " +
                program("hello"));
  EXPECT_EQ(late.exit_code, kExitUnavailable) << late.err;
  EXPECT_NE(late.err.find("cannot allocate a segment"), std::string::npos) << late.err;
  EXPECT_NE(late.err.find("--shm-size"), std::string::npos) << late.err;

  const Finished shm = in_container("3M", launch + "shm -- " + program("hello"));
  EXPECT_EQ(shm.exit_code, kExitUnavailable) << shm.err;
  EXPECT_NE(shm.err.find("warning: libfabric's shm wants"), std::string::npos) << shm.err;
  // Whichever is first; then the job is ended.
  EXPECT_TRUE(shm.err.find("rank 0 on ") != std::string::npos ||
              shm.err.find("rank 1 on ") != std::string::npos)
      << shm.err;
  EXPECT_NE(shm.err.find("queues of libfabric's shm need"), std::string::npos) << shm.err;
}

TEST(StriplineRun, UsageErrorsSayWhatToDo) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& part) {
    const Finished job = run(arguments);
    EXPECT_EQ(job.exit_code, kExitUsage);
    EXPECT_NE(job.err.find(part), std::string::npos) << job.err;
  };
  refused({"-n", "2"}, "no program to start");
  refused({"-n", "2", "--"}, "no program to start");
  refused({"-n", "0", "--", "true"}, "--ranks");
  refused({"-np", "2", "--", "true"}, "unknown option -np; did you mean -n?");
  refused({"--frabic", "tcp", "--", "true"}, "unknown option --frabic; did you mean --fabric?");
  refused({"-n", "2", "./p", "1"}, "write '--' before the program");
  refused({"--seed", "-1", "--", "true"}, "--seed");
  refused({"--seed", "99999999999999999999", "--", "true"}, "--seed");
  refused({"--timeout", "0", "--", "true"}, "'0' is out of range; write a time from 1 ms on");
  refused({"--segment", "12Q", "--", "true"}, "write e.g. 4096, 64KiB");
  refused({"--segment", "0", "--", "true"}, "--segment is zero");
  refused({"--clock", "sundial", "--", "true"}, "--clock");
  refused({"--", "/nonexistent/program"}, "cannot start '/nonexistent/program'");
}

TEST(StriplineRun, AVariableThatIsNoTimeIsNamed) {
  const Finished job = run_program({program("stripline-run"), "-n", "2", "--", "true"}, 60,
                                   {{"STRIPLINE_JOIN_TIMEOUT", "abc"}});
  EXPECT_EQ(job.exit_code, kExitUsage);
  EXPECT_NE(job.err.find("STRIPLINE_JOIN_TIMEOUT: 'abc' is not a time"), std::string::npos)
      << job.err;
  EXPECT_EQ(job.err.find("--join-timeout"), std::string::npos) << job.err;
}

TEST(StriplineRun, TellsItsVersionAndThatOutputIsLost) {
  EXPECT_TRUE(run({"--version"}).out.starts_with("stripline-run "));
  EXPECT_EQ(
      run_as({"sh", "-c", "exec " + program("stripline-run") + " --help >/dev/full"}).exit_code,
      kExitUnavailable);
}

TEST(StriplineRun, AModelThatIsAPipeIsRefusedAtOnce) {
  const TempFolder folder;
  const std::string pipe = folder / "model.stripline.json";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Finished job = run(command({"-n", "2", "--model", pipe}, kVirtual));
  EXPECT_EQ(job.exit_code, kExitBadInput) << job.err;
  EXPECT_NE(job.err.find("it is a pipe or device"), std::string::npos) << job.err;
}

TEST(StriplineRun, HelpNamesOptionsAndExitCodes) {
  const Finished help = run({"--help"});
  EXPECT_EQ(help.exit_code, kExitOk);
  for (const char* part : {"Usage: stripline-run [OPTIONS] -- PROGRAM", "--fabric",
                           "--join-timeout", "--bind", "Exit codes:", "STRIPLINE_FABRIC"}) {
    EXPECT_NE(help.out.find(part), std::string::npos) << part;
  }
}

TEST(StriplineRun, UnknownFabricAndProfileAreUsageErrors) {
  const Finished near = run(
      {"-n", "1", "--fabric", "emulated:opteron-vapy", "--segment", "1M", "--", program("hello")});
  EXPECT_NE(near.err.find("did you mean 'opteron-vapi'?"), std::string::npos) << near.err;
  for (const char* fabric : {"carrier-pigeon", "emulated:carrier-pigeon"}) {
    const Finished job =
        run({"-n", "2", "--fabric", fabric, "--segment", "1M", "--", program("hello")});
    EXPECT_EQ(job.exit_code, kExitUsage) << job.err;
    EXPECT_EQ(lines_with(job.err, "carrier-pigeon"), 1U) << job.err;
  }
}

TEST(StriplineRun, WrongEnvironmentIsSaidOnce) {
  const Finished job = run({"-n", "2", "--", "env", "STRIPLINE_SEED=x", program("hello")});
  EXPECT_EQ(job.exit_code, kExitUsage) << job.err;
  EXPECT_EQ(lines_with(job.err, ""), 1U) << job.err;
  EXPECT_NE(job.err.find("STRIPLINE_SEED='x' is not"), std::string::npos) << job.err;
}

}  // namespace
}  // namespace stripline
