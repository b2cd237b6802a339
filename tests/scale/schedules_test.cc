// Replayed computation: what a job reports does not depend on the host. One recorded run of real
// processes is replayed while the host schedules them in every order that a test can bring about,
// and every time and result of every rank is compared, bit by bit.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/testing/processes.h"

namespace stripline {
namespace {

/// Threads that keep the host busy.
class Neighbours {
 public:
  explicit Neighbours(int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        while (!done_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~Neighbours() {
    done_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

/// How the host is to schedule a job.
struct Schedule {
  const char* name;
  std::vector<std::string> prefix = {};  // of the launcher's command
  std::vector<std::string> launch = {};  // options of the launcher
  std::string fabric_options = {};       // of the emulated fabric
  std::vector<std::string> program_options = {};
  int neighbours = 0;
};

/// The first processor that this process may use, for taskset.
std::string one_processor() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  int processor = 0;
  while (processor < CPU_SETSIZE - 1 && !CPU_ISSET(processor, &allowed)) ++processor;
  return std::to_string(processor);
}

std::vector<Schedule> schedules() {
  const std::string one = one_processor();
  return {
      {.name = "bound to cores"},
      {.name = "one core", .prefix = {"taskset", "-c", one}, .launch = {"--bind", "none"}},
      {.name = "as the scheduler likes", .launch = {"--bind", "none"}},
      {.name = "different priorities",
       .launch = {"--bind", "none"},
       .program_options = {"--nice"},
       .neighbours = 2},
      {.name = "delays", .launch = {"--bind", "none"}, .fabric_options = ",host_delays=1"},
      {.name = "other delays, bound", .fabric_options = ",host_delays=2"},
      {.name = "busy neighbours on one core",
       .prefix = {"taskset", "-c", one, "nice", "-n", "5"},
       .launch = {"--bind", "none"},
       .fabric_options = ",host_delays=3",
       .neighbours = 2},
  };
}

std::vector<int> rank_counts() {
  std::vector<int> counts = {4, 16};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): set by the caller only
  if (const char* text = std::getenv("STRIPLINE_TEST_SCHEDULE_RANKS")) {
    counts.push_back(std::atoi(text));
  }
  return counts;
}

class Schedules : public testing::TestWithParam<int> {
 protected:
  static constexpr const char* kProfile = "emulated:power5-lapi";

  /// Runs the program; what each rank wrote. Empty if it failed.
  std::vector<std::string> timelines(const std::string& compute, const Schedule& schedule,
                                     const std::string& seed = "11") {
    std::vector<std::string> argv = schedule.prefix;
    argv.insert(argv.end(), {program("stripline-run"), "-n", std::to_string(GetParam()),
                             "--segment", "1M", "--seed", seed, "--clock", "virtual", "--fabric",
                             kProfile + (",compute=" + compute) + schedule.fabric_options});
    argv.insert(argv.end(), schedule.launch.begin(), schedule.launch.end());
    const std::string out = folder_ / "timeline";
    argv.insert(argv.end(), {"--", program("timeline"), out, std::to_string(rounds())});
    argv.insert(argv.end(), schedule.program_options.begin(), schedule.program_options.end());
    const Neighbours neighbours(schedule.neighbours);
    const Finished ended = run_program(argv, 120);
    EXPECT_EQ(ended.exit_code, kExitOk) << schedule.name << ": " << ended.err;
    std::vector<std::string> all;
    for (int rank = 0; ended.exit_code == kExitOk && rank < GetParam(); ++rank) {
      const std::string file = out + "." + std::to_string(rank);
      all.push_back(read_file(file));
      std::filesystem::remove(file);
    }
    return all;
  }

  std::string trace() const { return folder_ / "trace"; }
  static int rounds() { return GetParam() > 4 ? 2 : 6; }

 private:
  const TempFolder folder_;
};

TEST_P(Schedules, LeaveNoBitChanged) {
  const std::vector<std::string> recorded = timelines("record:" + trace(), schedules()[0]);
  ASSERT_EQ(recorded.size(), static_cast<size_t>(GetParam()));
  ASSERT_GE(lines_with(recorded[0], " "), 10U * static_cast<size_t>(rounds()));
  for (const Schedule& schedule : schedules()) {
    const std::vector<std::string> replayed = timelines("replay:" + trace(), schedule);
    ASSERT_EQ(replayed.size(), recorded.size());
    for (size_t rank = 0; rank < recorded.size(); ++rank) {
      EXPECT_EQ(replayed[rank], recorded[rank]) << schedule.name << ", rank " << rank;
    }
  }
  // It is the trace that does it: what is measured differs from run to run.
  EXPECT_NE(timelines("measured", schedules()[0]), recorded);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Schedules, testing::ValuesIn(rank_counts()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace stripline
