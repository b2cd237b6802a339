#include "suites/bench/budget.h"

#include <gtest/gtest.h>

namespace stripline::suites::bench {
namespace {

TEST(Budget, RoundsAreNotMoreThanRepetitions) {
  EXPECT_EQ(rounds_of(1, 200), 1u);
  EXPECT_EQ(rounds_of(5, 200), 3u);
  EXPECT_EQ(rounds_of(5, 2), 2u);
  EXPECT_EQ(rounds_of(5, 1), 1u);
}

TEST(Budget, RunsAreAsManyAsItAllows) {
  EXPECT_EQ(affordable_runs(12, 1, 1, 100), 12u);
  EXPECT_EQ(affordable_runs(12, 1, 1, 8.5), 9u);
  EXPECT_EQ(affordable_runs(12, 4, 4, 5), 9u);
}

TEST(Budget, AnIntervalIsAlwaysAfforded) {
  EXPECT_EQ(affordable_runs(12, 1, 1, 2), 6u);
  EXPECT_EQ(affordable_runs(2, 1, 1, 0), 2u);
  EXPECT_EQ(affordable_runs(12, 8, 8, 0), 8u);
}

TEST(Budget, OverdrawnIsNotEndless) {
  EXPECT_EQ(affordable_runs(12, 1, 0.1, -50), 6u);
  EXPECT_EQ(affordable_runs(2, 2, 0.1, -50), 2u);
  EXPECT_EQ(affordable_runs(12, 1, 0, 1), 12u) << "runs that took no time";
}

}  // namespace
}  // namespace stripline::suites::bench
