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

}  // namespace
}  // namespace stripline::suites::bench
