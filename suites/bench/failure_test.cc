#include "suites/bench/failure.h"

#include <gtest/gtest.h>

#include "base/exit_codes.h"

namespace stripline::suites::bench {
namespace {

TEST(Failure, ExitCodesSurviveTheConversionToErrors) {
  for (const int code : {kExitFailure, kExitUsage, kExitBadInput, kExitUnavailable, kExitRankDied,
                         kExitTimeout, kExitCancelled, kExitConflict}) {
    EXPECT_EQ(failure_of(Error(error_code_of(code), "why")).exit_code, code);
  }
}

}  // namespace
}  // namespace stripline::suites::bench
