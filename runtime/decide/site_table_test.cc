#include "runtime/decide/site_table.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "runtime/decide/site.h"

namespace stripline::decide {
namespace {

struct Key {
  uint64_t number = 0;
  bool operator==(const Key&) const = default;
};
uint64_t hash_of(const Key& key) { return key.number * kGoldenRatio; }

struct Numbered : Site<uint64_t> {
  Key key;
};

Numbered& found(SiteTable<Numbered>& table, uint64_t number) {
  return table.find_or_make({number}, [&](Numbered& made) { made.decide(1, number); });
}

TEST(SiteTable, FindsWhatWasMade) {
  SiteTable<Numbered> table;
  EXPECT_EQ(table.find({7}), nullptr);
  Numbered& made = found(table, 7);
  EXPECT_EQ(table.find({7}), &made);
  EXPECT_EQ(&found(table, 7), &made);
  EXPECT_EQ(made.plan(1), 7U);
  EXPECT_EQ(table.find({8}), nullptr);
}

TEST(SiteTable, ForgetsRatherThanFails) {
  SiteTable<Numbered> table;
  for (uint64_t i = 0; i < 10000; ++i) {
    ASSERT_EQ(found(table, i).plan(1), i);
    ASSERT_EQ(table.find({i})->plan(1), i);
  }
  size_t kept = 0;
  table.for_each([&](const Numbered& site) {
    ++kept;
    EXPECT_EQ(site.plan(1), site.key.number);
  });
  EXPECT_EQ(kept, 512U);
}

TEST(SiteTable, LeavesASiteToWhoUsesIt) {
  SiteTable<Numbered> table;
  Numbered& used = found(table, 1);
  ++used.users;
  for (uint64_t i = 2; i < 10000; ++i) found(table, i);
  EXPECT_EQ(table.find({1}), nullptr);
  EXPECT_EQ(used.plan(1), 1U);
  --used.users;
  found(table, 1);
  EXPECT_NE(table.find({1}), nullptr);
}

// What a plan saved is reported, when its site is forgotten, too.
TEST(SiteTable, AddsUpWhatWasSaved) {
  SiteTable<Numbered> table;
  Race& race = found(table, 1).race();
  // As many as let a check take no more than its share.
  for (int i = 0; i < 1000; ++i) {
    const Race::Turn turn = race.next();
    race.record(turn, turn.arm == 1 ? 1 : 2);
  }
  const Savings before = table.savings();
  EXPECT_EQ(before.sites, 1);
  EXPECT_LT(before.actual_s, before.baseline_s);
  for (uint64_t i = 2; i < 10000; ++i) found(table, i);
  EXPECT_EQ(table.find({1}), nullptr);
  EXPECT_EQ(table.savings().actual_s, before.actual_s);
  EXPECT_EQ(table.savings().sites, 1);
}

}  // namespace
}  // namespace stripline::decide
