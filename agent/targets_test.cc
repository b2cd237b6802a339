#include "agent/targets.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/testing/processes.h"

namespace stripline::agent {
namespace {

namespace fs = std::filesystem;

// A program that stands for stripline-tune: it lists two targets, and notes how it is called.
class Targets : public testing::Test {
 protected:
  Targets() {
    options_.program = (folder_ / "tune").string();
    std::ofstream(options_.program)
        << "#!/bin/sh\n"
           "if [ \"$1\" = list ]; then\n"
           "  echo '{\"target\":\"openmpi\",\"installed\":\"4.1.4\",\"tuned\":true,"
           "\"configuration\":\"0123456789abcdef\"}'\n"
           "  echo '{\"target\":\"chapel\",\"installed\":\"1.33.0\",\"tuned\":false}'\n"
           "  echo '{\"target\":\"mpich\",\"installed\":null,\"tuned\":true}'\n"
           "  echo '{\"export\":\"/x\",\"target\":\"mpich\",\"stale\":[]}'\n"
           "  exit 0\n"
           "fi\n"
           "echo \"$@\" >> '" +
               calls().string() +
               "'\n"
               "if [ \"$2\" = uninstall ] && [ ! -e '" +
               (folder_ / "again").string() + "' ]; then touch '" + (folder_ / "again").string() +
               "'; echo 'Put back what was installed before: x'; fi\n";
    fs::permissions(options_.program, fs::perms::owner_all);
  }

  fs::path calls() const { return folder_ / "calls"; }

  const TempFolder folder_;
  TargetOptions options_;
};

TEST_F(Targets, AreOfferedAsTheConfigurationSays) {
  options_.tuned = {"openmpi"};
  options_.folders["chapel"] = "/etc/chapel";
  Description description;
  const Status added = add_targets(options_, description);
  ASSERT_TRUE(added.ok()) << added.error().message();
  EXPECT_EQ(description.fabrics, (std::vector<std::string>{"tune:openmpi", "target:chapel"}));
  EXPECT_EQ(description.fingerprint.at("target.openmpi.version"), "4.1.4");
  EXPECT_EQ(description.fingerprint.at("target.openmpi.configuration"), "0123456789ab");
  ASSERT_EQ(description.experiments.size(), 1U);
  EXPECT_EQ(description.experiments_json.size(), 1U);
}

TEST_F(Targets, WhatCannotBeDoneIsRefusedAtTheStart) {
  for (const char* name : {"mpich", "chapel", "unknown"}) {
    options_.tuned = {name};
    Description description;
    EXPECT_EQ(add_targets(options_, description).error().code(), ErrorCode::failed_precondition)
        << name;
  }
  options_.tuned.clear();
  options_.program = (folder_ / "missing").string();
  Description description;
  EXPECT_TRUE(add_targets(options_, description).ok());
}

TEST_F(Targets, AreInstalledAndTakenAwayInTheirFolder) {
  const std::string packed = R"({"record":{"target":"openmpi"}})";
  const std::string there = (folder_ / "there").string();
  ASSERT_TRUE(add_folder("openmpi=" + there, options_).ok());
  ASSERT_TRUE(add_folder("chapel=" + there, options_).ok());
  EXPECT_FALSE(install_settings(options_, "mpich", packed, folder_ / "work").ok());
  for (const std::string& other : {packed, std::string("{}"), std::string("[]"), std::string()}) {
    const Status refused = install_settings(options_, "chapel", other, folder_ / "work");
    ASSERT_FALSE(refused.ok()) << other;
    EXPECT_EQ(refused.error().code(), ErrorCode::data_loss) << other;
  }
  // Nothing is installed yet, nor any more.
  EXPECT_TRUE(uninstall_settings(options_, "openmpi").ok());
  EXPECT_FALSE(fs::exists(calls()));
  fs::create_directory(there);
  ASSERT_TRUE(install_settings(options_, "openmpi", packed, folder_ / "work").ok());
  ASSERT_TRUE(uninstall_settings(options_, "openmpi").ok());
  EXPECT_EQ(read_file(calls()), "export install " +
                                    (folder_ / "work/offered-openmpi.json").string() +
                                    " --packed --to " + there + "\nexport uninstall " + there +
                                    "\nexport uninstall " + there + "\n");
  EXPECT_TRUE(fs::is_empty(folder_ / "work"));
  fs::remove(calls());
  options_.commutative_only = true;
  ASSERT_TRUE(install_settings(options_, "openmpi", packed, folder_ / "work").ok());
  EXPECT_NE(read_file(calls()).find(" --to " + there + " --commutative-only\n"), std::string::npos);
}

TEST_F(Targets, AreTunedForTheLargestJobOfThisNode) {
  EXPECT_EQ(tuning_worker(options_), (std::vector<std::string>{options_.program, "work"}));
  options_.largest_job = 512;
  EXPECT_EQ(tuning_worker(options_),
            (std::vector<std::string>{options_.program, "work", "--largest-job", "512"}));
}

TEST_F(Targets, FoldersAreAbsoluteAndNamedOnce) {
  EXPECT_FALSE(add_folder("openmpi", options_).ok());
  EXPECT_FALSE(add_folder("openmpi=etc", options_).ok());
  EXPECT_FALSE(add_folder("=/etc", options_).ok());
  EXPECT_TRUE(add_folder("openmpi=/etc", options_).ok());
  EXPECT_FALSE(add_folder("openmpi=/opt", options_).ok());
}

}  // namespace
}  // namespace stripline::agent
