#include "runtime/fabric/ofi/ofi_library.h"

#include <csignal>
#include <dlfcn.h>

#include <gtest/gtest.h>

#include "runtime/fabric/ofi/ofi_fabric.h"

namespace stripline::fabric::ofi {
namespace {

bool is_loaded() {
  void* handle = dlopen("libfabric.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

void on_signal(int /*number*/) {}

// No other test of this program may load libfabric: the first call is what this is about.
TEST(OfiLibraryTest, IsLoadedOnDemandAndLeavesSignalHandlersAlone) {
  ASSERT_FALSE(is_loaded());
  struct sigaction mine {};
  mine.sa_handler = on_signal;
  ASSERT_EQ(sigaction(SIGTERM, &mine, nullptr), 0);
  struct sigaction before[32] = {};
  for (int number = 1; number < 32; ++number) sigaction(number, nullptr, &before[number]);

  const auto providers = list_ofi_providers();
  ASSERT_TRUE(providers.ok()) << providers.error().message();
  EXPECT_TRUE(is_loaded());
  for (int number = 1; number < 32; ++number) {
    struct sigaction after {};
    sigaction(number, nullptr, &after);
    EXPECT_EQ(after.sa_handler, before[number].sa_handler) << "signal " << number;
  }
}

}  // namespace
}  // namespace stripline::fabric::ofi
