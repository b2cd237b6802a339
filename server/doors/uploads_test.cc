#include "server/doors/uploads.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(Uploads, PartsBecomeAFile) {
  Uploads uploads;
  EXPECT_EQ(*uploads.add("users/a", "x", 0, "one ", 0), 4U);
  EXPECT_EQ(*uploads.add("users/b", "x", 0, "other", 0), 5U) << "callers do not share names";
  EXPECT_EQ(*uploads.add("users/a", "x", 4, "two", 1), 7U);
  EXPECT_EQ(uploads.take("users/a", "x"), "one two");
  EXPECT_EQ(uploads.take("users/a", "x"), "") << "it is forgotten";
  EXPECT_EQ(uploads.take("users/b", "x"), "other");
}

TEST(Uploads, APartMayBeSentAgainButNotLeftOut) {
  Uploads uploads;
  ASSERT_TRUE(uploads.add("a", "x", 0, "one ", 0));
  EXPECT_EQ(*uploads.add("a", "x", 0, "one ", 0), 4U) << "its answer was lost";
  EXPECT_EQ(*uploads.add("a", "x", 2, "e two", 0), 7U) << "only its end is new";
  EXPECT_EQ(uploads.add("a", "x", 9, "four", 0).problem().reason, "INVALID_FIELD");
  EXPECT_EQ(uploads.add("a", "x", 0, "two ", 0).problem().reason, "INVALID_FIELD")
      << "another file of the same name";
  EXPECT_EQ(uploads.take("a", "x"), "one two");
}

TEST(Uploads, AreBounded) {
  Uploads uploads({.file_bytes = 8, .all_bytes = 12, .of_caller = 2, .patience_s = 10});
  ASSERT_TRUE(uploads.add("a", "x", 0, "12345678", 0));
  EXPECT_EQ(uploads.add("a", "x", 8, "9", 0).problem().reason, "TOO_LARGE");
  ASSERT_TRUE(uploads.add("a", "y", 0, "12", 0));
  EXPECT_EQ(uploads.add("a", "z", 0, "1", 0).problem().reason, "BUSY") << "a third one of a caller";
  EXPECT_EQ(uploads.add("b", "x", 0, "123", 0).problem().reason, "BUSY");
  EXPECT_TRUE(uploads.add("b", "x", 0, "123", 11)) << "what was left unfinished is forgotten";
  EXPECT_EQ(uploads.take("a", "x"), "");
}

}  // namespace
}  // namespace stripline::server
