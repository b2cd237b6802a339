#include "suites/harness/timed.h"

#include <array>

#include <gtest/gtest.h>

namespace stripline::suites::harness {
namespace {

size_t first_argument(const char* text) {
  const std::array<const char*, 2> words{"program", text};
  return argument(2, words.data(), 1, 9);
}

TEST(Timed, ArgumentsAreWholeNumbersFromOneOn) {
  const std::array<const char*, 1> none{"program"};
  EXPECT_EQ(argument(1, none.data(), 1, 9), 9U);
  EXPECT_EQ(first_argument("1"), 1U);
  EXPECT_EQ(first_argument("1048576"), 1048576U);
  for (const char* const wrong : {"", "0", "-1", "many", "5x", "99999999999999999999"}) {
    EXPECT_EXIT(first_argument(wrong), ::testing::ExitedWithCode(2), "program: argument 1 is")
        << wrong;
  }
}

/// One rank, whose clock is advanced by what is timed.
struct OneRank {
  size_t rank() const { return 0; }
  size_t ranks() const { return 1; }
  double now_s() const { return clock_s; }
  void barrier() { ++barriers; }
  void longest(const std::vector<double>& times) { reduced = times.size(); }

  double clock_s = 0;
  int barriers = 0;
  size_t reduced = 0;
};

TEST(Timed, IsTheMeanOfOperationsAfterABarrier) {
  OneRank rank;
  const double time_s = timed_s(rank, 4, [&](size_t i) {
    EXPECT_EQ(rank.barriers, 1);
    rank.clock_s += static_cast<double>(i);
  });
  EXPECT_EQ(time_s, 1.5);
}

TEST(Timed, PrintsTheMedianAsALineOfJson) {
  OneRank rank;
  std::vector<double> times = {3, 1, 2};
  ::testing::internal::CaptureStdout();
  print_median(rank, "ours", field("operation", "halo") + "," + field("cells", 16), times);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "{\"system\":\"ours\",\"operation\":\"halo\",\"cells\":16,\"ranks\":1,"
            "\"median_s\":2}\n");
  EXPECT_EQ(rank.reduced, 3U);
}

}  // namespace
}  // namespace stripline::suites::harness
