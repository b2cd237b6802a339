#include "runtime/fabric/ofi/ofi_settings.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace stripline::fabric::ofi {
namespace {

// NOLINTBEGIN(concurrency-mt-unsafe): these tests have one thread

class SettingsTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"STRIPLINE_ADDRESS", "STRIPLINE_IFACE", "STRIPLINE_PEER_TIMEOUT"}) {
      unsetenv(name);
    }
  }
};

TEST_F(SettingsTest, ComeFromTheEnvironment) {
  setenv("STRIPLINE_ADDRESS", "10.0.0.1", 1);
  setenv("STRIPLINE_IFACE", "ib0", 1);
  setenv("STRIPLINE_PEER_TIMEOUT", "2.5", 1);
  const auto settings = Settings::from_environment();
  ASSERT_TRUE(settings.ok()) << settings.error().message();
  EXPECT_EQ(settings->address, "10.0.0.1");
  EXPECT_EQ(settings->interface, "ib0");
  EXPECT_EQ(settings->peer_timeout_s, 2.5);
}

TEST_F(SettingsTest, RefuseWhatDoesNotParse) {
  for (const char* bad : {"", "x", "0", "-1", "nan", "inf", "1x"}) {
    setenv("STRIPLINE_PEER_TIMEOUT", bad, 1);
    EXPECT_EQ(Settings::from_environment().ok(), *bad == '\0') << bad;
  }
}

// NOLINTEND(concurrency-mt-unsafe)

}  // namespace
}  // namespace stripline::fabric::ofi
