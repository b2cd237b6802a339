#include "agent/side_task.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace stripline::agent {
namespace {

TEST(SideTaskTest, IsFollowedOnTheLoopOnceItIsOver) {
  std::promise<void> woken;
  std::promise<void> may_end;
  SideTask task([&woken] { woken.set_value(); });
  task.finish();
  EXPECT_FALSE(task.runs());
  std::thread::id follower;
  std::thread::id worker;
  task.begin([&] {
    may_end.get_future().wait();
    worker = std::this_thread::get_id();
    return [&follower] { follower = std::this_thread::get_id(); };
  });
  task.finish();  // does not wait
  EXPECT_TRUE(task.runs());
  EXPECT_EQ(follower, std::thread::id());
  may_end.set_value();
  woken.get_future().wait();
  task.finish();
  EXPECT_FALSE(task.runs());
  EXPECT_EQ(follower, std::this_thread::get_id());
  EXPECT_NE(worker, follower);
}

TEST(SideTaskTest, NothingFollowsWhereTheLoopHasEnded) {
  bool followed = false;
  bool done = false;
  {
    SideTask task([] {});
    task.begin([&] {
      done = true;
      return [&followed] { followed = true; };
    });
  }
  EXPECT_TRUE(done);
  EXPECT_FALSE(followed);
}

}  // namespace
}  // namespace stripline::agent
