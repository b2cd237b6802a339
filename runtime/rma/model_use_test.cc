#include "runtime/rma/model_use.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <stripline/future.h>
#include <stripline/vis.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/loop/testing/model_file.h"
#include "runtime/rma/context_state.h"

namespace stripline::rma {
namespace {

model::TunedModel without_paths() {
  model::TunedModel m = model::example_model();
  m.network.clear();
  m.vis.clear();
  m.service_levels.reset();
  return m;
}

// What a job of two ranks writes to standard error; each gets a column of the other's.
std::string said_by(const bootstrap::FabricUnderTest& fabric, const model::TunedModel& m,
                    const std::string& trace = {}) {
  const ModelFile file("model_use_test", m);
  auto group = bootstrap::group_on(fabric, 2);
  group.context.model_path = file.path();
  if (!trace.empty()) group.context.trace = trace;
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_ranks(group, [](Context& context) {
    const auto array = *context.new_symmetric_array<double>(64);
    std::array<double, 8> column{};
    context.barrier();
    const auto there = global_ptr<const double>(context.on_rank(array, 1 - context.rank_me()));
    rget_strided<1>(context, there, {64}, column.data(), {8}, {8}).wait();
    context.barrier();
  });
  std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return said;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

const bootstrap::FabricUnderTest kEmulated{"", "emulated:opteron-vapi,compute=none", "virtual"};
const bootstrap::FabricUnderTest kMapped{"", "tcp", "real", "mapped"};

// The same with these settings, where rank 1 alone gets a column.
std::string said_with(const std::string& tuning) {
  auto group = bootstrap::group_on(kEmulated, 2);
  group.context.tuning = tuning;
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_ranks(group, [](Context& context) {
    const auto array = *context.new_symmetric_array<double>(64);
    std::array<double, 8> column{};
    context.barrier();
    if (context.rank_me() == 1) {
      const auto there = global_ptr<const double>(context.on_rank(array, 0));
      rget_strided<1>(context, there, {64}, column.data(), {8}, {8}).wait();
    }
    context.barrier();
  });
  std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return said;
}

TEST(ModelUse, NothingIsSaidOfAModelThatDecides) {
  EXPECT_EQ(said_by(kEmulated, model::example_model()), "");
}

TEST(ModelUse, LoadsAndStoresNeedNoPlan) {
  const std::string said = said_by(kMapped, model::example_model(), "sites");
  EXPECT_EQ(count_of(said, "plans no loops, nests and transfers here"), 1U) << said;
  EXPECT_NE(said.find("(none: rank 0 carried out no such call, or only where loads and stores "
                      "reach; 'stripline run --same-node network' takes"),
            std::string::npos)
      << said;
}

TEST(ModelUse, AModelWithoutPathsIsNamedAndHarmsNothing) {
  const std::string said = said_by(kEmulated, without_paths(), "sites");
  EXPECT_EQ(count_of(said, "has no path between ranks"), 1U) << said;
  // What was done is shown, with a command that does not ask the model.
  EXPECT_NE(said.find("get, 8 x 8 B"), std::string::npos) << said;
  EXPECT_NE(said.find("stripline explain call none --regions 8 "), std::string::npos) << said;
}

TEST(ModelUse, AnotherPathsEntryIsNamed) {
  const std::string said = said_by({"", "tcp", "real", "cma"}, model::example_model());
  EXPECT_EQ(count_of(said,
                     "has no path intra-node-cma, by which rank 0 reaches rank 1; it plans "
                     "by inter-node instead"),
            1U)
      << said;
}

TEST(ModelUse, NothingTracedIsExplained) {
  auto group = bootstrap::group_on(kEmulated, 2);
  group.context.trace = "sites";
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_ranks(group, [](Context& context) { context.barrier(); });
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  EXPECT_NE(said.find("(none: rank 0 carried out no such call)\n"), std::string::npos) << said;
}

// A rule that any rank has applied is not named.
TEST(ModelUse, RulesThatWereNeverAppliedAreNamedAtTheEnd) {
  EXPECT_EQ(said_with("call:64:packed").find("STRIPLINE_TUNING"), std::string::npos);
  const std::string said = said_with("call:64:packed;call:65-:packed,update:*:buffers");
  EXPECT_NE(said.find("forced nothing by 'call:65-:packed', 'update:*:buffers':"),
            std::string::npos)
      << said;
  EXPECT_EQ(count_of(said, "forced nothing"), 1U);
}

// Rules and traces are summed up when a rank leaves, which others may not do before they have what
// follows a future of that one.
TEST(ModelUse, WhatFollowsFuturesRunsBeforeRulesAndTracesAreSummedUp) {
  for (const auto& [tuning, trace] : {std::pair("update:*:buffers", "off"), {"", "sites"}}) {
    auto group = bootstrap::group_on(kEmulated, 2);
    group.context.tuning = tuning;
    group.context.trace = trace;
    ::testing::internal::CaptureStderr();
    const Status ran = bootstrap::run_ranks(group, [](Context& context) {
      const auto array = *context.new_symmetric_array<uint64_t>(1);
      const auto flag = *context.new_symmetric_array<uint64_t>(1);
      context.barrier();
      if (context.rank_me() == 1) {
        context.wait_signal(flag, 1);
        return;
      }
      (void)rget_async(context, context.on_rank(array, 1))
          .then([&context, there = context.on_rank(flag, 1)](uint64_t) {
            static const uint64_t data = 0;
            (void)context.rput_signal(&data, there, 0, there, 1);
          });
    });
    ::testing::internal::GetCapturedStderr();
    EXPECT_TRUE(ran.ok()) << ran.error().message();
  }
}

}  // namespace
}  // namespace stripline::rma
