#include "agent/target_watch.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/testing/processes.h"

namespace stripline::agent {
namespace {

namespace fs = std::filesystem;

class TargetWatchTest : public testing::Test {
 protected:
  TargetWatchTest() {
    options_.program = (folder_ / "tune").string();
    options_.tuned = {"openmpi"};
  }

  // A program that stands for stripline-tune, and lists this.
  void install(const std::string& version) {
    const std::string listed = version.empty() ? "null" : "\"" + version + "\"";
    std::ofstream(options_.program)
        << "#!/bin/sh\necho '{\"target\":\"openmpi\",\"installed\":" + listed +
               ",\"tuned\":true,\"configuration\":\"0123456789abcdef\"}'\n";
    fs::permissions(options_.program, fs::perms::owner_all);
  }

  static TargetWatch::Facts known() {
    return {{"kernel", "6.1"},
            {"target.openmpi.version", "4.1.4"},
            {"target.openmpi.configuration", "0123456789ab"}};
  }

  // A look that is due, to its end. Whether it has found something else.
  static bool look(TargetWatch& watch, double now_s) {
    bool news = watch.follow(now_s, true);
    EXPECT_TRUE(watch.looking());
    EXPECT_FALSE(watch.next_event_s());
    while (watch.looking()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      news |= watch.follow(now_s, false);
    }
    return news;
  }

  const TempFolder folder_;
  TargetOptions options_;
};

TEST_F(TargetWatchTest, FindsWhatHasChangedSinceTheStart) {
  install("4.1.4");
  TargetWatch watch(options_, known(), 600, 1000, [] {});
  EXPECT_DOUBLE_EQ(*watch.next_event_s(), 1600);
  EXPECT_FALSE(watch.follow(1599, true));
  EXPECT_FALSE(watch.follow(1601, false));
  EXPECT_FALSE(watch.looking()) << "it may not begin";
  EXPECT_FALSE(look(watch, 1601));
  EXPECT_TRUE(watch.changed().empty());
  EXPECT_DOUBLE_EQ(*watch.next_event_s(), 2201);
  install("4.1.6");
  EXPECT_TRUE(look(watch, 2201));
  EXPECT_EQ(watch.changed(), (TargetWatch::Facts{{"target.openmpi.version", "4.1.6"}}));
  EXPECT_FALSE(look(watch, 2900)) << "that is known";
  install("");
  EXPECT_TRUE(look(watch, 3600));
  EXPECT_EQ(watch.changed().at("target.openmpi.version"), "not installed");
}

TEST_F(TargetWatchTest, AProgramThatFailsSaysNothing) {
  TargetWatch watch(options_, known(), 1, 0, [] {});
  EXPECT_FALSE(look(watch, 1));
  EXPECT_TRUE(watch.changed().empty());
}

TEST_F(TargetWatchTest, WithoutTargetsItNeverLooks) {
  options_.tuned.clear();
  TargetWatch watch(options_, known(), 1, 0, [] {});
  EXPECT_FALSE(watch.next_event_s());
  EXPECT_FALSE(watch.follow(100, true));
  EXPECT_FALSE(watch.looking());
}

}  // namespace
}  // namespace stripline::agent
