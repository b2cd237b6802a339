#include "optimizer/targets/openmpi/han_rules.h"

#include <string>

#include <gtest/gtest.h>

namespace stripline::targets::openmpi {
namespace {

// The example of Open MPI's own header (coll_han_dynamic_file.h), with its second collective filled
// in.
constexpr const char* kHanExample = R"(2 # Collective count
7 # Collective identifier 1 (defined in ompi/mca/coll/base/coll_base_functions.h)
2   # Topologic level count
0   # Topologic level identifier 1
1     # Configuration count
1     # Configuration size 1
2       # Message size rules count
0 3     # Message size 1 and component identifier
128 1   # Message size 2 and component identifier
1   # Topologic level identifier 2
1     # Configuration count
1     # Configuration size 1
1       # Message size rules count
0 1     # Message size 1 and component identifier
allreduce # Collective identifier 2
1 0 1 1 1
0 tuned [65536 4096]
)";

// Bcasts of 4 and 5 ranks by binomial trees; alltoalls, which HAN leaves to others.
constexpr const char* kClassic =
    "2 7 4 0 1 0 0 0 0 4 1 0 6 0 0 5 1 0 6 0 0 6 1 0 0 0 0 "
    "3 3 0 1 0 0 0 0 4 1 0 2 0 0 5 1 0 0 0 0";

RulesFile classic() {
  auto rules = read_rules(kClassic, "file");
  EXPECT_TRUE(rules.ok()) << rules.error().message();
  return std::move(*rules);
}

TEST(HanRules, TheExampleOfOpenMpiIsReadAndRoundTrips) {
  const auto rules = read_han_rules(kHanExample, "file");
  ASSERT_TRUE(rules.ok()) << rules.error().message();
  ASSERT_EQ(rules->collectives.size(), 2U);
  EXPECT_EQ(rules->collectives[0].id, 7);
  const auto& messages = rules->collectives[0].levels[0].configurations[0].messages;
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].component, HanComponent::tuned);
  EXPECT_EQ(messages[1].component, HanComponent::basic);
  EXPECT_EQ(messages[1].bytes, 128U);
  EXPECT_EQ(rules->collectives[1].id, 2);
  EXPECT_EQ(rules->collectives[1].levels[0].configurations[0].messages[0].segment_bytes,
            (std::vector<uint64_t>{65536, 4096}));
  const auto again = read_han_rules(write_han_rules(*rules, {"who, when"}), "file");
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(*again, *rules);
}

TEST(HanRules, WhatHanWouldNotUseIsRefusedByItsLine) {
  for (const char* bad : {
           "",                                       // no count
           "0",                                      // no collective
           "1 bcasts 0",                             // unknown
           "1 22 0",                                 // unknown
           "2 bcast 0 bcast 0",                      // twice
           "2 bcast 0 7 0",                          // twice, by name and number
           "1 bcast 1 3 0",                          // a level that there is not
           "1 bcast 2 0 0 0 0",                      // a level twice
           "1 bcast 1 0 1 2 1 0 tuned",              // does not begin at 1
           "1 bcast 1 0 2 1 1 0 tuned 1 1 0 tuned",  // does not ascend
           "1 bcast 1 0 1 1 1 8 tuned",              // does not begin at 0
           "1 bcast 1 0 1 1 2 0 tuned 0 basic",      // does not ascend
           "1 bcast 1 0 1 1 1 0 ucc",                // a component that it does not know
           "1 bcast 1 0 1 1 1 0 7",                  // likewise
           "1 bcast 1 0 1 1 1 0 tuned 5",            // too much
           "1 bcast 1 0 1 1 1 0",                    // too little
           "1 bcast 1 0 1 01 1 0 tuned",             // octal
           "1 bcast 1 0 1 1 1 0 tuned []",           // no segment
           "1 bcast 1 0 1 1 1 0 tuned [4096",        // not closed
           "1 bcast 1 0 1 1 1 0 tuned#now",          // a word of its own to Open MPI
       }) {
    EXPECT_FALSE(read_han_rules(bad, "file").ok()) << bad;
  }
  const auto refused = read_han_rules("1\nbcast 1 0 1 1 1\n0 ucc\n", "file");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("line 3"), std::string::npos)
      << refused.error().message();
}

TEST(HanRules, RulesOfANodeAreNotFollowedBetweenNodes) {
  const HanRules rules = han_rules_of(classic());
  ASSERT_EQ(rules.collectives.size(), 1U);
  EXPECT_EQ(rules.collectives[0].id, 7);
  EXPECT_TRUE(hazards(rules, classic()).empty());
  const std::string text = write_han_rules(rules, {});
  EXPECT_EQ(text,
            "1\nbcast\n2\n0 1\n1 1\n0 tuned\n1 4\n1 1\n0 tuned\n4 1\n0 basic\n5 1\n0 basic\n6 1\n0 "
            "tuned\n");
  const auto again = read_han_rules(text, "file");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, rules);
}

TEST(HanRules, HazardsAreFound) {
  const auto found = [](const char* text) {
    const auto rules = read_han_rules(text, "file");
    EXPECT_TRUE(rules.ok()) << text;
    return hazards(*rules, classic());
  };
  // Both numbers of ranks that rules were made for.
  EXPECT_EQ(found("1 bcast 1 1 1 1 1 0 tuned").size(), 2U);
  EXPECT_EQ(found("1 bcast 1 1 2 1 1 0 tuned 4 1 0 basic").size(), 0U);
  EXPECT_EQ(found("1 bcast 1 1 1 1 2 0 basic 128 tuned").size(), 2U);
  EXPECT_EQ(found("1 bcast 1 0 1 1 1 0 tuned").size(), 0U);
  EXPECT_EQ(found("1 reduce 1 1 1 1 1 0 tuned").size(), 0U);
  EXPECT_EQ(found("1 bcast 1 0 1 1 1 0 han").size(), 1U);
  EXPECT_EQ(found("1 bcast 1 2 1 1 1 0 han").size(), 0U);
}

TEST(HanRules, AreKnownByTheirNamesFromClassicOnes) {
  EXPECT_TRUE(is_han(kHanExample));
  EXPECT_FALSE(is_han(kClassic));
  EXPECT_FALSE(is_han("rule-file-version-2\n1 # bcast\n"));
  EXPECT_FALSE(is_han(""));
}

TEST(HanRules, AreEmptyWhereHanLeavesItToOthers) {
  const auto rules = read_rules("1 3 3 0 1 0 0 0 0 4 1 0 2 0 0 5 1 0 0 0 0", "file");
  ASSERT_TRUE(rules.ok());
  EXPECT_TRUE(han_rules_of(*rules).collectives.empty());
  EXPECT_TRUE(han_rules_of({}).collectives.empty());
}

}  // namespace
}  // namespace stripline::targets::openmpi
