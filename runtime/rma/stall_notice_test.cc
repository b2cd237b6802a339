#include "runtime/rma/stall_notice.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <stripline/context.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

constexpr double kNoticeSeconds = 0.2;

std::string said_by(const std::function<void(Context&)>& body) {
  ::testing::internal::CaptureStderr();
  bootstrap::ThreadGroupOptions options;
  options.ranks = 3;
  options.context.fabric = "tcp";
  const Status ran = bootstrap::run_ranks(options, [&](Context& context) {
    context.state().stall_notice().watch(kNoticeSeconds);
    context.barrier();
    body(context);
  });
  std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return said;
}

TEST(StallNotice, SaysOnceWhereRanksAreOfWhichNoneGetsOn) {
  const std::string said = said_by([](Context& context) {
    if (context.rank_me() == 1) context.wait_until([] { return false; }, 20 * kNoticeSeconds);
    context.barrier();
  });
  const std::string first = "stripline: no rank has made progress for 200 ms; the job goes on.";
  const size_t at = said.find(first);
  ASSERT_NE(at, std::string::npos) << said;
  EXPECT_EQ(said.find(first, at + 1), std::string::npos) << said;
  EXPECT_NE(said.find("ranks 0, 2: waiting for "), std::string::npos) << said;
  EXPECT_NE(said.find(" in barrier (stall_notice_test.cc:"), std::string::npos) << said;
  EXPECT_NE(said.find("rank 1: waiting for "), std::string::npos) << said;
  EXPECT_NE(said.find(" in wait_until (stall_notice_test.cc:"), std::string::npos) << said;
}

TEST(StallNotice, SaysNothingWhileARankComputesOrAsks) {
  EXPECT_EQ(said_by([](Context& context) {
              if (context.rank_me() == 1) {
                const double end_s = context.now_s() + 3 * kNoticeSeconds;
                while (context.now_s() < end_s) context.progress();
                context.compute_for(2 * kNoticeSeconds);
              }
              context.barrier();
            }),
            "");
}

}  // namespace
}  // namespace stripline
