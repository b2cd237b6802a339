#include "server/core/page_token.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(PageToken, ContinuesTheListThatMadeIt) {
  const std::string token = make_page_token("nodes", "node-7");
  EXPECT_EQ(*read_page_token("nodes", token), "node-7");
  EXPECT_EQ(*read_page_token("nodes", ""), "");
}

TEST(PageToken, RefusesWhatItDidNotMake) {
  const std::string token = make_page_token("nodes", "node-7");
  for (const std::string& bad : {std::string("x"), std::string("node-7"), token + "x",
                                 token.substr(1), std::string(300, 'a')}) {
    const auto answer = read_page_token("nodes", bad);
    ASSERT_FALSE(answer) << bad;
    EXPECT_EQ(answer.problem().reason, "BAD_PAGE_TOKEN");
  }
  EXPECT_FALSE(read_page_token("models", token));
}

TEST(PageToken, LimitsPages) {
  EXPECT_EQ(*page_limit(0), 100U);
  EXPECT_EQ(*page_limit(7), 7U);
  EXPECT_EQ(*page_limit(100000), 1000U);
  ASSERT_FALSE(page_limit(-1));
  EXPECT_EQ(page_limit(-1).problem().reason, "INVALID_FIELD");
}

}  // namespace
}  // namespace stripline::server
