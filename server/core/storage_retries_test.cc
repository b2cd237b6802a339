#include "server/core/storage_retries.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(StorageRetries, AnOutageLastsFromItsFirstFailureUntilItsEnd) {
  StorageRetries retries(5);
  EXPECT_EQ(retries.due_s(), std::nullopt);
  EXPECT_EQ(retries.end(), std::nullopt);
  retries.failed(Error(ErrorCode::resource_exhausted, "disk full"), 100);
  EXPECT_EQ(retries.due_s(), 105);
  retries.try_again();
  EXPECT_EQ(retries.due_s(), std::nullopt);
  EXPECT_EQ(retries.since_s(), 100);
  retries.failed(Error(ErrorCode::unavailable, "still full"), 105);
  ASSERT_TRUE(retries.outage());
  EXPECT_EQ(retries.outage()->why, "still full");
  EXPECT_EQ(retries.end(), 100);
  EXPECT_EQ(retries.since_s(), std::nullopt);
  EXPECT_FALSE(retries.outage());
}

// Others can be stored all the same.
TEST(StorageRetries, WhatCannotBeReadIsNoOutageForPeople) {
  StorageRetries retries(5);
  retries.failed(Error(ErrorCode::data_loss, "damaged"), 100);
  EXPECT_EQ(retries.due_s(), 105);
  EXPECT_FALSE(retries.outage());
}

}  // namespace
}  // namespace stripline::server
