// Operations without handles, fences, combined puts, and waiting for several futures.
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/vis.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

class Implicit : public bootstrap::RanksTest {};

// What a rank writes into one place in one epoch.
std::byte value_at(size_t place, rank_t writer, int epoch) {
  return static_cast<std::byte>(
      (place * 31 + size_t{writer} * 7 + static_cast<size_t>(epoch) * 13 + 1) & 0xff);
}

class ImplicitOnNetworks : public Implicit {};

// Gets of all sizes and orders; small ones travel together where the target has to serve them.
TEST_P(ImplicitOnNetworks, ManySmallGetsTravelTogether) {
  constexpr size_t kWords = 3000;
  on_ranks(3, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto there, context.new_symmetric_array<uint64_t>(kWords));
    for (size_t i = 0; i < kWords; ++i) {
      context.local(there)[i] = i * 10 + context.rank_me();
    }
    context.barrier();
    const fabric::Traffic before = context.state().job.fabric().traffic();
    std::vector<uint64_t> in(kWords);
    const auto owner = [&](size_t i) { return static_cast<rank_t>(i * 7 % 3); };
    const auto place = [](size_t i) { return i * 17 % kWords; };
    for (const bool all : {true, false}) {
      std::fill(in.begin(), in.end(), 0);
      for (size_t i = 0; i < kWords; ++i) {
        context.rget_nbi(context.on_rank(there, owner(i)) + static_cast<std::ptrdiff_t>(place(i)),
                         &in[i], 1);
      }
      if (all) {
        context.fence();
      } else {
        for (rank_t rank = 0; rank < 3; ++rank) context.fence(rank);
      }
      for (size_t i = 0; i < kWords; ++i) ASSERT_EQ(in[i], place(i) * 10 + owner(i)) << i;
    }
    const fabric::Traffic after = context.state().job.fabric().traffic();
    if (context.state().job.fabric().needs_target((context.rank_me() + 1) % 3, false)) {
      EXPECT_LT(after.gets - before.gets, kWords / 10);
    }
    context.barrier();
  });
}

// Every rank owns a part of every segment and writes it in pieces of random sizes, small and large,
// to all ranks at once; after the fence a get sees all of it, after the barrier the owner does.
TEST_P(Implicit, EverythingIsVisibleAfterAFence) {
  constexpr rank_t kRanks = 3;
  constexpr size_t kPart = 20000;
  on_ranks(kRanks, [](Context& context) {
    const rank_t me = context.rank_me();
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<std::byte>(kRanks * kPart));
    std::mt19937_64 random(7 + me);
    std::vector<std::byte> out(kPart);
    for (int epoch = 0; epoch < 4; ++epoch) {
      for (size_t i = 0; i < kPart; ++i) out[i] = value_at(i, me, epoch);
      std::array<size_t, kRanks> done{};
      while (done != std::array<size_t, kRanks>{kPart, kPart, kPart}) {
        const auto target = static_cast<rank_t>(random() % kRanks);
        size_t& from = done[target];
        const size_t largest = random() % 20 == 0 ? 3000 : 40;
        const size_t bytes = std::min(kPart - from, random() % largest);
        context.rput_nbi(
            out.data() + from,
            context.on_rank(mine, target) + static_cast<std::ptrdiff_t>(me * kPart + from), bytes);
        from += bytes;
      }
      const rank_t first = (me + 1) % kRanks;
      context.fence(first);
      std::vector<std::byte> in(kPart);
      const auto part = static_cast<std::ptrdiff_t>(me * kPart);
      context.rget_nbi(context.on_rank(mine, first) + part, in.data(), kPart);
      context.fence();
      ASSERT_EQ(in, out);
      context.rget(context.on_rank(mine, (me + 2) % kRanks) + part, in.data(), kPart).wait();
      ASSERT_EQ(in, out);
      context.barrier();
      const std::byte* local = context.local(mine);
      for (rank_t writer = 0; writer < kRanks; ++writer) {
        for (size_t i = 0; i < kPart; ++i) {
          ASSERT_EQ(local[writer * kPart + i], value_at(i, writer, epoch)) << writer << " " << i;
        }
      }
      context.barrier();
    }
  });
}

// Puts and gets that two count, by turns to one rank: each fence completes its own.
TEST_P(ImplicitOnNetworks, AreCompletedByTheFenceOfWhatCountsThem) {
  constexpr size_t kWords = 4000;
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(kWords));
    const rank_t peer = 1 - context.rank_me();
    detail::ContextState& state = context.state();
    ASSERT_EQ(state.memory.reachable(peer), nullptr);
    std::array<rma::ImplicitOperations, 2> counted = {rma::ImplicitOperations(2),
                                                      rma::ImplicitOperations(2)};
    const auto place = [&](size_t i) { return mine.offset() + i * sizeof(uint64_t); };
    std::vector<uint64_t> sent(kWords);
    std::vector<uint64_t> seen(kWords);
    for (uint64_t round = 1; round < 4; ++round) {
      const auto inside = state.exclusive();
      for (size_t i = 0; i < kWords; ++i) {
        sent[i] = round * kWords + i;
        state.operations.start_put_implicit(peer, place(i),
                                            reinterpret_cast<const std::byte*>(&sent[i]),
                                            sizeof sent[i], counted[i % 2]);
      }
      for (const size_t which : {size_t{0}, size_t{1}}) {
        state.operations.fence(counted[which]);
        for (size_t i = which; i < kWords; i += 2) {
          state.operations.start_get_implicit(reinterpret_cast<std::byte*>(&seen[i]), peer,
                                              place(i), sizeof seen[i], counted[i % 3 % 2]);
        }
        for (rma::ImplicitOperations& one : counted) state.operations.fence(one);
        for (size_t i = which; i < kWords; i += 2) ASSERT_EQ(seen[i], sent[i]) << i;
      }
      EXPECT_EQ(state.operations.combiner().unanswered(peer), 0U);
      EXPECT_TRUE(state.operations.try_fence(counted[0]));
    }
    context.barrier();
  });
}

// Puts to two ranks, of which one is waited for; a fence of all completes the other, too.
TEST_P(ImplicitOnNetworks, AreCompletedForOneRank) {
  constexpr size_t kWords = 500;
  on_ranks(3, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(3 * kWords));
    detail::ContextState& state = context.state();
    rma::ImplicitOperations counted(3);
    rma::ImplicitOperations read(3);
    const auto place = [&](size_t i) {
      return mine.offset() + (context.rank_me() * kWords + i) * sizeof(uint64_t);
    };
    const std::array<rank_t, 2> peers = {(context.rank_me() + 1) % 3, (context.rank_me() + 2) % 3};
    std::vector<uint64_t> sent(kWords);
    for (uint64_t round = 1; round < 4; ++round) {
      const auto inside = state.exclusive();
      for (size_t i = 0; i < kWords; ++i) {
        sent[i] = round * kWords + i;
        for (const rank_t peer : peers) {
          state.operations.start_put_implicit(peer, place(i),
                                              reinterpret_cast<const std::byte*>(&sent[i]),
                                              sizeof sent[i], counted);
        }
      }
      const auto expect_sent = [&](rank_t peer) {
        std::vector<uint64_t> seen(kWords);
        state.operations.start_get_implicit(reinterpret_cast<std::byte*>(seen.data()), peer,
                                            place(0), kWords * sizeof(uint64_t), read);
        state.operations.fence(read, peer);
        EXPECT_EQ(seen, sent);
      };
      state.operations.fence(counted, peers[round % 2]);
      expect_sent(peers[round % 2]);
      state.operations.fence(counted);
      EXPECT_TRUE(state.operations.try_fence(counted));
      for (const rank_t peer : peers) expect_sent(peer);
    }
    context.barrier();
  });
}

// Puts that another one counts go on all the time, and one message of them at least is always in
// flight when a fence looks.
TEST_P(ImplicitOnNetworks, FencesEndThoughOthersGoOn) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(2));
    detail::ContextState& state = context.state();
    if (context.rank_me() == 0) {
      rma::ImplicitOperations counted(2);
      rma::ImplicitOperations others(2);
      const uint64_t value = 7;
      const auto put = [&](uint64_t offset, rma::ImplicitOperations& by) {
        state.operations.start_put_implicit(1, offset, reinterpret_cast<const std::byte*>(&value),
                                            sizeof value, by);
        state.operations.combiner().flush(1);
      };
      const auto inside = state.exclusive();
      put(mine.offset(), counted);
      while (true) {
        put(mine.offset() + sizeof value, others);
        if (state.operations.try_fence(counted)) break;
        state.operations.make_progress();
      }
      state.operations.fence(others);
    }
    context.barrier();
    if (context.rank_me() == 1) {
      EXPECT_EQ(context.local(mine)[0], 7U);
      EXPECT_EQ(context.local(mine)[1], 7U);
    }
    context.barrier();
  });
}

TEST_P(Implicit, BarriersFence) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(1000));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    std::vector<uint64_t> values(1000);
    for (uint64_t i = 0; i < 1000; i += 2) {
      values[i] = 100 * i + context.rank_me();
      context.rput_nbi(&values[i], there + static_cast<std::ptrdiff_t>(i), 1);
    }
    context.barrier();
    for (uint64_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(context.local(mine)[i], i % 2 == 0 ? 100 * i + 1 - context.rank_me() : 0) << i;
    }
    context.barrier();
  });
}

TEST_P(ImplicitOnNetworks, SmallPutsTravelTogether) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kPuts = 5000;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(3 * kPuts));
    const rma::PutCombiner& combiner = context.state().operations.combiner();
    const auto before = context.state().job.fabric().traffic();
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    std::vector<uint64_t> values(kPuts);
    std::iota(values.begin(), values.end(), 0);
    uint64_t bytes = 0;
    for (const std::ptrdiff_t step : {std::ptrdiff_t{3}, std::ptrdiff_t{1}}) {
      const uint64_t messages = combiner.statistics().messages;
      const auto traveled = [&context] {
        const fabric::Traffic traffic = context.state().job.fabric().traffic();
        return traffic.message_bytes + traffic.put_bytes;
      };
      const uint64_t bytes_before = traveled();
      for (size_t i = 0; i < kPuts; ++i) {
        context.rput_nbi(&values[i], there + static_cast<std::ptrdiff_t>(i) * step, 1);
      }
      context.fence();
      // At worst, messages that were sent for their age are half empty.
      EXPECT_LT(combiner.statistics().messages - messages, kPuts / 20);
      const uint64_t sent = traveled() - bytes_before;
      // Only the data of puts in a row travel; the peer's answers and barriers come on top.
      if (step == 1) {
        EXPECT_LT(sent, bytes * 3 / 4);
      }
      bytes = sent;
    }
    EXPECT_EQ(combiner.statistics().puts, 2 * kPuts);
    EXPECT_EQ(context.state().job.fabric().traffic().puts - before.puts,
              combiner.statistics().landed);
    context.barrier();
    for (size_t i = 0; i < kPuts; ++i) ASSERT_EQ(context.local(mine)[i], i);
    context.barrier();
  });
}

// Increments of one operand, sums of many, words of both sizes, and puts in between, forwards and
// backwards.
TEST_P(ImplicitOnNetworks, AtomicOperationsWithoutAResultTravelTogether) {
  const bootstrap::WithoutDebugMode conflicts;  // some puts are to cells of atomic operations
  using detail::AtomicOp;
  on_ranks(2, [](Context& context) {
    constexpr size_t kCells = 1000;
    constexpr uint64_t kRounds = 6;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(3 * kCells));
    const detail::AtomicDomain words(context, detail::AtomicType::uint64, AtomicPath::message);
    const detail::AtomicDomain halves(context, detail::AtomicType::uint32, AtomicPath::message);
    const rma::PutCombiner& combiner = context.state().operations.combiner();
    const rank_t peer = 1 - context.rank_me();
    const auto there = context.on_rank(mine, peer);
    const auto at = [&](size_t i, size_t part) {
      return global_ptr<std::byte>(peer, there.offset() + (part * kCells + i) * sizeof(uint64_t));
    };
    const CallSite site = CallSite::current();
    std::vector<uint64_t> values(kCells);
    std::iota(values.begin(), values.end(), 0);
    for (uint64_t round = 0; round < kRounds; ++round) {
      for (size_t step = 0; step < kCells; ++step) {
        const size_t i = round % 2 == 0 ? step : kCells - 1 - step;
        words.start_together(AtomicOp::add, at(i, 0), 1, site);
      }
      for (size_t i = 0; i < kCells; ++i) {
        words.start_together(AtomicOp::add, at(i, 1), i + round, site);
        if (i % 7 == 0) halves.start_together(AtomicOp::bit_or, at(i, 2), 1U << round, site);
        if (i % 10 == 0) {
          context.rput_nbi(&values[i], there + static_cast<std::ptrdiff_t>(2 * kCells + i + 1), 1);
        }
      }
    }
    context.fence();
    EXPECT_EQ(combiner.statistics().atomics, kRounds * (2 * kCells + (kCells + 6) / 7));
    EXPECT_LT(combiner.statistics().messages, kRounds * kCells / 20);
    context.barrier();
    const uint64_t* const here = context.local(mine);
    for (size_t i = 0; i < kCells; ++i) {
      ASSERT_EQ(here[i], kRounds) << i;
      ASSERT_EQ(here[kCells + i], kRounds * i + kRounds * (kRounds - 1) / 2) << i;
      const uint64_t bits = i % 7 == 0 ? (uint64_t{1} << kRounds) - 1 : 0;
      // A put may have come before the bits of another round, or behind them.
      if (i % 10 == 1) continue;
      ASSERT_EQ(here[2 * kCells + i], bits) << i;
    }
    context.barrier();
  });
}

// To more peers than there are large buffers for, all ranks at once, while strided transfers use
// the landing zones, too; some fences come when a large buffer has just been begun.
TEST_P(ImplicitOnNetworks, BurstsTravelAsParcels) {
  constexpr rank_t kRanks = 7;
  on_ranks(kRanks, [](Context& context) {
    constexpr size_t kPuts = 6000;
    constexpr std::array<size_t, 2> kExtents = {8, 1000};  // words, rows
    const rank_t me = context.rank_me();
    const rank_t right = (me + 1) % kRanks;
    const rank_t left = (me + kRanks - 1) % kRanks;
    const auto mine = context.new_symmetric_array<uint64_t>(kPuts * kRanks);
    const auto rows = context.new_symmetric_array<uint64_t>(2 * kExtents[0] * kExtents[1]);
    ASSERT_TRUE(mine.ok() && rows.ok());
    rma::PutCombiner::Rule patient;
    patient.max_delay_s = 1e9;
    context.state().operations.combiner().start(patient);
    std::vector<uint64_t> values(kPuts);
    std::vector<uint64_t> sent(kExtents[0] * kExtents[1]);
    const std::array<std::ptrdiff_t, 2> close = {8, 8 * kExtents[0]};
    const std::array<std::ptrdiff_t, 2> apart = {8, 16 * kExtents[0]};
    VisOptions options;
    options.method = VisMethod::packed;
    options.chunk_bytes = context.state().operations.vis().max_chunk_bytes();
    for (const size_t puts : {kPuts, size_t{511}, size_t{512}, size_t{4000}}) {
      for (size_t i = 0; i < sent.size(); ++i) sent[i] = puts * (me + 1) + i;
      const future moved = rput_strided<2>(context, sent.data(), close,
                                           context.on_rank(*rows, right), apart, kExtents, options);
      std::iota(values.begin(), values.end(), puts * (me + 1));
      // Each writer has one word of each group of kRanks.
      for (size_t i = 0; i < puts; ++i) {
        const auto place = static_cast<std::ptrdiff_t>(i * kRanks + me);
        for (rank_t step = 1; step < kRanks; ++step) {
          context.rput_nbi(&values[i], context.on_rank(*mine, (me + step) % kRanks) + place, 1);
        }
      }
      moved.wait();
      context.barrier();
      const std::span<const uint64_t> words(context.local(*mine), kPuts * kRanks);
      for (size_t i = 0; i < puts * kRanks; ++i) {
        const auto writer = static_cast<rank_t>(i % kRanks);
        ASSERT_EQ(words[i], writer == me ? 0 : puts * (writer + 1) + i / kRanks) << i;
      }
      const uint64_t* const received = context.local(*rows);
      for (size_t i = 0; i < sent.size(); ++i) {
        ASSERT_EQ(received[i / kExtents[0] * 2 * kExtents[0] + i % kExtents[0]],
                  puts * (left + 1) + i);
      }
      context.barrier();
    }
    EXPECT_EQ(context.state().operations.combiner().statistics().landed > 0,
              context.state().operations.bulk().notifies());
    context.barrier();
  });
}

TEST_P(ImplicitOnNetworks, LargePutsTravelAlone) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<std::byte>(4096));
    const auto before = context.state().job.fabric().traffic();
    const std::vector<std::byte> out(4096, std::byte{5});
    context.rput_nbi(out.data(), context.on_rank(mine, 1 - context.rank_me()), 4096);
    context.fence();
    EXPECT_EQ(context.state().job.fabric().traffic().put_bytes - before.put_bytes, 4096U);
    EXPECT_EQ(context.state().operations.combiner().statistics().puts, 0U);
    context.barrier();
    EXPECT_EQ(context.local(mine)[4095], std::byte{5});
    context.barrier();
  });
}

TEST_P(ImplicitOnNetworks, AFenceOfOneRankSendsNothingToOthers) {
  on_ranks(3, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(3));
    const rank_t me = context.rank_me();
    rma::PutCombiner::Rule patient;
    patient.max_delay_s = 1e9;
    context.state().operations.combiner().start(patient);
    const uint64_t value = me + 1;
    for (const rank_t target : {(me + 1) % 3, (me + 2) % 3}) {
      context.rput_nbi(&value, context.on_rank(mine, target) + me, 1);
    }
    context.fence((me + 1) % 3);
    EXPECT_EQ(context.state().operations.combiner().statistics().messages, 1U);
    context.fence();
    EXPECT_EQ(context.state().operations.combiner().statistics().messages, 2U);
    context.barrier();
    for (rank_t writer = 0; writer < 3; ++writer) {
      EXPECT_EQ(context.local(mine)[writer], writer == me ? 0 : writer + 1);
    }
    context.barrier();
  });
}

// No one fences; the writer only makes progress now and then.
TEST_P(ImplicitOnNetworks, OldPutsLeaveByThemselves) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(1));
    const uint64_t value = 17;
    context.rput_nbi(&value, context.on_rank(mine, 1 - context.rank_me()), 1);
    const volatile uint64_t* flag = context.local(mine);
    const double begin_s = context.now_s();
    while (*flag != 17) {
      ASSERT_LT(context.now_s() - begin_s, 60);
      context.compute_for(10e-6);
      context.progress();
    }
    context.barrier();
  });
}

TEST_P(ImplicitOnNetworks, AFullPoolSendsTheOldest) {
  on_ranks(4, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(400));
    rma::PutCombiner::Rule small;
    small.message_bytes = 256;
    small.budget_bytes = 512;  // two buffers for three peers
    small.max_delay_s = 1e9;
    context.state().operations.combiner().start(small);
    EXPECT_EQ(context.state().operations.combiner().budget_bytes(), 512U);
    const rank_t me = context.rank_me();
    const auto place = [](uint64_t writer, uint64_t i) { return writer * 100 + i; };
    const auto value_of = [](uint64_t writer, uint64_t i) { return writer * 1000 + i; };
    std::vector<uint64_t> values(100);
    std::iota(values.begin(), values.end(), value_of(me, 0));
    for (uint64_t i = 0; i < 100; ++i) {
      for (rank_t step = 1; step < 4; ++step) {
        const auto there = context.on_rank(mine, (me + step) % 4);
        context.rput_nbi(&values[i], there + static_cast<std::ptrdiff_t>(place(me, i)), 1);
      }
    }
    EXPECT_GT(context.state().operations.combiner().statistics().crowded, 100U);
    context.barrier();
    for (rank_t writer = 0; writer < 4; ++writer) {
      for (uint64_t i = 0; i < 100; ++i) {
        ASSERT_EQ(context.local(mine)[place(writer, i)], writer == me ? 0 : value_of(writer, i));
      }
    }
    context.barrier();
  });
}

TEST_P(ImplicitOnNetworks, TravelAsTheyAreTunedTo) {
  const bootstrap::WithoutDebugMode conflicts;  // all go to one place
  constexpr size_t kBytes = 200;
  for (const bool together : {false, true}) {
    bootstrap::ThreadGroupOptions group = group_on(GetParam(), 2);
    group.context.tuning = together ? "put_combining.max_put_bytes=256,buffered_put.max_bytes=0"
                                    : "put_combining.max_put_bytes=0,buffered_put.max_bytes=4K";
    bootstrap::on_ranks(group, [together](Context& context) {
      ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<std::byte>(4096));
      const detail::ContextState& state = context.state();
      const std::vector<std::byte> source(4096, std::byte{7});
      const auto there = context.on_rank(mine, 1 - context.rank_me());
      const uint64_t puts = state.job.fabric().traffic().puts;
      for (int i = 0; i < 10; ++i) context.rput_nbi(source.data(), there, kBytes);
      context.fence();
      EXPECT_EQ(state.operations.combiner().statistics().puts, together ? 10U : 0U);
      EXPECT_EQ(state.job.fabric().traffic().puts - puts, together ? 0U : 10U);
      const future buffered = context.rput_buffered(source.data(), there, source.size());
      EXPECT_EQ(state.operations.bounces().empty(), together);  // it has been waited for, or copied
      buffered.wait();
      context.barrier();
      EXPECT_EQ(context.local(mine)[4095], std::byte{7});
      context.barrier();
    });
  }
}

// The source changes at once; more is in flight than there is room for copies.
TEST_P(Implicit, BufferedPutsSendWhatWasThere) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kPuts = 300;
    const std::vector<size_t> sizes = {1,      8, 500, 20000, rma::Tuning{}.single.copied_put_bytes,
                                       100000, 0};
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<std::byte>(3000000));
    for (const rank_t target : {1 - context.rank_me(), context.rank_me()}) {
      std::vector<std::byte> source(100000);
      std::vector<future> futures;
      size_t at = 0;
      for (size_t i = 0; i < kPuts; ++i) {
        const size_t bytes = sizes[i % sizes.size()] / (i % 3 + 1);
        std::fill_n(source.begin(), bytes, static_cast<std::byte>(i + target));
        if (at + bytes > 3000000) break;
        futures.push_back(context.rput_buffered(
            source.data(), context.on_rank(mine, target) + static_cast<std::ptrdiff_t>(at), bytes));
        at += bytes;
      }
      EXPECT_GT(at, 2 * rma::Tuning{}.buffered_budget_bytes);
      if (target == 0) wait_all(futures);  // or dropped: complete at the barrier
      context.barrier();
      at = 0;
      for (size_t i = 0; i < futures.size(); ++i) {
        const rank_t written_to = context.rank_me();
        const size_t bytes = sizes[i % sizes.size()] / (i % 3 + 1);
        for (size_t k = 0; k < bytes; ++k) {
          ASSERT_EQ(context.local(mine)[at + k], static_cast<std::byte>(i + written_to)) << i;
        }
        at += bytes;
      }
      context.barrier();
    }
  });
}

TEST_P(Implicit, WaitingForSeveralFutures) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(64));
    for (uint64_t i = 0; i < 64; ++i) context.local(mine)[i] = i * i;
    context.barrier();
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    std::vector<uint64_t> values(64);
    std::vector<future> futures;
    for (uint64_t i = 0; i < 64; ++i) {
      futures.push_back(context.rget(there + static_cast<std::ptrdiff_t>(i), &values[i], 1));
    }
    std::vector<future> left(futures.begin(), futures.begin() + 32);
    std::vector<size_t> index(32);
    for (size_t i = 0; i < index.size(); ++i) index[i] = i;
    while (!left.empty()) {
      const size_t ready = wait_any(left);
      ASSERT_LT(ready, left.size());
      ASSERT_EQ(values[index[ready]], index[ready] * index[ready]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(ready));
      index.erase(index.begin() + static_cast<std::ptrdiff_t>(ready));
    }
    wait_all(futures);
    for (uint64_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], i * i);
    EXPECT_EQ(context.state().operations.slots().in_use(), 0U);
    EXPECT_EQ(wait_any({}), 0U);
    EXPECT_EQ(wait_any(futures), 0U);
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Implicit, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());
INSTANTIATE_TEST_SUITE_P(Fabrics, ImplicitOnNetworks,
                         ::testing::ValuesIn(bootstrap::networks_under_test()),
                         bootstrap::FabricLabel());

class ImplicitDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(ImplicitDeathTest, PutsAreChecked) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const double value = 0;
                         context.rput_nbi(&value, global_ptr<double>(1, (8U << 20) - 4), 1);
                       }),
              ::testing::ExitedWithCode(2),
              "rput_nbi of 8 bytes at offset 8388604 of rank 1 is out");
}

TEST_F(ImplicitDeathTest, AccessToARankThatDoesNotExist) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         double value = 0;
                         context.rget_nbi(global_ptr<double>(1000000, 0), &value, 1);
                       }),
              ::testing::ExitedWithCode(2), "of rank 1000000 is out of bounds");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const std::vector<double> values(1000);
                         context.rput_nbi(values.data(), global_ptr<double>(1000000, 0),
                                          values.size());
                       }),
              ::testing::ExitedWithCode(2), "of rank 1000000 is out of bounds");
}

TEST_F(ImplicitDeathTest, FenceOfARankThatDoesNotExist) {
  EXPECT_EXIT(on_ranks(2, [](Context& context) { context.fence(2); }), ::testing::ExitedWithCode(2),
              "fence names rank 2, but the job has ranks 0 to 1");
}

// What no sender of ours makes.
TEST_F(ImplicitDeathTest, CombinedPutsAreCheckedAtTheTarget) {
  const auto send = [](uint64_t word) {
    on_ranks(2, [word](Context& context) {
      if (context.rank_me() == 0) {
        am::ActiveMessages& messages = context.state().operations.messages();
        messages.send(1, messages.id("combined puts"), std::as_bytes(std::span(&word, 1)), {});
      }
      context.barrier();
    });
  };
  EXPECT_EXIT(send(8), ::testing::ExitedWithCode(3), "rank 0 sent combined puts");
  EXPECT_EXIT(send(uint64_t{1} << 19), ::testing::ExitedWithCode(3),
              "not well formed .atomic operations of 0 bytes");
  EXPECT_EXIT(send(uint64_t{9U << 20} << 20), ::testing::ExitedWithCode(3),
              "rank 0 sent combined puts");
}

TEST_F(ImplicitDeathTest, CombinedPutsThatLandAreCheckedAtTheTarget) {
  const auto land = [](uint32_t bytes, uint64_t word, uint32_t slot) {
    const auto body = [=](Context& context) {
      detail::ContextState& state = context.state();
      if (context.rank_me() == 0) {
        fabric::Counter sent;
        const std::array<uint32_t, 2> lead{0, bytes};
        state.job.fabric().shortcuts()->put_notify(
            1, state.operations.bulk().offset_of(1, 0), std::as_bytes(std::span(lead)),
            std::as_bytes(std::span(&word, 1)),
            state.operations.messages().handlers().landed("combined puts")->tags.tag(slot), sent);
        context.wait_until([&sent] { return sent.pending == 0; });
      }
      context.barrier();
    };
    on_ranks(2, body, fabrics_under_test()[0]);  // tcp, which has such puts
  };
  EXPECT_EXIT(land(1 << 20, 0, 0), ::testing::ExitedWithCode(3), "rank 0 sent a parcel .bulk.");
  EXPECT_EXIT(land(8, 8, 0), ::testing::ExitedWithCode(3),
              "rank 0 sent combined puts that are not well formed .8 bytes at offset 0");
  EXPECT_EXIT(land(8, 8, 1000), ::testing::ExitedWithCode(3),
              "rank 0 says that a put has landed with tag");
}

}  // namespace
}  // namespace stripline
