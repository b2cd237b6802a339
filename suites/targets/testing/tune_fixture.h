// stripline-tune from beginning to end, with programs that stand for other runtimes.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing/processes.h"
#include "suites/targets/testing/fake_targets.h"

namespace stripline {

class TuneFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!FakeTargets::are_available()) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
    fakes_.add_openmpi();
    fakes_.add_ucx();
  }

  Finished run(std::vector<std::string> arguments, const std::string& wrongs = {}) {
    arguments.insert(arguments.begin(), program("stripline-tune"));
    return run_here(std::move(arguments), wrongs);
  }
  Finished run_here(std::vector<std::string> argv, const std::string& wrongs = {}) {
    return run_program(std::move(argv), 300, fakes_.environment(wrongs));
  }

  /// Tunes bcasts of Open MPI. Only what is to hang is given up soon: a busy host may keep any
  /// launch from printing.
  Finished tune(const std::string& wrongs = {}, std::vector<std::string> more = {},
                const std::string& stall = "100", const std::string& minutes = "1") {
    std::vector<std::string> arguments = {
        "openmpi",       "--ranks", ranks_,         "--minutes", minutes,
        "--collectives", "bcast",   "--most-bytes", "4096",      "--output",
        out().string(),  "--stall", stall};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, wrongs);
  }

  std::filesystem::path out() const { return folder_ / "out"; }
  std::filesystem::path params() const { return out() / "stripline-mca-params.conf"; }
  std::string rules() const { return read_file(out() / "stripline-rules.conf"); }
  Json record() const { return *read_json_file(out() / "stripline-export.json"); }

  TempFolder folder_;
  FakeTargets fakes_{folder_.path()};
  std::string ranks_ = "2,4";
};

}  // namespace stripline
