// stripline-bench as users call it: real processes.
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <regex>
#include <signal.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/testing/processes.h"
#include "suites/testing/small_model.h"

namespace stripline::suites {
namespace {

constexpr const char* kEmulated = "emulated:opteron-vapi,compute=none";

class Bench : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::vector<std::string> command(const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {program("stripline-bench")};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
  }

  static UniqueFd open_file(const std::string& name) {
    return UniqueFd(::open(name.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  }

  static Result<Subprocess> start(const std::vector<std::string>& arguments, int out, int err) {
    SubprocessOptions options;
    options.argv = command(arguments);
    options.stdout_fd = out;
    options.stderr_fd = err;
    return Subprocess::spawn(options);
  }

  static int exit_code_of(Result<Subprocess>& process) {
    if (!process.ok()) {
      ADD_FAILURE() << process.error().message();
      return -1;
    }
    const auto status = process->wait(90);
    EXPECT_TRUE(status.ok() && status->signal == 0);
    return status.ok() ? status->exit_code : -1;
  }

  static Finished bench(const std::vector<std::string>& arguments) {
    return run_program(command(arguments), 180);
  }

  static std::vector<Json> lines(const std::string& text) {
    std::vector<Json> parsed;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      auto json = parse_json(line, "line");
      if (json.ok()) {
        parsed.push_back(*std::move(json));
      } else {
        ADD_FAILURE() << json.error().message();
      }
    }
    return parsed;
  }

 private:
  TempFolder folder_;
};

TEST_F(Bench, ListsExperiments) {
  const Finished text = bench({"list"});
  EXPECT_EQ(text.exit_code, kExitOk);
  EXPECT_NE(text.out.find("kernel.matvec"), std::string::npos);
  const Finished json = bench({"list", "--json"});
  EXPECT_EQ(json.exit_code, kExitOk);
  EXPECT_TRUE(parse_json(json.out, "list").ok());
}

TEST_F(Bench, MeasuresAndPrintsJsonLines) {
  const Finished outcome =
      bench({"run", "micro.latency", "--variant", "get", "--variant", "put", "--param",
             "bytes=8,4096", "--fabric", kEmulated, "--clock", "virtual", "--runs", "2", "--json"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  const std::vector<Json> rows = lines(outcome.out);
  ASSERT_EQ(rows.size(), 4u);
  for (const Json& row : rows) {
    EXPECT_EQ(row["experiment"], "micro.latency");
    EXPECT_EQ(row["fabric"], kEmulated);
    EXPECT_EQ(row["runs"], 2);
    EXPECT_EQ(row["verified"], true);
    EXPECT_GT(row["median"].get<double>(), 0);
  }
  EXPECT_FALSE(rows[0].contains("ratio"));
  EXPECT_TRUE(rows[1].contains("ratio"));
  EXPECT_GT(rows[2]["median"].get<double>(), rows[0]["median"].get<double>()) << "4096 B cost more";
}

TEST_F(Bench, RepeatsExactlyOnTheVirtualClock) {
  const std::vector<std::string> command = {
      "run",     "kernel.matvec", "--variant", "hand",   "--param", "rows=8", "--fabric",
      kEmulated, "--clock",       "virtual",   "--runs", "2",       "--json"};
  const Finished first = bench(command);
  ASSERT_EQ(first.exit_code, kExitOk) << first.err;
  EXPECT_EQ(bench(command).out, first.out);
}

// Ranks that are fibers of one process report the times of ranks that are processes.
TEST_F(Bench, DeclaredComputationIsTheSameInOneProcessAndInMany) {
  const auto median_of = [](const std::string& option) {
    const Finished outcome = bench({"run", "kernel.nas_is", "--variant", "hand", "-n", "4",
                                    "--fabric", "emulated:opteron-vapi,compute=declared" + option,
                                    "--clock", "virtual", "--runs", "1", "--reps", "2", "--json"});
    EXPECT_EQ(outcome.exit_code, kExitOk) << outcome.err;
    const auto row = parse_json(outcome.out, "bench");
    return row.ok() ? (*row)["median"].get<double>() : 0.0;
  };
  const double in_one_s = median_of("");
  EXPECT_GT(in_one_s, 0);
  EXPECT_EQ(in_one_s, median_of(",host_delays=3")) << "threads that sleep are of processes";
}

TEST_F(Bench, MeasuresOnTcp) {
  const Finished outcome = bench({"run", "micro.latency", "--variant", "am", "--fabric", "tcp",
                                  "--runs", "1", "--time-budget", "1"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("am"), std::string::npos);
  // Microseconds, or more on a host that is busy.
  EXPECT_TRUE(std::regex_search(outcome.out, std::regex("[0-9] [num]?s"))) << outcome.out;
}

TEST_F(Bench, UsageErrorsSayWhatToDo) {
  const auto expect_usage = [&](const std::vector<std::string>& arguments,
                                const std::string& hint) {
    const Finished outcome = bench(arguments);
    EXPECT_EQ(outcome.exit_code, kExitUsage) << outcome.err;
    EXPECT_NE(outcome.err.find(hint), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  };
  expect_usage({"run", "micro.latncy"}, "did you mean micro.latency");
  expect_usage({"run", "micro.latency", "--variant", "gte"}, "get, put, am");
  expect_usage({"run", "micro.latency", "--param", "size=3"}, "bytes");
  expect_usage({"run", "micro.latency", "--clock", "sundial"}, "clock");
  expect_usage({"run", "micro.latency", "--runs", "1", "--fabric", "carrier-pigeon"}, "tcp");
  expect_usage({"run", "micro.latency", "--runs", "1", "--fabric", "emulated:nowhere"},
               "opteron-vapi");
  expect_usage({"run", "micro.latency", "--runs", "1", "-n", "1", "--fabric", kEmulated, "--clock",
                "virtual"},
               "ranks, not 1");
  expect_usage({"run", "kernel.matvec", "--runs", "1", "--variant", "tuned", "--fabric", kEmulated,
                "--clock", "virtual"},
               "--model");
  expect_usage({"table", "--kernel", "micro.latency"}, "kernel.transpose");
  expect_usage({"table", "--param", "strip_bytes=4096"}, "leave out strip_bytes");
  expect_usage({"run", "micro.latency", "--timeout", "nan"}, "is not a time");
  expect_usage({"run", "micro.latency", "--time-budget", "inf"}, "out of range");
  expect_usage({"fly"}, "--help");
}

TEST_F(Bench, AllVariantsAreThoseThatCanBeMeasuredHere) {
  const Finished outcome = bench({"run", "kernel.matvec", "--param", "rows=8", "--fabric",
                                  kEmulated, "--clock", "virtual", "--runs", "2", "--json"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.err.find("left out: kernel.matvec/tuned"), std::string::npos) << outcome.err;
  std::vector<std::string> variants;
  for (const Json& row : lines(outcome.out)) variants.push_back(row["variant"]);
  EXPECT_EQ(variants,
            (std::vector<std::string>{"blocking", "fine", "hand", "hand4", "untuned", "forced"}));
}

TEST_F(Bench, TakesNoMoreRepetitionsThanAsked) {
  const Finished outcome =
      bench({"run", "micro.latency", "--variant", "get", "--variant", "put", "--fabric", kEmulated,
             "--clock", "virtual", "--runs", "2", "--reps", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  const std::vector<Json> rows = lines(outcome.out);
  ASSERT_EQ(rows.size(), 2u);
  for (const Json& row : rows) EXPECT_EQ(row["samples"], 2) << "one in each run";
}

TEST_F(Bench, ARunThatTakesTooLongNamesItsLimit) {
  const Finished outcome = bench({"run", "kernel.transpose", "--variant", "hand", "--param",
                                  "n=2048", "--param", "passes=256", "--fabric", kEmulated,
                                  "--clock", "virtual", "--runs", "1", "--timeout", "1"});
  EXPECT_EQ(outcome.exit_code, kExitTimeout) << outcome.err;
  EXPECT_NE(outcome.err.find("time limit of 1 s"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("--timeout"), std::string::npos) << outcome.err;
}

TEST_F(Bench, LostOutputIsAFailure) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list"},
        {"run", "micro.latency", "--variant", "get", "--fabric", kEmulated, "--clock", "virtual",
         "--runs", "2", "--json"}}) {
    const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    ASSERT_GE(full.get(), 0);
    const UniqueFd err = open_file(path("err"));
    auto process = start(arguments, full.get(), err.get());
    EXPECT_EQ(exit_code_of(process), kExitUnavailable);
    EXPECT_NE(read_file(path("err")).find("standard output"), std::string::npos);
  }
  const Finished table = bench({"table", "--json", path("none/rows"), "--time-budget", "1"});
  EXPECT_EQ(table.exit_code, kExitUnavailable);
  EXPECT_EQ(table.out, "") << "refused before anything is measured";
}

// A terminal for standard error.
class Terminal {
 public:
  Terminal() : ours_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    char name[64] = "";
    const bool ready = ::grantpt(ours_.get()) == 0 && ::unlockpt(ours_.get()) == 0 &&
                       ::ptsname_r(ours_.get(), name, sizeof name) == 0;
    EXPECT_TRUE(ready);
    theirs_ = UniqueFd(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  }
  int fd() const { return theirs_.get(); }

  /// All that was shown, as soon as `text` is in it.
  std::string wait_for(const std::string& text) {
    while (shown_.find(text) == std::string::npos) {
      pollfd readable{ours_.get(), POLLIN, 0};
      char part[4096];
      const ssize_t size =
          ::poll(&readable, 1, 60000) == 1 ? ::read(ours_.get(), part, sizeof part) : -1;
      if (size <= 0) {
        ADD_FAILURE() << "no '" << text << "' in: " << shown_;
        break;
      }
      shown_.append(part, static_cast<size_t>(size));
    }
    return shown_;
  }

 private:
  UniqueFd ours_;
  UniqueFd theirs_;
  std::string shown_;
};

TEST_F(Bench, ErrorsDoNotStandBehindTheLineOfProgress) {
  Terminal terminal;
  const UniqueFd out = open_file(path("out"));
  auto process = start({"run", "micro.latency", "--runs", "1", "--fabric", "carrier-pigeon"},
                       out.get(), terminal.fd());
  EXPECT_EQ(exit_code_of(process), kExitUsage);
  const std::string shown = terminal.wait_for("stripline-bench: ");
  EXPECT_NE(shown.find("run 1 of 1"), std::string::npos) << shown;
  EXPECT_TRUE(shown.substr(0, shown.find("stripline-bench: ")).ends_with("\r\033[K")) << shown;
}

TEST_F(Bench, EndsOnInterrupt) {
  Terminal terminal;
  const UniqueFd out = open_file(path("out"));
  auto process = start({"run", "micro.latency", "--fabric", kEmulated, "--clock", "virtual",
                        "--runs", "1000", "--variant", "get"},
                       out.get(), terminal.fd());
  ASSERT_TRUE(process.ok()) << process.error().message();
  terminal.wait_for("run 2 of 1000");
  process->signal(SIGINT);
  EXPECT_EQ(exit_code_of(process), kExitCancelled);
  terminal.wait_for("stripline-bench: cancelled");
  EXPECT_EQ(read_file(path("out")), "");
}

TEST_F(Bench, AnOverdrawnBudgetEndsTheTable) {
  // The search alone takes longer than the budget.
  const Finished outcome =
      bench({"table", "--kernel", "kernel.matvec", "--param", "rows=128", "--fabric", kEmulated,
             "--clock", "virtual", "--runs", "2", "--reps", "3", "--time-budget", "0.01"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("2 runs"), std::string::npos) << outcome.out;
}

// Its faces are too large to be put element by element.
TEST_F(Bench, ATableHasNoRowOfAFineVariantThatIsRefused) {
  const Finished outcome =
      bench({"table", "--kernel", "kernel.prk_stencil", "--param", "n=256", "--param", "radius=32",
             "--fabric", kEmulated, "--clock", "virtual", "--runs", "2", "--reps", "3",
             "--time-budget", "1", "--json", path("rows")});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.err.find("left out: kernel.prk_stencil/fine"), std::string::npos);
  EXPECT_EQ(lines(read_file(path("rows"))).front()["row"], "blocking");
}

TEST_F(Bench, FineOfNasKernelsIsRunOnlyWhereItIsAskedFor) {
  const Finished outcome = bench({"run", "kernel.nas_mg", "--fabric", kEmulated, "--clock",
                                  "virtual", "--runs", "1", "--reps", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.err.find("--variant fine"), std::string::npos) << outcome.err;
  for (const Json& row : lines(outcome.out)) EXPECT_NE(row["variant"], "fine");
}

TEST_F(Bench, AForeignModelIsRefused) {
  const SmallModel model("emulated:itanium-gm");
  const Finished outcome =
      bench({"run", "kernel.matvec", "--runs", "1", "--variant", "tuned", "--fabric", kEmulated,
             "--clock", "virtual", "--model", model.path()});
  EXPECT_EQ(outcome.exit_code, kExitBadInput) << outcome.err;
  EXPECT_NE(outcome.err.find("fabric"), std::string::npos) << outcome.err;
}

TEST_F(Bench, TheTableHasEveryRow) {
  const SmallModel model(kEmulated);
  const Finished outcome =
      bench({"table", "--kernel", "kernel.matvec", "--param", "rows=16", "--fabric", kEmulated,
             "--clock", "virtual", "--model", model.path(), "--runs", "2", "--time-budget", "4",
             "--json", path("rows")});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  const std::vector<Json> rows = lines(read_file(path("rows")));
  std::vector<std::string> labels;
  for (const Json& row : rows) {
    labels.push_back(row["row"]);
    EXPECT_EQ(row["verified"], true);
    EXPECT_NE(outcome.out.find(labels.back()), std::string::npos);
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"fine", "blocking", "hand", "hand4", "untuned",
                                              "tuned", "best"}));
  // The best plan does not matter to this test.
  const std::string best = rows.back()["variant"];
  EXPECT_TRUE(best == "forced" || best == "hand" || best == "hand4") << best;
  EXPECT_NE(outcome.out.find("decompositions"), std::string::npos);
}

}  // namespace
}  // namespace stripline::suites
