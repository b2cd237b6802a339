#include "server/core/watch_hub.h"

#include <atomic>
#include <mutex>

#include <gtest/gtest.h>

#include "base/testing/processes.h"

namespace stripline::server {
namespace {

class Counter final : public EventListener {
 public:
  void on_event() override {
    const std::lock_guard free(busy);
    ++events;
  }
  void on_shutdown() override { ++shutdowns; }
  std::mutex busy;
  std::atomic<int> events = 0;
  int shutdowns = 0;
};

bool told(const Counter& counter, int events) {
  return eventually([&] { return counter.events >= events; }, 20);
}

TEST(WatchHub, ReachesThoseWhoWatchTheCampaign) {
  WatchHub hub;
  Counter first;
  Counter second;
  EXPECT_TRUE(hub.add(1, &first));
  EXPECT_TRUE(hub.add(2, &second));
  hub.notify(1);
  hub.notify(3);
  EXPECT_TRUE(told(first, 1));
  hub.remove(1, &first);
  hub.notify(1);
  EXPECT_EQ(first.events, 1);
  EXPECT_EQ(second.events, 0);
  hub.shutdown();
  EXPECT_EQ(first.shutdowns, 0);
  EXPECT_EQ(second.shutdowns, 1);
  EXPECT_FALSE(hub.add(1, &first));
}

// Whoever has news holds the server's lock: a watcher that is slow must not hold it, too.
TEST(WatchHub, NobodyWaitsForAListener) {
  WatchHub hub;
  Counter slow;
  ASSERT_TRUE(hub.add(1, &slow));
  {
    const std::lock_guard held(slow.busy);
    for (int i = 0; i < 3; ++i) hub.notify(1);
    EXPECT_EQ(slow.events, 0);
  }
  EXPECT_TRUE(told(slow, 1));
  hub.remove(1, &slow);
  EXPECT_LE(slow.events, 3);
}

}  // namespace
}  // namespace stripline::server
