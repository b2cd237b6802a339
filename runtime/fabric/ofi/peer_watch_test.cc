#include "runtime/fabric/ofi/peer_watch.h"

#include <chrono>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stripline::fabric::ofi
