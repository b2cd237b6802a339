#include "base/packed_export.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(PackedExport, IsKnownByItsFormat) {
  EXPECT_TRUE(is_packed_export(R"({"files": {}, "format": "stripline export 1", "record": {}})"));
  EXPECT_FALSE(is_packed_export(R"({"format": "stripline export 2"})"));
  EXPECT_FALSE(is_packed_export(R"({"schema_version": 1, "name": "tcp"})"));
  EXPECT_FALSE(is_packed_export(R"(["stripline export 1"])"));
  EXPECT_FALSE(is_packed_export("# Written by Stripline"));
}

}  // namespace
}  // namespace stripline
