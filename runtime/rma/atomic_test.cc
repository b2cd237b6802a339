#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::group_on;

struct Case {
  bootstrap::FabricUnderTest fabric;
  AtomicPath path;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.fabric.label; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& fabric : fabrics_under_test()) {
    all.push_back({fabric, AtomicPath::provider});
    all.push_back({fabric, AtomicPath::message});
  }
  return all;
}

// Newer libfabric's tcp leaves them to messages.
bool has_own_atomics(Context& context) {
  return context.state().job.fabric().has_atomic(fabric::AtomicOp::add, fabric::AtomicType::uint64,
                                                 true);
}

class Atomic : public ::testing::TestWithParam<Case> {
 protected:
  void on_ranks(rank_t ranks, const std::function<void(Context&, AtomicPath)>& body) {
    const AtomicPath path = GetParam().path;
    bootstrap::on_ranks(group_on(GetParam().fabric, ranks), [&](Context& context) {
      if (path == AtomicPath::message || has_own_atomics(context)) {
        body(context, path);
      }
    });
  }
};

// One variable of a type between two others that must stay as they are.
template <typename T>
void check_type(Context& context, AtomicPath path) {
  ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<T>(3));
  const atomic_domain<T> domain(context, path);
  EXPECT_EQ(domain.path(), path);
  std::fill_n(context.local(mine), 3, T{7});
  context.barrier();
  if (context.rank_me() == 0) {
    for (const rank_t target : {rank_t{1}, rank_t{0}}) {
      const global_ptr<T> place = context.on_rank(mine, target) + 1;
      EXPECT_EQ(domain.load(place), T{7});
      EXPECT_EQ(domain.fetch_add(place, T{5}), T{7});
      domain.add(place, T{3}).wait();
      EXPECT_EQ(domain.load(place), T{15});
      EXPECT_EQ(domain.swap(place, T{100}), T{15});
      domain.store(place, T{50}).wait();
      EXPECT_EQ(domain.fetch_min(place, T{60}), T{50});
      EXPECT_EQ(domain.fetch_min(place, T{40}), T{50});
      domain.min(place, T{30}).wait();
      EXPECT_EQ(domain.fetch_max(place, T{20}), T{30});
      EXPECT_EQ(domain.fetch_max(place, T{70}), T{30});
      domain.max(place, T{90}).wait();
      EXPECT_EQ(domain.load(place), T{90});
      if constexpr (std::is_signed_v<T>) {
        EXPECT_EQ(domain.fetch_add(place, T{-100}), T{90});
        EXPECT_EQ(domain.fetch_max(place, T{-20}), T{-10});
        EXPECT_EQ(domain.fetch_min(place, T{-30}), T{-10});
        EXPECT_EQ(domain.load(place), T{-30});
      }
      if constexpr (std::is_integral_v<T>) {
        domain.store(place, T{0x0f0f}).wait();
        EXPECT_EQ(domain.compare_swap(place, T{1}, T{2}), T{0x0f0f});
        EXPECT_EQ(domain.compare_swap(place, T{0x0f0f}, T{0x00ff}), T{0x0f0f});
        EXPECT_EQ(domain.fetch_and(place, T{0x0ff0}), T{0x00ff});
        EXPECT_EQ(domain.fetch_or(place, T{0x0f00}), T{0x00f0});
        EXPECT_EQ(domain.fetch_xor(place, T{0x0ff1}), T{0x0ff0});
        EXPECT_EQ(domain.load(place), T{1});
        domain.bit_or(place, T{6}).wait();
        domain.bit_xor(place, T{2}).wait();
        domain.bit_and(place, T{12}).wait();
        EXPECT_EQ(domain.load(place), T{4});
        domain.store(place, std::numeric_limits<T>::max()).wait();
        EXPECT_EQ(domain.fetch_add(place, T{1}), std::numeric_limits<T>::max());
        EXPECT_EQ(domain.load(place), std::numeric_limits<T>::min());  // wraps
      }
      T edge = T{0};
      context.rget(place - 1, &edge, 1).wait();
      EXPECT_EQ(edge, T{7});
      context.rget(place + 1, &edge, 1).wait();
      EXPECT_EQ(edge, T{7});
    }
  }
  context.barrier();
}

TEST_P(Atomic, EveryOperationOnEveryType) {
  on_ranks(2, [](Context& context, AtomicPath path) {
    check_type<int32_t>(context, path);
    check_type<uint32_t>(context, path);
    check_type<int64_t>(context, path);
    check_type<uint64_t>(context, path);
    check_type<double>(context, path);
  });
}

// All ranks add to the same counters of all ranks, with more in flight than there are credits; no
// addition is lost and no ticket is given out twice.
TEST_P(Atomic, NothingIsLost) {
  constexpr rank_t kRanks = 3;
  constexpr uint64_t kAdds = 400;
  on_ranks(kRanks, [](Context& context, AtomicPath path) {
    const auto mine = context.new_symmetric_array<uint64_t>(2);
    const auto tickets = context.new_symmetric_array<uint64_t>(kRanks * kAdds);
    ASSERT_TRUE(mine.ok() && tickets.ok());
    const atomic_domain<uint64_t> domain(context, path);
    std::vector<uint64_t> previous(kRanks * kAdds);
    std::vector<future> futures;
    for (uint64_t i = 0; i < kAdds; ++i) {
      for (rank_t target = 0; target < kRanks; ++target) {
        const auto there = context.on_rank(*mine, target);
        futures.push_back(domain.fetch_add(there, 1, &previous[target * kAdds + i]));
        domain.add(there + 1, i);  // dropped: complete at the barrier
      }
    }
    wait_all(futures);
    context.barrier();
    EXPECT_EQ(context.local(*mine)[0], kRanks * kAdds);
    EXPECT_EQ(context.local(*mine)[1], kRanks * kAdds * (kAdds - 1) / 2);
    for (rank_t target = 0; target < kRanks; ++target) {
      for (uint64_t i = 0; i < kAdds; ++i) {
        const uint64_t ticket = previous[target * kAdds + i];
        ASSERT_LT(ticket, kRanks * kAdds);
        const uint64_t one = 1;
        context.rput_nbi(
            &one, context.on_rank(*tickets, target) + static_cast<std::ptrdiff_t>(ticket), 1);
      }
    }
    context.barrier();
    for (uint64_t i = 0; i < kRanks * kAdds; ++i) ASSERT_EQ(context.local(*tickets)[i], 1U) << i;
    context.barrier();
  });
}

// A lock of one word: what it protects is read and written by puts and gets.
TEST_P(Atomic, CompareAndSwapExcludes) {
  constexpr rank_t kRanks = 3;
  constexpr int kRounds = 20;
  on_ranks(kRanks, [](Context& context, AtomicPath path) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(2));
    const atomic_domain<uint64_t> domain(context, path);
    const auto lock = context.on_rank(mine, 0);
    const auto value = lock + 1;
    for (int round = 0; round < kRounds; ++round) {
      while (domain.compare_swap(lock, 0, context.rank_me() + 1) != 0) context.progress();
      const uint64_t seen = context.rget(value);
      context.rput(seen + 1, value);
      ASSERT_EQ(domain.swap(lock, 0), context.rank_me() + 1);
    }
    context.barrier();
    EXPECT_EQ(context.rget(value), static_cast<uint64_t>(kRounds * kRanks));
    context.barrier();
  });
}

TEST_P(Atomic, OperationsTakeTheirPath) {
  on_ranks(2, [](Context& context, AtomicPath path) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<int64_t>(1));
    const atomic_domain<int64_t> domain(context, path);
    const auto before = context.state().job.fabric().traffic();
    domain.fetch_add(context.on_rank(mine, 1 - context.rank_me()), 1);
    const auto after = context.state().job.fabric().traffic();
    EXPECT_EQ(after.atomics - before.atomics, path == AtomicPath::provider ? 1U : 0U);
    context.barrier();
  });
}

struct CaseLabel {
  template <typename Info>
  std::string operator()(const Info& info) const {
    return info.param.fabric.label +
           (info.param.path == AtomicPath::provider ? "_provider" : "_message");
  }
};
TEST(AtomicDomain, PicksThePathThatAllRanksShare) {
  for (const auto& fabric : bootstrap::fabrics_under_test()) {
    bootstrap::on_ranks(group_on(fabric, 2), [&](Context& context) {
      // Where memory is mapped, the CPU is faster than any provider.
      const atomic_domain<int64_t> domain(context);
      EXPECT_EQ(domain.path(), fabric.same_node == "mapped" || !has_own_atomics(context)
                                   ? AtomicPath::message
                                   : AtomicPath::provider);
    });
  }
}

TEST(AtomicDomain, IsByTheMethodThatARuleForces) {
  for (const auto& fabric : bootstrap::fabrics_under_test()) {
    bootstrap::ThreadGroupOptions group = group_on(fabric, 2);
    group.context.tuning = "atomic:*:message";
    bootstrap::on_ranks(group, [](Context& context) {
      EXPECT_EQ(atomic_domain<int64_t>(context).path(), AtomicPath::message);
      if (!has_own_atomics(context)) return;
      // What the program says counts more.
      EXPECT_EQ(atomic_domain<int64_t>(context, AtomicPath::provider).path(), AtomicPath::provider);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Atomic, ::testing::ValuesIn(cases()), CaseLabel());

class AtomicDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(AtomicDeathTest, VariablesAreAlignedAndInBounds) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const atomic_domain<int64_t> domain(context);
                         domain.add(global_ptr<int64_t>(1, 4), 1).wait();
                       }),
              ::testing::ExitedWithCode(2), "at offset 4 of rank 1, which is not a multiple");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const atomic_domain<int64_t> domain(context);
                         domain.add(global_ptr<int64_t>(1, 8U << 20), 1).wait();
                       }),
              ::testing::ExitedWithCode(2), "atomic operation of 8 bytes .* is out of bounds");
}

}  // namespace
}  // namespace stripline
