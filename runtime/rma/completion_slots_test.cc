#include "runtime/rma/completion_slots.h"

#include <set>

#include <gtest/gtest.h>

namespace stripline::rma {
namespace {

using Kind = CompletionSlots::Kind;

TEST(CompletionSlots, ReuseMakesOldFuturesReady) {
  CompletionSlots slots(2);
  const uint32_t slot = slots.acquire(Kind::get);
  const uint32_t generation = slots.generation(slot);
  EXPECT_FALSE(slots.released(slot, generation));
  slots.release(slot);
  EXPECT_TRUE(slots.released(slot, generation));
  EXPECT_EQ(slots.acquire(Kind::put), slot);  // the warm one
  EXPECT_TRUE(slots.released(slot, generation));
  EXPECT_FALSE(slots.released(slot, slots.generation(slot)));
}

TEST(CompletionSlots, SweepTakesBackWhatIsCompleteAndNothingElse) {
  CompletionSlots slots(8);
  std::set<uint32_t> taken;
  while (!slots.exhausted()) {
    const uint32_t slot = slots.acquire(Kind::get);
    EXPECT_TRUE(taken.insert(slot).second);
    slots.counter(slot).pending = slot % 2;
  }
  EXPECT_EQ(taken.size(), 8U);
  bool collective = false;
  EXPECT_TRUE(slots.sweep(collective));
  EXPECT_EQ(slots.in_use(), 4U);
  for (const uint32_t slot : taken) EXPECT_EQ(slots.released(slot, 0), slot % 2 == 0);
  while (!slots.exhausted()) EXPECT_EQ(slots.acquire(Kind::get) % 2, 0U);
  for (const uint32_t slot : taken) slots.counter(slot).pending = 1;
  EXPECT_FALSE(slots.sweep(collective));
  EXPECT_FALSE(collective);
}

TEST(CompletionSlots, VisitsWhatIsPendingOfOneKind) {
  CompletionSlots slots(8);
  for (int i = 0; i < 3; ++i) slots.counter(slots.acquire(Kind::put)).pending = 1;
  slots.counter(slots.acquire(Kind::get)).pending = 1;
  slots.acquire(Kind::put);  // complete
  int puts = 0;
  int gets = 0;
  slots.for_each_pending(Kind::put, [&](const fabric::Counter&) { ++puts; });
  slots.for_each_pending(Kind::get, [&](const fabric::Counter&) { ++gets; });
  EXPECT_EQ(puts, 3);
  EXPECT_EQ(gets, 1);
}

}  // namespace
}  // namespace stripline::rma
