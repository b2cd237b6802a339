#include "server/watch_hub.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

class Counter final : public EventListener {
 public:
  void on_event() override { ++events; }
  void on_shutdown() override { ++shutdowns; }
  int events = 0;
  int shutdowns = 0;
};

TEST(WatchHub, ReachesThoseWhoWatchTheCampaign) {
  WatchHub hub;
  Counter first;
  Counter second;
  EXPECT_TRUE(hub.add(1, &first));
  EXPECT_TRUE(hub.add(2, &second));
  hub.notify(1);
  hub.notify(3);
  hub.remove(1, &first);
  hub.notify(1);
  EXPECT_EQ(first.events, 1);
  EXPECT_EQ(second.events, 0);
  hub.shutdown();
  EXPECT_EQ(first.shutdowns, 0);
  EXPECT_EQ(second.shutdowns, 1);
  EXPECT_FALSE(hub.add(1, &first));
}

}  // namespace
}  // namespace stripline::server
