#include "optimizer/targets/nccl/nccl.h"

#include <gtest/gtest.h>

namespace stripline::targets::nccl {
namespace {

TEST(TunerFile, ReadsTheDocumentedExample) {
  const auto rules = read_tuner_file(
      "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n"
      "allreduce,0,65536,tree,simple,2,1,-1,-1,-1\n"
      "allreduce,65537,4294967295,ring,simple,-1,-1,-1\n",
      "file");
  ASSERT_TRUE(rules.ok()) << rules.error().message();
  ASSERT_EQ(rules->size(), 2U);
  EXPECT_EQ((*rules)[0].channels, 2);
  EXPECT_EQ((*rules)[1].least_bytes, 65537U);
  EXPECT_EQ((*rules)[1].algorithm, "ring");
  EXPECT_EQ((*rules)[1].ranks, -1);
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
        "allreduce,0,1,tree,simple,1,1,x\n", "allreduce,0,1,tree,simple,1,1,1,2\n",
        "allreduce,0,1,tree,simple,1,1,1,-1,-1,-1\n"}) {
    EXPECT_FALSE(read_tuner_file(bad, "file").ok()) << bad;
  }
}

}  // namespace
}  // namespace stripline::targets::nccl
