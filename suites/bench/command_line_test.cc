#include "suites/bench/command_line.h"

#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline::suites::bench {
namespace {

TEST(CommandLine, AFileThatCannotBeWrittenIsToldFromOneThatCan) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("stripline-command-line-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  EXPECT_TRUE(check_writable((folder / "new").string()).ok());
  EXPECT_FALSE(std::filesystem::exists(folder / "new")) << "asking leaves nothing";
  EXPECT_TRUE(check_writable("new").ok()) << "in the current folder";
  EXPECT_FALSE(check_writable((folder / "none" / "new").string()).ok());
  EXPECT_FALSE(check_writable(folder.string()).ok()) << "a folder is no file";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stripline::suites::bench
