#include "optimizer/targets/nccl/nccl.h"

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"

namespace stripline::targets::nccl {
namespace {

// The example of the README of NCCL's example tuner.
TEST(TunerFile, ReadsTheDocumentedExample) {
  ASSERT_OK_AND_ASSIGN(
      const auto rules,
      read_tuner_file(
          "# Single-node, small allreduce: use tree algorithm, registered buffers only\n"
          "allreduce,0,65536,tree,simple,2,1,-1,-1,1\n"
          "\n"
          "# 4-node, 32-rank setup: medium allreduce, single pipeline op, non-registered buffers\n"
          "allreduce,65537,1048576,ring,simple,4,4,32,1,0\n"
          "\n"
          "# Any topology: large allreduce with LL128, multiple pipeline ops, any buffer type\n"
          "allreduce,1048577,4294967295,ring,ll128,-1,-1,-1,4,-1\n"
          "\n"
          "# Single-node broadcast: prefer tree, any pipeOps, registered buffers\n"
          "broadcast,0,32768,tree,simple,-1,1,-1\n"
          "\n"
          "# Multi-node broadcast: optimized for non-registered buffers, single pipeline op\n"
          "broadcast,32769,4294967295,ring,simple,2,-1,-1,1,0\n",
          "file"));
  ASSERT_EQ(rules.size(), 5U);
  EXPECT_EQ(rules[0].channels, 2);
  EXPECT_EQ(rules[0].pipelined_operations, -1);
  EXPECT_EQ(rules[0].registered, 1);
  EXPECT_EQ(rules[1].least_bytes, 65537U);
  EXPECT_EQ(rules[1].ranks, 32);
  EXPECT_EQ(rules[1].pipelined_operations, 1);
  EXPECT_EQ(rules[1].registered, 0);
  EXPECT_EQ(rules[2].pipelined_operations, 4);
  EXPECT_EQ(rules[3].registered, -1);
  ASSERT_OK_AND_ASSIGN(const std::string text, write_tuner_file(rules, {}));
  EXPECT_NE(text.find(",numPipeOps,regBuff\n"), std::string::npos) << text;
  EXPECT_EQ(*read_tuner_file(text, "file"), rules);
}

TEST(TunerFile, RoundTrips) {
  const std::vector<TunerRule> rules = {
      {.collective = "allreduce", .most_bytes = 65536, .algorithm = "tree", .protocol = "ll"},
      {.collective = "reducescatter",
       .least_bytes = 65537,
       .algorithm = "ring",
       .protocol = "simple",
       .channels = 4,
       .nodes = 2,
       .ranks = 16}};
  const auto text = write_tuner_file(rules, {"who, when"});
  ASSERT_TRUE(text.ok()) << text.error().message();
  EXPECT_TRUE(text->starts_with("# who, when\n"));
  EXPECT_EQ(text->find("numPipeOps"), std::string::npos);
  EXPECT_EQ(*read_tuner_file(*text, "file"), rules);
  EXPECT_FALSE(
      write_tuner_file({{.collective = "allsum", .algorithm = "ring", .protocol = "ll"}}, {}).ok());
  EXPECT_FALSE(
      write_tuner_file({{.collective = "reduce", .algorithm = "ring\n", .protocol = "ll"}}, {})
          .ok());
}

TEST(TunerFile, RefusesMistakes) {
  for (const char* bad :
       {"allreduce,0,1,tree,simple,1,1\n", "allreduce,1,0,tree,simple,1,1,1\n",
        "allreduce,0,4294967296,tree,simple,1,1,1\n", "allreduce,-1,1,tree,simple,1,1,1\n",
        "allsum,0,1,tree,simple,1,1,1\n", "allreduce,0,1,bush,simple,1,1,1\n",
        "allreduce,0,1,tree,hard,1,1,1\n", "allreduce,0,1,tree,simple,0,1,1\n",
        "allreduce,0,1,tree,simple,1,1,x\n", "allreduce,0,1,tree,simple,1,1,1,0\n",
        "allreduce,0,1,tree,simple,1,1,1,-1,2\n", "allreduce,0,1,tree,simple,1,1,1,-1,-2\n",
        "allreduce,0,1,tree,simple,1,1,1,-1,-1,-1\n"}) {
    EXPECT_FALSE(read_tuner_file(bad, "file").ok()) << bad;
  }
}

}  // namespace
}  // namespace stripline::targets::nccl
