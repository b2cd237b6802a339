// For the tests of this folder.
#pragma once

#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"

namespace stripline {

/// A model for any machine, as a file that goes away.
class ModelFile {
 public:
  explicit ModelFile(const std::string& name, model::TunedModel m = model::example_model()) {
    m.fingerprint.clear();
    path_ = std::filesystem::temp_directory_path() /
            ("stripline_" + name + "_" + std::to_string(::getpid()) + ".json");
    EXPECT_TRUE(model::save_model(m, path_).ok());
  }
  ~ModelFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace stripline
