#include "optimizer/targets/packed_export.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/packed_export.h"
#include "base/sha256.h"
#include "base/testing/assert_ok.h"

namespace stripline::targets {
namespace {

Json check(const char* operation, const char* verdict, double ratio, double lower) {
  return {{"operation", operation}, {"ranks", 4},     {"bytes", 1024},
          {"verdict", verdict},     {"ratio", ratio}, {"lower", lower}};
}

Json example() {
  const std::string text = "# Written by Stripline\n";
  const Json cell = {{"collective", "bcast"}, {"chosen", "binomial"}};
  const Json other = {{"collective", "bcast"}, {"chosen", "default"}};
  return {{"format", kPackedExportFormat},
          {"files", {{"rules.conf", text}}},
          {"record",
           {{"target", "openmpi"},
            {"version", "4.1.4"},
            {"path", "shm"},
            {"host", "a"},
            {"time", "2026-01-01T00:00:00Z"},
            {"ranks", {2U, 4U}},
            {"validated", true},
            {"cells", {cell, other}},
            {"settings", Json::object()},
            {"checks",
             {check("bcast", "NON_INFERIOR", 0.5, 0.4), check("halo", "NON_INFERIOR", 2, 1.6)}},
            {"proofs", Json::array({{{"factor", 4.5}}, {{"factor", 3.5}}})},
            {"files", {{"rules.conf", sha256_hex(text)}}}}}};
}

TEST(PackedExport, SaysWhatItIsOfAndHowItsValidationEnded) {
  ASSERT_OK_AND_ASSIGN(const auto read, read_packed_export(example().dump(), "it"));
  EXPECT_TRUE(read.validated);
  EXPECT_EQ(read.departing, 1U);
  EXPECT_EQ(read.compared, 2U);
  EXPECT_DOUBLE_EQ(read.ratio, 1);
  EXPECT_DOUBLE_EQ(read.ratio_low, 0.8);
  EXPECT_EQ(read.probe_factor, 3.5);
  EXPECT_EQ(read.slower, 0U);
  EXPECT_EQ(describe(read),
            "Open MPI 4.1.4, shm, 2, 4 ranks: 1 cell and 0 knobs depart from the default, 1.00 of "
            "its time in the mean of 2 comparisons");
}

TEST(PackedExport, NamesTheWorstOfWhatIsSlower) {
  Json whole = example();
  whole["record"]["checks"].push_back(check("sort", "INFERIOR", 1.2, 1.1));
  whole["record"]["checks"].push_back(check("halo", "INFERIOR", 1.5, 1.4));
  ASSERT_OK_AND_ASSIGN(const auto read, read_packed_export(whole.dump(), "it"));
  EXPECT_EQ(read.slower, 2U);
  EXPECT_EQ(read.worst, "halo, 4 ranks, 1024 bytes");
  EXPECT_EQ(read.worst_ratio, 1.5);
}

TEST(PackedExport, CountsWhatIsInconclusiveUnlessItsLossIsBounded) {
  Json whole = example();
  for (const double upper : {1.05, 1.2, 1.5}) {
    Json one = check("sort", "INCONCLUSIVE", 1, 0.9);
    one["upper"] = upper;
    whole["record"]["checks"].push_back(std::move(one));
  }
  whole["record"]["checks"].push_back(check("sort", "INCONCLUSIVE", 1, 0.9));
  ASSERT_OK_AND_ASSIGN(const auto read, read_packed_export(whole.dump(), "it"));
  EXPECT_EQ(read.inconclusive, 3U);
  EXPECT_EQ(read.slower, 0U);
}

TEST(PackedExport, WhatWasConvertedIsNotProven) {
  Json whole = example();
  whole["record"]["validated"] = false;
  whole["record"]["proofs"][0]["factor"] = nullptr;
  whole["record"]["checks"] = Json::array();
  ASSERT_OK_AND_ASSIGN(const auto read, read_packed_export(whole.dump(), "it"));
  EXPECT_FALSE(read.validated);
  EXPECT_EQ(read.probe_factor, 0);
  EXPECT_EQ(read.compared, 0U);
  for (const Json& proofs : {Json(), Json::array(), Json::array({"3.5"}), Json(3.5)}) {
    whole["record"]["proofs"] = proofs;
    ASSERT_OK_AND_ASSIGN(const auto other, read_packed_export(whole.dump(), "it"));
    EXPECT_EQ(other.probe_factor, 0) << proofs;
  }
}

TEST(PackedExport, FilesThatItsRecordDoesNotListAreRefused) {
  for (const char* what : {"changed", "added", "none", "target", "format"}) {
    Json whole = example();
    if (std::string(what) == "changed") whole["files"]["rules.conf"] = "other";
    if (std::string(what) == "added") whole["files"]["more.conf"] = "other";
    if (std::string(what) == "none") whole["files"] = whole["record"]["files"] = Json::object();
    if (std::string(what) == "target") whole["record"]["target"] = "unknown";
    if (std::string(what) == "format") whole["format"] = "stripline export 2";
    const auto read = read_packed_export(whole.dump(), "it");
    ASSERT_FALSE(read.ok()) << what;
    EXPECT_EQ(read.error().code(), ErrorCode::data_loss) << what;
  }
}

// What is said of it is shown in one line.
TEST(PackedExport, TextsAreShort) {
  for (const char* member : {"version", "path", "host", "time"}) {
    Json whole = example();
    whole["record"][member] = std::string(1000, 'x');
    const auto read = read_packed_export(whole.dump(), "it");
    ASSERT_FALSE(read.ok()) << member;
    EXPECT_NE(read.error().message().find(member), std::string::npos) << read.error().message();
  }
  Json whole = example();
  whole["record"]["ranks"] = std::vector<uint32_t>(1000, 2);
  EXPECT_FALSE(read_packed_export(whole.dump(), "it").ok());
}

}  // namespace
}  // namespace stripline::targets
