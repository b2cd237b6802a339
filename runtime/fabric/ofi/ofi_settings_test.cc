#include "runtime/fabric/ofi/ofi_settings.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace stripline::fabric::ofi {
namespace {

// NOLINTBEGIN(concurrency-mt-unsafe): these tests have one thread

class SettingsTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"STRIPLINE_ADDRESS", "STRIPLINE_IFACE", "STRIPLINE_PEER_TIMEOUT",
                             "STRIPLINE_INJECTION_QUEUES"}) {
      unsetenv(name);
    }
  }
};

TEST_F(SettingsTest, ComeFromTheEnvironment) {
  setenv("STRIPLINE_ADDRESS", "10.0.0.1", 1);
  setenv("STRIPLINE_IFACE", "ib0", 1);
  setenv("STRIPLINE_PEER_TIMEOUT", "2.5", 1);
  setenv("STRIPLINE_INJECTION_QUEUES", "3", 1);
  const auto settings = Settings::from_environment();
  ASSERT_TRUE(settings.ok()) << settings.error().message();
  EXPECT_EQ(settings->address, "10.0.0.1");
  EXPECT_EQ(settings->interface, "ib0");
  EXPECT_EQ(settings->peer_timeout_s, 2.5);
  EXPECT_EQ(settings->injectors, 3U);
}

TEST_F(SettingsTest, RefuseWhatDoesNotParse) {
  for (const char* bad : {"", "x", "0", "-1", "nan", "inf", "1x"}) {
    setenv("STRIPLINE_PEER_TIMEOUT", bad, 1);
    EXPECT_EQ(Settings::from_environment().ok(), *bad == '\0') << bad;
  }
  unsetenv("STRIPLINE_PEER_TIMEOUT");
  for (const char* bad : {"x", "-1", "1.5", "1x", " 1"}) {
    setenv("STRIPLINE_INJECTION_QUEUES", bad, 1);
    EXPECT_FALSE(Settings::from_environment().ok()) << bad;
  }
}

// NOLINTEND(concurrency-mt-unsafe)

}  // namespace
}  // namespace stripline::fabric::ofi
