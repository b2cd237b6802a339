#include "optimizer/targets/openmpi/rules_file.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/targets/openmpi/algorithms.h"

namespace stripline::targets::openmpi {
namespace {

// The example of the grammar in the documentation of Open MPI's tuned component: one collective.
constexpr const char* kExample =
    "1 # num of collectives\n"
    "3 # ID = 3 Alltoall collective (ID in coll_tuned.h)\n"
    "1 # number of com sizes\n"
    "64 # comm size 64\n"
    "2 # number of msg sizes\n"
    "0 3 0 0 # for message size 0, bruck 1, topo 0, 0 segmentation\n"
    "8192 2 0 0 # 8k+, pairwise 2, no topo or segmentation\n"
    "# end of first collective\n";

Choice choice(Collective collective, uint32_t ranks, uint64_t bytes, int id, uint64_t segment = 0) {
  Choice made{.cell = {.collective = collective, .ranks = ranks, .bytes = bytes},
              .candidate = {.name = "default"}};
  if (id != 0) made.candidate = *algorithm(collective, id);
  made.candidate.segment_bytes = segment;
  return made;
}

Result<RulesFile> file_of(Collective collective, const std::vector<Choice>& choices,
                          const Safety& safety = {}) {
  const bool by_size = size_meaning(collective) != SizeMeaning::none;
  return rules_file({closed_rules(collective, choices, by_size)}, safety);
}

int id_for(const RulesFile& file, Collective collective, uint32_t ranks, uint64_t cell) {
  return rule_for(file, collective, ranks, rule_bytes(collective, ranks, cell)).algorithm;
}

TEST(RulesFile, ReadsTheDocumentedExample) {
  const auto file = read_rules(kExample, "file");
  ASSERT_TRUE(file.ok()) << file.error().message();
  ASSERT_EQ(file->collectives.size(), 1U);
  EXPECT_EQ(file->collectives[0].communicators[0].ranks, 64U);
  EXPECT_EQ(file->collectives[0].communicators[0].messages[1].bytes, 8192U);
  // It reads well, and is not safe: 2 to 63 ranks and 65 ranks get these rules, too.
  EXPECT_EQ(hazards(*file, {}).size(), 2U);
}

TEST(RulesFile, RoundTrips) {
  const auto file =
      file_of(Collective::bcast,
              {choice(Collective::bcast, 2, 8, 1), choice(Collective::bcast, 2, 4096, 3, 1024),
               choice(Collective::bcast, 4, 64, 6), choice(Collective::bcast, 8, 1 << 20, 9)});
  ASSERT_TRUE(file.ok()) << file.error().message();
  const std::string text = write_rules(*file, {"tuned by hand", "7 lines"});
  const auto read = read_rules(text, "file");
  ASSERT_TRUE(read.ok()) << read.error().message() << text;
  EXPECT_EQ(*read, *file);
}

TEST(RulesFile, RefusesWhatOpenMpiWouldReadAsSomethingElse) {
  for (const char* bad : {
           "",
           "1",
           "1 3 1 64 1 0 3 0 0 9",        // more numbers than counts say
           "1 3 1 64 2 0 3 0 0",          // fewer
           "1 3 1 64 1 8 3 0 0",          // the first size is not 0
           "1 3 1 64 2 0 3 0 0 0 2 0 0",  // sizes do not ascend
           "1 3 2 64 1 0 3 0 0 64 1 0 3 0 0",
           "1 3 1 64 1 0 6 0 0",   // no such algorithm
           "1 22 1 64 1 0 0 0 0",  // no such collective
           "1 5 1 64 1 0 1 0 0",   // alltoallw: its algorithms are not known here
           "2 3 1 64 1 0 3 0 0 3 1 64 1 0 3 0 0",
           "1 3 1 010 1 0 3 0 0",  // octal
           "1 3 1 0x40 1 0 3 0 0",
           "1 3 1 -64 1 0 3 0 0",
           "1 3 1 64, 1 0 3 0 0",
           "1 3 1 64 1 0 ring 0 0",
           "1 3 99999999999 64 1 0 3 0 0",
           "rule-file-version-2\n1 3 1 64 1 0 3 0 0 0",
           "1 3 1 64 1 99999999999999999999 3 0 0",
       }) {
    EXPECT_FALSE(read_rules(bad, "file").ok()) << bad;
  }
  const auto wrong_version = read_rules("rule-file-version-2\n0\n", "file");
  EXPECT_NE(wrong_version.error().message().find("4.1.8"), std::string::npos);
  EXPECT_TRUE(read_rules("0 # nothing\n", "file").ok());
}

TEST(RulesFile, ThreeRanksDoNotGetWhatWasLearntOfTwoAndFour) {
  const auto file = file_of(Collective::alltoall, {choice(Collective::alltoall, 2, 64, 2),
                                                   choice(Collective::alltoall, 4, 64, 3)});
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(id_for(*file, Collective::alltoall, 2, 64), 2);
  EXPECT_EQ(id_for(*file, Collective::alltoall, 3, 64), 0);
  EXPECT_EQ(id_for(*file, Collective::alltoall, 4, 64), 3);
  EXPECT_EQ(id_for(*file, Collective::alltoall, 5, 64), 0);
  EXPECT_EQ(id_for(*file, Collective::alltoall, 1000, 64), 0);
}

TEST(RulesFile, SmallerCommunicatorsKeepTheDefault) {
  const auto file = file_of(Collective::bcast, {choice(Collective::bcast, 4, 64, 6),
                                                choice(Collective::bcast, 4, 4096, 6)});
  ASSERT_TRUE(file.ok());
  for (uint32_t ranks = 1; ranks < 4; ++ranks) {
    EXPECT_EQ(id_for(*file, Collective::bcast, ranks, 64), 0) << ranks;
  }
  EXPECT_EQ(id_for(*file, Collective::bcast, 4, 8), 0);
  EXPECT_EQ(id_for(*file, Collective::bcast, 4, 64), 6);
  EXPECT_EQ(id_for(*file, Collective::bcast, 4, 4097), 0);
  EXPECT_EQ(file->collectives[0].communicators[0], (CommunicatorRule{0, {MessageRule{}}}));
}

TEST(RulesFile, SizesAreTotalsWhereOpenMpiCountsTotals) {
  const auto file = file_of(Collective::allgather, {choice(Collective::allgather, 4, 1024, 4),
                                                    choice(Collective::allgather, 4, 4096, 4)});
  ASSERT_TRUE(file.ok());
  // Four ranks with 1 KiB each.
  EXPECT_EQ(rule_for(*file, Collective::allgather, 4, 4095).algorithm, 0);
  EXPECT_EQ(rule_for(*file, Collective::allgather, 4, 4096).algorithm, 4);
  EXPECT_EQ(rule_for(*file, Collective::allgather, 4, 16384).algorithm, 4);
  EXPECT_EQ(rule_for(*file, Collective::allgather, 4, 16385).algorithm, 0);
  EXPECT_EQ(rule_bytes(Collective::allgatherv, 4, 1024), 1024U);  // an average
  EXPECT_EQ(rule_bytes(Collective::allreduce, 4, 1024), 1024U);
  EXPECT_EQ(rule_bytes(Collective::reduce_scatter, 4, 1024), 4096U);
}

TEST(RulesFile, AnAlgorithmForTwoRanksNeverReachesThree) {
  // As a known script writes it: two_proc from 2 ranks on, the next rule from 4 on.
  const auto open = read_rules("1 3 3 0 1 0 0 0 0 2 1 0 5 0 0 4 1 0 0 0 0", "file");
  ASSERT_TRUE(open.ok());
  EXPECT_EQ(rule_for(*open, Collective::alltoall, 3, 64).algorithm, 5);
  ASSERT_EQ(hazards(*open, {}).size(), 1U);
  EXPECT_NE(hazards(*open, {})[0].find("holds for 3"), std::string::npos);
  const auto closed = read_rules("1 3 3 0 1 0 0 0 0 2 1 0 5 0 0 3 1 0 0 0 0", "file");
  EXPECT_TRUE(hazards(*closed, {}).empty());
  const auto wrong = read_rules("1 3 3 0 1 0 0 0 0 3 1 0 5 0 0 4 1 0 0 0 0", "file");
  ASSERT_EQ(hazards(*wrong, {}).size(), 1U);
  EXPECT_NE(hazards(*wrong, {})[0].find("at most 2 ranks"), std::string::npos);
  EXPECT_FALSE(file_of(Collective::alltoall, {choice(Collective::alltoall, 3, 64, 5)}).ok());
}

TEST(RulesFile, ReorderingAlgorithmsNeedPermission) {
  const std::vector<Choice> ring = {choice(Collective::allreduce, 4, 65536, 4)};
  const auto refused = file_of(Collective::allreduce, ring);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("commutative"), std::string::npos);
  EXPECT_TRUE(file_of(Collective::allreduce, ring, {.commutative_only = true}).ok());
}

TEST(RulesFile, RulesMeasuredInBytesHoldForLargeElements) {
  // 32 bytes are 32 characters, but only two complex numbers among four ranks.
  EXPECT_FALSE(file_of(Collective::bcast, {choice(Collective::bcast, 4, 32, 8)}).ok());
  EXPECT_TRUE(file_of(Collective::bcast, {choice(Collective::bcast, 4, 64, 8)}).ok());
}

TEST(RulesFile, GatherHasNoRuleBySize) {
  const auto by_size = read_rules("1 9 3 0 1 0 0 0 0 4 2 0 0 0 0 1024 2 0 0 5 1 0 0 0 0", "file");
  ASSERT_TRUE(by_size.ok()) << by_size.error().message();
  ASSERT_FALSE(hazards(*by_size, {}).empty());
  EXPECT_NE(hazards(*by_size, {})[0].find("hang"), std::string::npos);
  const auto file = file_of(Collective::gather, {choice(Collective::gather, 4, 8, 2),
                                                 choice(Collective::gather, 4, 4096, 2)});
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->collectives[0].communicators[1].messages.size(), 1U);
}

TEST(RulesFile, AProbeChangesOneNumberOfRanksOnly) {
  const auto file = *file_of(Collective::bcast, {choice(Collective::bcast, 2, 64, 6),
                                                 choice(Collective::bcast, 4, 64, 3)});
  for (const uint32_t ranks : {2U, 3U, 4U, 8U}) {
    const RulesFile probed = with_probe(file, Collective::bcast, ranks, {.id = 1});
    ASSERT_TRUE(read_rules(write_rules(probed, {}), "file").ok());
    for (uint32_t other = 1; other < 12; ++other) {
      for (const uint64_t bytes : {uint64_t{8}, uint64_t{64}, uint64_t{1} << 20}) {
        const int before = rule_for(file, Collective::bcast, other, bytes).algorithm;
        EXPECT_EQ(rule_for(probed, Collective::bcast, other, bytes).algorithm,
                  other == ranks ? 1 : before)
            << ranks << " " << other;
      }
    }
    EXPECT_TRUE(hazards(probed, {}).empty());
  }
  const RulesFile alone = with_probe({}, Collective::allreduce, 4, {.id = 1});
  EXPECT_EQ(rule_for(alone, Collective::allreduce, 4, 64).algorithm, 1);
  EXPECT_EQ(rule_for(alone, Collective::allreduce, 5, 64).algorithm, 0);
  EXPECT_EQ(rule_for(alone, Collective::allreduce, 3, 64).algorithm, 0);
}

// By control variables, in the launches that measure it.
TEST(RulesFile, AnAlternativeIsWrittenAsItIsSelected) {
  constexpr uint32_t kRanks = 2;
  constexpr uint64_t kBytes = 1 << 20;
  const Safety safety{.commutative_only = true};
  size_t chains = 0;
  for (const Collective collective : kCollectives) {
    const std::string variable = "coll_tuned_" + std::string(to_string(collective)) + "_algorithm";
    for (const Candidate& candidate : candidates(collective)) {
      if (candidate.id == 0) continue;
      const Cell cell{collective, kRanks, kRanks, kBytes};
      const bool by_size = size_meaning(collective) != SizeMeaning::none;
      const std::vector<Choice> choices = {{cell, candidate}};
      const auto file = rules_file({closed_rules(collective, choices, by_size)}, safety);
      ASSERT_TRUE(file.ok()) << file.error().message();
      const auto rule = rule_for(*file, collective, kRanks, rule_bytes(collective, kRanks, kBytes));
      const auto selected = [&](const std::string& name) {
        const auto found =
            std::ranges::find(candidate.select, name, &std::pair<std::string, int64_t>::first);
        return found == candidate.select.end() ? 0 : found->second;
      };
      EXPECT_EQ(rule.algorithm, selected(variable));
      EXPECT_EQ(rule.segment_bytes, static_cast<uint64_t>(selected(variable + "_segmentsize")));
      EXPECT_EQ(rule.fan, selected(variable + "_chain_fanout")) << variable << candidate.name;
      const RulesFile probed = with_probe({}, collective, kRanks, candidate);
      MessageRule probe = rule_for(probed, collective, kRanks, 0);
      probe.bytes = rule.bytes;
      EXPECT_EQ(probe, rule);
      if (!candidate.name.starts_with("chain")) continue;
      // A single chain would be the pipeline.
      EXPECT_EQ(rule.fan, 4U);
      EXPECT_NE(write_rules(*file, {}).find(": chain, fan of 4"), std::string::npos);
      ++chains;
    }
  }
  EXPECT_EQ(chains, 4U);
}

TEST(RulesFile, NumbersAndCollectivesAreEachOthersInverse) {
  for (const Collective collective : kCollectives) {
    EXPECT_EQ(collective_of(collective_id(collective)), collective);
  }
  EXPECT_FALSE(collective_of(5));
  EXPECT_FALSE(collective_of(-1));
}

}  // namespace
}  // namespace stripline::targets::openmpi
