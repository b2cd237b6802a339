#include "suites/micro/closed_form.h"

#include <gtest/gtest.h>

namespace stripline::suites {
namespace {

TEST(ClosedForm, IsTheSumOfTheElements) {
  double sum = 0;
  for (size_t count = 0; count <= 4 * kCycle; ++count) {
    EXPECT_EQ(static_cast<double>(cyclic_sum(count)), sum) << count;
    sum += cyclic_element(count);
  }
}

}  // namespace
}  // namespace stripline::suites
