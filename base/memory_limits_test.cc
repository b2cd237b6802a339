#include "base/memory_limits.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/testing/processes.h"

namespace stripline {
namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text << "\n";
}

TEST(MemoryLimits, AreThoseOfTheHost) {
  const MemoryLimits limits = MemoryLimits::read();
  EXPECT_GT(limits.total_bytes, uint64_t{64} << 20);
  EXPECT_GT(limits.available_bytes, 0U);
  EXPECT_LE(limits.allocatable_bytes(), limits.total_bytes);
}

TEST(MemoryLimits, TheLesserOfHostAndGroupCounts) {
  MemoryLimits limits;
  EXPECT_EQ(limits.allocatable_bytes(), UINT64_MAX) << "nothing is known";
  limits.total_bytes = 1000;
  limits.available_bytes = 500;
  EXPECT_EQ(limits.allocatable_bytes(), 500U);
  EXPECT_EQ(limits.limited_by(), "this host");
  limits.group = GroupRoom{.free_bytes = 400, .folder = "/sys/fs/cgroup/a"};
  EXPECT_EQ(limits.allocatable_bytes(), 400U);
  EXPECT_EQ(limits.limited_by(), "the control group /sys/fs/cgroup/a");
}

TEST(GroupRoom, OfVersion2IsTheLeastUpToTheRoot) {
  const TempFolder root;
  write(root / "job/memory.max", "1000");
  write(root / "job/memory.current", "700");
  write(root / "job/memory.stat", "anon 500\nactive_file 100\ninactive_file 50\nshmem 20");
  write(root / "job/task/memory.max", "max");
  write(root / "job/task/memory.current", "300");
  const auto room = group_room("0::/job/task\n", root.path());
  ASSERT_TRUE(room);
  EXPECT_EQ(room->free_bytes, 450U) << "page cache is given up under pressure";
  EXPECT_EQ(room->folder, root / "job");
  EXPECT_FALSE(group_room("0::/\n", root.path()));
  EXPECT_FALSE(group_room("", root.path()));
  EXPECT_FALSE(group_room("nonsense\n1:x\n", root.path()));
}

TEST(GroupRoom, OfVersion1IsTheMemoryControllers) {
  const TempFolder root;
  write(root / "memory/memory.limit_in_bytes", "9223372036854771712");
  write(root / "memory/memory.usage_in_bytes", "5000");
  write(root / "memory/job/memory.limit_in_bytes", "2000");
  write(root / "memory/job/memory.usage_in_bytes", "1500");
  write(root / "memory/job/memory.stat",
        "active_file 1\ntotal_active_file 300\ntotal_inactive_file 200");
  write(root / "cpu/job/memory.limit_in_bytes", "1");
  const auto room = group_room("4:cpu,memory:/job\n3:cpu:/job\n0::/\n", root.path());
  ASSERT_TRUE(room);
  EXPECT_EQ(room->free_bytes, 1000U);
  EXPECT_EQ(room->folder, root / "memory/job");
  EXPECT_FALSE(group_room("4:memory:/\n", root.path()));
  // A container sees its own group as the root, and the host's path to it.
  write(root / "memory/memory.limit_in_bytes", "6000");
  EXPECT_EQ(group_room("4:memory:/docker/0123\n", root.path())->free_bytes, 1000U);
}

}  // namespace
}  // namespace stripline
