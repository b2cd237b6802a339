#include "runtime/am/handler_table.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/fabric/shortcuts.h"

namespace stripline::am {
namespace {

Handler nothing() {
  return [](Rank, std::span<const std::byte>) {};
}

TEST(HandlerTable, IdsFollowInTheOrderOfNaming) {
  HandlerTable table;
  const auto first = table.id("barrier");
  const auto second = table.id("atomic");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(*first, HandlerTable::kNoHandler);
  EXPECT_EQ(*second, *first + 1);
  EXPECT_EQ(*table.id("barrier"), *first);
  EXPECT_FALSE(table.serves(*first));
  table.serve(*first, Purpose::work, nothing());
  EXPECT_TRUE(table.serves(*first));
  EXPECT_EQ(table.purpose(*first), Purpose::work);
  EXPECT_FALSE(table.serves(HandlerTable::kNoHandler));
  EXPECT_FALSE(table.serves(1000));
}

TEST(HandlerTable, TheProgramsHandlersFollow) {
  HandlerTable table;
  ASSERT_TRUE(table.id("barrier").ok());
  table.close();
  const auto own = table.add(nothing());
  ASSERT_TRUE(own.ok());
  EXPECT_TRUE(table.is_of_program(*own));
  EXPECT_FALSE(table.is_of_program(*table.id("barrier")));
  EXPECT_FALSE(table.is_of_program(*own + 1));
  EXPECT_EQ(table.purpose(*own), Purpose::program);
  // Names of the program's are empty, and none of the runtime's.
  EXPECT_FALSE(table.id("").ok());
}

TEST(HandlerTable, RefusesNamesThatComeTooLate) {
  HandlerTable table;
  table.close();
  const auto late = table.id("gather");
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), ErrorCode::internal);
  EXPECT_NE(late.error().message().find("'gather'"), std::string::npos);
  EXPECT_FALSE(table.land("gather", 1, Purpose::answer, nullptr).ok());
}

TEST(HandlerTable, AsManyHandlersAsIdsHaveRoom) {
  HandlerTable table;
  table.close();
  uint32_t last = 0;
  while (true) {
    const auto id = table.add(nothing());
    if (!id.ok()) break;
    last = *id;
  }
  EXPECT_EQ(last, 65535U);
}

TEST(HandlerTable, EachLandingHasTagsOfItsOwn) {
  HandlerTable table;
  const auto slots = table.land("slots", 8, Purpose::work, nullptr);
  const auto places = table.land("places", 2, Purpose::answer, nullptr);
  ASSERT_TRUE(slots.ok() && places.ok());
  for (uint32_t value = 0; value < 8; ++value) {
    const HandlerTable::Landed* landed = table.landed(slots->tag(value));
    ASSERT_NE(landed, nullptr);
    EXPECT_EQ(landed->name, "slots");
  }
  EXPECT_EQ(table.landed(places->tag(1))->name, "places");
  EXPECT_EQ(table.landed(places->tag(2)), nullptr);
  EXPECT_EQ(table.landed("places")->tags.tag(1), places->tag(1));
  EXPECT_EQ(table.landed("nowhere"), nullptr);
}

TEST(HandlerTable, LandingsTakeNoMoreTagsThanThereAre) {
  HandlerTable table;
  ASSERT_TRUE(table.land("most", fabric::Shortcuts::kLandingTags - 1, Purpose::work, nullptr).ok());
  const auto more = table.land("more", 2, Purpose::work, nullptr);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), ErrorCode::resource_exhausted);
  EXPECT_TRUE(table.land("one", 1, Purpose::work, nullptr).ok());
}

TEST(HandlerTable, TermsTellOtherNamesAndOrdersApart) {
  const auto terms = [](std::initializer_list<const char*> names, uint32_t values) {
    HandlerTable table;
    for (const char* name : names) EXPECT_TRUE(table.id(name).ok());
    EXPECT_TRUE(table.land("slots", values, Purpose::work, nullptr).ok());
    table.close();
    EXPECT_TRUE(table.add(nothing()).ok());  // none of the runtime's
    return table.terms();
  };
  EXPECT_EQ(terms({"a", "b"}, 8), terms({"a", "b"}, 8));
  EXPECT_NE(terms({"a", "b"}, 8), terms({"b", "a"}, 8));
  EXPECT_NE(terms({"a", "b"}, 8), terms({"a"}, 8));
  EXPECT_NE(terms({"a", "b"}, 8), terms({"a", "b"}, 4));
}

}  // namespace
}  // namespace stripline::am
