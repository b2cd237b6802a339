#include "shmem/environment.h"

#include <gtest/gtest.h>

#include "runtime/bootstrap/testing/scoped_environment.h"

namespace stripline::shmem {
namespace {

TEST(Environment, TakesOldNamesWhereTheNewOnesAreNotSet) {
  const bootstrap::ScopedEnvironment old(
      std::map<std::string, std::string>{{"SMA_SYMMETRIC_SIZE", "1k"}});
  auto environment = read_environment();
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->heap_bytes, 1024);
  const bootstrap::ScopedEnvironment both(
      std::map<std::string, std::string>{{"SHMEM_SYMMETRIC_SIZE", "2k"}});
  environment = read_environment();
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->heap_bytes, 2048);
  EXPECT_FALSE(environment->debug);
}

}  // namespace
}  // namespace stripline::shmem
