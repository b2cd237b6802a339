#include "base/address_key.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(AddressKey, IsTheNetworkOfAnIpv6Address) {
  EXPECT_EQ(address_key("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(address_key("::ffff:192.0.2.1"), "::ffff:192.0.2.1");
  EXPECT_EQ(address_key("2001:db8:1:2:3:4:5:6"), address_key("2001:db8:1:2::1"));
  EXPECT_NE(address_key("2001:db8:1:2::1"), address_key("2001:db8:1:3::1"));
}

}  // namespace
}  // namespace stripline
