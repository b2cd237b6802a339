#include "server/store/log_bound.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

using Cut = LogBound::Cut;

constexpr uintmax_t kMax = LogBound::kMaxBytes;

TEST(LogBound, ASmallLogIsLeftAlone) {
  LogBound bound;
  EXPECT_EQ(bound.next(0, 100), Cut::no);
  EXPECT_EQ(bound.next(kMax - 1, 100), Cut::no);
  EXPECT_EQ(bound.next(kMax, 100), Cut::if_unread);
}

TEST(LogBound, ALogThatStaysLargeIsTriedOnceASecond) {
  LogBound bound;
  EXPECT_EQ(bound.next(kMax, 100), Cut::if_unread);
  EXPECT_EQ(bound.next(kMax + 1, 100.5), Cut::no);
  EXPECT_EQ(bound.next(kMax + 2, 101), Cut::if_unread);
  EXPECT_EQ(bound.next(kMax + 3, 101.5), Cut::no);
}

TEST(LogBound, OneThatWasCutIsCutAgainAtOnce) {
  LogBound bound;
  EXPECT_EQ(bound.next(kMax, 100), Cut::if_unread);
  EXPECT_EQ(bound.next(1, 100.1), Cut::no);
  EXPECT_EQ(bound.next(kMax, 100.2), Cut::if_unread);
}

TEST(LogBound, ReadersAreWaitedForEachTimeItHasDoubled) {
  LogBound bound;
  EXPECT_EQ(bound.next(2 * kMax - 1, 100), Cut::if_unread);
  EXPECT_EQ(bound.next(2 * kMax, 101), Cut::when_unread);
  EXPECT_EQ(bound.next(3 * kMax, 102), Cut::if_unread) << "another program keeps it";
  EXPECT_EQ(bound.next(4 * kMax, 103), Cut::when_unread);
  EXPECT_EQ(bound.next(1, 104), Cut::no);
  EXPECT_EQ(bound.next(2 * kMax, 105), Cut::when_unread);
}

}  // namespace
}  // namespace stripline::server
