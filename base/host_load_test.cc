#include "base/host_load.h"

#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/testing/processes.h"

namespace stripline {
namespace {

namespace fs = std::filesystem;

class HostLoadTest : public testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((proc() / file).parent_path());
    std::ofstream(proc() / file) << text;
  }
  void task(int process, int thread, const std::string& name, char state) const {
    const std::string stat = std::to_string(thread) + " (" + name + ") " + state + " 1 1";
    const std::string folder = std::to_string(process);
    if (process == thread) write(folder + "/stat", stat);
    write(folder + "/task/" + std::to_string(thread) + "/stat", stat);
  }
  const fs::path& proc() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

TEST_F(HostLoadTest, CountsTasksOfOthersThatRun) {
  write("loadavg", "8.13 6.50 3.00 9/140 4711\n");
  write(
      "stat",
      "cpu  1000 20 300 4000 500 6 70 800 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3 4 5 6 7 8 0 0\n"
      "intr 5\nprocs_running 9\nprocs_blocked 0\n");
  task(10, 10, "stripline-worke", 'R');
  task(10, 11, "progress", 'R');
  task(20, 20, "stripline-worke", 'S');
  task(30, 30, "a (busy) loop", 'R');
  const auto load = read_host_load(proc());
  ASSERT_TRUE(load);
  EXPECT_DOUBLE_EQ(load->average, 8.13);
  EXPECT_DOUBLE_EQ(load->running, 7);
  EXPECT_EQ(load->processors, 2U);
  EXPECT_EQ(host_load_text(*load), "load 8.1, 7 other tasks on 2 processors");
}

// The kernel keeps the first 15 characters of a program's name.
TEST_F(HostLoadTest, CountsNoneOfOurPrograms) {
  write("loadavg", "6.00 6.00 6.00 6/140 4711\n");
  write("stat", "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\nprocs_running 6\n");
  int process = 10;
  for (const std::string_view program :
       {"stripline-worker", "stripline-agent", "stripline-server", "stripline-bench"}) {
    task(process, process, std::string(program.substr(0, 15)), 'R');
    ++process;
  }
  task(process, process, "stripline-other", 'R');
  const auto load = read_host_load(proc());
  ASSERT_TRUE(load);
  EXPECT_DOUBLE_EQ(load->running, 2);  // that one, and one of which /proc says nothing more
}

TEST_F(HostLoadTest, SumsProcessorTimes) {
  write("stat", "cpu  1000 20 300 4000 500 6 70 800 0 0\n");
  const auto times = read_processor_times(proc());
  ASSERT_TRUE(times);
  const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(times->used_s * per_second, 1396);
  EXPECT_DOUBLE_EQ(times->stolen_s * per_second, 800);
}

TEST_F(HostLoadTest, SaysNothingWhereTheKernelDoesNot) {
  EXPECT_FALSE(read_host_load(proc()));
  EXPECT_FALSE(read_processor_times(proc()));
  write("loadavg", "nonsense");
  write("stat", "cpu  x\n");
  EXPECT_FALSE(read_host_load(proc()));
  EXPECT_FALSE(read_processor_times(proc()));
}

TEST(HostLoad, IsThatOfThisHost) {
  const auto load = read_host_load();
  if (!load) GTEST_SKIP() << "/proc does not say it here";
  EXPECT_GT(load->processors, 0U);
  EXPECT_GE(load->running, 0);
}

}  // namespace
}  // namespace stripline
