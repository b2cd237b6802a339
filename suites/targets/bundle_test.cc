#include "suites/targets/bundle.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/testing/processes.h"
#include "suites/targets/owned_files.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirst = "settings.env";
constexpr const char* kOther = "selection.json";  // which has no mark

Bundle bundle_of(std::vector<ExportFile> files, const char* target = "mpich",
                 bool installed = true) {
  Json hashes = Json::object();
  for (const ExportFile& one : files) hashes[one.name] = sha256_hex(one.text);
  const Json record = {{"target", target}, {"files", hashes}, {"installed", installed}};
  return {record.dump(2) + "\n", std::move(files)};
}

Bundle both(const std::string& text) {
  return bundle_of({{kFirst, "# Written by Stripline: " + text + "\n"}, {kOther, text}});
}

Bundle first_alone(const std::string& text) {
  return bundle_of({{kFirst, "# Written by Stripline: " + text + "\n"}});
}

class BundleIn : public ::testing::Test {
 protected:
  fs::path at(const std::string& name) const { return folder_ / name; }
  Status install(const Bundle& bundle) {
    return write_bundle(bundle, folder_.path(), true, "move it away");
  }
  Status unpack(const Bundle& bundle) {
    return write_bundle(bundle, folder_.path(), false, "move it away");
  }
  // 1: something was put back.
  int uninstall() {
    const auto restored = remove_bundle(at(kFirst));
    EXPECT_TRUE(restored.ok()) << restored.error().message();
    return restored.ok() && *restored ? 1 : 0;
  }
  std::string other() const { return read_file(at(kOther)); }

  TempFolder folder_;
};

TEST_F(BundleIn, EachInstallationKeepsTheOneBefore) {
  for (const char* text : {"a", "b", "c", "d"}) {
    const Status installed = install(both(text));
    ASSERT_TRUE(installed.ok()) << text << ": " << installed.error().message();
  }
  EXPECT_EQ(uninstall(), 1);
  EXPECT_EQ(other(), "c");
  EXPECT_TRUE(read_bundle(at(kFirst)).ok());
  EXPECT_EQ(uninstall(), 0);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(BundleIn, InstallingTheSameTwiceKeepsWhatWasThereBefore) {
  for (const char* text : {"a", "b", "b"}) ASSERT_TRUE(install(both(text)).ok());
  EXPECT_EQ(uninstall(), 1);
  EXPECT_EQ(other(), "a");
}

TEST_F(BundleIn, WhatIsInstalledWhereItWasExportedIsLeftByUninstalling) {
  const Bundle installed = both("a");
  const Bundle exported = bundle_of(installed.files, "mpich", false);
  ASSERT_TRUE(unpack(exported).ok());
  ASSERT_TRUE(install(installed).ok());
  EXPECT_EQ(uninstall(), 1);
  EXPECT_EQ(other(), "a");
  EXPECT_EQ(read_bundle(at(kFirst))->record, exported.record);
}

TEST_F(BundleIn, FilesThatAnExportDoesNotHaveGoAndComeBack) {
  ASSERT_TRUE(install(both("a")).ok());
  ASSERT_TRUE(install(first_alone("b")).ok());
  EXPECT_FALSE(fs::exists(at(kOther)));
  EXPECT_EQ(uninstall(), 1);
  EXPECT_EQ(other(), "a");
  ASSERT_TRUE(install(first_alone("b")).ok());
  // There is no selection that this one replaces.
  ASSERT_TRUE(install(both("c")).ok());
  EXPECT_FALSE(fs::exists(at(std::string(kOther) + kBackupSuffix)));
  EXPECT_EQ(uninstall(), 1);
  EXPECT_FALSE(fs::exists(at(kOther)));
  EXPECT_EQ(uninstall(), 0);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(BundleIn, WhatALaterExportDoesNotHaveIsStillOurs) {
  ASSERT_TRUE(unpack(both("a")).ok());
  // Two that keep the default.
  ASSERT_TRUE(unpack(bundle_of({})).ok());
  ASSERT_TRUE(unpack(bundle_of({})).ok());
  EXPECT_EQ(other(), "a");
  EXPECT_TRUE(is_ours(at(kOther)));
  EXPECT_TRUE(unpack(both("b")).ok());
  EXPECT_EQ(other(), "b");
}

// By a process that was killed.
TEST_F(BundleIn, WhatWasHalfRemovedIsRemoved) {
  ASSERT_TRUE(install(both("a")).ok());
  fs::remove(at(kOther));
  EXPECT_EQ(uninstall(), 0);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  for (const char* text : {"a", "b"}) ASSERT_TRUE(install(both(text)).ok());
  std::ofstream(at(kOther)) << "a";
  EXPECT_EQ(uninstall(), 1);
  EXPECT_EQ(other(), "a");
  EXPECT_EQ(uninstall(), 0);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(BundleIn, WhatWasChangedIsNotOurs) {
  ASSERT_TRUE(install(both("a")).ok());
  EXPECT_TRUE(is_ours(at(kFirst)));
  std::ofstream(at(kFirst), std::ios::app) << "mine\n";
  EXPECT_FALSE(is_ours(at(kFirst)));
  const Status refused = install(both("b"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::already_exists);
  EXPECT_EQ(other(), "a");
  EXPECT_FALSE(remove_bundle(at(kFirst)).ok());
  EXPECT_TRUE(fs::exists(at(kFirst)));
}

// As 'export write' leaves it: in no record.
TEST_F(BundleIn, WhatNoRecordListsIsOursAsLongAsItIsAsItWasSealed) {
  const std::string text = "# Written by Stripline: by hand\nexport A=1\n";
  const std::string file = sealed(text);
  EXPECT_TRUE(file.starts_with("# Written by Stripline: by hand [SHA-256 ")) << file;
  EXPECT_TRUE(file.ends_with("]\nexport A=1\n")) << file;
  EXPECT_EQ(sealed(file), file);
  EXPECT_EQ(sealed("{}"), "{}");
  // Somebody else's, as it was changed, and without a seal.
  for (const std::string& others :
       {file + "export MINE=1\n",
        "# Written by Stripline, then me" + file.substr(file.find(" [SHA")), text}) {
    std::ofstream(at(kFirst)) << others;
    EXPECT_FALSE(is_ours(at(kFirst))) << others;
    const Status refused = install(both("a"));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), ErrorCode::already_exists);
    EXPECT_EQ(read_file(at(kFirst)), others);
    EXPECT_FALSE(fs::exists(at(kRecordName)));
  }
  std::ofstream(at(kFirst)) << file;
  EXPECT_TRUE(is_ours(at(kFirst)));
  // It has no record that could be kept, and comes back all the same; also once more.
  ASSERT_TRUE(install(both("a")).ok());
  ASSERT_TRUE(install(both("a")).ok());
  EXPECT_EQ(uninstall(), 1);
  EXPECT_EQ(read_file(at(kFirst)), file);
  EXPECT_FALSE(fs::exists(at(kOther)));
  EXPECT_FALSE(fs::exists(at(kRecordName)));
  EXPECT_FALSE(fs::exists(at(std::string(kFirst) + kBackupSuffix)));
}

TEST_F(BundleIn, ABackupThatIsNotWhatWasKeptIsNotPutBack) {
  for (const char* text : {"a", "b"}) ASSERT_TRUE(install(both(text)).ok());
  const auto backup = at(std::string(kOther) + kBackupSuffix);
  std::ofstream(backup) << "mine";
  const auto refused = remove_bundle(at(kFirst));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::already_exists);
  EXPECT_EQ(other(), "b");
  EXPECT_EQ(read_file(backup), "mine");
  fs::remove(backup);
  EXPECT_EQ(uninstall(), 1);
}

TEST_F(BundleIn, AFolderIsOfOneTarget) {
  ASSERT_TRUE(install(both("a")).ok());
  const Status refused = unpack(bundle_of({{"params.conf", "b"}}, "openmpi"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::already_exists);
  EXPECT_NE(refused.error().message().find("holds settings of mpich"), std::string::npos)
      << refused.error().message();
  EXPECT_FALSE(fs::exists(at("params.conf")));
}

TEST_F(BundleIn, WhatCannotBeWrittenAsAWholeIsTakenBack) {
  ASSERT_TRUE(install(both("a")).ok());
  const std::string record = read_file(at(kRecordName));
  // Longer than names of files may be, once something is put behind it.
  const Bundle bad = bundle_of(
      {{std::string(255, 'x'), "b"}, {kFirst, "# Written by Stripline: b\n"}, {kOther, "b"}});
  const Status failed = unpack(bad);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(read_file(at(kRecordName)), record);
  EXPECT_EQ(other(), "a");
  EXPECT_TRUE(read_bundle(at(kFirst)).ok());
}

}  // namespace
}  // namespace stripline::suites::tune
