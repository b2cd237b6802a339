// stripline-bench as users call it: real processes.
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "suites/testing/small_model.h"

namespace stripline::suites {
namespace {

constexpr const char* kEmulated = "emulated:opteron-vapi,compute=none";

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Bench : public ::testing::Test {
 protected:
  Bench()
      : folder_(std::filesystem::temp_directory_path() /
                ("stripline-bench-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~Bench() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Outcome bench(const std::vector<std::string>& arguments) {
    const auto open_file = [](const std::string& name) {
      return UniqueFd(::open(name.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
    };
    const UniqueFd out = open_file(path("out"));
    const UniqueFd err = open_file(path("err"));
    const char* bin = std::getenv("STRIPLINE_TEST_BIN");  // NOLINT(concurrency-mt-unsafe)
    SubprocessOptions options;
    options.argv = {std::string(bin == nullptr ? "." : bin) + "/stripline-bench"};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.stdout_fd = out.get();
    options.stderr_fd = err.get();
    auto process = Subprocess::spawn(options);
    if (!process.ok()) {
      ADD_FAILURE() << process.error().message();
      return {};
    }
    const auto status = process->wait(90);
    EXPECT_TRUE(status.ok() && status->signal == 0);
    return {status.ok() ? status->exit_code : -1, read_file(path("out")), read_file(path("err"))};
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
  std::filesystem::path folder_;
};

TEST_F(Bench, ListsExperiments) {
  const Outcome text = bench({"list"});
  EXPECT_EQ(text.exit_code, kExitOk);
  EXPECT_NE(text.out.find("kernel.matvec"), std::string::npos);
  const Outcome json = bench({"list", "--json"});
  EXPECT_EQ(json.exit_code, kExitOk);
  EXPECT_TRUE(parse_json(json.out, "list").ok());
}

TEST_F(Bench, MeasuresAndPrintsJsonLines) {
  const Outcome outcome =
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
  const Outcome first = bench(command);
  ASSERT_EQ(first.exit_code, kExitOk) << first.err;
  EXPECT_EQ(bench(command).out, first.out);
}

TEST_F(Bench, MeasuresOnTcp) {
  const Outcome outcome = bench({"run", "micro.latency", "--variant", "am", "--fabric", "tcp",
                                 "--runs", "1", "--time-budget", "1"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("am"), std::string::npos);
  EXPECT_NE(outcome.out.find("us"), std::string::npos);
}

TEST_F(Bench, UsageErrorsSayWhatToDo) {
  const auto expect_usage = [&](const std::vector<std::string>& arguments,
                                const std::string& hint) {
    const Outcome outcome = bench(arguments);
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
               "set their number with -n");
  expect_usage({"run", "kernel.matvec", "--runs", "1", "--variant", "tuned", "--fabric", kEmulated,
                "--clock", "virtual"},
               "--model");
  expect_usage({"table", "--kernel", "micro.latency"}, "kernel.transpose");
  expect_usage({"fly"}, "--help");
}

TEST_F(Bench, AForeignModelIsRefused) {
  const SmallModel model("emulated:itanium-gm");
  const Outcome outcome =
      bench({"run", "kernel.matvec", "--runs", "1", "--variant", "tuned", "--fabric", kEmulated,
             "--clock", "virtual", "--model", model.path()});
  EXPECT_EQ(outcome.exit_code, kExitBadInput) << outcome.err;
  EXPECT_NE(outcome.err.find("fabric"), std::string::npos) << outcome.err;
}

TEST_F(Bench, TheTableHasEveryRow) {
  const SmallModel model(kEmulated);
  const Outcome outcome =
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
  EXPECT_EQ(rows.back()["variant"], "forced");
  EXPECT_NE(outcome.out.find("decompositions"), std::string::npos);
}

}  // namespace
}  // namespace stripline::suites
