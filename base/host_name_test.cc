#include "base/host_name.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(HostName, ThisHostIsKnownByItsNamesAndAddresses) {
  const std::string own = host_name();
  for (const std::string& name :
       {own, own.substr(0, own.find('.')), std::string("localhost"), std::string("127.0.0.1")}) {
    EXPECT_TRUE(is_this_host(name)) << name;
  }
  // 192.0.2.0/24 and 2001:db8::/32 are for documentation only.
  for (const char* name : {"", "192.0.2.1", "2001:db8::1", "no-such-host.invalid", "127.0.0"}) {
    EXPECT_FALSE(is_this_host(name)) << name;
  }
}

}  // namespace
}  // namespace stripline
