#include "runtime/machine/fingerprint.h"

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
  const std::vector<Facts> alike(3, {{"kernel", "6.1"}, {"libfabric.variables", "none"}});
  EXPECT_EQ(join_facts(alike), alike[0]);
  std::vector<Facts> ranks = alike;
  ranks[2]["libfabric.variables"] = "FI_OFI_RXM_BUFFER_SIZE=1024";
  ranks[1].erase("kernel");
  EXPECT_EQ(
      join_facts(ranks),
      (Facts{{"kernel", "6.1 on rank 0, nothing on rank 1"},
             {"libfabric.variables", "none on rank 0, FI_OFI_RXM_BUFFER_SIZE=1024 on rank 2"}}));
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
