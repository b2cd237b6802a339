#include "runtime/rma/load_model.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"

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

TEST_F(LoadModel, ForeignModelsAreRefusedAndSmallDifferencesNamed) {
  const model::TunedModel model = model::example_model();
  std::map<std::string, std::string> machine = {
      {"cpu_model", "AMD Opteron 248"}, {"fabric", "emulated:opteron-vapi"}, {"kernel", "6.5.0"}};
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
