#include "base/memory_limits.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

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

TEST(ShellLimits, AreThoseThatAreInForce) {
  const auto reads = [] {
    const auto set = [](auto resource, rlim_t value) {
      rlimit limit{};
      if (getrlimit(resource, &limit) != 0) return false;
      limit.rlim_cur = value;
      return setrlimit(resource, &limit) == 0;
    };
    constexpr rlim_t kSeconds = 1000;
    constexpr rlim_t kStackBytes = 1 << 20;
    if (!set(RLIMIT_CPU, kSeconds) || !set(RLIMIT_STACK, kStackBytes)) _exit(1);
    const ShellLimits limits = ShellLimits::read();
    _exit(limits.processor_s == kSeconds && limits.stack_bytes == kStackBytes ? 0 : 2);
  };
  EXPECT_EXIT(reads(), ::testing::ExitedWithCode(0), "");
}

TEST(ShellLimits, ThatOfASignalIsNamedWithItsRemedy) {
  const ShellLimits none;
  ShellLimits usual;
  usual.stack_bytes = 8 << 20;
  ShellLimits some;
  some.processor_s = 60;
  some.stack_bytes = 64 << 10;
  for (const ShellLimits& limits : {none, usual, some}) {
    EXPECT_NE(limit_behind(SIGXCPU, limits).find("'ulimit -t unlimited'"), std::string::npos);
    EXPECT_NE(limit_behind(SIGXFSZ, limits).find("'ulimit -f unlimited'"), std::string::npos);
    EXPECT_EQ(limit_behind(SIGTERM, limits), "");
  }
  // `ulimit -t` without -S sets both limits, and the kernel kills by the hard one.
  EXPECT_EQ(limit_behind(SIGKILL, none), "");
  EXPECT_EQ(limit_behind(SIGKILL, some),
            "perhaps because it has used the 60 s of processor time that the shell allows a "
            "process ('ulimit -t unlimited' lifts the limit)");
  EXPECT_EQ(limit_behind(SIGSEGV, none), "");
  EXPECT_EQ(limit_behind(SIGSEGV, usual), "");
  EXPECT_EQ(limit_behind(SIGSEGV, some),
            "perhaps for want of stack, of which the shell allows a thread 64 KiB ('ulimit -s "
            "8192' sets the usual 8 MiB)");
}

}  // namespace
}  // namespace stripline
