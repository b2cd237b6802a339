#include "optimizer/model/fingerprint.h"

#include <gtest/gtest.h>

namespace stripline::model {
namespace {

const Fingerprint kModel = {{"fabric", {"tcp;ofi_rxm", MatchRule::hard}},
                            {"cpu", {"EPYC", MatchRule::soft}},
                            {"kernel", {"6.1", MatchRule::ignore}}};

TEST(FingerprintMatch, EqualMachinesMatchSilently) {
  const auto report =
      match(kModel, {{"fabric", "tcp;ofi_rxm"}, {"cpu", "EPYC"}, {"kernel", "6.1"}, {"x", "y"}});
  EXPECT_TRUE(report.usable());
  EXPECT_EQ(report.text(), "");
}

TEST(FingerprintMatch, SortsDifferencesByRuleAndSaysThem) {
  const auto report = match(kModel, {{"fabric", "shm"}, {"cpu", "Xeon"}, {"kernel", "5.10"}});
  EXPECT_FALSE(report.usable());
  ASSERT_EQ(report.hard.size(), 1U);
  ASSERT_EQ(report.soft.size(), 1U);
  ASSERT_EQ(report.informative.size(), 1U);
  EXPECT_EQ(report.text(),
            "refused: fabric is 'shm' here, the model was measured with 'tcp;ofi_rxm'\n"
            "warning: cpu is 'Xeon' here, the model was measured with 'EPYC'\n"
            "note: kernel is '5.10' here, the model was measured with '6.1'\n");
}

TEST(FingerprintMatch, AMissingFactIsADifference) {
  const auto report = match(kModel, {{"cpu", "EPYC"}, {"kernel", "6.1"}});
  EXPECT_FALSE(report.usable());
  EXPECT_EQ(report.hard.at(0).of_machine, std::nullopt);
  EXPECT_NE(report.text().find("fabric is not reported by this machine"), std::string::npos);
}

TEST(FingerprintMatch, VariablesOfTheNetworkAreComparedInBothDirections) {
  const std::string set = "FI_OFI_RXM_BUFFER_SIZE=1024";
  EXPECT_EQ(
      match({}, {{"libfabric.variables", set}}).text(),
      "warning: libfabric.variables is '" + set + "' here, the model was measured with 'none'\n");
  EXPECT_EQ(match({}, {{"libfabric.variables", "none"}}).text(), "");
  const Fingerprint of_set = {{"libfabric.variables", {set, MatchRule::soft}}};
  EXPECT_EQ(match(of_set, {{"libfabric.variables", "none"}}).soft.size(), 1U);
  EXPECT_EQ(match(of_set, {{"libfabric.variables", set}}).text(), "");
}

TEST(FingerprintMatch, SettingsThatAModelDoesNotHoldAreNamed) {
  EXPECT_EQ(match({}, {{"cpu.quota", "1.5"}}).text(),
            "warning: cpu.quota is '1.5' here, the model was measured with 'none'\n");
  const auto report =
      match({{"host", {"a", MatchRule::ignore}}}, {{"tcp.send_bytes", "4096 16384 4194304"},
                                                   {"memory.huge_pages.segments", "always"},
                                                   {"host", "b"},
                                                   {"cpu.cores", "8"}});
  EXPECT_TRUE(report.soft.empty());
  EXPECT_EQ(
      report.text(),
      "note: host is 'b' here, the model was measured with 'a'\n"
      "note: memory.huge_pages.segments is 'always' here, the model does not say with what it "
      "was measured\n"
      "note: tcp.send_bytes is '4096 16384 4194304' here, the model does not say with what it "
      "was measured\n");
  EXPECT_EQ(match({{"tcp.send_bytes", {"*", MatchRule::soft}}}, {{"tcp.send_bytes", "1"}}).text(),
            "");
}

TEST(FingerprintMatch, AStarOnEitherSideRelaxesAField) {
  EXPECT_TRUE(match(kModel, {{"fabric", "*"}, {"cpu", "*"}, {"kernel", "*"}}).text().empty());
  const Fingerprint relaxed = {{"fabric", {"*", MatchRule::hard}}};
  EXPECT_TRUE(match(relaxed, {}).text().empty());
}

// What a run lets computation take, or whether times vary, is not the network.
TEST(FingerprintMatch, FabricsAreComparedAsNetworks) {
  const Fingerprint plain = {{"fabric", {"emulated:opteron-vapi", MatchRule::hard}}};
  const Fingerprint of_file = {{"fabric", {"emulated:./net.json,jitter=off", MatchRule::hard}}};
  for (const char* options : {",compute=declared", ",jitter=off", ",compute=2,jitter=off", ""}) {
    EXPECT_TRUE(
        match(plain, {{"fabric", std::string("emulated:opteron-vapi") + options}}).usable());
    EXPECT_TRUE(
        match(of_file, {{"fabric", std::string("emulated:./net.json") + options}}).usable());
  }
  EXPECT_FALSE(match(plain, {{"fabric", "emulated:opteron-vapi,ranks_per_node=2"}}).usable());
  EXPECT_FALSE(match(plain, {{"fabric", "emulated:itanium-gm,compute=declared"}}).usable());
}

}  // namespace
}  // namespace stripline::model
