// Threads of ranks that get, put and count side by side.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/future.h>
#include <stripline/injection.h>
#include <stripline/memory_use.h>

#include "base/random.h"
#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bootstrap/testing/scoped_environment.h"

namespace stripline {
namespace {

using bootstrap::FabricUnderTest;
using bootstrap::group_on;

constexpr size_t kThreads = 3;
constexpr size_t kWindow = 2048;  // words

// Threads have no part in the virtual clock.
std::vector<FabricUnderTest> fabrics_with_threads() {
  auto fabrics = bootstrap::every_fabric();
  std::erase_if(fabrics, [](const FabricUnderTest& one) { return one.clock == "virtual"; });
  FabricUnderTest served = fabrics[0];
  served.label += "_with_progress_thread";
  served.progress = "thread";
  fabrics.push_back(served);
  return fabrics;
}

bootstrap::ThreadGroupOptions injecting_on(const FabricUnderTest& fabric, rank_t ranks) {
  auto options = group_on(fabric, ranks);
  options.context.threads = thread_mode::injecting;
  return options;
}

injection_context opened(Context& context) {
  auto result = injection_context::open(context);
  return std::move(result).value();
}

// Random transfers with all ranks, of a window that no one else writes to, beside what a sequential
// program would find. `move` completes a put, and then a get of the whole window.
template <typename Move>
void compare_with_a_copy(Context& context, global_ptr<uint64_t> window, uint64_t seed,
                         const Move& move) {
  constexpr int kRounds = 60;
  SplitMix64 random(seed);
  std::vector<std::vector<uint64_t>> shadow(context.rank_n(), std::vector<uint64_t>(kWindow));
  std::vector<uint64_t> source(kWindow);
  for (int round = 0; round < kRounds; ++round) {
    const auto target = static_cast<rank_t>(random.next() % context.rank_n());
    const size_t count = 1 + random.next() % (round % 4 == 0 ? kWindow : 8);
    const size_t first = random.next() % (kWindow - count + 1);
    for (size_t i = 0; i < count; ++i) source[i] = random.next();
    std::copy_n(source.begin(), count, shadow[target].begin() + static_cast<std::ptrdiff_t>(first));
    std::vector<uint64_t> back(kWindow);
    const global_ptr<uint64_t> there = context.on_rank(window, target);
    move(source.data(), there + static_cast<std::ptrdiff_t>(first), count, there, back.data());
    ASSERT_EQ(back, shadow[target]) << round;
  }
}

void transfer_by(injection_context& injection, Context& context, global_ptr<uint64_t> window,
                 uint64_t seed) {
  compare_with_a_copy(context, window, seed,
                      [&](const uint64_t* source, global_ptr<uint64_t> place, size_t count,
                          global_ptr<uint64_t> all, uint64_t* back) {
                        injection.rput(source, place, count);
                        injection.fence();
                        injection.rget(all, back, kWindow);
                        injection.fence();
                      });
}

void transfer_by(Context& context, global_ptr<uint64_t> window, uint64_t seed) {
  compare_with_a_copy(context, window, seed,
                      [&](const uint64_t* source, global_ptr<uint64_t> place, size_t count,
                          global_ptr<uint64_t> all, uint64_t* back) {
                        context.rput(source, place, count).wait();
                        context.rget(all, back, kWindow).wait();
                      });
}

class InjectionTest : public bootstrap::RanksTest {};

TEST_P(InjectionTest, ThreadsAgreeWithASequentialProgram) {
  on_ranks(injecting_on(GetParam(), 2), [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto windows, context.new_symmetric_array<uint64_t>(
                                                 context.rank_n() * (kThreads + 1) * kWindow));
    context.barrier();
    const auto window_of = [&](size_t thread) {
      const size_t writer = context.rank_me() * (kThreads + 1) + thread;
      return windows + static_cast<std::ptrdiff_t>(writer * kWindow);
    };
    const auto seed_of = [&](size_t thread) { return derive_seed(context.rank_me() + 1, thread); };
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        injection_context mine = opened(context);
        transfer_by(mine, context, window_of(t), seed_of(t));
      });
    }
    transfer_by(context, window_of(kThreads), seed_of(kThreads));
    for (std::thread& one : threads) one.join();
    context.barrier();
  });
}

TEST_P(InjectionTest, AtomicOperationsOfAllThreadsAreAtomic) {
  for (const AtomicPath path : {AtomicPath::automatic, AtomicPath::message}) {
    on_ranks(injecting_on(GetParam(), 2), [path](Context& context) {
      constexpr uint64_t kEach = 60;
      ASSERT_OK_AND_ASSIGN(const auto words, context.new_symmetric_array<uint64_t>(2));
      const atomic_domain<uint64_t> domain(context, path);
      context.barrier();
      const auto count = [&](auto add) {
        for (uint64_t i = 0; i < kEach; ++i) {
          add(context.on_rank(words, static_cast<rank_t>(i % context.rank_n())));
        }
      };
      std::vector<std::thread> threads;
      for (size_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
          injection_context mine = opened(context);
          uint64_t before = 0;
          count([&](global_ptr<uint64_t> word) {
            mine.add(domain, word, 1);
            mine.fetch_add(domain, word + 1, 2, &before);
          });
          mine.fence();
          EXPECT_EQ(before % 2, 0U);
        });
      }
      count([&](global_ptr<uint64_t> word) {
        domain.add(word, 1).wait();
        domain.fetch_add(word + 1, 2);
      });
      for (std::thread& one : threads) one.join();
      context.barrier();
      const uint64_t all = context.rank_n() * (kThreads + 1) * kEach / context.rank_n();
      EXPECT_EQ(domain.load(words), all);
      EXPECT_EQ(domain.load(words + 1), 2 * all);
      context.barrier();
    });
  }
}

TEST_P(InjectionTest, AllKindsOfAtomicOperations) {
  on_ranks(injecting_on(GetParam(), 2), [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto words, context.new_symmetric_array<int64_t>(1));
    const atomic_domain<int64_t> domain(context);
    context.barrier();
    if (context.rank_me() == 0) {
      injection_context mine = opened(context);
      for (const rank_t target : {rank_t{1}, rank_t{0}}) {
        const global_ptr<int64_t> word = context.on_rank(words, target);
        int64_t seen = -1;
        const auto expect = [&](int64_t value) {
          mine.fence();
          mine.load(domain, word, &seen);
          mine.fence();
          EXPECT_EQ(seen, value);
        };
        mine.store(domain, word, 5);
        expect(5);
        mine.swap(domain, word, 7, &seen);
        mine.fence();
        EXPECT_EQ(seen, 5);
        mine.compare_swap(domain, word, 5, 8, &seen);
        expect(7);
        mine.compare_swap(domain, word, 7, 8, &seen);
        expect(8);
        mine.min(domain, word, -3);
        expect(-3);
        mine.max(domain, word, 12);
        expect(12);
        mine.bit_xor(domain, word, 5);
        expect(9);
      }
    }
    context.barrier();
  });
}

// No rank calls its Context before it has what it waits for by its injection_context.
TEST_P(InjectionTest, RanksServeEachOtherWhileTheyWait) {
  on_ranks(injecting_on(GetParam(), 3), [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto words, context.new_symmetric_array<uint64_t>(1));
    *context.local(words) = 100 + context.rank_me();
    context.barrier();
    const rank_t next = (context.rank_me() + 1) % context.rank_n();
    {
      injection_context mine = opened(context);
      for (int i = 0; i < 100; ++i) {
        uint64_t word = 0;
        mine.rget(context.on_rank(words, next), &word, 1);
        mine.fence();
        ASSERT_EQ(word, 100 + next);
      }
    }
    context.barrier();
  });
}

TEST_P(InjectionTest, EndsWithOperationsInFlight) {
  on_ranks(injecting_on(GetParam(), 2), [](Context& context) {
    constexpr size_t kPuts = 40;
    ASSERT_OK_AND_ASSIGN(const auto words, context.new_symmetric_array<uint64_t>(kPuts * kWindow));
    context.barrier();
    const rank_t other = 1 - context.rank_me();
    const std::vector<uint64_t> values(kWindow, 7 + context.rank_me());
    {
      injection_context first = opened(context);
      injection_context second = opened(context);
      for (size_t i = 0; i < kPuts; ++i) {
        (i % 2 == 0 ? first : second)
            .rput(values.data(),
                  context.on_rank(words, other) + static_cast<std::ptrdiff_t>(i * kWindow),
                  kWindow);
      }
      second = std::move(first);  // which completes its own before
    }
    context.barrier();
    const uint64_t* const here = context.local(words);
    EXPECT_TRUE(std::all_of(here, here + kPuts * kWindow,
                            [&](uint64_t word) { return word == 7 + other; }));
    context.barrier();
  });
}

// One queue for all contexts of a rank, and none.
TEST_P(InjectionTest, GoesOnWithoutQueues) {
  for (const char* const queues : {"1", "0"}) {
    const bootstrap::ScopedEnvironment few(
        std::map<std::string, std::string>{{"STRIPLINE_INJECTION_QUEUES", queues}});
    on_ranks(injecting_on(GetParam(), 2), [](Context& context) {
      ASSERT_OK_AND_ASSIGN(const auto windows,
                           context.new_symmetric_array<uint64_t>(context.rank_n() * 2 * kWindow));
      context.barrier();
      injection_context first = opened(context);
      injection_context second = opened(context);
      EXPECT_EQ(first.why_shared().empty(), first.has_own_queue());
      EXPECT_EQ(second.why_shared().empty(), second.has_own_queue());
      const auto window_of = [&](size_t thread) {
        const size_t writer = context.rank_me() * 2 + thread;
        return windows + static_cast<std::ptrdiff_t>(writer * kWindow);
      };
      std::thread other([&] { transfer_by(first, context, window_of(0), 5); });
      transfer_by(second, context, window_of(1), 6);
      other.join();
      context.barrier();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, InjectionTest, ::testing::ValuesIn(fabrics_with_threads()),
                         bootstrap::FabricLabel());

void on_injecting(const FabricUnderTest& fabric, const std::function<void(Context&)>& body) {
  auto options = injecting_on(fabric, 2);
  options.context.debug = false;  // whatever other tests run in
  ASSERT_OK(bootstrap::run_ranks(options, body));
}

TEST(Injection, HasQueuesOfItsOwnWhereTheNetworkHas) {
  const auto expect = [](const FabricUnderTest& fabric, bool own) {
    on_injecting(fabric, [own](Context& context) {
      const injection_context mine = opened(context);
      EXPECT_EQ(mine.has_own_queue(), own) << mine.why_shared();
      EXPECT_EQ(memory_use(context).injection_bytes > 0, own);
    });
  };
  expect({"tcp", "tcp", "real"}, true);
  expect({"shm", "shm", "real"}, false);
}

TEST(Injection, TakesNoMoreQueuesThanTheSitePermits) {
  const bootstrap::ScopedEnvironment few(
      std::map<std::string, std::string>{{"STRIPLINE_INJECTION_QUEUES", "1"}});
  on_injecting({"tcp", "tcp", "real"}, [](Context& context) {
    const injection_context first = opened(context);
    EXPECT_TRUE(first.has_own_queue());
    const injection_context second = opened(context);
    EXPECT_FALSE(second.has_own_queue());
    EXPECT_NE(second.why_shared().find("STRIPLINE_INJECTION_QUEUES"), std::string::npos);
  });
}

TEST(Injection, IsObservedInDebugMode) {
  auto options = injecting_on({"tcp", "tcp", "real"}, 2);
  options.context.debug = true;
  bootstrap::on_ranks(options, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto window, context.new_symmetric_array<uint64_t>(2 * kWindow));
    context.barrier();
    injection_context mine = opened(context);
    EXPECT_FALSE(mine.has_own_queue());
    transfer_by(mine, context, window + static_cast<std::ptrdiff_t>(context.rank_me() * kWindow),
                3);
    context.barrier();
  });
}

TEST(Injection, IsForRanksThatHaveSaidSo) {
  const auto error_of = [](FabricUnderTest fabric, thread_mode threads) {
    auto options = group_on(fabric, 1);
    options.context.threads = threads;
    ErrorCode code = ErrorCode::internal;
    bootstrap::on_ranks(options, [&](Context& context) {
      const auto result = injection_context::open(context);
      ASSERT_FALSE(result.ok());
      code = result.error().code();
    });
    return code;
  };
  const FabricUnderTest tcp{"tcp", "tcp", "real"};
  EXPECT_EQ(error_of(tcp, thread_mode::single), ErrorCode::failed_precondition);
  EXPECT_EQ(error_of(tcp, thread_mode::serialized), ErrorCode::failed_precondition);
  EXPECT_EQ(error_of(bootstrap::fabrics_under_test()[1], thread_mode::injecting),
            ErrorCode::unimplemented);
}

class InjectionDeathTest : public bootstrap::RanksDeathTest {
 protected:
  // Rank 0 of two does it, with memory of the other one.
  using Body = std::function<void(Context&, injection_context&, global_ptr<uint64_t>)>;
  static void wrong(const Body& body) {
    auto options = injecting_on({"tcp", "tcp", "real"}, 2);
    options.context.debug = false;  // in which messages name the calls of the Context
    const Status ran = bootstrap::run_ranks(options, [&body](Context& context) {
      const auto words = context.new_symmetric_array<uint64_t>(4);
      {
        injection_context mine = opened(context);
        context.barrier();
        if (context.rank_me() == 0) body(context, mine, context.on_rank(*words, 1));
      }
      context.barrier();
    });
    std::_Exit(ran.ok() ? 0 : 1);
  }
};

TEST_F(InjectionDeathTest, WrongArgumentsAreNamed) {
  using Place = global_ptr<uint64_t>;
  const auto expect = [](const char* message, const Body& body) {
    EXPECT_EXIT(wrong(body), ::testing::ExitedWithCode(2),
                std::string("injection_test.cc:[0-9]+: ") + message);
  };
  for (const AtomicPath path : {AtomicPath::automatic, AtomicPath::message}) {
    expect("atomic operation with a null pointer for the value that the variable held",
           [path](Context& context, injection_context& mine, Place there) {
             mine.load(atomic_domain<uint64_t>(context, path), there, nullptr);
           });
    expect("atomic operation with a null pointer for the value that the variable held",
           [path](Context& context, injection_context& mine, Place there) {
             mine.compare_swap(atomic_domain<uint64_t>(context, path), there, 1, 2, nullptr);
           });
    expect("atomic operation of 8 bytes at offset [0-9]+ of rank 1, which is not a multiple",
           [path](Context& context, injection_context& mine, Place there) {
             mine.add(atomic_domain<uint64_t>(context, path), Place(1, there.offset() + 1), 1);
           });
  }
  expect("injection_context::rget of 8 bytes with a null pointer for this rank's side",
         [](Context&, injection_context& mine, Place there) { mine.rget(there, nullptr, 1); });
  expect("injection_context::rput of 8 bytes with a null pointer for this rank's side",
         [](Context&, injection_context& mine, Place there) {
           mine.rput(static_cast<const uint64_t*>(nullptr), there, 1);
         });
  expect("injection_context::rput of 16 bytes at offset [0-9]+ of rank 1 is out of bounds",
         [](Context&, injection_context& mine, Place) {
           const std::array<uint64_t, 2> values = {1, 2};
           mine.rput(values.data(), Place(1, (size_t{8} << 20) - 8), 2);
         });
  expect("injection_context::rget of 8 bytes at offset [0-9]+ of rank 7",
         [](Context&, injection_context& mine, Place there) {
           uint64_t value = 0;
           mine.rget(Place(7, there.offset()), &value, 1);
         });
  expect("injection_context::rget of an object that has been moved from",
         [](Context&, injection_context& mine, Place there) {
           const injection_context other = std::move(mine);
           uint64_t value = 0;
           mine.rget(there, &value, 1);  // NOLINT(bugprone-use-after-move)
         });
  expect("injection_context::fence inside of what follows a future",
         [](Context& context, injection_context& mine, Place there) {
           rget_async(context, there).then([&mine](uint64_t) { mine.fence(); }).wait();
         });
}

TEST_F(InjectionDeathTest, IsNotForHandlers) {
  const auto in_handler = [] {
    auto options = injecting_on({"tcp", "tcp", "real"}, 2);
    options.context.debug = false;
    const Status ran = bootstrap::run_ranks(options, [](Context& context) {
      const auto words = context.new_symmetric_array<uint64_t>(4);
      injection_context mine = opened(context);
      bool came = false;
      const uint32_t handler = context.register_am([&](rank_t, std::span<const std::byte>) {
        uint64_t value = 0;
        mine.rget(context.on_rank(*words, 1), &value, 1);
        came = true;
      });
      context.barrier();
      if (context.rank_me() == 1) context.am_send(0, handler, {});
      if (context.rank_me() == 0) context.wait_until([&came] { return came; });
      context.barrier();
    });
    std::_Exit(ran.ok() ? 0 : 1);
  };
  EXPECT_EXIT(in_handler(), ::testing::ExitedWithCode(2),
              "injection_test.cc:[0-9]+: injection_context::rget inside an active message handler");
}

TEST_F(InjectionDeathTest, EndsBeforeItsContext) {
  const auto outlives = [] {
    std::optional<injection_context> kept;
    const Status ran = bootstrap::run_ranks(injecting_on({"tcp", "tcp", "real"}, 1),
                                            [&](Context& context) { kept = opened(context); });
    if (ran.ok()) kept->fence();
    std::_Exit(1);
  };
  EXPECT_EXIT(outlives(), ::testing::ExitedWithCode(2),
              "injection_test.cc:[0-9]+: injection_context::fence, but the Context has gone");
}

}  // namespace
}  // namespace stripline
