#include "runtime/rma/options.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>

#include "base/exit_codes.h"
#include "runtime/bootstrap/testing/scoped_environment.h"
#include "runtime/bootstrap/testing/thread_group.h"

namespace stripline {
namespace {

using bootstrap::ScopedEnvironment;

TEST(Options, DefaultsWithoutVariables) {
  const auto options = Options::from_environment();
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->fabric, "tcp");
  EXPECT_EQ(options->clock, "real");
  EXPECT_EQ(options->model_path, "");
  EXPECT_EQ(options->progress, "manual");
  EXPECT_EQ(options->segment_bytes, size_t{256} << 20);
  EXPECT_EQ(options->seed, 0U);
}

TEST(Options, EveryVariableIsRead) {
  const ScopedEnvironment environment({{"STRIPLINE_FABRIC", "emulated:power5-lapi"},
                                       {"STRIPLINE_CLOCK", "virtual"},
                                       {"STRIPLINE_MODEL", "a.stripline.json"},
                                       {"STRIPLINE_PROGRESS", "thread"},
                                       {"STRIPLINE_GUARD", "0"},
                                       {"STRIPLINE_LOAD_ESTIMATION", "0"},
                                       {"STRIPLINE_TRACE", "sites"},
                                       {"STRIPLINE_SEGMENT_BYTES", "3M"},
                                       {"STRIPLINE_SEED", "18446744073709551615"}});
  const auto options = Options::from_environment();
  ASSERT_TRUE(options.ok()) << options.error().message();
  EXPECT_EQ(options->fabric, "emulated:power5-lapi");
  EXPECT_EQ(options->clock, "virtual");
  EXPECT_EQ(options->model_path, "a.stripline.json");
  EXPECT_EQ(options->progress, "thread");
  EXPECT_FALSE(options->guard);
  EXPECT_FALSE(options->load_estimation);
  EXPECT_EQ(options->trace, "sites");
  EXPECT_EQ(options->segment_bytes, size_t{3} << 20);
  EXPECT_EQ(options->seed, UINT64_MAX);
}

TEST(Options, ValuesThatDoNotParseAreNamed) {
  const std::map<std::string, std::string> wrong = {{"STRIPLINE_CLOCK", "sundial"},
                                                    {"STRIPLINE_TRACE", "everything"},
                                                    {"STRIPLINE_GUARD", "perhaps"},
                                                    {"STRIPLINE_SEGMENT_BYTES", "many"},
                                                    {"STRIPLINE_SEED", "-1"}};
  for (const auto& [name, value] : wrong) {
    const ScopedEnvironment environment(std::map<std::string, std::string>{{name, value}});
    const auto options = Options::from_environment();
    ASSERT_FALSE(options.ok()) << name;
    EXPECT_EQ(options.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(options.error().message().find(name), std::string::npos);
    EXPECT_NE(options.error().message().find(value), std::string::npos);
  }
}

TEST(Options, HugeValuesAreNotRepeatedWhole) {
  const std::string huge(5000, 'x');
  const auto expect_cut = [](const std::string& said) {
    EXPECT_NE(said.find("xxx... (of 50"), std::string::npos) << said;
    EXPECT_LT(said.size(), 2500U) << said;
  };
  for (const char* name : {"STRIPLINE_CLOCK", "STRIPLINE_TRACE", "STRIPLINE_GUARD",
                           "STRIPLINE_SEGMENT_BYTES", "STRIPLINE_SEED"}) {
    const ScopedEnvironment environment(std::map<std::string, std::string>{{name, huge}});
    const auto options = Options::from_environment();
    ASSERT_FALSE(options.ok()) << name;
    expect_cut(options.error().message());
  }
  std::vector<Options> wrong(5);
  wrong[0].fabric = huge;
  wrong[1].fabric = "emulated:" + huge;
  wrong[2].same_node = huge;
  wrong[3].progress = huge;
  wrong[4].tuning = huge;
  for (Options& options : wrong) {
    options.segment_bytes = size_t{1} << 20;
    const Status ran =
        bootstrap::run_ranks({.ranks = 1, .context = options, .am_config = {}}, [](Context&) {});
    ASSERT_FALSE(ran.ok());
    expect_cut(ran.error().message());
  }
}

TEST(Options, ThreadsAreOneOfTheModes) {
  Options options;
  options.segment_bytes = size_t{1} << 20;
  options.threads = static_cast<thread_mode>(9);
  const Status ran =
      bootstrap::run_ranks({.ranks = 1, .context = options, .am_config = {}}, [](Context&) {});
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(ran.error().message().find("Options::threads is 9, which is not a valid thread_mode"),
            std::string::npos)
      << ran.error().message();
}

TEST(Options, NamesThatMeanNothingAreWarnedOf) {
  const ScopedEnvironment environment(std::map<std::string, std::string>{
      {"STRIPLINE_FABRC", "tcp"}, {"STRIPLINE_FABRIC", "tcp"}, {"STRIPLINE_RANK", "0"}});
  ::testing::internal::CaptureStderr();
  rma::warn_of_unknown_variables();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "warning: STRIPLINE_FABRC is not a variable of Stripline (did you mean "
            "'STRIPLINE_FABRIC'?); it has no effect\n");
}

TEST(Report, PrintsTheRankAndGivesTheExitCode) {
  const ScopedEnvironment environment(std::map<std::string, std::string>{{"STRIPLINE_RANK", "6"}});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(report(Error(ErrorCode::data_loss, "the file is truncated")), kExitBadInput);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "rank 6: error: the file is truncated\n");

  // The launcher shows what it was given.
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(report(Error(ErrorCode::data_loss, "the file is truncated").as_shown()), kExitBadInput);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace stripline
