// What regions decide, and show of it.
#include "runtime/fine/visit.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/fine.h>

#include "optimizer/model/model_fixture.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline {
namespace {

TEST(FineVisit, IsWhatThePlannerIsAsked) {
  fine::Tally tally;
  EXPECT_EQ(tally.request(0, 64).reads, 0U);
  tally.reads = {.count = 100, .bytes = 1600, .issue_s = 1e-5, .wait_s = 2e-5};
  tally.writes = {.count = 20, .bytes = 160, .issue_s = 1e-5};
  tally.fetched = 80;
  tally.boxes = 10;
  tally.box_bytes = 5000;
  tally.bursts = 4;
  tally.targets = 12;
  tally.puts = 5;
  const plan::FineRequest request = tally.request(1e-3, 7);
  EXPECT_EQ(request.reads, 80U);
  EXPECT_EQ(request.read_bytes, 16U);
  EXPECT_EQ(request.boxes, 10U);
  EXPECT_EQ(request.box_bytes, 500U);
  EXPECT_EQ(request.bursts, 4U);
  EXPECT_EQ(request.ranks, 3U);
  EXPECT_EQ(request.writes, 5U);
  EXPECT_EQ(request.write_bytes, 32U);
  EXPECT_DOUBLE_EQ(request.compute_s, 1e-3 - 4e-5);
  EXPECT_EQ(request.in_flight, 7U);
  EXPECT_FALSE(request.at_once);
  EXPECT_TRUE(plan::FineMechanism::request_of(request).ok());
  tally.at_once = 60;
  EXPECT_TRUE(tally.request(1e-3, 7).at_once);
}

constexpr size_t kReads = 64;
constexpr std::ptrdiff_t kFar = 4096;

// Two visits are measured, and the others go by a plan.
void read_and_write(Context& context) {
  const auto mine = context.new_symmetric_array<uint64_t>(kReads * kFar);
  ASSERT_TRUE(mine.ok());
  const auto there = context.on_rank(*mine, 1 - context.rank_me());
  for (uint64_t turn = 0; turn < 8; ++turn) {
    context.barrier();
    fine_region fine(context);
    context.compute_for(1e-4);
    std::vector<lazy<uint64_t>> values;
    for (size_t i = 0; i < kReads; ++i) {
      values.push_back(fine.read(there + static_cast<std::ptrdiff_t>(i) * kFar));
    }
    for (const lazy<uint64_t>& value : values) EXPECT_EQ(value, turn);
    for (size_t i = 0; i < kReads; ++i) {
      fine.write(there + static_cast<std::ptrdiff_t>(i) * kFar, turn + 1);
    }
  }
  context.barrier();
}

TEST(FineTrace, ShowsTheMethodThatExplainNames) {
  model::TunedModel known = model::example_model();
  known.pack = model::example_pack();
  const ModelFile model("fine_trace", known);
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2);
  group.context.debug = false;
  group.context.model_path = model.path();
  group.context.trace = "sites";
  group.context.guard = false;  // which would compare it with others
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_ranks(group, read_and_write);
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  EXPECT_NE(said.find("region of 1 KiB (64 reads: issue "), std::string::npos) << said;
  EXPECT_NE(said.find("; 64 fetched in 64 boxes)(64 writes: issue "), std::string::npos) << said;
  EXPECT_NE(said.find("; 64 puts)"), std::string::npos) << said;
  const std::string command = "stripline explain fine " + model.path() +
                              " --path inter-node --reads 64 --boxes 64 --writes 64 ";
  EXPECT_NE(said.find(command), std::string::npos) << said;
}

}  // namespace
}  // namespace stripline
