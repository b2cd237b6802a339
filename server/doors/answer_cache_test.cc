#include "server/doors/answer_cache.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(AnswerCache, KeepsWhatWasAskedForLast) {
  AnswerCache cache(400);
  EXPECT_EQ(cache.find("a"), nullptr);
  for (const char* key : {"a", "b", "c", "d"}) cache.keep(key, std::string(90, *key));
  ASSERT_NE(cache.find("a"), nullptr);
  cache.keep("e", std::string(90, 'e'));
  EXPECT_EQ(cache.find("b"), nullptr) << "no one has asked for it longest";
  EXPECT_EQ(*cache.find("a"), std::string(90, 'a'));
  EXPECT_LE(cache.bytes(), 400U);
}

TEST(AnswerCache, WhatIsLargeIsAnsweredButNotKept) {
  AnswerCache cache(400);
  EXPECT_EQ(*cache.keep("a", std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_EQ(cache.bytes(), 0U);
}

}  // namespace
}  // namespace stripline::server
