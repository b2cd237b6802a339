#include "server/doors/reading_pool.h"

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

// Holds the only thread of a pool until it is let go. It outlives the pool, as does whatever else a
// job refers to: a job that has let its test go on has not returned yet.
class Gate {
 public:
  ReadingPool::Job job() {
    return [this](bool /*stopping*/) {
      reached_.set_value();
      open_.get_future().wait();
    };
  }
  void wait_until_reached() { reached_.get_future().wait(); }
  void open() { open_.set_value(); }

 private:
  std::promise<void> reached_;
  std::promise<void> open_;
};

TEST(ReadingPool, CallersTakeTurns) {
  std::mutex mutex;
  std::string order;
  std::promise<void> done;
  Gate gate;
  ReadingPool pool({.threads = 1, .waiting = 16, .of_payer = 3});
  ASSERT_FALSE(pool.submit("x", gate.job()));
  gate.wait_until_reached();
  const auto note = [&](char who) {
    return [&, who](bool /*stopping*/) {
      const std::lock_guard lock(mutex);
      order += who;
      if (order.size() == 5) done.set_value();
    };
  };
  for (const char who : {'a', 'a', 'a', 'b', 'c'}) {
    ASSERT_FALSE(pool.submit(std::string(1, who), note(who)));
  }
  gate.open();
  done.get_future().wait();
  EXPECT_EQ(order, "abcaa");
}

TEST(ReadingPool, WhatFindsNoRoomIsRefused) {
  Gate gate;
  ReadingPool pool({.threads = 1, .waiting = 3, .of_payer = 2});
  ASSERT_FALSE(pool.submit("a", gate.job()));
  gate.wait_until_reached();
  const auto nothing = [](bool /*stopping*/) {};
  EXPECT_FALSE(pool.submit("a", nothing));
  const auto own = pool.submit("a", nothing);
  ASSERT_TRUE(own) << "one caller has two at most";
  EXPECT_EQ(own->reason, "BUSY");
  EXPECT_FALSE(pool.submit("b", nothing));
  EXPECT_FALSE(pool.submit("c", nothing));
  EXPECT_TRUE(pool.submit("d", nothing)) << "three wait";
  gate.open();
}

TEST(ReadingPool, WhatGoesOnIsNotRefused) {
  std::promise<void> done;
  Gate gate;
  ReadingPool pool({.threads = 1, .waiting = 1, .of_payer = 1});
  ASSERT_FALSE(pool.submit("a", gate.job()));
  gate.wait_until_reached();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(pool.go_on("a", [](bool /*stopping*/) {}));
  EXPECT_FALSE(pool.submit("b", [&](bool /*stopping*/) { done.set_value(); }))
      << "what goes on takes no room from others";
  gate.open();
  done.get_future().wait();
  pool.stop();
  EXPECT_FALSE(pool.go_on("a", [](bool /*stopping*/) {}));
}

TEST(ReadingPool, RoomIsGivenBack) {
  ReadingPool pool({.threads = 1, .waiting = 1, .of_payer = 1});
  for (int i = 0; i < 20; ++i) {
    const auto done = std::make_shared<std::promise<void>>();
    // The job's end is noted after it: until then there may be none for this caller.
    while (pool.submit("a", [done](bool /*stopping*/) { done->set_value(); }))
      std::this_thread::yield();
    done->get_future().wait();
  }
}

TEST(ReadingPool, WhatWaitsIsNotifiedOfTheEnd) {
  std::promise<bool> stopped;
  Gate gate;
  ReadingPool pool({.threads = 1, .waiting = 1U << 20, .of_payer = 1U << 20});
  ASSERT_FALSE(pool.submit("a", gate.job()));
  gate.wait_until_reached();
  ASSERT_FALSE(pool.submit("b", [&](bool stopping) { stopped.set_value(stopping); }));
  std::thread ending([&] { pool.stop(); });
  // Refused only once the pool has begun to stop.
  while (!pool.submit("c", [](bool /*stopping*/) {})) std::this_thread::yield();
  gate.open();
  ending.join();
  EXPECT_TRUE(stopped.get_future().get());
}

}  // namespace
}  // namespace stripline::server
