#include "runtime/fabric/emulated/thread_cpu_clock.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include <gtest/gtest.h>

namespace stripline::fabric {
namespace {

constexpr int64_t kMillisecond_ns = 1'000'000;

int64_t kernel_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void compute_until(int64_t cpu_ns) {
  while (thread_cpu_ns() < cpu_ns) {
  }
}

TEST(ThreadCpuClock, StandsStillWhileTheThreadSleeps) {
  const int64_t before_ns = thread_cpu_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(thread_cpu_ns() - before_ns, 50 * kMillisecond_ns);
}

// Threads that take turns on too few processors have less CPU time than time goes by.
TEST(ThreadCpuClock, IsTheKernelsWhereThreadsInterruptEachOther) {
  constexpr int64_t kWork_ns = 60 * kMillisecond_ns;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (unsigned i = 0; i < 3 * std::thread::hardware_concurrency(); ++i) {
    threads.emplace_back([&wrong] {
      const int64_t kernel_before_ns = kernel_ns();
      const int64_t before_ns = thread_cpu_ns();
      compute_until(before_ns + kWork_ns);
      const int64_t spent_ns = thread_cpu_ns() - before_ns;
      const int64_t kernel_spent_ns = kernel_ns() - kernel_before_ns;
      if (spent_ns > kernel_spent_ns + kWork_ns / 10) ++wrong;
      if (spent_ns < kernel_spent_ns - kWork_ns / 10) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
// As long as the sequence of the thread is there, readings are no system calls.
TEST(ThreadCpuClock, KnowsThatNothingHasInterruptedTheThread) {
  if (__rseq_size == 0) GTEST_SKIP() << "this thread has no area of restartable sequences";
  const auto* const area = reinterpret_cast<const volatile struct rseq*>(
      static_cast<const char*>(__builtin_thread_pointer()) + __rseq_offset);
  bool known = false;
  for (int i = 0; i < 1000 && !known; ++i) {
    thread_cpu_ns();
    known = area->rseq_cs != 0;
  }
  restart_thread_cpu_ns();
  EXPECT_EQ(area->rseq_cs, 0U);
  if (!known) GTEST_SKIP() << "this kernel does not tell of switches in system calls";
  thread_cpu_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(area->rseq_cs, 0U);
}
#endif

TEST(ThreadCpuClock, BeginsAnewInAChild) {
  compute_until(thread_cpu_ns() + 20 * kMillisecond_ns);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    restart_thread_cpu_ns();
    const int64_t ours_ns = thread_cpu_ns();
    ::_exit(ours_ns <= kernel_ns() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace stripline::fabric
