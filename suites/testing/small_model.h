// A model file for tests: plausible figures, made for the fabric at hand.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"

namespace stripline::suites {

/// model::example_model(), changed if that is asked for, as a file that fits `fabric` on this
/// machine; removed with the object.
class SmallModel {
 public:
  explicit SmallModel(const std::string& fabric,
                      const std::function<void(model::TunedModel&)>& change = {})
      : path_((std::filesystem::temp_directory_path() /
               ("stripline-suites-" + std::to_string(::getpid()) + "-" +
                std::to_string(std::hash<std::string>()(fabric)) + ".stripline.json"))
                  .string()) {
    model::TunedModel model = model::example_model();
    model.fingerprint = {{"fabric", {fabric, model::MatchRule::hard}}};
    if (change) change(model);
    const Status saved = model::save_model(model, path_);
    EXPECT_TRUE(saved.ok()) << saved.error().message();
  }
  ~SmallModel() { std::remove(path_.c_str()); }
  SmallModel(const SmallModel&) = delete;
  SmallModel& operator=(const SmallModel&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace stripline::suites
