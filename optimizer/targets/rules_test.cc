#include "optimizer/targets/rules.h"

#include <gtest/gtest.h>

namespace stripline::targets {
namespace {

Choice choice(uint32_t ranks, uint64_t bytes, int id, uint64_t segment = 0,
              Collective collective = Collective::bcast) {
  return {.cell = {.collective = collective, .ranks = ranks, .bytes = bytes},
          .candidate = {.name = std::to_string(id), .id = id, .segment_bytes = segment}};
}

int id_for(const CollectiveRules& rules, uint32_t ranks, uint64_t bytes) {
  const Candidate* const candidate = chosen_by(rules, ranks, bytes);
  return candidate == nullptr ? 0 : candidate->id;
}

TEST(ClosedRules, HoldWhereTheyWereMeasured) {
  const std::vector<Choice> choices = {choice(4, 8, 0), choice(4, 64, 3), choice(4, 1024, 3),
                                       choice(4, 16384, 5), choice(4, 65536, 0)};
  const auto rules = closed_rules(Collective::bcast, choices, true);
  EXPECT_EQ(id_for(rules, 4, 8), 0);
  EXPECT_EQ(id_for(rules, 4, 63), 0);  // beside the default only what was measured
  EXPECT_EQ(id_for(rules, 4, 64), 3);
  EXPECT_EQ(id_for(rules, 4, 500), 3);
  EXPECT_EQ(id_for(rules, 4, 4095), 3);  // two choices meet at the geometric mean
  EXPECT_EQ(id_for(rules, 4, 4096), 5);
  EXPECT_EQ(id_for(rules, 4, 16384), 5);
  EXPECT_EQ(id_for(rules, 4, 16385), 0);
  EXPECT_EQ(id_for(rules, 4, 1 << 20), 0);
  EXPECT_EQ(id_for(rules, 3, 64), 0);
  EXPECT_EQ(id_for(rules, 5, 64), 0);
}

TEST(ClosedRules, SegmentsMakeAnotherChoice) {
  const auto rules =
      closed_rules(Collective::bcast,
                   std::vector<Choice>{choice(2, 100, 3, 8192), choice(2, 400, 3, 65536)}, true);
  EXPECT_EQ(chosen_by(rules, 2, 199)->segment_bytes, 8192U);
  EXPECT_EQ(chosen_by(rules, 2, 200)->segment_bytes, 65536U);
}

TEST(ClosedRules, NeighboursMeetBetweenThem) {
  // The geometric mean of neighbouring numbers is the lower one, which has a choice already.
  const auto rules =
      closed_rules(Collective::bcast, std::vector<Choice>{choice(2, 8, 3), choice(2, 9, 5)}, true);
  EXPECT_EQ(id_for(rules, 2, 8), 3);
  EXPECT_EQ(id_for(rules, 2, 9), 5);
}

TEST(ClosedRules, RootedOnesDependOnNoSize) {
  const auto some = std::vector<Choice>{choice(4, 8, 2, 0, Collective::gather),
                                        choice(4, 4096, 0, 0, Collective::gather)};
  EXPECT_TRUE(closed_rules(Collective::gather, some, true).by_ranks.empty());
  const auto all = std::vector<Choice>{choice(4, 8, 2, 0, Collective::gather),
                                       choice(4, 4096, 2, 0, Collective::gather)};
  const auto rules = closed_rules(Collective::gather, all, true);
  EXPECT_EQ(id_for(rules, 4, 0), 2);
  EXPECT_EQ(id_for(rules, 4, 1 << 30), 2);
  EXPECT_EQ(id_for(rules, 3, 8), 0);
}

TEST(ClosedRules, SayWhetherTheirRanksShareANode) {
  std::vector<Choice> choices = {choice(3, 8, 1)};
  EXPECT_TRUE(closed_rules(Collective::bcast, choices, true).one_node);
  choices.front().cell.ranks_per_node = 1;
  EXPECT_FALSE(closed_rules(Collective::bcast, choices, true).one_node);
  EXPECT_EQ(with_ranks(choices.front().cell, 5).ranks_per_node, 1U);
  choices.front().cell.ranks_per_node = 3;
  EXPECT_EQ(with_ranks(choices.front().cell, 5).ranks_per_node, 5U);
}

TEST(Predictions, AreBetweenNeighboursThatAgree) {
  const std::vector<uint32_t> measured = {2, 3, 4, 8, 32};
  EXPECT_EQ(predictable_ranks(measured, 64), (std::vector<uint32_t>{5, 6, 7}));
  EXPECT_EQ(predictable_ranks(measured, 2), (std::vector<uint32_t>{5, 6, 7}));
  // Four ranks have a processor each, and eight have not.
  EXPECT_TRUE(predictable_ranks(measured, 4).empty());
  // Pairs say nothing about three.
  const std::vector<uint32_t> two_and_four = {2, 4};
  EXPECT_TRUE(predictable_ranks(two_and_four, 64).empty());

  const Candidate tree{.name = "tree", .id = 1};
  const Candidate doubling{.name = "doubling", .id = 2, .power_of_two_ranks = true};
  const CollectiveRules rules{Collective::bcast,
                              {{4, {{8, 512, tree}, {513, 4096, doubling}}},
                               {8, {{64, 1024, tree}, {1025, 4096, doubling}}}}};
  const CollectiveRules all = with_predictions(rules, measured, 64, {});
  ASSERT_EQ(all.by_ranks.size(), 5U);
  for (const uint32_t ranks : {5U, 6U, 7U}) {
    EXPECT_EQ(chosen_by(all, ranks, 63), nullptr);
    ASSERT_NE(chosen_by(all, ranks, 64), nullptr);
    EXPECT_EQ(chosen_by(all, ranks, 64)->id, 1);
    EXPECT_EQ(chosen_by(all, ranks, 512)->id, 1);
    EXPECT_EQ(chosen_by(all, ranks, 513), nullptr);
    // Both have it, and it takes powers of two.
    EXPECT_EQ(chosen_by(all, ranks, 2048), nullptr);
  }
  EXPECT_EQ(chosen_by(all, 9, 64), nullptr);
  EXPECT_EQ(chosen_by(all, 4, 8)->id, 1);
  // Eight ranks were measured, and have the default.
  const CollectiveRules four{Collective::bcast, {{4, {{8, 512, tree}}}}};
  EXPECT_EQ(with_predictions(four, measured, 64, {}).by_ranks.size(), 1U);
}

}  // namespace
}  // namespace stripline::targets
