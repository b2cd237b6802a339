#include "base/rfc3339.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(Rfc3339, IsInUtc) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(951827696.25), "2000-02-29T12:34:56.250Z");
  EXPECT_EQ(rfc3339(-0.5), "1969-12-31T23:59:59.500Z");
}

}  // namespace
}  // namespace stripline
