#include "base/web/base64url.h"

#include <gtest/gtest.h>

namespace stripline::web {
namespace {

TEST(Base64UrlTest, HasOneForm) {
  for (const std::string bytes : {"", "f", "fo", "foo", "\xff\xfe\xfd"}) {
    EXPECT_EQ(from_base64url(to_base64url(bytes)), bytes);
  }
  EXPECT_EQ(to_base64url("\xff\xfe\xfd"), "__79");
  for (const char* wrong : {"a", "Zg==", "Zh", "Zm9v\n", "Zm+v", "abcde"}) {
    EXPECT_FALSE(from_base64url(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace stripline::web
