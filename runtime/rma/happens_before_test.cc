// Debug mode knows what a program may conclude from what it hears of others: an answer proves that
// what it answers was complete. Idioms of message passing that are right go on, round after round
// over the same memory; each has a twin that lacks the synchronisation, and ends.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/am.h>
#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/lock.h>
#include <stripline/team.h>
#include <stripline/vis.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

constexpr int kRounds = 5;

Status in_debug_mode(const bootstrap::FabricUnderTest& fabric, rank_t ranks,
                     const std::function<void(Context&)>& body) {
  auto options = bootstrap::group_on(fabric, ranks);
  options.context.debug = true;
  return bootstrap::run_ranks(options, body);
}

// Words of each rank: flags at 0 to 7, data from 8 on.
using Words = global_ptr<uint64_t>;
Words make_words(Context& context) {
  const auto made = context.new_symmetric_array<uint64_t>(64);
  context.barrier();
  return *made;
}

void ping_pong(Context& context, Words mine) {
  const Words theirs = context.on_rank(mine, 1 - context.rank_me());
  std::array<uint64_t, 4> data{};
  for (uint64_t round = 1; round <= kRounds; ++round) {
    // What came is read before it is answered: the answer lets the next round come.
    const auto receive = [&] {
      context.wait_signal(mine, round);
      EXPECT_EQ(context.local(mine)[11], round);
    };
    if (context.rank_me() == 1) receive();
    data.fill(round);  // its put is complete: the other rank has answered
    context.rput_signal(data.data(), theirs + 8, data.size(), theirs, round);
    if (context.rank_me() == 0) receive();
  }
  context.barrier();  // the last put still reads
}

// What a rank hears has come through others.
void round_and_round(Context& context, Words mine) {
  const Words next = context.on_rank(mine, (context.rank_me() + 1) % 3);
  std::array<uint64_t, 4> data{};
  for (uint64_t round = 1; round <= kRounds; ++round) {
    if (context.rank_me() != 0) context.wait_signal(mine, round);
    data.fill(round);
    rput_strided_signal<1>(context, data.data(), {16}, next + 8, {16}, {2}, next, round);
    if (context.rank_me() == 0) context.wait_signal(mine, round);
  }
  context.barrier();
}

void a_ring_of_slots_with_credits(Context& context, Words mine) {
  constexpr uint64_t kSlots = 3;
  const Words theirs = context.on_rank(mine, 1 - context.rank_me());
  std::array<uint64_t, kSlots> items{};
  for (uint64_t item = 1; item <= kSlots * kRounds; ++item) {
    const auto slot = static_cast<std::ptrdiff_t>(item % kSlots);
    if (context.rank_me() == 0) {
      if (item > kSlots) context.wait_signal(mine, item - kSlots);
      items[static_cast<size_t>(slot)] = item * item;
      context.rput_signal(&items[static_cast<size_t>(slot)], theirs + 8 + slot, 1,
                          theirs + 1 + slot, item);
    } else {
      context.wait_signal(mine + 1 + slot, item);
      EXPECT_EQ(context.local(mine)[8 + slot], item * item);
      context.rput_signal<uint64_t>(nullptr, theirs, 0, theirs, item);
    }
  }
  context.barrier();
}

// The producer waits for its puts; flags and answers are atomic, and reset by plain puts.
void flags_by_atomic_operations(Context& context, Words mine) {
  const atomic_domain<uint64_t> domain(context);
  const Words flag = context.on_rank(mine, 1);
  for (uint64_t round = 1; round <= kRounds; ++round) {
    if (context.rank_me() == 0) {
      context.rput(&round, flag + 8, 1).wait();
      domain.store(flag, 2 * round - 1);
      while (domain.load(flag) != 2 * round) context.progress();
      context.rput(uint64_t{0}, flag + 9);
    } else {
      while (domain.load(flag) != 2 * round - 1) context.progress();
      EXPECT_EQ(context.rget(flag + 8), round);
      domain.store(flag, 2 * round);
    }
  }
}

// A counter that others add to, and that is then read by a get: they have said that they did.
void counters_that_are_read_after_answers(Context& context, Words mine) {
  const atomic_domain<uint64_t> domain(context);
  const Words theirs = context.on_rank(mine, 1 - context.rank_me());
  for (uint64_t round = 1; round <= kRounds; ++round) {
    if (context.rank_me() == 0) {
      domain.add(theirs + 8, 1);
      context.wait_signal(mine, round);
      EXPECT_EQ(context.rget(theirs + 8), round);
    } else {
      context.wait_until([&] {
        return std::atomic_ref(context.local(mine)[8]).load(std::memory_order_acquire) == round;
      });
      context.rput_signal<uint64_t>(nullptr, theirs, 0, theirs, round);
    }
    context.barrier();
  }
}

void a_queue_of_work_that_messages_answer(Context& context, Words mine) {
  uint64_t answers = 0;
  std::array<uint64_t, 3> items{};
  const short_am<uint64_t> done(context, [&](rank_t worker, const uint64_t& of) {
    ++answers;
    items.at(worker) = of * 10;  // what the put to it read is free
  });
  for (uint64_t round = 1; round <= kRounds; ++round) {
    if (context.rank_me() == 0) {
      for (const rank_t worker : {1U, 2U}) {
        items.at(worker) = round;
        const Words there = context.on_rank(mine, worker);
        context.rput_signal(&items.at(worker), there + 8, 1, there, round);
      }
      context.wait_until([&] { return answers == 2 * round; });
    } else {
      context.wait_signal(mine, round);
      EXPECT_EQ(context.local(mine)[8], round);
      done.send(0, round);
    }
    context.barrier();
  }
}

void flags_that_are_looked_at_after_progress(Context& context, Words mine) {
  const Words theirs = context.on_rank(mine, 1 - context.rank_me());
  const std::atomic_ref<uint64_t> flag(*context.local(mine));
  uint64_t data = 0;
  // In this order: a mapped flag may be there before any call, which debug mode would not notice.
  const auto wait_for = [&](uint64_t value) {
    do {
      context.progress();
    } while (flag.load(std::memory_order_acquire) != value);
  };
  for (uint64_t round = 1; round <= kRounds; ++round) {
    if (context.rank_me() == 1) wait_for(round);
    data = round;
    context.rput_signal(&data, theirs + 8, 1, theirs, round);
    if (context.rank_me() == 0) wait_for(round);
  }
  context.barrier();
}

void collectives_and_locks(Context& context, Words mine) {
  const team all = team::world(context);
  const Words next = context.on_rank(mine, (context.rank_me() + 1) % 3);
  for (uint64_t round = 1; round <= kRounds; ++round) {
    context.rput_signal(&round, next + 8, 1, next, round);
    context.wait_signal(mine, round);
    EXPECT_EQ(all.allreduce(context.local(mine)[8], op_max{}), round);
  }
  auto lock = global_lock::create(context);
  ASSERT_TRUE(lock.ok());
  const Words shared = context.on_rank(mine, 2) + 16;
  for (int round = 0; round < kRounds; ++round) {
    const std::lock_guard hold(*lock);
    context.rput(context.rget(shared) + 1, shared);
  }
  context.barrier();
  EXPECT_EQ(context.rget(shared), 3U * kRounds);
}

class HappensBefore : public ::testing::TestWithParam<bootstrap::FabricUnderTest> {
 protected:
  using Idiom = void (*)(Context& context, Words mine);
  // One after the other in one job, which takes longer to start than they do.
  static void right(rank_t ranks, const std::vector<Idiom>& idioms) {
    const Status ran = in_debug_mode(GetParam(), ranks, [&idioms](Context& context) {
      for (const Idiom idiom : idioms) {
        idiom(context, make_words(context));
        context.barrier();
      }
    });
    ASSERT_TRUE(ran.ok()) << ran.error().message();
  }
};

TEST_P(HappensBefore, BetweenTwoRanks) {
  right(2, {ping_pong, a_ring_of_slots_with_credits, flags_by_atomic_operations,
            counters_that_are_read_after_answers, flags_that_are_looked_at_after_progress});
}

TEST_P(HappensBefore, AmongThreeRanks) {
  right(3, {round_and_round, a_queue_of_work_that_messages_answer, collectives_and_locks});
}

INSTANTIATE_TEST_SUITE_P(Fabrics, HappensBefore,
                         ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel());

class RaceDeathTest : public bootstrap::RanksDeathTest {
 protected:
  static void wrong(const std::function<void(Context&, Words, Words)>& body) {
    const Status ran =
        in_debug_mode(bootstrap::fabrics_under_test()[1], 2, [&body](Context& context) {
          const Words mine = make_words(context);
          body(context, mine, context.on_rank(mine, 1 - context.rank_me()));
          context.barrier();
        });
    std::_Exit(ran.ok() ? 0 : 1);
  }
};

#define EXPECT_RACE(statement, message) \
  EXPECT_EXIT(statement, ::testing::ExitedWithCode(2), message)

TEST_F(RaceDeathTest, PingsThatWaitForNoPong) {
  EXPECT_RACE(wrong([](Context& context, Words mine, Words theirs) {
                for (uint64_t round = 1; round <= kRounds; ++round) {
                  if (context.rank_me() == 1) context.wait_signal(mine, round);
                  if (context.rank_me() == 0) {
                    context.rput_signal(&round, theirs + 8, 1, theirs, round);
                  }
                }
              }),
              "happens_before_test.cc:[0-9]+: rput_signal of 8 bytes at offset 64 of rank 1 "
              "conflicts with an earlier rput_signal of 8 bytes at offset 64 of rank 1 "
              "\\(.*happens_before_test.cc:[0-9]+\\)");
}

TEST_F(RaceDeathTest, ARingWithoutCredits) {
  EXPECT_RACE(wrong([](Context& context, Words mine, Words theirs) {
                for (uint64_t item = 1; item <= 9; ++item) {
                  const auto slot = static_cast<std::ptrdiff_t>(item % 3);
                  if (context.rank_me() == 0) {
                    context.rput_signal(&item, theirs + 8 + slot, 1, theirs + slot, item);
                    context.rput(item, theirs + 20);  // what it waits for tells of itself only
                  } else {
                    context.wait_signal(mine + slot, item);
                  }
                }
              }),
              ": rput_signal of 8 bytes at offset 72 of rank 1 conflicts with an earlier "
              "rput_signal");
}

// An answer proves that the flag was seen: the data of another put it does not.
TEST_F(RaceDeathTest, DataThatNoFlagCovers) {
  EXPECT_RACE(wrong([](Context& context, Words mine, Words theirs) {
                const atomic_domain<uint64_t> domain(context);
                for (uint64_t round = 1; round <= kRounds; ++round) {
                  if (context.rank_me() == 0) {
                    context.rput(&round, theirs + 8, 1);
                    domain.store(theirs, round);
                    context.wait_signal(mine, round);
                  } else {
                    while (domain.load(mine) != round) context.progress();
                    context.rput_signal<uint64_t>(nullptr, theirs, 0, theirs, round);
                  }
                }
              }),
              ": rput of 8 bytes at offset 64 of rank 1 conflicts with an earlier rput of 8 bytes");
}

TEST_F(RaceDeathTest, WorkThatIsPutBesideItsMessage) {
  EXPECT_RACE(wrong([](Context& context, Words, Words theirs) {
                uint64_t answers = 0;
                const short_am<int> answer(context, [&](rank_t, const int&) { ++answers; });
                const short_am<int> work(
                    context, [&](rank_t from, const int& what) { answer.send(from, what); });
                for (uint64_t round = 1; context.rank_me() == 0 && round <= kRounds; ++round) {
                  context.rput_nbi(&round, theirs + 8, 1);
                  work.send(1, 0);
                  context.wait_until([&] { return answers == round; });
                }
                context.barrier();  // the other rank serves
              }),
              ": rput_nbi of 8 bytes at offset 64 of rank 1 conflicts with an earlier rput_nbi");
}

// The answer shows what the operation did there, not that its result is here.
TEST_F(RaceDeathTest, ResultsOfAtomicOperationsStayAwaited) {
  EXPECT_RACE(wrong([](Context& context, Words mine, Words theirs) {
                const atomic_domain<uint64_t> domain(context);
                uint64_t before = 0;
                if (context.rank_me() == 0) {
                  domain.fetch_add(theirs, 1, &before);
                  context.wait_signal(mine, 1);
                  std::ignore = context.rget(theirs);  // it is over at the target
                  context.rput(&before, theirs + 8, 1);
                } else {
                  while (domain.load(mine) == 0) context.progress();
                  context.rput_signal<uint64_t>(nullptr, theirs, 0, theirs, 1);
                }
              }),
              ": rput with a private buffer of 8 bytes that overlaps the one of an earlier atomic "
              "operation");
}

}  // namespace
}  // namespace stripline
