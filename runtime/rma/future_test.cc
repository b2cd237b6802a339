// Futures with values, what follows them, and joins.
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/future.h>
#include <stripline/team.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

// Counts itself, so that tests see who is left.
class Counted {
 public:
  explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
  Counted(const Counted& other) : alive_(other.alive_) { ++*alive_; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*alive_; }

 private:
  int* alive_;
};

void elements_come_as_values(Context& context) {
  ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint64_t>(64));
  for (size_t i = 0; i < 64; ++i) context.local(array)[i] = uint64_t{100} * context.rank_me() + i;
  context.barrier();
  const rank_t next = (context.rank_me() + 1) % 3;
  std::vector<future_of<uint64_t>> all;
  for (std::ptrdiff_t i = 0; i < 64; ++i) {
    all.push_back(rget_async(context, context.on_rank(array, next) + i));
  }
  for (size_t i = 64; i-- > 0;) EXPECT_EQ(all[i].wait(), uint64_t{100} * next + i);
  EXPECT_TRUE(all[5].is_ready());
  // The memory of what is dropped stays until it is there.
  for (std::ptrdiff_t i = 0; i < 64; ++i) {
    (void)rget_async(context, context.on_rank(array, next) + i);
  }
  EXPECT_TRUE(
      context.wait_until([&] { return context.state().operations.continuations().idle(); }));
  EXPECT_EQ(context.state().operations.slots().in_use(), 0U);
  context.barrier();
}

void continuations_follow_and_are_flattened(Context& context) {
  struct Node {
    uint64_t value;
    global_ptr<uint64_t> next;
  };
  const auto numbers = context.new_symmetric_array<uint64_t>(1);
  const auto nodes = context.new_symmetric_array<Node>(1);
  ASSERT_TRUE(numbers.ok() && nodes.ok());
  const rank_t next = (context.rank_me() + 1) % 3;
  *context.local(*numbers) = 7 + context.rank_me();
  *context.local(*nodes) = {context.rank_me(), context.on_rank(*numbers, next)};
  context.barrier();
  int alive = 0;
  {
    const Counted counted(alive);
    int ran = 0;
    const future_of<uint64_t> sum =
        rget_async(context, context.on_rank(*nodes, next))
            .then([&context, &ran, counted](const Node& node) {
              ++ran;
              return rget_async(context, node.next).then([value = node.value](uint64_t last) {
                return value + last;
              });
            });
    EXPECT_EQ(sum.wait(), next + 7 + (next + 1) % 3);
    EXPECT_EQ(ran, 1);
    const std::string text = sum.then([](uint64_t value) { return std::to_string(value); }).wait();
    EXPECT_EQ(text, std::to_string(sum.wait()));
  }
  EXPECT_EQ(alive, 0);
  context.barrier();
}

void puts_and_barriers_can_be_followed(Context& context) {
  ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint64_t>(1000));
  const rank_t next = (context.rank_me() + 1) % 3;
  std::vector<uint64_t> out(1000);
  std::iota(out.begin(), out.end(), uint64_t{context.rank_me()} << 32);
  bool stored = false;
  future_of<void> both = context.rput(out.data(), context.on_rank(array, next), out.size())
                             .then([&] { stored = true; })
                             .then([&] { EXPECT_TRUE(stored); });
  const future_of<void> same = std::move(both);
  both.wait();  // NOLINT(bugprone-use-after-move): to move it is to copy it
  EXPECT_TRUE(stored && same.is_ready());
  bool met = false;
  const future barrier = context.barrier_async();
  const auto after = barrier.then([&] { met = true; });
  after.wait();
  EXPECT_TRUE(met);
  const rank_t previous = (context.rank_me() + 2) % 3;
  EXPECT_EQ(context.local(array)[999], (uint64_t{previous} << 32) + 999);
  context.barrier();
}

void a_join_is_ready_with_its_last(Context& context) {
  ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint32_t>(100));
  for (uint32_t i = 0; i < 100; ++i) context.local(array)[i] = i + context.rank_me();
  context.barrier();
  const auto there = context.on_rank(array, 1 - context.rank_me());
  const uint32_t base = 1 - context.rank_me();
  uint32_t buffer = 0;
  const auto joined = when_all(rget_async(context, there + 3), make_ready(std::string("x")),
                               context.rget(there + 4, &buffer, 1), make_ready());
  const auto& [three, text] = joined.wait();
  EXPECT_EQ(three, 3 + base);
  EXPECT_EQ(text, "x");
  EXPECT_EQ(buffer, 4 + base);
  // By elements.
  EXPECT_EQ(
      joined.then([](uint32_t a, const std::string& b) { return std::to_string(a) + b; }).wait(),
      std::to_string(3 + base) + "x");
  std::vector<future_of<uint32_t>> many;
  std::vector<future> plain;
  std::vector<uint32_t> buffers(100);
  for (size_t i = 0; i < 100; ++i) {
    many.push_back(rget_async(context, there + static_cast<std::ptrdiff_t>(i)));
    plain.push_back(context.rget(there + static_cast<std::ptrdiff_t>(i), &buffers[i], 1));
  }
  const std::vector<uint32_t> values = when_all(many).wait();
  when_all(plain).wait();
  ASSERT_EQ(values.size(), 100U);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(values[i], i + base);
  EXPECT_EQ(buffers, values);
  when_all(std::vector<future>()).wait();
  when_all(context.barrier_async(), make_ready()).wait();
  context.barrier();
}

// Many at a time, more than there are completion slots, each followed by another one.
void many_at_once(Context& context) {
  constexpr uint64_t kMany = 6000;
  ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint64_t>(2));
  *context.local(array) = context.rank_me();
  context.barrier();
  const auto there = context.on_rank(array, 1 - context.rank_me());
  uint64_t sum = 0;
  uint64_t ran = 0;
  std::vector<future_of<void>> all;
  for (uint64_t i = 0; i < kMany; ++i) {
    all.push_back(rget_async(context, there).then([&](uint64_t value) {
      sum += value;
      return rget_async(context, there + 1).then([&](uint64_t) { ++ran; });
    }));
  }
  when_all(all).wait();
  EXPECT_EQ(sum, kMany * (1 - context.rank_me()));
  EXPECT_EQ(ran, kMany);
  context.barrier();
}

void atomic_operations_fetch_futures(Context& context) {
  ASSERT_OK_AND_ASSIGN(const auto counter, context.new_symmetric_array<int64_t>(1));
  const atomic_domain<int64_t> domain(context);
  context.barrier();
  const auto there = context.on_rank(counter, 0);
  int64_t sum = 0;
  std::vector<future_of<void>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(domain.fetch_add_async(there, 1).then([&](int64_t before) { sum += before; }));
  }
  when_all(all).wait();
  const int64_t total = team::world(context).allreduce(sum, op_add{});
  EXPECT_EQ(total, 60 * 59 / 2);
  EXPECT_EQ(domain.load_async(there).wait(), 60);
  context.barrier();
  if (context.rank_me() == 0) {
    EXPECT_EQ(domain.compare_swap_async(there, 60, 5).wait(), 60);
    EXPECT_EQ(domain.swap_async(there, 6).wait(), 5);
  }
  context.barrier();
}

// What follows runs in barriers and collectives, too: somebody else may wait for it.
void continuations_run_while_the_program_waits_for_others(Context& context) {
  const auto array = context.new_symmetric_array<uint64_t>(1);
  const auto flag = context.new_symmetric_array<uint64_t>(1);
  ASSERT_TRUE(array.ok() && flag.ok());
  const team all = team::world(context);
  for (uint64_t round = 1; round <= 3; ++round) {
    if (context.rank_me() == 0) {
      (void)rget_async(context, context.on_rank(*array, 1))
          .then([&context, &flag, round](uint64_t) {
            static const uint64_t data = 0;
            (void)context.rput_signal(&data, context.on_rank(*flag, 1), 0,
                                      context.on_rank(*flag, 1), round);
          });
    } else {
      context.wait_signal(*flag, round);
    }
    if (round == 1) {
      context.barrier();
    } else if (round == 2) {
      EXPECT_EQ(all.allreduce(round, op_add{}), 2 * round);
    } else {
      EXPECT_TRUE(
          context.wait_until([&] { return context.state().operations.continuations().idle(); }));
    }
  }
  context.barrier();
}

void exceptions_go_on_to_who_waits(Context& context) {
  ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint64_t>(1));
  const auto there = context.on_rank(array, 1 - context.rank_me());
  const auto failing = rget_async(context, there).then([](uint64_t value) -> uint64_t {
    if (value == 0) throw std::runtime_error("no value");
    return value;
  });
  int ran = 0;
  const auto after = failing.then([&](uint64_t) { ++ran; });
  const auto joined = when_all(make_ready(1), after);
  EXPECT_THROW(joined.wait(), std::runtime_error);
  EXPECT_THROW(after.wait(), std::runtime_error);
  EXPECT_THROW((void)failing.wait(), std::runtime_error);
  EXPECT_EQ(ran, 0);
  // What was ready hands them on, too.
  const auto at_once = make_ready(3).then([](int) { throw std::runtime_error("three"); });
  EXPECT_THROW(at_once.wait(), std::runtime_error);
  context.barrier();
}

// What is ready, of each kind, followed by what is pending, and by that in turn.
void what_follows_the_ready_may_be_pending(Context& context) {
  ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint64_t>(8));
  std::iota(context.local(array), context.local(array) + 8, uint64_t{10} * context.rank_me());
  context.barrier();
  const rank_t next = (context.rank_me() + 1) % context.rank_n();
  const global_ptr<uint64_t> there = context.on_rank(array, next);
  const uint64_t expected = uint64_t{10} * next;
  const auto fetch = [&] { return rget_async(context, there); };
  const auto fetch_after = [&](uint64_t) { return rget_async(context, there); };
  const auto check = [&](const auto& pending) {
    // Copies see the same; what is dropped disturbs no one.
    (void)pending.then([](uint64_t value) { return value + 1; });
    const auto copy = pending;
    while (!copy.is_ready()) {
    }
    EXPECT_EQ(copy.wait(), expected);
    EXPECT_EQ(pending.then([](uint64_t value) { return value + 1; }).wait(), expected + 1);
    EXPECT_EQ(pending.then(fetch_after).then(fetch_after).wait(), expected);
  };
  check(make_ready(uint64_t{5}).then(fetch_after));
  check(make_ready().then(fetch));
  check(future().then(fetch));
  check(rget_async(context, array).then(fetch_after));
  check(rget_async(context, there).then(fetch_after));
  check(make_ready(uint64_t{5}).then(fetch_after).then(fetch_after));
  check(make_ready(uint64_t{5}).then([&](uint64_t) { return make_ready().then(fetch); }));
  check(when_all(make_ready(uint64_t{1}), make_ready()).then([&](uint64_t) { return fetch(); }));
  check(when_all(make_ready(), make_ready()).then(fetch));
  check(when_all(rget_async(context, array), rget_async(context, there))
            .then([&](uint64_t, uint64_t) { return fetch(); }));
  check(when_all(make_ready(uint64_t{5}).then(fetch_after), make_ready()).then([](uint64_t value) {
    return value;
  }));
  check(when_all(std::vector<future_of<uint64_t>>{make_ready(uint64_t{1})})
            .then([&](const std::vector<uint64_t>&) { return fetch(); }));
  check(when_all(std::vector<future_of<void>>{}).then(fetch));
  // Without a value, and by an operation of its own.
  const uint64_t out = 77;
  const future_of<void> put =
      make_ready(uint64_t{7}).then([&](uint64_t at) { return context.rput(&out, there + at, 1); });
  put.wait();
  context.barrier();
  EXPECT_EQ(context.local(array)[7], 77U);
  // Thrown away before it is there.
  for (int i = 0; i < 20; ++i) (void)make_ready(uint64_t{5}).then(fetch_after).then(fetch_after);
  // What throws once it is there.
  const auto failing = make_ready().then(fetch).then(
      [](uint64_t) -> uint64_t { throw std::runtime_error("no value"); });
  EXPECT_THROW((void)failing.wait(), std::runtime_error);
  const auto nested = make_ready().then([&] {
    return rget_async(context, there).then([](uint64_t) -> uint64_t {
      throw std::runtime_error("no value");
    });
  });
  EXPECT_THROW((void)nested.wait(), std::runtime_error);
  context.barrier();
}

void futures_that_are_moved_to_themselves_stay(Context& context) {
  ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint64_t>(2));
  *context.local(array) = context.rank_me();
  context.barrier();
  const rank_t next = 1 - context.rank_me();
  const global_ptr<uint64_t> there = context.on_rank(array, next);
  const auto move_to_itself = [](auto& one) {
    auto& same = one;  // compilers warn of the plain form
    one = std::move(same);
  };
  future_of<uint64_t> fetched = rget_async(context, there);
  move_to_itself(fetched);
  EXPECT_EQ(fetched.wait(), next);
  move_to_itself(fetched);
  EXPECT_EQ(fetched.then([](uint64_t value) { return value + 1; }).wait(), next + 1);
  future_of<std::string> ready = make_ready(std::string("longer than what has no memory"));
  move_to_itself(ready);
  EXPECT_EQ(ready.wait(), "longer than what has no memory");
  const uint64_t out = 77;
  future put = context.rput(&out, there + 1, 1);
  move_to_itself(put);
  future_of<void> stored = put;
  move_to_itself(stored);
  stored.wait();
  EXPECT_TRUE(put.is_ready());
  context.barrier();
  EXPECT_EQ(context.local(array)[1], 77U);
  context.barrier();
}

// The fabrics under test, and one on which a thread of the runtime serves peers beside the program.
std::vector<bootstrap::FabricUnderTest> fabrics_of_futures() {
  std::vector<bootstrap::FabricUnderTest> fabrics = fabrics_under_test();
  fabrics.push_back({"tcp_with_progress_thread", "tcp", "real", "network", "thread"});
  return fabrics;
}

class Futures : public bootstrap::RanksTest {};

// Futures that were waited for, and others that were not: their handles are all that is left.
TEST_P(Futures, HandlesMayOutliveTheContext) {
  std::array<std::vector<future_of<uint64_t>>, 2> kept;
  on_ranks(2, [&](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint64_t>(4));
    *context.local(array) = 7;
    context.barrier();
    const rank_t me = context.rank_me();
    for (int i = 0; i < 20; ++i) {
      kept[me].push_back(rget_async(context, context.on_rank(array, 1 - me)));
      if (i % 2 == 0) kept[me].back().wait();
      kept[me].push_back(kept[me].back().then([](uint64_t value) { return value + 1; }));
    }
  });
}

// Several in one job, which takes longer to start than they do.
TEST_P(Futures, OfTwoRanks) {
  on_ranks(2, [](Context& context) {
    a_join_is_ready_with_its_last(context);
    many_at_once(context);
    continuations_run_while_the_program_waits_for_others(context);
    exceptions_go_on_to_who_waits(context);
    what_follows_the_ready_may_be_pending(context);
    futures_that_are_moved_to_themselves_stay(context);
  });
}

TEST_P(Futures, OfThreeRanks) {
  on_ranks(3, [](Context& context) {
    elements_come_as_values(context);
    continuations_follow_and_are_flattened(context);
    puts_and_barriers_can_be_followed(context);
    atomic_operations_fetch_futures(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Futures, ::testing::ValuesIn(fabrics_of_futures()),
                         bootstrap::FabricLabel());

class FutureDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(FutureDeathTest, ContinuationsDoNotWait) {
  EXPECT_EXIT(
      on_ranks(2,
               [](Context& context) {
                 const auto array = context.new_symmetric_array<uint64_t>(1);
                 const auto there = context.on_rank(*array, 1 - context.rank_me());
                 rget_async(context, there).then([&](uint64_t) { context.barrier(); }).wait();
               }),
      ::testing::ExitedWithCode(2), "barrier inside of what follows a future");
}

TEST_F(FutureDeathTest, CallsOfFuturesThatHaveBeenMovedAreNamed) {
  using Future = future_of<uint64_t>;
  const std::vector<std::pair<const char*, std::function<void(Future&)>>> calls = {
      {"future_test.cc:[0-9]+: future_of::wait", [](Future& one) { one.wait(); }},
      {"future_test.cc:[0-9]+: future_of::is_ready", [](Future& one) { (void)one.is_ready(); }},
      {"then\\(\\) or when_all\\(\\)", [](Future& one) { one.then([](uint64_t) {}); }},
      {"then\\(\\) or when_all\\(\\)", [](Future& one) { when_all(one, make_ready()); }},
  };
  for (const auto& [name, call] : calls) {
    for (const bool is_here : {true, false}) {
      EXPECT_EXIT(on_ranks(2,
                           [&call = call, is_here](Context& context) {
                             const auto array = *context.new_symmetric_array<uint64_t>(1);
                             const rank_t owner = is_here ? context.rank_me() : 1;
                             if (context.rank_me() == 0) {
                               Future made = rget_async(context, context.on_rank(array, owner));
                               const Future moved = std::move(made);
                               call(made);  // NOLINT(bugprone-use-after-move)
                             }
                             context.barrier();
                           }),
                  ::testing::ExitedWithCode(2),
                  std::string(name) + " of an object that has been moved from");
    }
  }
}

TEST_F(FutureDeathTest, WhatFollowsIsAFunction) {
  EXPECT_EXIT(
      make_ready(1).then(std::function<void(int)>()), ::testing::ExitedWithCode(2),
      "future_test.cc:[0-9]+: then with an empty std::function, or a null function pointer");
  EXPECT_EXIT(
      make_ready().then(static_cast<void (*)()>(nullptr)), ::testing::ExitedWithCode(2),
      "future_test.cc:[0-9]+: then with an empty std::function, or a null function pointer");
  EXPECT_EXIT(when_all(std::span(static_cast<const future_of<int>*>(nullptr), 2)),
              ::testing::ExitedWithCode(2),
              "future_test.cc:[0-9]+: when_all of 2 elements at a null pointer");
}

TEST_F(FutureDeathTest, AnExceptionThatNobodyAsksForEndsTheJob) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const auto array = context.new_symmetric_array<uint64_t>(1);
                         const auto there = context.on_rank(*array, 1 - context.rank_me());
                         (void)rget_async(context, there).then([&](uint64_t) {
                           throw std::runtime_error("out of cheese");
                         });
                         context.barrier();
                       }),
              ::testing::ExitedWithCode(2), "no future's owner has asked for: out of cheese");
}

}  // namespace
}  // namespace stripline
