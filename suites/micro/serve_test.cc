// What serving takes of a target, where the emulated fabric says what that is: nothing. Gets and
// puts may wait for calls of their target, as they do over TCP, but take none of its CPU's time.
#include <string>

#include <gtest/gtest.h>

#include "runtime/fabric/emulated/profile_file.h"
#include "suites/registry.h"
#include "suites/testing/ranks.h"

namespace stripline::suites {
namespace {

using experiment::StopReason;

class ServeBenchmark : public ::testing::TestWithParam<bool> {};

TEST_P(ServeBenchmark, FindsNothingAndSoon) {
  const bool needed = GetParam();
  const fabric::ProfileFile profile("opteron-vapi", [&](Json& changed) {
    changed["get"]["needs_target"] = changed["put"]["needs_target"] = needed;
  });
  on_ranks(2, "emulated:" + profile.path() + ",compute=none", "virtual", [](Session& session) {
    for (const char* variant : {"get", "put"}) {
      for (const int64_t bytes : {int64_t{8}, int64_t{65536}}) {
        const auto series =
            run_point(session, {"micro.serve", variant, {{"bytes", bytes}}}, {.time_budget_s = 1});
        if (session.context().rank_me() != 0) continue;
        ASSERT_TRUE(series.ok()) << series.error().message();
        EXPECT_TRUE(series->verified);
        EXPECT_EQ(series->stop_reason, StopReason::converged);
        for (const double value : series->values) EXPECT_NEAR(value, 0, 1e-15) << variant << bytes;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Targets, ServeBenchmark, ::testing::Bool(), [](const auto& needed) {
  return needed.param ? "WhoseCallsServe" : "WhoseNicsServe";
});

}  // namespace
}  // namespace stripline::suites
