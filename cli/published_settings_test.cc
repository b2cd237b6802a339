#include "cli/published_settings.h"

#include <gtest/gtest.h>

namespace stripline::cli {
namespace {

// No server is asked, of which there is none.
TEST(PublishedSettings, WhatNamesNoVersionIsLeftAsItIs) {
  const std::vector<std::vector<std::string>> all = {
      {},
      {"export"},
      {"export", "install"},
      {"export", "install", "stripline-openmpi/mca-params.conf"},
      {"export", "install", "for@me/mca-params.conf"},
      {"export", "install", "--to", "openmpi@1"},
      {"export", "verify", "openmpi@1"},
      {"openmpi", "openmpi@1", "openmpi@1"}};
  for (const auto& arguments : all) {
    const auto passed =
        with_published_settings({.server = "127.0.0.1:1"}, {"stripline-tune", arguments});
    ASSERT_TRUE(passed.ok()) << passed.error().message();
    EXPECT_EQ(*passed, arguments);
  }
  const ExecHelper other{"stripline-run", {"export", "install", "openmpi@1"}};
  const auto passed = with_published_settings({.server = "127.0.0.1:1"}, other);
  ASSERT_TRUE(passed.ok()) << passed.error().message();
  EXPECT_EQ(*passed, other.arguments);
}

TEST(PublishedSettings, AVersionIsAskedForAtTheServer) {
  const auto passed = with_published_settings(
      {.server = "127.0.0.1:1", .timeout_s = 0.2},
      {"stripline-tune", {"export", "convert", "openmpi@1", "--for", "5.0"}});
  ASSERT_FALSE(passed.ok());
  EXPECT_NE(passed.error().code(), ErrorCode::not_found) << passed.error().message();
}

}  // namespace
}  // namespace stripline::cli
