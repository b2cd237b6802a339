#include "optimizer/targets/openmpi/json_rules.h"

#include <string>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "optimizer/targets/openmpi/algorithms.h"
#include "optimizer/targets/openmpi/han_rules.h"
#include "optimizer/targets/openmpi/other_versions.h"

namespace stripline::targets::openmpi {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Both examples of Open MPI's page about its tuned component, as they are there.
constexpr const char* kJson = R"({
    "$schema": "tuned_schema.json",
    "rule_file_version" : 3,
    "module" : "tuned",
    "collectives" : {
        "allreduce" :
        [
            {
                "comm_size_min" : 64,
                "comm_size_max" : 128,
                "rules" : [
                    {
                        "msg_size_min" : 512,
                        "msg_size_max" : 511999,
                        "alg" : 2,
                    },
                    {
                        "msg_size_min" : 512000,
                        "msg_size_max" : "inf",
                        "alg" : "recursive_doubling",
                        "reqs" : 8
                    }
                ]
            }
        ]
    }
})";
constexpr const char* kJsonOfOneNode = R"({
    "rule_file_version" : 3,
    "module" : "tuned",
    "comm_rank_distribution" : "single-node",
    "collectives" : {
        "allgather" :
        [
            {
                "comm_size_min" : 8,
                "rules" : [ { "msg_size_min" : 2048, "alg" : "sparbit" } ]
            }
        ]
    }
})";

// A file with these entries of a collective.
std::string json_of(const std::string& collective, const std::string& entries) {
  return R"({"rule_file_version":3,"module":"tuned","collectives":{")" + collective + "\":[" +
         entries + "]}}";
}

JsonRulesFile read(const std::string& text) {
  const auto file = read_json_rules(text, "file");
  EXPECT_TRUE(file.ok()) << file.error().message();
  return file.ok() ? *file : JsonRulesFile{};
}

TEST(JsonRules, ReadsTheDocumentedExamples) {
  const JsonRulesFile file = read(kJson);
  ASSERT_EQ(file.collectives.size(), 1U);
  const CommunicatorEntry& entry = file.collectives[0].entries.at(0);
  EXPECT_EQ(entry.least_ranks, 64U);
  EXPECT_EQ(entry.most_ranks, 128U);
  EXPECT_EQ(entry.rules.at(0).algorithm, 2);
  EXPECT_EQ(entry.rules.at(1).algorithm, 3);
  EXPECT_EQ(entry.rules.at(1).most_bytes, UINT64_MAX);
  EXPECT_EQ(entry.rules.at(1).requests, 8U);

  const JsonRulesFile one_node = read(kJsonOfOneNode);
  const auto chosen = [&](Distribution distribution) {
    return rule_for(one_node, Collective::allgather, 8, 2048, distribution).has_value();
  };
  EXPECT_TRUE(chosen(Distribution::single_node));
  EXPECT_FALSE(chosen(Distribution::one_per_node));
  // It reads well; what that algorithm needs is not known here.
  ASSERT_EQ(hazards(one_node, {}).size(), 1U);
}

TEST(JsonRules, RoundTrips) {
  for (const char* text : {kJson, kJsonOfOneNode}) {
    const JsonRulesFile file = read(text);
    EXPECT_EQ(read(write_json_rules(file)), file);
  }
  const JsonRulesFile all = read(json_of("bcast",
                                         R"({"comm_size_min":2,"comm_size_max":2,"rules":[
                  {"msg_size_max":7,"alg":"ignore"},
                  {"msg_size_min":8,"alg":"split_binary_tree","faninout":2,"seg_size":4096}]},
                 {"comm_rank_distribution":"one-per-node","rules":[{"alg":"knomial"}]})"));
  EXPECT_EQ(all.collectives.at(0).entries.at(0).rules.at(1).algorithm, 4);
  EXPECT_EQ(read(write_json_rules(all)), all);
}

TEST(JsonRules, RefusesWhatOpenMpiWouldIgnoreOrReadAsSomethingElse) {
  const std::string rule = R"({"alg":"ring"})";
  const auto entry = [](const std::string& rules) { return R"({"rules":[)" + rules + "]}"; };
  EXPECT_TRUE(read_json_rules(json_of("allreduce", entry(rule)), "file").ok());
  for (const std::string& bad : {
           std::string(""),
           std::string("[]"),
           std::string("{}"),
           std::string(R"({"rule_file_version":2,"module":"tuned","collectives":{}})"),
           std::string(R"({"rule_file_version":3,"module":"han","collectives":{}})"),
           std::string(R"({"rule_file_version":3,"module":"tuned"})"),
           std::string(R"({"rule_file_version":3,"module":"tuned","collectives":{},"a":1})"),
           // Its schema and its converter have this spelling, its reader does not.
           json_of("reducescatter", entry(R"({"alg":"ring"})")),
           json_of("allreduce", entry(R"({"alg":"rings"})")),
           json_of("allreduce", entry(R"({"alg":12})")),
           json_of("allreduce", entry(R"({"alg":2.0})")),
           json_of("allreduce", entry("{}")),
           json_of("allreduce", entry(R"({"alg":"ring","segsize":8})")),
           json_of("allreduce", entry(R"({"alg":"ring","msg_size_min":9,"msg_size_max":8})")),
           json_of("allreduce", entry(R"({"alg":"ring","msg_size_min":-1})")),
           json_of("allreduce", entry(R"({"alg":"ring","reqs":"many"})")),
           json_of("allreduce", R"({"comm_size_min":4,"comm_size_max":2,"rules":[]})"),
           // Numbers of ranks are of type int there.
           json_of("allreduce", R"({"comm_size_max":"inf","rules":[]})"),
           json_of("allreduce", R"({"comm_rank_distribution":"one","rules":[]})"),
           json_of("allreduce", R"({"comm_size_min":4})"),
           json_of("allreduce", R"({"rules":[]},,)"),
           json_of("allreduce", ","),
           json_of("allreduce", R"({"rules":[],"comm_size_min":,})"),
       }) {
    EXPECT_FALSE(read_json_rules(bad, "file").ok()) << bad;
  }
}

TEST(JsonRules, CommasInTextsAreNoLastCommas) {
  const auto file = read_json_rules(json_of("all,}reduce\\\",]", ""), "file");
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message().find("all,}reduce\",]"), std::string::npos)
      << file.error().message();
}

TEST(JsonRules, MeanWhatTheClassicFileMeans) {
  ASSERT_OK_AND_ASSIGN(const auto classic,
                       read_rules("3\n"
                                  "3 4  0 1 0 0 0 0  2 2 0 5 0 0 64 2 4 1024  3 1 0 0 0 0  8 3 0 0 "
                                  "0 0 512 2 0 0 4096 0 0 0\n"
                                  "7 1  4 1 0 6 0 0\n"
                                  "9 2  0 1 0 2 0 0  5 1 0 0 0 0\n",
                                  "file"));
  std::vector<std::string> left_out;
  const JsonRulesFile converted = json_rules_of(classic, Distribution::single_node, left_out);
  EXPECT_TRUE(left_out.empty());
  const JsonRulesFile file = read(write_json_rules(converted));
  for (const Collective collective : kCollectives) {
    for (const uint32_t ranks : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 1000U}) {
      for (const uint64_t bytes : {uint64_t{0}, uint64_t{63}, uint64_t{64}, uint64_t{511},
                                   uint64_t{512}, uint64_t{4095}, uint64_t{4096}, kMiB}) {
        const MessageRule before = rule_for(classic, collective, ranks, bytes);
        const SizeRule after = rule_for(file, collective, ranks, bytes, Distribution::single_node)
                                   .value_or(SizeRule{});
        EXPECT_EQ(after.algorithm, before.algorithm)
            << to_string(collective) << " " << ranks << " " << bytes;
        EXPECT_EQ(after.segment_bytes, before.segment_bytes);
        EXPECT_EQ(after.fan, before.fan);
        EXPECT_FALSE(rule_for(file, collective, ranks, bytes, Distribution::one_per_node));
      }
    }
  }
}

TEST(JsonRules, ANumberThatMeansAnotherAlgorithmIsLeftOut) {
  // Bruck's algorithm of 4.1 is one with another radix in 6.
  ASSERT_OK_AND_ASSIGN(const auto classic,
                       read_rules("1 0 3 0 1 0 0 0 0 4 2 0 2 0 0 4096 4 0 0 5 1 0 0 0 0", "file"));
  std::vector<std::string> left_out;
  const JsonRulesFile file = json_rules_of(classic, Distribution::single_node, left_out);
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_NE(left_out[0].find("allgather of 4 ranks from 0 B on"), std::string::npos) << left_out[0];
  const auto chosen = [&](uint64_t bytes) {
    return rule_for(file, Collective::allgather, 4, bytes, Distribution::single_node);
  };
  EXPECT_FALSE(chosen(64));
  EXPECT_EQ(chosen(4096)->algorithm, 4);
}

TEST(JsonRules, HazardsAreFound) {
  const auto found = [](const char* collective, const char* entries, const Safety& safety = {}) {
    return hazards(read(json_of(collective, entries)), safety).size();
  };
  constexpr const char* kTwo =
      R"({"comm_size_min":2,"comm_size_max":2,"rules":[{"alg":"two_proc"}]})";
  EXPECT_EQ(found("alltoall", kTwo), 0U);
  EXPECT_EQ(
      found("alltoall", R"({"comm_size_min":2,"comm_size_max":3,"rules":[{"alg":"two_proc"}]})"),
      1U);
  EXPECT_EQ(found("alltoall", R"({"comm_size_min":2,"rules":[{"alg":"two_proc"}]})"), 1U);
  EXPECT_EQ(
      found("allgather", R"({"comm_size_min":4,"comm_size_max":8,"rules":[{"alg":"neighbor"}]})"),
      1U);
  // Three ranks are not a power of two, though the ends and the second one are.
  EXPECT_EQ(found("allgather", R"({"comm_size_max":4,"rules":[{"alg":"recursive_doubling"}]})"),
            1U);
  EXPECT_EQ(found("allgather", R"({"comm_size_max":2,"rules":[{"alg":"recursive_doubling"}]})"),
            0U);
  constexpr const char* kRing =
      R"({"comm_size_min":4,"comm_size_max":4,"rules":[{"msg_size_min":64,"alg":"ring"}]})";
  EXPECT_EQ(found("allreduce", kRing), 1U);
  EXPECT_EQ(found("allreduce", kRing, {.commutative_only = true}), 0U);
  EXPECT_EQ(found("gather", R"({"rules":[{"msg_size_min":8,"alg":"binomial"}]})"), 1U);
  EXPECT_EQ(found("gather", R"({"rules":[{"alg":"binomial"}]})"), 0U);
  EXPECT_EQ(found("gather", R"({"rules":[{"msg_size_max":8,"alg":"ignore"}]})"), 1U);
}

// What was decided for 4.1, in the files of other versions.
class OtherVersions : public ::testing::Test {
 protected:
  static Result<OtherVersion> converted(const char* version) {
    const auto rules = read_rules("1 7 3 0 1 0 0 0 0 4 2 0 0 0 0 64 6 0 0 5 1 0 0 0 0", "file");
    EXPECT_TRUE(rules.ok());
    return for_version({{"btl_vader_eager_limit", "8192"},
                        {"btl_vader_single_copy_mechanism", "none"},
                        {"btl_tcp_links", "2"}},
                       *rules, *parse_version(version), {"who, when"});
  }
};

TEST_F(OtherVersions, Of41AreReadAsTheyAre) {
  ASSERT_OK_AND_ASSIGN(const auto other, converted("4.1.8"));
  EXPECT_EQ(other.settings.at(0).name, "btl_vader_eager_limit");
  EXPECT_TRUE(other.left_out.empty());
  EXPECT_TRUE(read_rules(other.rules, "file").ok());
  EXPECT_EQ(other.han_rules, "");
}

TEST_F(OtherVersions, Of50HaveOtherNamesForSharedMemory) {
  ASSERT_OK_AND_ASSIGN(const auto other, converted("5.0.7"));
  EXPECT_EQ(other.settings,
            (std::vector<Setting>{{"btl_sm_eager_limit", "8192"}, {"btl_tcp_links", "2"}}));
  ASSERT_EQ(other.left_out.size(), 1U);
  EXPECT_NE(other.left_out[0].find("single_copy_mechanism = none"), std::string::npos);
  EXPECT_TRUE(read_rules(other.rules, "file").ok());
  EXPECT_NE(other.rules.find("# Left out: btl_vader_single_copy_mechanism"), std::string::npos);
  // Among four nodes these rules would be followed, too.
  ASSERT_OK_AND_ASSIGN(const auto levels, read_han_rules(other.han_rules, "file"));
  EXPECT_TRUE(hazards(levels, *read_rules(other.rules, "file")).empty());
}

TEST_F(OtherVersions, Of6AreJson) {
  ASSERT_OK_AND_ASSIGN(const auto other, converted("6.0.0"));
  const JsonRulesFile file = read(other.rules);
  EXPECT_EQ(rule_for(file, Collective::bcast, 4, 64, Distribution::single_node)->algorithm, 6);
  EXPECT_FALSE(rule_for(file, Collective::bcast, 5, 64, Distribution::single_node));
  EXPECT_FALSE(rule_for(file, Collective::bcast, 4, 63, Distribution::single_node));
}

TEST_F(OtherVersions, ThatAreNotKnownAreRefusedByName) {
  for (const char* version : {"3.1.0", "4.0.5", "5.1.0", "7.0.0"}) {
    const auto refused = converted(version);
    ASSERT_FALSE(refused.ok()) << version;
    EXPECT_EQ(refused.error().code(), ErrorCode::unimplemented);
    EXPECT_NE(refused.error().message().find(version), std::string::npos);
  }
  const auto nothing =
      for_version({{"btl_vader_single_copy_mechanism", "none"}}, {}, *parse_version("5.0.0"), {});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code(), ErrorCode::failed_precondition);
}

}  // namespace
}  // namespace stripline::targets::openmpi
