// Teams of workers, and arrays that they sort together.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <sched.h>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/point_order.h>
#include <stripline/worker_team.h>

#include "base/exit_codes.h"
#include "base/random.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/machine/topology.h"
#include "runtime/update/team_fixture.h"

namespace stripline::update {
namespace {

class Team : public testing::TestWithParam<TeamKind> {};
INSTANTIATE_TEST_SUITE_P(All, Team, testing::Values(TeamKind::threads, TeamKind::ranks),
                         [](const auto& of) {
                           return of.param == TeamKind::threads ? "Threads" : "Ranks";
                         });

TEST_P(Team, GathersAndSharesMemory) {
  for (const uint32_t workers : {1u, 3u}) {
    on_team(GetParam(), workers, [&](worker_team& team) {
      for (uint64_t round = 0; round < 20; ++round) {
        const std::vector<uint64_t> all = team.allgather(uint64_t{10} * team.index() + round);
        ASSERT_EQ(all.size(), workers);
        for (uint32_t i = 0; i < workers; ++i) ASSERT_EQ(all[i], uint64_t{10} * i + round);
      }
      const uint64_t mine = team.allocate(100).value();
      const std::vector<uint64_t> blocks = team.allgather(mine);
      *team.at(mine) = static_cast<std::byte>(team.index() + 1);
      team.barrier();
      for (uint32_t i = 0; i < workers; ++i) {
        EXPECT_EQ(*team.at(blocks[i]), static_cast<std::byte>(i + 1));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(team.at(blocks[i])) % 64, 0u);
      }
      team.barrier();
      team.deallocate(mine);
      EXPECT_GE(team.now_s(), 0);
    });
  }
}

TEST_P(Team, ArraysAreOfOneCountThatMemoryHolds) {
  on_team(GetParam(), 2, [](worker_team& team) {
    const auto differ = team_array<double>::create(team, size_t{4} + team.index());
    ASSERT_FALSE(differ.ok());
    EXPECT_EQ(differ.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(differ.error().message().find("of 5 elements by worker 1, and of 4 by worker 0"),
              std::string::npos)
        << differ.error().message();
    // Their bytes are 8 modulo 2^64, and those that rounding up to a multiple of 64 makes 0.
    EXPECT_FALSE(team_array<double>::create(team, (size_t{1} << 61) + 1).ok());
    EXPECT_FALSE(team_array<uint8_t>::create(team, ~size_t{0}).ok());
    auto some = team_array<double>::create(team, 3);
    ASSERT_TRUE(some.ok()) << some.error().message();
    const team_array<double> moved = std::move(*some);
    EXPECT_TRUE(some->all().empty());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(moved.all().size(), 3U);
    const auto none = team_array<double>::create(team, 0);
    ASSERT_TRUE(none.ok()) << none.error().message();
    EXPECT_TRUE(none->all().empty());
  });
}

TEST(ThreadWorkersDeathTest, ABodyThatThrowsIsNamedWithItsWorker) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(thread_workers(3).run([](worker_team& team) {
    if (team.index() == 2) throw std::runtime_error("lost");
    team.barrier();
  }),
              testing::ExitedWithCode(kExitUsage),
              "error: worker 2: the body of thread_workers::run has thrown: lost; ");
}

TEST(ThreadWorkersDeathTest, WhatIsNotThereIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(thread_workers(2).run(nullptr), testing::ExitedWithCode(kExitUsage),
              "worker_team_test.cc:[0-9]+: thread_workers::run with an empty std::function");
  EXPECT_EXIT((void)thread_workers(2, std::span(static_cast<const uint32_t*>(nullptr), 3)),
              testing::ExitedWithCode(kExitUsage),
              "worker_team_test.cc:[0-9]+: thread_workers of 3 elements at a null pointer");
}

// Each bound to a processor of its own, of a core of its own where the kernel says which that is.
TEST(ThreadWorkers, OfAllCoresHaveOneEach) {
  const std::vector<uint32_t> allowed = machine::allowed_processors();
  std::mutex mutex;
  std::map<uint32_t, std::vector<uint32_t>> bound;  // by worker
  uint32_t count = 0;
  thread_workers::all().run([&](worker_team& team) {
    const std::lock_guard lock(mutex);
    bound[team.index()] = machine::allowed_processors();
    count = team.count();
    EXPECT_EQ(team.context(), nullptr);
  });
  ASSERT_EQ(bound.size(), count);
  std::set<std::pair<uint32_t, uint32_t>> cores;
  std::optional<uint32_t> package;
  std::set<uint32_t> packages;
  for (const auto& [worker, processors] : bound) {
    ASSERT_EQ(processors.size(), 1U) << worker;
    EXPECT_TRUE(std::ranges::binary_search(allowed, processors[0])) << worker;
    const auto place = machine::read_processor_place(processors[0]);
    if (!place) continue;  // a container without /sys
    EXPECT_TRUE(cores.emplace(place->package, place->core).second) << worker;
    if (package != place->package) {
      EXPECT_TRUE(packages.insert(place->package).second) << worker;
    }
    package = place->package;
  }
}

// A thread that may run on one processor alone has one worker.
TEST(ThreadWorkers, OfAllCoresStayWhereTheCallerMayRun) {
  const std::vector<uint32_t> before = machine::allowed_processors();
  ASSERT_FALSE(before.empty());
  std::jthread([&] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(before.back(), &mask);
    ASSERT_EQ(::sched_setaffinity(0, sizeof mask, &mask), 0);
    uint32_t workers = 0;
    thread_workers::all().run([&](worker_team& team) {
      workers = team.count();
      EXPECT_EQ(machine::allowed_processors(), std::vector{before.back()});
    });
    EXPECT_EQ(workers, 1U);
  }).join();
}

TEST(ThreadWorkers, OfAllCoresHaveTheContextThatTheyAreGiven) {
  on_team(TeamKind::ranks, 1, [](worker_team& rank) {
    thread_workers::all(rank.context()).run([&](worker_team& team) {
      EXPECT_EQ(team.context(), rank.context());
    });
  });
}

TEST(NodeWorkers, SayWhereMemoryDoesNotSuffice) {
  on_team(TeamKind::ranks, 2, [&](worker_team& team) {
    const auto block = team.allocate(size_t{1} << 30);
    ASSERT_FALSE(block.ok());
    EXPECT_EQ(block.error().code(), ErrorCode::resource_exhausted);
    const auto array = team_array<double>::create(team, size_t{1} << 27);
    ASSERT_FALSE(array.ok());
    EXPECT_EQ(array.error().code(), ErrorCode::resource_exhausted);
  });
}

TEST(NodeWorkers, AreRefusedWhereRanksRunOneAtATime) {
  bootstrap::ThreadGroupOptions options;
  options.context.fabric = "emulated:opteron-vapi,compute=none";
  options.context.clock = "virtual";
  bootstrap::on_ranks(options, [](Context& context) {
    const auto team = node_workers(context);
    ASSERT_FALSE(team.ok());
    EXPECT_NE(team.error().message().find("virtual clock"), std::string::npos);
  });
}

// Owners are uneven, and the last worker has none.
void expect_brought_to_owners(worker_team& team, size_t count) {
  const uint32_t workers = team.count();
  const auto owner = [&](uint32_t element) {
    return std::min(element % 16 / 3, std::max(1u, workers - 1) - 1);
  };
  const TeamCells<uint32_t> cells(team, std::max<size_t>(count, 1), 0);
  const std::span<uint32_t> elements = cells.all().first(count);
  SplitMix64 random(count);
  std::vector<uint32_t> before(count);
  for (uint32_t& one : before) one = static_cast<uint32_t>(random.next() % 1000);
  if (team.index() == 0) std::ranges::copy(before, elements.begin());
  team.barrier();
  std::vector<size_t> ends(workers);
  for (const uint32_t one : before) ++ends[owner(one)];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  detail::bring_to_owners(team, elements.data(), ends, owner);
  for (uint32_t worker = 0; worker < workers; ++worker) {
    for (size_t i = worker == 0 ? 0 : ends[worker - 1]; i < ends[worker]; ++i) {
      ASSERT_EQ(owner(elements[i]), worker) << "element " << i << " of " << count;
    }
  }
  std::vector<uint32_t> after(elements.begin(), elements.end());
  std::ranges::sort(after);
  std::ranges::sort(before);
  EXPECT_EQ(after, before);
}

TEST_P(Team, BringsElementsToTheirOwners) {
  for (const uint32_t workers : {1u, 2u, 3u, 5u}) {
    on_team(GetParam(), workers, [&](worker_team& team) {
      for (const size_t count : {0u, 1u, 7u, 1000u}) expect_brought_to_owners(team, count);
    });
  }
}

// Elements of any size: small ones are updated by another method than large ones.
template <size_t kBytes>
void expect_split(size_t count) {
  struct Element {
    uint64_t number;
    std::array<char, kBytes> more;
  };
  std::vector<Element> elements(count);
  SplitMix64 random(count);
  size_t lefts = 0;
  for (Element& one : elements) {
    one.number = random.next();
    lefts += one.number % 2;
  }
  const auto left = [](const Element& one) { return one.number % 2 == 1; };
  const Element* const middle =
      detail::split(elements.data(), elements.data() + elements.size(), left);
  EXPECT_EQ(static_cast<size_t>(middle - elements.data()), lefts);
  EXPECT_TRUE(std::ranges::is_partitioned(elements, left));
}

TEST(Split, IsAPartition) {
  for (const size_t count : {0u, 1u, 2u, 500u}) {
    expect_split<8>(count);
    expect_split<200>(count);
  }
}

TEST(SortByCounts, SortsInPlace) {
  SplitMix64 random(7);
  for (const size_t count : {0u, 1u, 500u}) {
    std::vector<uint32_t> elements(count);
    std::vector<size_t> counts(40);
    for (uint32_t& one : elements) {
      one = static_cast<uint32_t>(random.next() % 4000);
      ++counts[one / 100];
    }
    std::vector<uint32_t> sorted = elements;
    std::ranges::sort(sorted);
    detail::sort_by_counts(std::span(elements), std::span(counts),
                           [](uint32_t element) { return size_t{element / 100}; });
    EXPECT_TRUE(std::ranges::is_sorted(elements, {}, [](uint32_t one) { return one / 100; }));
    for (size_t bucket = 0; bucket < counts.size(); ++bucket) {
      const auto below = [&](uint32_t one) { return one / 100 <= bucket; };
      EXPECT_EQ(counts[bucket], static_cast<size_t>(std::ranges::count_if(elements, below)));
    }
    std::ranges::sort(elements);
    EXPECT_EQ(elements, sorted);
  }
}

}  // namespace
}  // namespace stripline::update
