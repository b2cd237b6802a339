#include "runtime/fabric/ofi/peer_watch.h"

#include <chrono>
#include <signal.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/process_state.h"

namespace stripline::fabric::ofi {
namespace {

Subprocess sleeper() {
  SubprocessOptions options;
  options.argv = {"sleep", "30"};
  return std::move(Subprocess::spawn(options)).value();
}

TEST(PeerWatchTest, ReportsAnEndedProcessOnceWhileOthersLive) {
  Subprocess first = sleeper();
  Subprocess second = sleeper();
  PeerWatch watch;
  watch.add(4, first.pid());
  watch.add(7, second.pid());
  EXPECT_EQ(watch.poll(), std::nullopt);
  second.signal(SIGKILL);  // not reaped: a zombie has ended, too
  std::optional<uint32_t> ended;
  for (int i = 0; i < 500 && !ended; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ended = watch.poll();
  }
  EXPECT_EQ(ended, 7U);
  EXPECT_EQ(watch.poll(), std::nullopt);
}

TEST(PeerWatchTest, ReportsAProcessThatEndedBefore) {
  Subprocess process = sleeper();
  const pid_t pid = process.pid();
  process.terminate();
  PeerWatch watch;
  watch.add(2, pid);
  EXPECT_EQ(watch.poll(), 2U);
  EXPECT_EQ(watch.poll(), std::nullopt);
}

TEST(PeerWatchTest, ReportsAProcessThatStaysStopped) {
  Subprocess running = sleeper();
  Subprocess stopping = sleeper();
  PeerWatch watch;
  EXPECT_FALSE(watch.stopped(0, 1));
  watch.add(4, running.pid());
  watch.add(7, stopping.pid());
  const auto becomes = [&](int signal, bool stopped) {
    ::kill(stopping.pid(), signal);
    for (int i = 0; i < 500; ++i) {
      if (process_state(stopping.pid())->stopped() == stopped) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "the signal has no effect";
  };
  becomes(SIGSTOP, true);
  EXPECT_FALSE(watch.stopped(10, 5));
  EXPECT_FALSE(watch.stopped(14, 5));
  becomes(SIGCONT, false);
  EXPECT_FALSE(watch.stopped(16, 5)) << "it went on";
  becomes(SIGSTOP, true);
  EXPECT_FALSE(watch.stopped(17, 5));
  const auto found = watch.stopped(22, 5);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 7U);
  EXPECT_EQ(found->pid, stopping.pid());
}

}  // namespace
}  // namespace stripline::fabric::ofi
