// stripline-run from the outside, with a real program on real fabrics.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/subprocess.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"

namespace stripline {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string program(const std::string& name) {
  const char* folder = std::getenv("STRIPLINE_TEST_BIN");  // NOLINT(concurrency-mt-unsafe)
  return (folder != nullptr ? std::string(folder) : executable_folder()) + "/" + name;
}

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

struct Finished {
  ExitStatus status;
  std::string out;
  std::string err;
  double seconds = 0;
};

/// A started program whose output goes to files.
class Job {
 public:
  explicit Job(std::vector<std::string> argv) {
    SubprocessOptions options;
    options.argv = std::move(argv);
    options.stdout_fd = open(out_path_);
    options.stderr_fd = open(err_path_);
    auto spawned = Subprocess::spawn(options);
    ::close(*options.stdout_fd);
    ::close(*options.stderr_fd);
    EXPECT_TRUE(spawned.ok());
    if (spawned.ok()) process_.emplace(std::move(*spawned));
  }
  ~Job() {
    std::error_code ignored;
    std::filesystem::remove(out_path_, ignored);
    std::filesystem::remove(err_path_, ignored);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  pid_t pid() const { return process_->pid(); }
  std::string out() const { return read(out_path_); }

  /// Waits until `text` has been printed `count` times.
  bool printed(const std::string& text, size_t count, double within_s) const {
    const auto start = Clock::now();
    while (seconds_since(start) < within_s) {
      const std::string all = out();
      size_t found = 0;
      for (size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) {
        ++found;
      }
      if (found >= count) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  Finished finish() {
    Finished finished;
    const auto status = process_->wait(60);
    EXPECT_TRUE(status.ok()) << "stripline-run hangs";
    finished.status = status.ok() ? *status : process_->terminate(0);
    finished.out = read(out_path_);
    finished.err = read(err_path_);
    finished.seconds = seconds_since(start_);
    if (finished.status.signal == 0) {
      EXPECT_EQ(shared_memory_of(process_->pid()), 0U) << "left in /dev/shm";
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
  static int open(std::string& path) {
    path = (std::filesystem::temp_directory_path() / "stripline-run-XXXXXX").string();
    return ::mkstemp(path.data());
  }
  static std::string read(const std::string& path) {
    const std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  Clock::time_point start_ = Clock::now();
  std::string out_path_;
  std::string err_path_;
  std::optional<Subprocess> process_;
};

Finished run_as(const std::vector<std::string>& argv) { return Job(argv).finish(); }

/// stripline-run with its arguments.
std::vector<std::string> launcher(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {program("stripline-run")};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

Finished run(const std::vector<std::string>& arguments) { return run_as(launcher(arguments)); }

size_t lines_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) ++count;
  }
  return count;
}

/// Processes whose command line starts with `path`, children of `parent` (or of init, once
/// orphaned).
std::vector<pid_t> processes_of(const std::string& path) {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    std::string command;
    std::getline(file, command, '\0');
    if (command == path) pids.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return pids;
}

class OnFabric : public ::testing::TestWithParam<bool> {
 protected:
  static std::vector<std::string> fabric() { return GetParam() ? kTcp : kVirtual; }
};

TEST_P(OnFabric, EveryRankGreets) {
  const Finished job = run(command({"-n", "3"}, fabric()));
  EXPECT_EQ(job.status.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.out, "of 3, greeted by"), 3U) << job.out;
  EXPECT_EQ(job.err, "");
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
    EXPECT_EQ(job.status.exit_code, kExitOk) << job.err;
    EXPECT_EQ(lines_with(job.out, "of 3, greeted by"), 3U) << job.out;
    EXPECT_EQ(lines_with(job.out, ", next to me"), one.next_to_each_other) << job.out;
  }
}

TEST(StriplineRun, RanksThatDifferInWhatMustBeAlikeAreRefused) {
  const Finished job =
      run({"-n", "2", "--", "sh", "-c",
           "STRIPLINE_SEGMENT_BYTES=$((1048576 * (1 + STRIPLINE_RANK))) exec " + program("hello")});
  EXPECT_EQ(job.status.exit_code, kExitUsage);
  EXPECT_NE(job.err.find("these must be the same for all ranks"), std::string::npos) << job.err;
  const Finished tuned =
      run({"-n", "2", "--tuning", "atomic.way=message", "--", "sh", "-c",
           "[ $STRIPLINE_RANK = 0 ] || STRIPLINE_TUNING=; export STRIPLINE_TUNING; exec " +
               program("hello")});
  EXPECT_EQ(tuned.status.exit_code, kExitUsage);
  EXPECT_NE(tuned.err.find("STRIPLINE_TUNING=atomic.way=message"), std::string::npos) << tuned.err;
}

TEST_P(OnFabric, KilledRankEndsTheJobWithItsName) {
  const Finished job = run(command({"-n", "2"}, fabric(), {"--kill", "1"}));
  EXPECT_EQ(job.status.exit_code, kExitRankDied);
  EXPECT_NE(job.err.find("stripline-run: rank 1 on "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find("was killed by signal 9 (SIGKILL)"), std::string::npos) << job.err;
  EXPECT_LT(job.seconds, 30);
}

TEST_P(OnFabric, ExitCodeOfARankIsPassedOn) {
  const Finished job = run(command({"-n", "2"}, fabric(), {"--exit", "0", "3"}));
  EXPECT_EQ(job.status.exit_code, 3);
  EXPECT_NE(job.err.find("rank 0 on "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find("exited with code 3 before it left the job"), std::string::npos)
      << job.err;
}

INSTANTIATE_TEST_SUITE_P(Fabrics, OnFabric, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "tcp" : "emulated"; });

TEST(StriplineRun, CodeReturnedAfterLeavingIsPassedOnSilently) {
  const Finished job = run(command({"-n", "2"}, kVirtual, {"--return", "8"}));
  EXPECT_EQ(job.status.exit_code, 8);
  EXPECT_EQ(job.err, "");
}

TEST(StriplineRun, RankThatNeverJoinsEndsInATimeout) {
  const Finished job =
      run(command({"-n", "2", "--join-timeout", "1.5"}, kVirtual, {"--sleep-before-join", "1"}));
  EXPECT_EQ(job.status.exit_code, kExitTimeout);
  EXPECT_NE(job.err.find("1 of 2 ranks (1) have not joined within 1.5 s"), std::string::npos)
      << job.err;
}

// A virtual clock would notice that everybody waits; a real one cannot.
TEST(StriplineRun, SignalsCancelTheJob) {
  for (const int number : {SIGINT, SIGTERM}) {
    Job job(launcher(command({"-n", "2"}, kTcp, {"--wait"})));
    ASSERT_TRUE(job.printed("greeted by", 2, 30));
    ::kill(job.pid(), number);
    const Finished finished = job.finish();
    EXPECT_EQ(finished.status.exit_code, kExitCancelled) << finished.err;
    EXPECT_NE(finished.err.find("cancelled"), std::string::npos);
  }
}

TEST(StriplineRun, RanksDieWithTheirLauncher) {
  // A name of its own, so that only this test's ranks are looked for.
  const std::filesystem::path copy =
      std::filesystem::temp_directory_path() / ("hello-" + std::to_string(::getpid()));
  std::filesystem::copy_file(program("hello"), copy);
  for (const bool wrapped : {false, true}) {
    // The shell stays: it has something to do after the rank.
    Job job(launcher(wrapped
                         ? command({"-n", "2"}, kTcp, {"-c", copy.string() + " --wait; true"}, "sh")
                         : command({"-n", "2"}, kTcp, {"--wait"}, copy.string())));
    EXPECT_TRUE(job.printed("greeted by", 2, 30));
    EXPECT_EQ(processes_of(copy.string()).size(), 2U);
    ::kill(job.pid(), SIGKILL);
    const auto start = Clock::now();
    while (!processes_of(copy.string()).empty() && seconds_since(start) < 10) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(processes_of(copy.string()).empty()) << "wrapped: " << wrapped;
    for (const pid_t left : processes_of(copy.string())) ::kill(left, SIGKILL);
    job.finish();
  }
  std::filesystem::remove(copy);
}

TEST(StriplineRun, LostPeerEndsTheJobOnEveryRank) {
  const Finished job =
      run(command({"-n", "3", "--clock", "virtual"},
                  {"--fabric", "emulated:opteron-vapi,compute=none,lose=1@0.00002"}, {"--wait"}));
  EXPECT_EQ(job.status.exit_code, kExitRankDied);
  EXPECT_NE(job.err.find("lost contact with rank 1"), std::string::npos) << job.err;
}

TEST(StriplineRun, VerboseShowsRanksAndSettings) {
  const Finished quiet = run(command({"-n", "2"}, kVirtual));
  EXPECT_EQ(quiet.err, "");
  const Finished job = run(command({"-n", "3", "--verbose", "--join-timeout", "17"}, kVirtual));
  EXPECT_EQ(job.status.exit_code, kExitOk) << job.err;
  EXPECT_NE(job.err.find("3 ranks on 1 node, virtual clock\n"), std::string::npos) << job.err;
  EXPECT_EQ(lines_with(job.err, " 1 MiB "), 3U) << job.err;
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
  const Finished wrong =
      run({"-n", "2", "--segment", "1M", "--", "env", "STRIPLINE_VERBOSE=yes", program("hello")});
  EXPECT_EQ(wrong.status.exit_code, kExitUsage) << wrong.err;
}

TEST(StriplineRun, ModelThatCannotBeUsedIsBadInput) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("run-model-" + std::to_string(::getpid()) + ".stripline.json");
  const auto with_model = [&] {
    return run(command({"-n", "2", "--model", path.string()}, kVirtual));
  };
  const Finished missing = with_model();
  EXPECT_EQ(missing.status.exit_code, kExitBadInput);
  EXPECT_EQ(lines_with(missing.err, path.string()), 1U) << missing.err;  // for both ranks
  EXPECT_NE(missing.err.find("(the same on 1 other rank)"), std::string::npos) << missing.err;

  model::TunedModel model = model::example_model();
  model.fingerprint = {{"fabric.provider", {"verbs;ofi_rxm", model::MatchRule::hard}}};
  ASSERT_TRUE(model::save_model(model, path).ok());
  const Finished foreign = with_model();
  EXPECT_EQ(foreign.status.exit_code, kExitBadInput);
  EXPECT_NE(foreign.err.find("verbs;ofi_rxm"), std::string::npos) << foreign.err;

  model.fingerprint = {{"fabric.provider", {"emulated", model::MatchRule::hard}},
                       {"cpu.model", {"Difference Engine No. 2", model::MatchRule::soft}}};
  ASSERT_TRUE(model::save_model(model, path).ok());
  const Finished differing = with_model();
  EXPECT_EQ(differing.status.exit_code, kExitOk);
  EXPECT_EQ(lines_with(differing.err, "warning: model file"), 1U) << differing.err;
  EXPECT_NE(differing.err.find("Difference Engine"), std::string::npos) << differing.err;

  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Finished truncated = with_model();
  EXPECT_EQ(truncated.status.exit_code, kExitBadInput) << truncated.err;
  std::filesystem::remove(path);
}

TEST(StriplineRun, SegmentThatDoesNotFitIsRefused) {
  for (const char* fabric : {"tcp", "emulated:opteron-vapi"}) {
    const Finished job = run({"-n", "2", "--fabric", fabric, "--clock",
                              std::string(fabric) == "tcp" ? "real" : "virtual", "--segment", "8T",
                              "--", program("hello")});
    EXPECT_EQ(job.status.exit_code, kExitUnavailable) << job.err;
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
  if (in_container("1M", "true").status.exit_code != 0) {
    GTEST_SKIP() << "mounting another /dev/shm needs root";
  }
  const std::string launch = program("stripline-run") + " -n 2 --segment 2M --fabric ";
  const Finished emulated =
      in_container("3M", launch + "emulated:opteron-vapi -- " + program("hello"));
  EXPECT_EQ(emulated.status.exit_code, kExitUnavailable) << emulated.err;
  EXPECT_NE(emulated.err.find("2 segments of 2 MiB do not fit into /dev/shm, which has 3 MiB free"),
            std::string::npos)
      << emulated.err;
  EXPECT_EQ(emulated.out, "");

  const Finished late = in_container(
      "3M", launch + "tcp -- env STRIPLINE_FABRIC=emulated:opteron-vapi STRIPLINE_CLOCK=virtual " +
                program("hello"));
  EXPECT_EQ(late.status.exit_code, kExitUnavailable) << late.err;
  EXPECT_NE(late.err.find("cannot allocate a segment"), std::string::npos) << late.err;
  EXPECT_NE(late.err.find("--shm-size"), std::string::npos) << late.err;

  const Finished shm = in_container("3M", launch + "shm -- " + program("hello"));
  EXPECT_EQ(shm.status.exit_code, kExitUnavailable) << shm.err;
  EXPECT_NE(shm.err.find("warning: libfabric's shm wants"), std::string::npos) << shm.err;
  EXPECT_NE(shm.err.find("rank 0 on "), std::string::npos) << shm.err;
  EXPECT_NE(shm.err.find("queues of libfabric's shm need"), std::string::npos) << shm.err;
}

TEST(StriplineRun, UsageErrorsSayWhatToDo) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& part) {
    const Finished job = run(arguments);
    EXPECT_EQ(job.status.exit_code, kExitUsage);
    EXPECT_NE(job.err.find(part), std::string::npos) << job.err;
  };
  refused({"-n", "2"}, "no program to start");
  refused({"-n", "2", "--"}, "no program to start");
  refused({"-n", "0", "--", "true"}, "--ranks");
  refused({"--frabic", "tcp", "--", "true"}, "--frabic");
  refused({"--segment", "12Q", "--", "true"}, "write e.g. 4096, 64KiB");
  refused({"--segment", "0", "--", "true"}, "--segment is zero");
  refused({"--clock", "sundial", "--", "true"}, "--clock");
  refused({"--", "/nonexistent/program"}, "cannot start '/nonexistent/program'");
}

TEST(StriplineRun, HelpNamesOptionsAndExitCodes) {
  const Finished help = run({"--help"});
  EXPECT_EQ(help.status.exit_code, kExitOk);
  for (const char* part : {"Usage: stripline-run [OPTIONS] -- PROGRAM", "--fabric",
                           "--join-timeout", "--bind", "Exit codes:", "STRIPLINE_FABRIC"}) {
    EXPECT_NE(help.out.find(part), std::string::npos) << part;
  }
}

TEST(StriplineRun, UnknownFabricAndProfileAreUsageErrors) {
  for (const char* fabric : {"carrier-pigeon", "emulated:carrier-pigeon"}) {
    const Finished job =
        run({"-n", "2", "--fabric", fabric, "--segment", "1M", "--", program("hello")});
    EXPECT_EQ(job.status.exit_code, kExitUsage) << job.err;
    EXPECT_EQ(lines_with(job.err, "carrier-pigeon"), 1U) << job.err;
  }
}

TEST(StriplineRun, WrongEnvironmentIsSaidOnce) {
  const Finished job = run({"-n", "2", "--", "env", "STRIPLINE_SEED=x", program("hello")});
  EXPECT_EQ(job.status.exit_code, kExitUsage) << job.err;
  EXPECT_EQ(lines_with(job.err, ""), 1U) << job.err;
  EXPECT_NE(job.err.find("STRIPLINE_SEED='x' is not"), std::string::npos) << job.err;
}

}  // namespace
}  // namespace stripline
