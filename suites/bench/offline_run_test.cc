#include "suites/bench/offline_run.h"

#include <gtest/gtest.h>

namespace stripline::suites::bench {
namespace {

using Names = std::vector<std::string>;

TEST(OfflineRun, EachRunTakesTheNextHosts) {
  const Names hosts = {"a", "b", "c"};
  EXPECT_EQ(hosts_of_run(hosts, 2, 1), (Names{"a", "b"}));
  EXPECT_EQ(hosts_of_run(hosts, 2, 2), (Names{"c", "a"}));
  EXPECT_EQ(hosts_of_run(hosts, 2, 3), (Names{"b", "c"}));
  EXPECT_TRUE(hosts_of_run({}, 2, 1).empty());
}

TEST(OfflineRun, RanksAreDealtToTheNodesInTurn) {
  EXPECT_EQ(node_names({"a", "b"}, 4), (Names{"a", "b", "a", "b"}));
  EXPECT_EQ(node_names({"a", "a"}, 3), (Names{"a-1", "a-2", "a-1"}));
  EXPECT_EQ(node_names({"a"}, 2), (Names{"a", "a"}));
}

// A plan is a file of somebody: with compute=record:PATH it would write where it likes.
TEST(OfflineRun, APlanThatNamesFilesOfTheHostIsNotCarriedOut) {
  experiment::Assignment assignment;
  for (const char* fabric :
       {"tcp", "emulated:opteron-vapi", "emulated:opteron-vapi,compute=declared,jitter=off"}) {
    assignment.fabric = fabric;
    EXPECT_TRUE(check_offline(assignment).ok()) << fabric;
  }
  for (const char* fabric : {"emulated:opteron-vapi,compute=record:/home/alice/notes",
                             "emulated:opteron-vapi,compute=replay:/home/alice/notes",
                             "emulated:opteron-vapi,lose=0.5"}) {
    assignment.fabric = fabric;
    const Status checked = check_offline(assignment);
    ASSERT_FALSE(checked.ok()) << fabric;
    EXPECT_EQ(checked.error().code(), ErrorCode::failed_precondition);
    // The one who measures it refuses it, too, before anything is started.
    OfflineGroup group;
    group.worker = "/nonexistent/worker";
    std::string failed_at;
    EXPECT_EQ(measure_offline(group, {assignment, {}, 1, {}}, failed_at).error().message(),
              checked.error().message());
  }
}

TEST(OfflineRun, APlanHasPointsThatAreDeclaredOnly) {
  const auto refusal = [](const experiment::Point& point) {
    experiment::Assignment assignment;
    assignment.fabric = "tcp";
    assignment.points = {point};
    const Status checked = check_offline(assignment);
    return checked.ok() ? "" : checked.error().message();
  };
  const experiment::Point good{"micro.latency", "get", {{"bytes", int64_t{8}}}};
  EXPECT_EQ(refusal(good), "");
  experiment::Point other = good;
  other.experiment = "micro.poem\x1b[2J";
  EXPECT_NE(refusal(other).find("there is no experiment 'micro.poem"), std::string::npos);
  EXPECT_EQ(refusal(other).find('\x1b'), std::string::npos) << "it would reach a terminal";
  other = good;
  other.variant = "steal";
  EXPECT_NE(refusal(other).find("unknown variant 'steal'"), std::string::npos) << refusal(other);
  other = good;
  other.params["bytes"] = int64_t{1} << 50;
  EXPECT_NE(refusal(other).find("bytes"), std::string::npos) << refusal(other);
}

}  // namespace
}  // namespace stripline::suites::bench
