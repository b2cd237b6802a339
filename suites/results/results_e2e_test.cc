// stripline-results as users call it: a cell measured by real processes, and a second call that
// finds everything measured.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"
#include "suites/results/json_lines.h"
#include "suites/results/quality.h"
#include "suites/testing/small_model.h"

namespace stripline::suites::results {
namespace {

class ResultsProgram : public ::testing::Test {
 protected:
  Finished results(const std::vector<std::string>& arguments, bool own_folder = true) const {
    std::vector<std::string> argv = {program("stripline-results")};
    if (own_folder) argv.insert(argv.end(), {"--out", folder_.path().string()});
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run_program(argv, 300);
  }

  std::filesystem::path path(const char* name) const { return folder_ / name; }

 private:
  TempFolder folder_;
};

TEST_F(ResultsProgram, MeasuresACellOnceAndPrintsItAgain) {
  const std::string fabric = "emulated:opteron-vapi";
  const SmallModel model(fabric);
  const std::vector<std::string> command = {
      "--quick", "--only", "opteron", "--model", fabric + "=" + model.path(), "quality"};
  const Finished first = results(command);
  ASSERT_EQ(first.exit_code, kExitOk) << first.err;
  EXPECT_NE(first.err.find("cell 1 of 1"), std::string::npos) << first.err;
  ASSERT_OK_AND_ASSIGN(const auto records, read_json_lines(path("quick") / "quality.jsonl"));
  ASSERT_EQ(records.size(), 1U);
  ASSERT_OK_AND_ASSIGN(const auto cell, cell_result_from_json(records.front(), kRows));
  EXPECT_EQ(cell.times.at("tuned").size(), 2U);
  EXPECT_EQ(cell.times.at(kGuardedRow).size(), 2U);
  EXPECT_GT(cell.candidates, 10U);
  EXPECT_NE(first.out.find("| " + fabric + " | 2 |"), std::string::npos) << first.out;

  const Finished second = results(command);
  EXPECT_EQ(second.exit_code, kExitOk) << second.err;
  EXPECT_EQ(second.err, "") << "nothing was left to measure";
  EXPECT_EQ(second.out, first.out);
}

TEST_F(ResultsProgram, ComparesBlockingProgramsInBulkRegions) {
  const std::string fabric = "emulated:opteron-vapi,compute=declared";
  const SmallModel model(fabric);
  const Finished outcome =
      results({"--quick", "--cells", "nas_mg", "--model", fabric + "=" + model.path(), "bulk"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("| " + fabric + " | 4 | MG | class=S"), std::string::npos)
      << outcome.out;
}

TEST_F(ResultsProgram, FindsTheTruthOfAnEmulatedNetwork) {
  const Finished outcome = results({"--quick", "--only", "opteron", "recovery"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("| opteron-vapi | 1 |"), std::string::npos) << outcome.out;
  // Even the thinned grid of the quick run, with its fixed seeds, finds G: the estimates are there.
  EXPECT_NE(outcome.out.find("| G |"), std::string::npos) << outcome.out;
}

TEST_F(ResultsProgram, UsageErrorsSayWhatToDo) {
  EXPECT_EQ(results({}).exit_code, kExitUsage);
  const auto expect_usage = [&](const std::vector<std::string>& arguments,
                                const std::string& hint) {
    const Finished outcome = results(arguments);
    EXPECT_EQ(outcome.exit_code, kExitUsage) << outcome.err;
    EXPECT_NE(outcome.err.find(hint), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  };
  expect_usage({"--model", "tcp", "quality"}, "FABRIC=FILE");
  expect_usage({"--model", "pigeon=m.json", "quality"}, "emulated:opteron-vapi");
  expect_usage({"--only", "pigeon", "overlap"}, "emulated:opteron-vapi");
  expect_usage({"--only", "tcp", "recovery"}, "emulated network");
  expect_usage({"--search-budget", "nan", "quality"}, "is not a time");
}

TEST_F(ResultsProgram, AFolderThatCannotBeWrittenIsToldBeforeMeasuring) {
  std::ofstream(path("occupied")) << "a file";
  const Finished outcome =
      results({"--quick", "overlap", "--out", path("occupied").string()}, /*own_folder=*/false);
  EXPECT_EQ(outcome.exit_code, kExitUnavailable);
  EXPECT_EQ(outcome.err.find("measuring"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("writable"), std::string::npos) << outcome.err;
}

TEST_F(ResultsProgram, PrintsTheNetworksThatAreAskedFor) {
  Options options;
  options.quick = true;
  ASSERT_OK_AND_ASSIGN(const auto cells, quality_cells(options, CellKind::few_ranks));
  const Cell& asked = cells.front();
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
    ASSERT_OK(append_json_line(path("quick") / "quality.jsonl", to_json(one)));
  }
  const Finished outcome =
      results({"--quick", "--model", asked.network.fabric + "=unused.json", "quality"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("| " + cell.fabric + " | 2 |"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("tcp"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace stripline::suites::results
