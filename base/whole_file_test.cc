#include "base/whole_file.h"

#include <string>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing/processes.h"

namespace stripline {
namespace {

TEST(WholeFile, IsReadUpToALimit) {
  const TempFolder folder;
  ASSERT_TRUE(write_atomically(folder / "file", "12345").ok());
  EXPECT_EQ(*read_whole_file(folder / "file", 5), "12345");
  EXPECT_EQ(read_whole_file(folder / "file", 4).error().code(), ErrorCode::data_loss);
  EXPECT_EQ(read_whole_file(folder / "none").error().code(), ErrorCode::not_found);
  EXPECT_EQ(read_whole_file(folder.path()).error().code(), ErrorCode::not_found);
}

// No one would ever write to it, or stop.
TEST(WholeFile, PipesAndDevicesAreRefusedAtOnce) {
  const TempFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    const auto text = read_whole_file(path);
    ASSERT_FALSE(text.ok()) << path;
    EXPECT_EQ(text.error().code(), ErrorCode::failed_precondition);
    EXPECT_NE(text.error().message().find("pipe or device"), std::string::npos);
  }
}

}  // namespace
}  // namespace stripline
