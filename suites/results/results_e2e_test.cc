// stripline-results as users call it: a cell measured by real processes, and a second call that
// finds everything measured.
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
#include "base/subprocess.h"
#include "suites/results/json_lines.h"
#include "suites/results/quality.h"
#include "suites/testing/small_model.h"

namespace stripline::suites::results {
namespace {

class ResultsProgram : public ::testing::Test {
 protected:
  ResultsProgram()
      : folder_(std::filesystem::temp_directory_path() /
                ("stripline-results-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~ResultsProgram() override { std::filesystem::remove_all(folder_); }

  struct Outcome {
    int exit_code = -1;
    std::string out;
    std::string err;
  };

  Outcome results(const std::vector<std::string>& arguments, bool own_folder = true) {
    const auto open_file = [&](const char* name) {
      return UniqueFd(
          ::open((folder_ / name).c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
    };
    const UniqueFd out = open_file("stdout");
    const UniqueFd err = open_file("stderr");
    const char* bin = std::getenv("STRIPLINE_TEST_BIN");  // NOLINT(concurrency-mt-unsafe)
    SubprocessOptions options;
    options.argv = {std::string(bin == nullptr ? "." : bin) + "/stripline-results"};
    if (own_folder) options.argv.insert(options.argv.end(), {"--out", folder_.string()});
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.stdout_fd = out.get();
    options.stderr_fd = err.get();
    auto process = Subprocess::spawn(options);
    if (!process.ok()) {
      ADD_FAILURE() << process.error().message();
      return {};
    }
    const auto status = process->wait(100);
    EXPECT_TRUE(status.ok() && status->signal == 0);
    return {status.ok() ? status->exit_code : -1, read("stdout"), read("stderr")};
  }

  std::filesystem::path path(const char* name) const { return folder_ / name; }

 private:
  std::string read(const char* name) const {
    std::ifstream file(folder_ / name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

TEST_F(ResultsProgram, MeasuresACellOnceAndPrintsItAgain) {
  const std::string fabric = "emulated:opteron-vapi";
  const SmallModel model(fabric);
  const std::vector<std::string> command = {
      "--quick", "--only", "opteron", "--model", fabric + "=" + model.path(), "quality"};
  const Outcome first = results(command);
  ASSERT_EQ(first.exit_code, kExitOk) << first.err;
  EXPECT_NE(first.err.find("cell 1 of 1"), std::string::npos) << first.err;
  const auto records = read_json_lines(path("quick") / "quality.jsonl");
  ASSERT_TRUE(records.ok()) << records.error().message();
  ASSERT_EQ(records->size(), 1U);
  const auto cell = cell_result_from_json(records->front());
  ASSERT_TRUE(cell.ok()) << cell.error().message();
  EXPECT_EQ(cell->times.at("tuned").size(), 2U);
  EXPECT_GT(cell->candidates, 10U);
  EXPECT_NE(first.out.find("| " + fabric + " | 2 |"), std::string::npos) << first.out;

  const Outcome second = results(command);
  EXPECT_EQ(second.exit_code, kExitOk) << second.err;
  EXPECT_EQ(second.err, "") << "nothing was left to measure";
  EXPECT_EQ(second.out, first.out);
}

TEST_F(ResultsProgram, FindsTheTruthOfAnEmulatedNetwork) {
  const Outcome outcome = results({"--quick", "--only", "opteron", "recovery"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("| opteron-vapi | 1 |"), std::string::npos) << outcome.out;
  // Even the thinned grid of the quick run, with its fixed seeds, finds G: the estimates are there.
  EXPECT_NE(outcome.out.find("| G |"), std::string::npos) << outcome.out;
}

TEST_F(ResultsProgram, UsageErrorsSayWhatToDo) {
  EXPECT_EQ(results({}).exit_code, kExitUsage);
  const auto expect_usage = [&](const std::vector<std::string>& arguments,
                                const std::string& hint) {
    const Outcome outcome = results(arguments);
    EXPECT_EQ(outcome.exit_code, kExitUsage) << outcome.err;
    EXPECT_NE(outcome.err.find(hint), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  };
  expect_usage({"--model", "tcp", "quality"}, "FABRIC=FILE");
  expect_usage({"--model", "pigeon=m.json", "quality"}, "emulated:opteron-vapi");
  expect_usage({"--only", "pigeon", "overlap"}, "emulated:opteron-vapi");
  expect_usage({"--only", "tcp", "recovery"}, "emulated network");
  expect_usage({"--search-budget", "nan", "quality"}, "seconds");
}

TEST_F(ResultsProgram, AFolderThatCannotBeWrittenIsToldBeforeMeasuring) {
  std::ofstream(path("occupied")) << "a file";
  const Outcome outcome =
      results({"--quick", "overlap", "--out", path("occupied").string()}, /*own_folder=*/false);
  EXPECT_EQ(outcome.exit_code, kExitUnavailable);
  EXPECT_EQ(outcome.err.find("measuring"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("writable"), std::string::npos) << outcome.err;
}

TEST_F(ResultsProgram, PrintsTheNetworksThatAreAskedFor) {
  Options options;
  options.quick = true;
  const auto cells = quality_cells(options);
  ASSERT_TRUE(cells.ok()) << cells.error().message();
  const Cell& asked = cells->front();
  CellResult cell;
  cell.key = asked.key();
  cell.fabric = asked.network.fabric;
  cell.ranks = asked.ranks;
  cell.problem = asked.problem_text();
  for (const char* row : kRows) {
    cell.plans[row] = "plan";
    cell.times[row] = {1.0, 1.1};
  }
  CellResult other = cell;
  other.key = "tcp, 2 ranks, of another command";
  other.fabric = "tcp";
  for (const CellResult& one : {cell, other}) {
    const Status kept = append_json_line(path("quick") / "quality.jsonl", to_json(one));
    ASSERT_TRUE(kept.ok()) << kept.error().message();
  }
  const Outcome outcome =
      results({"--quick", "--model", asked.network.fabric + "=unused.json", "quality"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("| " + cell.fabric + " | 2 |"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("tcp"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace stripline::suites::results
