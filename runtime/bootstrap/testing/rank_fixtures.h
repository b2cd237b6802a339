// Fixtures of tests whose body is a program of ranks: jobs that succeed, on each fabric under test,
// and jobs that end with a message.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <gtest/gtest.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/thread_group.h"

namespace stripline::bootstrap {

/// Runs ranks that all have to end well.
inline void on_ranks(const ThreadGroupOptions& options, const std::function<void(Context&)>& body) {
  const Status ran = run_ranks(options, body);
  ASSERT_TRUE(ran.ok()) << ran.error().message();
}

/// For INSTANTIATE_TEST_SUITE_P(..., ValuesIn(fabrics_under_test()), FabricLabel()).
class RanksTest : public ::testing::TestWithParam<FabricUnderTest> {
 protected:
  static void on_ranks(const ThreadGroupOptions& options,
                       const std::function<void(Context&)>& body) {
    bootstrap::on_ranks(options, body);
  }
  void on_ranks(rank_t ranks, const std::function<void(Context&)>& body) {
    on_ranks(group_on(GetParam(), ranks), body);
  }
  /// With this many credits of each kind of active messages.
  void on_ranks(rank_t ranks, uint16_t credits, const std::function<void(Context&)>& body) {
    ThreadGroupOptions options = group_on(GetParam(), ranks);
    options.am_config.request_credits = credits;
    options.am_config.reply_credits = credits;
    on_ranks(options, body);
  }
};

/// For EXPECT_EXIT(on_ranks(...), ::testing::ExitedWithCode(...), ...): a mistake of a rank ends
/// the process. One fabric will do, the fastest. In debug mode only where the test asks for it.
class RanksDeathTest : public ::testing::Test {
 protected:
  // Other tests have run threads in this process.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  /// Exits with 0 if all goes well, with 1 if the job could not start.
  static void on_ranks(rank_t ranks, const std::function<void(Context&)>& body,
                       const FabricUnderTest& fabric = fabrics_under_test()[1]) {
    const Status ran = run_ranks(group_on(fabric, ranks), body);
    if (!ran.ok()) std::fprintf(stderr, "%s\n", ran.error().message().c_str());
    std::_Exit(ran.ok() ? 0 : 1);
  }

 private:
  // Debug mode finds the same mistakes earlier, and has other messages.
  const WithoutDebugMode without_debug_mode_;
};

}  // namespace stripline::bootstrap
