#include "base/host_memory.h"

#include <string>

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(SharedMemory, RoomIsThatOfTheFileSystem) {
  const auto room = shared_memory_free_bytes("/dev");
  ASSERT_TRUE(room.has_value());
  EXPECT_TRUE(check_shared_memory(0, "No segments", "/dev").ok());
  EXPECT_FALSE(shared_memory_free_bytes("/there/is/no/such/folder").has_value());
}

TEST(SharedMemory, LackSaysHowMuchThereIsAndWhatToChange) {
  const Status checked = check_shared_memory(uint64_t{1} << 60, "2 segments of 512 PiB", "/dev");
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code(), ErrorCode::resource_exhausted);
  const std::string message = checked.error().message();
  EXPECT_TRUE(message.starts_with("2 segments of 512 PiB need ")) << message;
  EXPECT_NE(message.find(" free; enlarge /dev/shm"), std::string::npos) << message;
  EXPECT_NE(message.find("--shm-size"), std::string::npos) << message;
}

TEST(SharedMemory, MissingFolderIsSaid) {
  const Status checked = check_shared_memory(1, "A segment", "/there/is/no/such/folder");
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code(), ErrorCode::unavailable);
  EXPECT_NE(checked.error().message().find("/there/is/no/such/folder"), std::string::npos);
}

}  // namespace
}  // namespace stripline
