// Threads of one rank, each with an injector of its own, beside the thread that uses the fabric.
#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "runtime/fabric/ofi/ofi_test_ranks.h"

namespace stripline::fabric::ofi {
namespace {

constexpr size_t kInjectorSegment = size_t{1} << 20;
constexpr size_t kRegion = size_t{1} << 17;  // of each thread, in the segment of each rank

struct InjectorVariant {
  std::string name;
  Settings settings;
};

std::vector<InjectorVariant> injector_variants() {
  Settings plain;
  Settings local;
  local.register_local = true;
  Settings split;
  split.max_transfer_bytes = 1000;
  split.operations = 16;
  return {{"tcp", plain}, {"tcp_register_local", local}, {"tcp_split", split}};
}

std::unique_ptr<Injector> open_for(
    Fabric& fabric, std::function<void()> meanwhile = [] {}) {
  auto opened = fabric.open_injector(std::move(meanwhile));
  if (!opened.ok()) throw FabricFailure(opened.error());
  return std::move(opened).value();
}

// Random puts, completed, and gets of what was put, in a region that no one else writes to. True if
// each get finds what a sequential program would.
bool agrees_with_a_copy(Injector& injector, size_t region, uint64_t seed) {
  constexpr int kRounds = 150;
  SplitMix64 random(seed);
  std::vector<std::byte> shadow(kRegion);
  Counter counter;
  for (int round = 0; round < kRounds; ++round) {
    const size_t most = round % 8 == 0 ? kRegion : 300;
    const size_t bytes = 1 + random.next() % most;
    const size_t begin = random.next() % (kRegion - bytes + 1);
    const auto data = pattern(bytes, static_cast<uint32_t>(random.next()));
    injector.put(1, region * kRegion + begin, {data.data(), bytes}, counter);
    injector.wait_for(counter);
    std::ranges::copy(data, shadow.begin() + static_cast<std::ptrdiff_t>(begin));
    std::vector<std::byte> back(kRegion);
    injector.get({back.data(), back.size()}, 1, region * kRegion, counter);
    injector.wait_for(counter);
    if (back != shadow) return false;
  }
  return true;
}

class InjectorTest : public testing::TestWithParam<InjectorVariant> {};

TEST_P(InjectorTest, ThreadsTransferBesideTheThreadOfTheirRank) {
  auto ranks = connected_ranks("tcp", 2, kInjectorSegment, GetParam().settings);
  const Attendant attendant(*ranks[1]);
  constexpr size_t kThreads = 3;
  std::vector<std::unique_ptr<Injector>> injectors;
  for (size_t i = 0; i < kThreads; ++i) injectors.push_back(open_for(*ranks[0]));
  std::vector<char> right(kThreads + 1);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { right[i] = agrees_with_a_copy(*injectors[i], i, i + 1); });
  }
  right[kThreads] = agrees_with_a_copy(*ranks[0], kThreads, kThreads + 1);
  const Traffic own = ranks[0]->traffic();
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i <= kThreads; ++i) EXPECT_TRUE(right[i]) << i;
  // What injectors send is not the rank's.
  EXPECT_EQ(ranks[0]->traffic().puts, own.puts);
  for (const auto& one : injectors) EXPECT_GT(one->traffic().puts, 0U);
}

TEST_P(InjectorTest, AtomicOperationsOfAllAreAtomic) {
  auto ranks = connected_ranks("tcp", 2, kInjectorSegment, GetParam().settings);
  if (!ranks[0]->has_atomic(AtomicOp::add, AtomicType::uint64, true)) {
    GTEST_SKIP() << ranks[0]->info().provider << " has no atomic operations";
  }
  const Attendant attendant(*ranks[1]);
  constexpr uint64_t kEach = 200;
  const auto add = [](Injector& injector) {
    Counter counter;
    uint64_t last = 0;
    for (uint64_t i = 0; i < kEach; ++i) {
      uint64_t previous = 0;
      injector.atomic({AtomicOp::add, AtomicType::uint64, 1}, 1, 64,
                      i % 2 == 0 ? nullptr : &previous, counter);
      injector.wait_for(counter);
      // It grows by this thread's own additions alone.
      if (i % 2 != 0) {
        EXPECT_GT(previous, last);
        last = previous;
      }
    }
  };
  const auto first = open_for(*ranks[0]);
  const auto second = open_for(*ranks[0]);
  std::thread one([&] { add(*first); });
  std::thread other([&] { add(*second); });
  add(*ranks[0]);
  one.join();
  other.join();
  Counter counter;
  uint64_t sum = 0;
  ranks[0]->get({reinterpret_cast<std::byte*>(&sum), sizeof sum}, 1, 64, counter);
  ranks[0]->wait_for(counter);
  EXPECT_EQ(sum, 3 * kEach);
}

// Neither rank makes progress but by what its own injector calls while it waits.
TEST_P(InjectorTest, RanksThatWaitByInjectorsServeEachOther) {
  auto ranks = connected_ranks("tcp", 2, kInjectorSegment, GetParam().settings);
  std::atomic<int> running{2};
  std::vector<std::thread> threads;
  for (const Rank me : {Rank{0}, Rank{1}}) {
    threads.emplace_back([&, me] {
      Fabric& mine = *ranks[me];
      const auto injector = open_for(mine, [&mine] { mine.poll(); });
      Counter counter;
      const auto data = pattern(20000, me);
      for (int i = 0; i < 20; ++i) {
        injector->put(1 - me, 64, {data.data(), data.size()}, counter);
        injector->wait_for(counter);
      }
      std::vector<std::byte> back(data.size());
      injector->get({back.data(), back.size()}, 1 - me, 64, counter);
      injector->wait_for(counter);
      EXPECT_EQ(back, data);
      --running;
      mine.wait([&] { return running == 0; }, std::numeric_limits<double>::infinity());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(InjectorTest, ClosesWithOperationsInFlight) {
  auto ranks = connected_ranks("tcp", 2, kInjectorSegment, GetParam().settings);
  const Attendant attendant(*ranks[1]);
  for (int round = 0; round < 10; ++round) {
    auto injector = open_for(*ranks[0]);
    std::vector<Counter> counters(8);
    auto data = std::make_unique<std::vector<std::byte>>(kRegion);
    for (Counter& one : counters) injector->put(1, 0, {data->data(), data->size()}, one);
    injector->get({data->data(), data->size()}, 1, kRegion, counters[0]);
    injector.reset();
    data.reset();  // no one reads or writes it any more
  }
  EXPECT_TRUE(agrees_with_a_copy(*ranks[0], 5, 7));
}

TEST_P(InjectorTest, AreAsManyAsTheSitePermits) {
  Settings settings = GetParam().settings;
  settings.injectors = 2;
  auto ranks = connected_ranks("tcp", 2, kInjectorSegment, settings);
  const Attendant attendant(*ranks[1]);
  EXPECT_GT(ranks[0]->info().injector_bytes, 0U);
  auto first = open_for(*ranks[0]);
  const auto second = open_for(*ranks[0]);
  const auto third = ranks[0]->open_injector([] {});
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code(), ErrorCode::resource_exhausted);
  EXPECT_NE(third.error().message().find("STRIPLINE_INJECTION_QUEUES"), std::string::npos);
  first.reset();
  EXPECT_TRUE(agrees_with_a_copy(*open_for(*ranks[0]), 0, 9));
}

INSTANTIATE_TEST_SUITE_P(Providers, InjectorTest, testing::ValuesIn(injector_variants()),
                         [](const auto& info) { return info.param.name; });

TEST(Injectors, AreRefusedWhereTargetsKeepAPlaceForEach) {
  auto opened = open_rank("shm", 0, 1, kInjectorSegment, {});
  if (!opened.ok()) GTEST_SKIP() << opened.error().message();
  const auto injector = (*opened)->open_injector([] {});
  ASSERT_FALSE(injector.ok());
  EXPECT_EQ(injector.error().code(), ErrorCode::unimplemented);
}

}  // namespace
}  // namespace stripline::fabric::ofi
