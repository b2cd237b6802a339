// What serving takes of a target, on the emulated fabric, which says what that is.

#include <gtest/gtest.h>

#include "runtime/fabric/emulated/testing/profile_file.h"
#include "suites/registry.h"
#include "suites/testing/ranks.h"

namespace stripline::suites {
namespace {

using experiment::StopReason;

// Calls of the target serve gets and puts, which takes this time, where that is not negative.
fabric::ProfileFile profile_with(double s_base_s, double s_per_byte_s) {
  return {"opteron-vapi", [&](Json& changed) {
            for (const char* operation : {"get", "put"}) {
              if (s_base_s < 0) continue;
              changed[operation]["needs_target"] = true;
              for (Json& segment : changed[operation]["segments"]) {
                segment["s_base_s"] = {{"value", s_base_s}, {"assumed", "for a test"}};
                segment["s_per_byte_s"] = {{"value", s_per_byte_s}, {"assumed", "for a test"}};
              }
            }
          }};
}

// A rank that serves is later than its peer, whose message that it has come to the next barrier it
// may serve before it stops its clock. A sample has a quarter of that.
constexpr double kBarrier_s = 0.2e-6;

// Checks that each sample is s(S).
void expect_found(const fabric::ProfileFile& profile, double s_base_s, double s_per_byte_s) {
  on_ranks(
      2, "emulated:" + profile.path() + ",compute=none,jitter=off", "virtual",
      [&](Session& session) {
        for (const char* variant : {"get", "put"}) {
          for (const int64_t bytes : {int64_t{8}, int64_t{65536}}) {
            const auto series = run_point(session, {"micro.serve", variant, {{"bytes", bytes}}},
                                          {.time_budget_s = 1});
            if (session.context().rank_me() != 0) continue;
            ASSERT_TRUE(series.ok()) << series.error().message();
            EXPECT_TRUE(series->verified);
            EXPECT_EQ(series->stop_reason, StopReason::converged);
            for (const double value : series->values) {
              EXPECT_NEAR(value, s_base_s + s_per_byte_s * static_cast<double>(bytes), kBarrier_s)
                  << variant << " of " << bytes << " B";
            }
          }
        }
      });
}

TEST(ServeBenchmark, FindsWhatServingTakesOfTheTarget) {
  expect_found(profile_with(2e-6, 0.4e-9), 2e-6, 0.4e-9);
}

TEST(ServeBenchmark, FindsNothingWhereATargetOnlyAttends) {
  expect_found(profile_with(0, 0), 0, 0);
}

TEST(ServeBenchmark, FindsNothingWhereNicsServe) { expect_found(profile_with(-1, 0), 0, 0); }

}  // namespace
}  // namespace stripline::suites
