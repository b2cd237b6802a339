#include "runtime/machine/fingerprint.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::machine {
namespace {

TEST(Fingerprint, HoldsWhatAdministratorsSet) {
  fabric::Info info;
  info.name = "tcp";
  info.clock = "real";
  info.provider = "tcp;ofi_rxm";
  const Facts of_tcp = machine_fingerprint(info);
  info.provider = "shm";
  const Facts of_shm = machine_fingerprint(info);
  for (const char* name : {"tcp.receive_bytes", "tcp.send_bytes", "tcp.congestion_control"}) {
    EXPECT_TRUE(of_tcp.contains(name)) << name;
    // A model of another network holds none that its ranks would not report.
    EXPECT_FALSE(of_shm.contains(name)) << name;
    EXPECT_FALSE(machine_facts(read_topology()).contains(name)) << name;
  }
  for (const auto& [name, value] : of_tcp) EXPECT_FALSE(value.empty()) << name;
}

TEST(Fingerprint, OfAJobSaysWhichRankHasWhat) {
  const Facts usual = {{"kernel", "6.1"}, {"libfabric.variables", "none"}};
  const std::vector<FactsOfRank> alike = {{0, usual}, {1, usual}, {2, usual}};
  EXPECT_EQ(join_facts(alike), usual);
  std::vector<FactsOfRank> ranks = alike;
  ranks[2].facts["libfabric.variables"] = "FI_OFI_RXM_BUFFER_SIZE=1024";
  ranks[1].facts.erase("kernel");
  EXPECT_EQ(
      join_facts(ranks),
      (Facts{{"kernel", "6.1 on rank 0, nothing on rank 1"},
             {"libfabric.variables", "none on rank 0, FI_OFI_RXM_BUFFER_SIZE=1024 on rank 2"}}));
}

TEST(Fingerprint, OfAJobNeedsOneRankOfThoseThatAreAlike) {
  std::vector<FactsOfRank> all;
  for (uint32_t rank = 0; rank < 60; ++rank) {
    all.push_back({rank, {{"kernel", "6." + std::to_string(rank % 5)}}});
    if (rank % 3 == 2) all.back().facts["cpu.quota"] = "2";
  }
  std::vector<FactsOfRank> first;
  for (const FactsOfRank& one : all) {
    const auto same = [&one](const FactsOfRank& other) { return other.facts == one.facts; };
    if (std::ranges::none_of(first, same)) first.push_back(one);
  }
  ASSERT_EQ(first.size(), 10U);
  EXPECT_EQ(join_facts(first), join_facts(all));
  EXPECT_EQ(join_facts(first).at("kernel"),
            "6.0 on rank 0, 6.1 on rank 1, 6.2 on rank 2, and others");
  EXPECT_EQ(join_facts(first).at("cpu.quota"), "nothing on rank 0, 2 on rank 2");
}

TEST(Fingerprint, SurvivesTheWire) {
  const Facts facts = {{"kernel", "6.1"}, {"tcp.receive_bytes", "4096 131072 6291456"}};
  const auto received = decode_facts(encode_facts(facts));
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(*received, facts);
  EXPECT_FALSE(decode_facts("kernel").ok());
}

}  // namespace
}  // namespace stripline::machine
