#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>
#include <stripline/loop.h>

#include "base/testing/assert_ok.h"
#include "optimizer/model/model_fixture.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/loop/testing/model_file.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::group_on;
using plan::Reason;
using plan::Schedule;

plan::StripCosts example_costs() {
  const model::TunedModel m = model::example_model();
  return {m.network.at("inter-node"), m.compute, m.strip};
}

std::vector<plan::StripCandidate> decompositions() {
  return {{Schedule::vectorised, 0, 1},    {Schedule::vectorised, 1000, 1},
          {Schedule::all_issued, 4096, 1}, {Schedule::all_issued, 1 << 20, 1},
          {Schedule::pipelined, 4096, 1},  {Schedule::pipelined, 999, 3},
          {Schedule::pipelined, 16384, 64}};
}

double value_of(rank_t rank, size_t i) { return static_cast<double>(size_t{rank} * 1000000 + i); }

class Loop : public bootstrap::RanksTest {};

class LoopOnNetworks : public Loop {};

TEST_P(Loop, OptionsMayBeLeftOut) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(100));
    const auto theirs = context.on_rank(mine, 1 - context.rank_me());
    strip_write(context, theirs, 100, [](size_t begin, size_t end, double* strip) {
      for (size_t i = begin; i < end; ++i) strip[i - begin] = static_cast<double>(i);
    });
    context.barrier();
    double sum = 0;
    strip_for(context, theirs, 100, [&](size_t begin, size_t end, const double* strip) {
      for (size_t i = 0; i < end - begin; ++i) sum += strip[i];
    });
    EXPECT_EQ(sum, 4950);
    context.barrier();
  });
}

TEST_P(LoopOnNetworks, ReadsEveryElementOnceInOrderUnderEveryDecomposition) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kHalo = 5;
    constexpr size_t kCount = 10007;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(kCount + kHalo));
    for (size_t i = 0; i < kCount + kHalo; ++i) {
      context.local(mine)[i] = value_of(context.rank_me(), i);
    }
    context.barrier();
    const rank_t peer = 1 - context.rank_me();
    for (const size_t granule : {size_t{1}, size_t{100}}) {
      for (const size_t halo : {size_t{0}, kHalo}) {
        for (const plan::StripCandidate& candidate : decompositions()) {
          size_t expected = 0;
          size_t wrong = 0;
          const LoopPlan plan =
              strip_for(context, context.on_rank(mine, peer), kCount,
                        {.granule = granule, .halo = halo, .force = candidate},
                        [&](size_t begin, size_t end, const double* strip) {
                          EXPECT_EQ(begin, expected);
                          EXPECT_EQ(begin % granule, 0U);
                          EXPECT_EQ(reinterpret_cast<uintptr_t>(strip) % alignof(double), 0U);
                          for (size_t i = begin; i < end + halo; ++i) {
                            wrong += strip[i - begin] == value_of(peer, i) ? 0 : 1;
                          }
                          expected = end;
                        });
          EXPECT_EQ(plan.reason, Reason::forced);
          EXPECT_EQ(expected, kCount);
          EXPECT_EQ(wrong, 0U) << "strips of " << plan.strip_bytes;
        }
      }
    }
  });
}

TEST_P(LoopOnNetworks, WritesEveryElementUnderEveryDecomposition) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kCount = 10007;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(kCount + 1));
    const rank_t me = context.rank_me();
    context.local(mine)[kCount] = -1;
    double salt = 0;
    for (const plan::StripCandidate& candidate : decompositions()) {
      context.barrier();
      salt += 0.5;
      strip_write(context, context.on_rank(mine, 1 - me), kCount, {.force = candidate},
                  [&](size_t begin, size_t end, double* strip) {
                    for (size_t i = begin; i < end; ++i) strip[i - begin] = value_of(me, i) + salt;
                  });
      context.barrier();
      size_t wrong = 0;
      for (size_t i = 0; i < kCount; ++i) {
        wrong += context.local(mine)[i] == value_of(1 - me, i) + salt ? 0 : 1;
      }
      EXPECT_EQ(wrong, 0U);
      EXPECT_EQ(context.local(mine)[kCount], -1);
    }
  });
}

TEST_P(Loop, GoesThroughUnequalBlocksOwnOnesInPlace) {
  on_ranks(3, [](Context& context) {
    constexpr size_t kCount = 6000;
    constexpr size_t kHalo = 3;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<int64_t>(kCount + kHalo));
    const auto value = [](rank_t rank, size_t i) {
      return static_cast<int64_t>(size_t{rank} * 100000 + i);
    };
    for (size_t i = 0; i < kCount + kHalo; ++i) {
      context.local(mine)[i] = value(context.rank_me(), i);
    }
    context.barrier();
    const std::vector<LoopBlock<const int64_t>> blocks = {
        {context.on_rank(mine, 0), kCount},
        {context.on_rank(mine, 1) + 10, 0},
        {context.on_rank(mine, 1) + 17, 2345},
        {context.on_rank(mine, 2), 1},
        {context.on_rank(mine, 2) + 5, kCount - 5}};
    const std::vector<size_t> starts = {0, 10, 17, 0, 5};
    const std::vector<rank_t> owners = {0, 1, 1, 2, 2};
    for (const plan::StripCandidate& candidate : decompositions()) {
      std::vector<size_t> done(blocks.size());
      size_t wrong = 0;
      bool own_first = false;
      strip_for_blocks(
          context, std::span(blocks), {.halo = kHalo, .force = candidate},
          [&] { own_first = std::ranges::all_of(done, [](size_t n) { return n == 0; }); },
          [&](size_t block, size_t begin, size_t end, const int64_t* strip) {
            EXPECT_EQ(done[block], begin);
            done[block] = end;
            for (size_t i = begin; i < end + kHalo; ++i) {
              wrong += strip[i - begin] == value(owners[block], starts[block] + i) ? 0 : 1;
            }
            if (owners[block] == context.rank_me()) {
              EXPECT_EQ(strip, context.local(mine) + starts[block]);
            }
          });
      EXPECT_TRUE(own_first);
      EXPECT_EQ(wrong, 0U);
      for (size_t b = 0; b < blocks.size(); ++b) EXPECT_EQ(done[b], blocks[b].count);
    }
    context.barrier();

    // The same blocks, written: everybody adds the owner's index to a third of each array.
    const size_t third = kCount / 3;
    std::vector<LoopBlock<int64_t>> targets;
    for (rank_t rank = 0; rank < 3; ++rank) {
      targets.push_back(
          {context.on_rank(mine, rank) + static_cast<std::ptrdiff_t>(context.rank_me() * third),
           third});
    }
    size_t last = 0;
    strip_write_blocks(context, std::span<const LoopBlock<int64_t>>(targets),
                       {.force = plan::StripCandidate{Schedule::pipelined, 1024, 2}},
                       [&](size_t block, size_t begin, size_t end, int64_t* strip) {
                         EXPECT_GE(block, last);
                         last = block;
                         for (size_t i = begin; i < end; ++i) {
                           strip[i - begin] = -static_cast<int64_t>(block * third + i);
                         }
                       });
    context.barrier();
    size_t wrong = 0;
    for (size_t i = 0; i < 3 * third; ++i) {
      const auto expected = -static_cast<int64_t>(context.rank_me() * third + i % third);
      wrong += context.local(mine)[i] == expected ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0U);
  });
}

// A redistribution: what comes and what leaves has places in arrays of the program.
TEST_P(Loop, MovesBetweenPlacesOfTheProgram) {
  on_ranks(3, [](Context& context) {
    constexpr size_t kCount = 6001;
    constexpr size_t kHalo = 3;
    const rank_t me = context.rank_me();
    const auto mine = *context.new_symmetric_array<int64_t>(kCount + kHalo);
    const auto theirs = *context.new_symmetric_array<int64_t>(3 * kCount);
    for (size_t i = 0; i < kCount + kHalo; ++i) {
      context.local(mine)[i] = static_cast<int64_t>(size_t{me} * 100000 + i);
    }
    for (const plan::StripCandidate& candidate : decompositions()) {
      std::fill_n(context.local(theirs), 3 * kCount, 0);
      context.barrier();
      // Everybody's block, which the body changes where it is.
      std::vector<int64_t> places(3 * (kCount + kHalo), -1);
      std::vector<LoopBlock<const int64_t>> blocks;
      for (rank_t rank = 0; rank < 3; ++rank) {
        blocks.push_back(
            {context.on_rank(mine, rank), kCount, places.data() + rank * (kCount + kHalo)});
      }
      size_t wrong = 0;
      strip_for_blocks(
          context, std::span(std::as_const(blocks)), {.halo = kHalo, .force = candidate}, [] {},
          [&](size_t block, size_t begin, size_t end, const int64_t* strip) {
            EXPECT_EQ(strip, blocks[block].place + begin);
            for (size_t i = begin; i < end + kHalo; ++i) {
              wrong += strip[i - begin] == static_cast<int64_t>(block * 100000 + i) ? 0 : 1;
            }
            for (size_t i = begin; i < end; ++i) blocks[block].place[i] += 1;
          });
      EXPECT_EQ(wrong, 0U);
      // The others get a block each, of which the body makes the even elements.
      std::vector<LoopBlock<int64_t>> targets;
      for (rank_t rank = 0; rank < 3; ++rank) {
        targets.push_back({context.on_rank(theirs, rank) + static_cast<std::ptrdiff_t>(me * kCount),
                           kCount, blocks[rank].place});
      }
      strip_write_blocks(context, std::span<const LoopBlock<int64_t>>(targets),
                         {.force = candidate},
                         [&](size_t block, size_t begin, size_t end, int64_t* strip) {
                           EXPECT_EQ(strip, blocks[block].place + begin);
                           for (size_t i = begin + begin % 2; i < end; i += 2) {
                             strip[i - begin] *= -1;
                           }
                         });
      context.barrier();
      for (size_t i = 0; i < 3 * kCount; ++i) {
        const auto value = static_cast<int64_t>(size_t{me} * 100000 + i % kCount + 1);
        wrong += context.local(theirs)[i] == (i % kCount % 2 == 0 ? -value : value) ? 0 : 1;
      }
      EXPECT_EQ(wrong, 0U);
      context.barrier();
    }
  });
}

// A plan knows the mean of blocks only.
TEST_P(Loop, LeavesLargerBlocksWholeWhereTheirMeanIs) {
  if (GetParam().same_node == "mapped") GTEST_SKIP() << "blocks in reach are never divided";
  on_ranks(2, [](Context& context) {
    constexpr std::array<size_t, 3> kCounts = {100, 900, 200};
    constexpr size_t kMean = 400;
    constexpr uint64_t kElement = sizeof(double);
    const auto array = context.new_symmetric_array<double>(900).value();
    const auto theirs = context.on_rank(array, 1 - context.rank_me());
    std::vector<LoopBlock<const double>> blocks;
    for (const size_t count : kCounts) blocks.push_back({theirs, count});
    const auto pieces = [&](const LoopOptions& options) {
      std::vector<size_t> sizes;
      strip_for_blocks(
          context, std::span<const LoopBlock<const double>>(blocks), options, [] {},
          [&](size_t, size_t begin, size_t end, const double*) { sizes.push_back(end - begin); });
      return sizes;
    };
    const std::vector<size_t> whole(kCounts.begin(), kCounts.end());
    for (const Schedule schedule :
         {Schedule::vectorised, Schedule::all_issued, Schedule::pipelined}) {
      SCOPED_TRACE(static_cast<int>(schedule));
      EXPECT_EQ(pieces({.force = plan::StripCandidate{schedule, kMean * kElement, 2}}), whole);
    }
    EXPECT_EQ(pieces({.use_model = false}), whole);
    // In less memory than the largest one takes, and where the mean is divided, too.
    for (const size_t size :
         pieces({.max_buffer_bytes = 500 * kElement,
         .force = plan::StripCandidate{Schedule::vectorised, kMean * kElement, 1}})) {
      EXPECT_LE(size, 500U);
    }
    EXPECT_EQ(pieces({.force = plan::StripCandidate{Schedule::all_issued, 100 * kElement, 1}}),
              std::vector<size_t>(12, 100));
    context.barrier();
  });
}

TEST_P(Loop, EmptyAndOwnLoopsNeedNoTransfer) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(100));
    const uint64_t before = context.state().job.fabric().traffic().gets;
    int calls = 0;
    strip_for(context, context.on_rank(mine, 1 - context.rank_me()), 0, {},
              [&](size_t, size_t, const double*) { ++calls; });
    EXPECT_EQ(calls, 0);
    const auto plan =
        strip_for(context, mine, 100, {}, [&](size_t begin, size_t end, const double* strip) {
          EXPECT_EQ(begin, 0U);
          EXPECT_EQ(end, 100U);
          EXPECT_EQ(strip, context.local(mine));
          ++calls;
        });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(plan.reason, plan::Reason::own_memory);
    strip_write(context, mine, 100, {}, [&](size_t begin, size_t end, double* strip) {
      EXPECT_EQ(begin, 0U);
      EXPECT_EQ(end, 100U);
      EXPECT_EQ(strip, context.local(mine));
      ++calls;
    });
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(context.state().job.fabric().traffic().gets, before);
    EXPECT_EQ(context.state().job.fabric().traffic().puts, 0U);
  });
}

TEST(LoopOnOneNode, WorksInPlaceOnMappedMemory) {
  bootstrap::FabricUnderTest mapped;
  for (const auto& fabric : fabrics_under_test()) {
    if (fabric.same_node == "mapped") mapped = fabric;
  }
  bootstrap::on_ranks(group_on(mapped, 2), [](Context& context) {
    constexpr size_t kCount = 1000;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(kCount));
    const auto theirs = context.on_rank(mine, 1 - context.rank_me());
    const LoopPlan plan =
        strip_write(context, theirs, kCount, {}, [&](size_t begin, size_t end, double* strip) {
          EXPECT_EQ(strip, context.local(theirs) + begin);
          for (size_t i = begin; i < end; ++i) strip[i - begin] = value_of(context.rank_me(), i);
        });
    EXPECT_EQ(plan.reason, Reason::own_memory);
    context.barrier();
    size_t wrong = 0;
    const LoopBlock<const double> both[] = {{theirs, kCount}, {mine, kCount}};
    strip_for_blocks<double>(
        context, both, {}, [] {},
        [&](size_t block, size_t begin, size_t end, const double* strip) {
          EXPECT_EQ(strip, context.local(both[block].data) + begin);
          const rank_t writer = block == 0 ? context.rank_me() : 1 - context.rank_me();
          for (size_t i = begin; i < end; ++i) {
            wrong += strip[i - begin] == value_of(writer, i) ? 0 : 1;
          }
        });
    EXPECT_EQ(wrong, 0U);
    context.barrier();
  });
}

TEST_P(Loop, BodiesMayContainLoopsAndMayThrow) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kCount = 4000;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(kCount));
    for (size_t i = 0; i < kCount; ++i) context.local(mine)[i] = static_cast<double>(i);
    context.barrier();
    const auto remote = context.on_rank(mine, 1 - context.rank_me());
    const plan::StripCandidate outer{Schedule::pipelined, 8000, 2};
    const plan::StripCandidate inner{Schedule::all_issued, 800, 1};
    double sum = 0;
    strip_for(context, remote, kCount, {.force = outer},
              [&](size_t begin, size_t end, const double* strip) {
                strip_for(context, remote + static_cast<std::ptrdiff_t>(begin), end - begin,
                          {.force = inner}, [&](size_t b, size_t e, const double* again) {
                            for (size_t i = b; i < e; ++i) {
                              sum += again[i - b] == strip[i] ? again[i - b] : -1e9;
                            }
                          });
              });
    EXPECT_EQ(sum, kCount * (kCount - 1) / 2.0);

    EXPECT_THROW(strip_for(context, remote, kCount, {.force = outer},
                           [](size_t, size_t, const double*) { throw std::runtime_error("stop"); }),
                 std::runtime_error);
    sum = 0;  // what was in flight does not disturb the next loop
    strip_for(context, remote, kCount, {.force = outer},
              [&](size_t begin, size_t end, const double* strip) {
                for (size_t i = begin; i < end; ++i) sum += strip[i - begin];
              });
    EXPECT_EQ(sum, kCount * (kCount - 1) / 2.0);
    context.barrier();
  });
}

TEST_P(LoopOnNetworks, WithoutAModelVectorisesAndSaysSoOnce) {
  testing::internal::CaptureStderr();
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(4096));
    const auto remote = context.on_rank(mine, 1 - context.rank_me());
    for (int round = 0; round < 3; ++round) {
      int calls = 0;
      const LoopPlan plan =
          strip_for(context, remote, 4096, {}, [&](size_t, size_t, const double*) { ++calls; });
      EXPECT_EQ(calls, 1);
      EXPECT_EQ(plan.schedule, Schedule::vectorised);
      EXPECT_EQ(plan.reason, Reason::no_model);
    }
    context.barrier();
  });
  const std::string said = testing::internal::GetCapturedStderr();
  const size_t first = said.find("no tuned model is loaded");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(said.find("no tuned model is loaded", first + 1), std::string::npos);
}

TEST_P(LoopOnNetworks, UsesTheModelUnlessToldOtherwise) {
  const ModelFile file("loop_test");
  auto group = group_on(GetParam(), 2);
  group.context.model_path = file.path();
  testing::internal::CaptureStderr();
  on_ranks(group, [](Context& context) {
    constexpr size_t kCount = 131072;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(kCount));
    const auto remote = context.on_rank(mine, 1 - context.rank_me());
    size_t strips = 0;
    const auto body = [&](size_t, size_t, const double*) { ++strips; };
    const LoopOptions options{.loop = {}, .compute_s = 1.3e-3};
    const LoopPlan plan = strip_for(context, remote, kCount, options, body);
    EXPECT_EQ(plan.reason, Reason::tuned);
    EXPECT_EQ(plan.count, strips);
    EXPECT_GT(strips, 3U);

    plan::StripRequest request;
    request.total_bytes = kCount * sizeof(double);
    request.max_buffer_bytes = options.max_buffer_bytes;
    request.compute_s = 1.3e-3;
    const fabric::Info& network = context.state().job.fabric().info();
    request.surroundings.nic_ranks = network.nic_ranks;
    request.surroundings.target_polls_only = network.gets_need_target;
    const plan::StripCosts costs = example_costs();
    EXPECT_EQ(plan, plan::plan_strip(request, &costs));

    // A rank that is alone has the NIC to itself, and peers that serve at once.
    LoopOptions by_itself = options;
    by_itself.alone = true;
    request.surroundings.nic_ranks = 1;
    request.surroundings.target_polls_only = false;
    EXPECT_EQ(strip_for(context, remote, kCount, by_itself, body),
              plan::plan_strip(request, &costs));

    strips = 0;
    const LoopPlan without =
        strip_for(context, remote, kCount, {.compute_s = 1.3e-3, .use_model = false}, body);
    EXPECT_EQ(without.reason, Reason::no_model);
    EXPECT_EQ(strips, 1U);
    context.barrier();
  });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Blocks of several ranks, and of different sizes: no one else gets any from these ranks.
// Of loops of the size that it is about.
TEST_P(LoopOnNetworks, IsTheBaselineWhereARuleSaysSo) {
  const ModelFile file("loop_test");
  auto group = group_on(GetParam(), 2);
  group.context.model_path = file.path();
  group.context.tuning = "loop:524288:baseline";
  on_ranks(group, [](Context& context) {
    constexpr size_t kCount = 131072;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(kCount));
    const auto remote = context.on_rank(mine, 1 - context.rank_me());
    size_t strips = 0;
    const auto body = [&](size_t, size_t, const double*) { ++strips; };
    const LoopOptions options{.loop = {}, .compute_s = 1.3e-3};
    EXPECT_EQ(strip_for(context, remote, kCount / 2, options, body).reason, Reason::no_model);
    EXPECT_EQ(strips, 1U);
    EXPECT_EQ(strip_for(context, remote, kCount, options, body).reason, Reason::tuned);
    context.barrier();
  });
}

TEST_P(LoopOnNetworks, WhoIsAloneFindsNobodyAtItsPeers) {
  const ModelFile file("loop_test");
  auto group = group_on(GetParam(), 3);
  group.context.model_path = file.path();
  on_ranks(group, [](Context& context) {
    constexpr size_t kCount = 65536;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(kCount));
    if (context.rank_me() == 0) {
      const LoopBlock<const double> blocks[] = {{context.on_rank(mine, 1), kCount},
                                                {context.on_rank(mine, 2), kCount / 2}};
      const LoopOptions options{.loop = {}, .compute_s = 1e-3, .alone = true};
      const LoopPlan plan = strip_for_blocks<double>(
          context, blocks, options, [] {}, [](size_t, size_t, size_t, const double*) {});
      plan::StripRequest request;
      request.total_bytes = (kCount + kCount / 2) * sizeof(double);
      request.blocks = 2;
      request.max_buffer_bytes = options.max_buffer_bytes;
      request.compute_s = options.compute_s;
      const plan::StripCosts costs = example_costs();
      EXPECT_EQ(plan, plan::plan_strip(request, &costs));
    }
    context.barrier();
  });
}

TEST_P(LoopOnNetworks, RefinesItsPlanByTheComputationItMeasures) {
  if (GetParam().clock != "virtual")
    GTEST_SKIP() << "needs a clock that other loads do not disturb";
  const ModelFile file("loop_test");
  auto group = group_on(GetParam(), 2);
  group.context.model_path = file.path();
  on_ranks(group, [](Context& context) {
    constexpr size_t kCount = 131072;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(kCount));
    const auto remote = context.on_rank(mine, 1 - context.rank_me());
    std::vector<LoopPlan> plans;
    for (int round = 0; round < 8; ++round) {
      // Far more than the empty loop class says, and slower at first.
      const double seconds_per_element = (round == 0 ? 5 : 1) * 10e-9;
      plans.push_back(strip_for(context, remote, kCount, {.self_check = false},
                                [&](size_t begin, size_t end, const double*) {
                                  context.compute_for(static_cast<double>(end - begin) *
                                                      seconds_per_element);
                                }));
    }
    EXPECT_EQ(plans.back().reason, Reason::tuned);
    EXPECT_NE(plans.back(), plans.front());
    EXPECT_EQ(plans[6], plans[7]);
    const plan::StripCosts costs = example_costs();
    constexpr uint64_t kBytes = kCount * sizeof(double);
    const uint32_t others = context.state().job.fabric().info().nic_ranks - 1;
    EXPECT_NEAR(
        plans.back().baseline_s,
        costs.get().blocking(kBytes) + others * costs.get().at(kBytes).G * kBytes + kCount * 10e-9,
        1e-6);
    context.barrier();
  });
}

class LoopDeathTest : public bootstrap::RanksDeathTest {};

// Before anything is moved, and also where the number of bytes overflows.
TEST_F(LoopDeathTest, StaysWithinTheSegments) {
  // Rank 0 goes through `owner`'s memory.
  const auto reads = [](rank_t owner, size_t count, size_t halo) {
    return [=](Context& context) {
      const auto words = *context.new_symmetric_array<double>(100);
      context.barrier();
      if (context.rank_me() == 0) {
        strip_for(context, context.on_rank(words, owner), count, {.halo = halo},
                  [](size_t, size_t, const double*) {});
      }
      context.barrier();
    };
  };
  const auto writes = [](size_t count) {
    return [=](Context& context) {
      const auto words = *context.new_symmetric_array<double>(100);
      context.barrier();
      if (context.rank_me() == 0) {
        strip_write(context, context.on_rank(words, 1), count, {.max_buffer_bytes = 4096},
                    [](size_t, size_t, double*) { std::_Exit(9); });
      }
      context.barrier();
    };
  };
  const bootstrap::FabricUnderTest network{"", "emulated:opteron-vapi,compute=none", "virtual"};
  for (const auto& fabric : {network, fabrics_under_test()[1]}) {
    const char* const said = "loop of .* out of bounds";
    for (const rank_t owner : {0U, 1U}) {
      EXPECT_EXIT(on_ranks(2, reads(owner, 90, 10), fabric), ::testing::ExitedWithCode(0), "");
      for (const size_t count : {size_t{1} << 40, (size_t{1} << 61) + 1, ~size_t{0}}) {
        EXPECT_EXIT(on_ranks(2, reads(owner, count, 0), fabric), ::testing::ExitedWithCode(2), said)
            << count;
        EXPECT_EXIT(on_ranks(2, reads(owner, 10, count), fabric), ::testing::ExitedWithCode(2),
                    said)
            << count;
      }
    }
    for (const size_t count : {size_t{1} << 27, (size_t{1} << 61) + 1, ~size_t{0}}) {
      EXPECT_EXIT(on_ranks(2, writes(count), fabric), ::testing::ExitedWithCode(2), said) << count;
    }
  }
}

TEST_F(LoopDeathTest, RefusesBlocksAndFunctionsThatAreNot) {
  using Block = LoopBlock<const double>;
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         strip_for_blocks(
                             context, std::span(static_cast<const Block*>(nullptr), 2), {}, [] {},
                             [](size_t, size_t, size_t, const double*) {});
                       }),
              ::testing::ExitedWithCode(2),
              "loop_test.cc:[0-9]+: loop of 2 blocks at a null pointer");
  using Function = std::function<void(size_t, size_t, double*)>;
  for (const size_t count : {0U, 100U}) {
    EXPECT_EXIT(on_ranks(1,
                         [count](Context& context) {
                           const auto words = *context.new_symmetric_array<double>(100);
                           strip_write(context, words, count, Function());
                         }),
                ::testing::ExitedWithCode(2),
                "loop_test.cc:[0-9]+: loop with an empty std::function");
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Loop, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel{});
INSTANTIATE_TEST_SUITE_P(Fabrics, LoopOnNetworks,
                         ::testing::ValuesIn(bootstrap::networks_under_test()),
                         bootstrap::FabricLabel{});

}  // namespace
}  // namespace stripline
