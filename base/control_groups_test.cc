#include "base/control_groups.h"

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

TEST(ProcessorQuota, OfVersion2IsTheLeastUpToTheRoot) {
  const TempFolder root;
  write(root / "job/cpu.max", "150000 100000");
  write(root / "job/task/cpu.max", "max 100000");
  const auto quota = processor_quota("0::/job/task\n", root.path());
  ASSERT_TRUE(quota);
  EXPECT_EQ(quota->processors, 1.5);
  EXPECT_EQ(quota->folder, root / "job");
  write(root / "job/task/cpu.max", "5000 10000");
  EXPECT_EQ(processor_quota("0::/job/task\n", root.path())->processors, 0.5);
  EXPECT_FALSE(processor_quota("0::/\n", root.path()));
  EXPECT_FALSE(processor_quota("", root.path()));
}

TEST(ProcessorQuota, IsWrittenShortly) {
  EXPECT_EQ(quota_text(2), "2");
  EXPECT_EQ(quota_text(1.5), "1.5");
  EXPECT_EQ(quota_text(0.3333), "0.333");
}

TEST(ProcessorQuota, OfVersion1IsTheCpuControllers) {
  const TempFolder root;
  write(root / "cpu/cpu.cfs_quota_us", "-1");
  write(root / "cpu/cpu.cfs_period_us", "100000");
  write(root / "cpu/job/cpu.cfs_quota_us", "200000");
  write(root / "cpu/job/cpu.cfs_period_us", "100000");
  const auto quota = processor_quota("4:cpu,cpuacct:/job\n3:memory:/job\n", root.path());
  ASSERT_TRUE(quota);
  EXPECT_EQ(quota->processors, 2);
  EXPECT_EQ(quota->folder, root / "cpu/job");
  EXPECT_FALSE(processor_quota("4:cpu,cpuacct:/\n", root.path()));
  EXPECT_FALSE(processor_quota("3:memory:/job\n", root.path()));
}

}  // namespace
}  // namespace stripline
