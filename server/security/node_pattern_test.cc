#include "server/security/node_pattern.h"

#include <string>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(NodePattern, MatchesNamesWithStarsAndQuestionMarks) {
  EXPECT_TRUE(matches_node_pattern("n1", "n1"));
  EXPECT_FALSE(matches_node_pattern("n1", "n11"));
  EXPECT_TRUE(matches_node_pattern("gpu*", "gpu"));
  EXPECT_TRUE(matches_node_pattern("gpu*", "gpu-17.rack2"));
  EXPECT_FALSE(matches_node_pattern("gpu*", "cpu-gpu"));
  EXPECT_TRUE(matches_node_pattern("n?", "n7"));
  EXPECT_FALSE(matches_node_pattern("n?", "n"));
  EXPECT_FALSE(matches_node_pattern("n?", "n70"));
  EXPECT_TRUE(matches_node_pattern("*-a*b", "x-a-aab"));
  EXPECT_FALSE(matches_node_pattern("*-a*b", "x-a-aac"));
  EXPECT_TRUE(matches_node_pattern("*", "anything"));
}

TEST(NodePattern, IsOfTheCharactersOfNames) {
  EXPECT_TRUE(is_node_pattern("gpu*"));
  EXPECT_TRUE(is_node_pattern("*"));
  EXPECT_TRUE(is_node_pattern("n?.rack-?"));
  EXPECT_FALSE(is_node_pattern(""));
  EXPECT_FALSE(is_node_pattern("GPU*"));
  EXPECT_FALSE(is_node_pattern("a/*"));
  EXPECT_FALSE(is_node_pattern(std::string(64, '*')));
}

// As many stars as there may be, and no match: it ends soon.
TEST(NodePattern, TakesNoTimeToRefuse) {
  std::string pattern;
  for (int i = 0; i < 31; ++i) pattern += "*a";
  EXPECT_FALSE(matches_node_pattern(pattern + "b", std::string(63, 'a')));
}

}  // namespace
}  // namespace stripline::server
