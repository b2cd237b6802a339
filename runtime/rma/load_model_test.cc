#include "runtime/rma/load_model.h"

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/mixed_group.h"
#include "runtime/rma/context_state.h"

namespace stripline::rma {
namespace {

class LoadModel : public ::testing::Test {
 protected:
  LoadModel()
      : path_(std::filesystem::temp_directory_path() /
              ("load-model-" + std::to_string(::getpid()) + ".stripline.json")) {}
  ~LoadModel() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::filesystem::path path_;
};

TEST_F(LoadModel, ReadsAModelAndNothingWithoutAPath) {
  EXPECT_EQ(*load_model(""), nullptr);
  ASSERT_TRUE(model::save_model(model::example_model(), path_).ok());
  const auto model = load_model(path_);
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ((*model)->name, "example");
}

TEST_F(LoadModel, MissingAndTruncatedFilesAreBadInput) {
  const auto missing = load_model(path_);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(exit_code_for(missing.error().code()), kExitBadInput);
  EXPECT_NE(missing.error().message().find(path_.string()), std::string::npos);
  ASSERT_TRUE(model::save_model(model::example_model(), path_).ok());
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  const auto truncated = load_model(path_);
  ASSERT_FALSE(truncated.ok());
  EXPECT_EQ(exit_code_for(truncated.error().code()), kExitBadInput);
}

// One that somebody else has chosen, on two of three hosts.
TEST_F(LoadModel, WhatNotAllRanksHaveReadIsLeftAsideIfItMay) {
  ASSERT_TRUE(model::save_model(model::example_model(), path_).ok());
  for (const rank_t without : {0U, 1U}) {
    Options options =
        bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 3).context;
    options.model_path = path_;
    const auto run = [&](const std::function<void(Context&)>& body) {
      std::vector<Options> of_ranks(3, options);
      of_ranks[without].model_path += ".missing";
      return bootstrap::run_mixed_ranks(of_ranks, body);
    };
    EXPECT_FALSE(run([](Context&) {}).ok());
    options.model_may_not_fit = true;
    ::testing::internal::CaptureStderr();
    const Status ran =
        run([](Context& context) { EXPECT_EQ(context.state().job.model(), nullptr); });
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_TRUE(ran.ok()) << ran.error().message();
    const char* const why = without == 0 ? ".missing' is left aside, this run goes without: "
                                         : ": rank 1 has read none, and rank 0 example(sha256 ";
    EXPECT_NE(said.find(why), std::string::npos) << said;
    EXPECT_EQ(said.find("is left aside"), said.rfind("is left aside")) << said;
  }
}

TEST_F(LoadModel, ForeignModelsAreRefusedAndSmallDifferencesNamed) {
  const model::TunedModel model = model::example_model();
  std::map<std::string, std::string> machine = {
      {"cpu_model", "AMD Opteron 248"}, {"fabric", "emulated:opteron-vapi"}, {"kernel", "6.5.0"}};
  EXPECT_EQ(*check_fit(model, "m", machine), "");
  machine["fabric"] = "emulated:opteron-vapi,compute=declared,jitter=off";
  EXPECT_EQ(*check_fit(model, "m", machine), "");
  machine["cpu_model"] = "another";
  const auto differing = check_fit(model, "m", machine);
  ASSERT_TRUE(differing.ok());
  EXPECT_NE(differing->find("another"), std::string::npos) << *differing;
  machine["fabric"] = "tcp";
  const auto foreign = check_fit(model, "m", machine);
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(exit_code_for(foreign.error().code()), kExitBadInput);
  EXPECT_NE(foreign.error().message().find("'tcp'"), std::string::npos)
      << foreign.error().message();
}

}  // namespace
}  // namespace stripline::rma
