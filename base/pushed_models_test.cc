#include "base/pushed_models.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/testing/processes.h"

namespace stripline {
namespace {

namespace fs = std::filesystem;

const std::string kFirstHash = "0123456789abcdef0123456789abcdef";
const std::string kSecondHash = "fedcba9876543210fedcba9876543210";

std::string read(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(PushedModels, TheLastOneIsFoundByItsNetwork) {
  const TempFolder folder;
  const auto find = [&](const std::string& fabric) {
    return find_pushed_model({folder.path() / "none", folder.path()}, fabric);
  };
  EXPECT_FALSE(find("tcp"));
  ASSERT_TRUE(install_pushed_model(folder.path(), "tcp", "my-tcp@3", kFirstHash, "{1}").ok());
  ASSERT_TRUE(find("tcp"));
  EXPECT_EQ(find("tcp")->name, "my-tcp@3");
  EXPECT_EQ(find("tcp")->sha256, "0123456789ab");
  EXPECT_EQ(read(find("tcp")->file), "{1}");
  EXPECT_FALSE(find("shm"));
  EXPECT_FALSE(find("tcp,jitter=1"));
  ASSERT_TRUE(install_pushed_model(folder.path(), "tcp", "my-tcp@4", kSecondHash, "{2}").ok());
  EXPECT_EQ(find("tcp")->name, "my-tcp@4");
  ASSERT_TRUE(install_pushed_model(folder.path(), "emulated:a/../b", "e@1", kFirstHash, "").ok());
  EXPECT_EQ(find("emulated:a/../b")->name, "e@1");
  EXPECT_EQ(find("emulated:a/../b,compute=declared,jitter=off")->name, "e@1");
  EXPECT_FALSE(find("emulated:a/../b,ranks_per_node=2"));
  EXPECT_EQ(find("tcp")->name, "my-tcp@4");
}

TEST(PushedModels, WhoHasFoundOneMayReadIt) {
  const TempFolder folder;
  ASSERT_TRUE(install_pushed_model(folder.path(), "tcp", "tcp@1", kFirstHash, "{1}").ok());
  const auto first = find_pushed_model({folder.path()}, "tcp");
  ASSERT_TRUE(install_pushed_model(folder.path(), "tcp", "tcp@2", kSecondHash, "{2}").ok());
  EXPECT_EQ(read(first->file), "{1}");
  ASSERT_TRUE(install_pushed_model(folder.path(), "tcp", "tcp@3", kFirstHash, "{3}").ok());
  EXPECT_FALSE(fs::exists(first->file));
}

TEST(PushedModels, OnlyTheOneThatIsMeantIsRemoved) {
  const TempFolder folder;
  EXPECT_FALSE(*remove_pushed_model(folder.path(), "tcp", "0123456789ab"));
  ASSERT_TRUE(install_pushed_model(folder.path(), "tcp", "tcp@1", kFirstHash, "{1}").ok());
  const auto first = find_pushed_model({folder.path()}, "tcp");
  EXPECT_FALSE(*remove_pushed_model(folder.path(), "tcp", "fedcba987654"));
  EXPECT_TRUE(find_pushed_model({folder.path()}, "tcp"));
  EXPECT_TRUE(*remove_pushed_model(folder.path(), "tcp", "0123456789ab"));
  EXPECT_FALSE(find_pushed_model({folder.path()}, "tcp"));
  EXPECT_EQ(read(first->file), "{1}");
}

TEST(PushedModels, TheFirstFolderThatMayBeMadeIsTheAgents) {
  const TempFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  const std::string folders =
      (folder.path() / "file" / "models").string() + ":" + (folder.path() / "a" / "b").string();
  ::setenv("STRIPLINE_MODELS", folders.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const size_t count = pushed_model_folders().size();
  const fs::path chosen = writable_model_folder();
  ::unsetenv("STRIPLINE_MODELS");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(chosen, folder.path() / "a" / "b");
  EXPECT_FALSE(fs::exists(folder.path() / "a"));
}

TEST(PushedModels, AFolderThatCannotBeMadeIsNamed) {
  const TempFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  const Status installed =
      install_pushed_model(folder.path() / "file", "tcp", "tcp@1", kFirstHash, "{}");
  ASSERT_FALSE(installed.ok());
  EXPECT_NE(installed.error().message().find("file"), std::string::npos);
}

}  // namespace
}  // namespace stripline
