// The memory that a put reads may be written again when its future says so, which what has been
// packed does long before the put is complete.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/vis.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

constexpr std::array<std::ptrdiff_t, 2> kStrides{8, 48};

class SourceCompletion : public bootstrap::RanksTest {};

// Rows of three numbers each, with as many between them.
future put_rows(Context& context, const std::vector<uint64_t>& values, global_ptr<uint64_t> there,
                size_t rows, bool as_list, VisMethod method) {
  if (!as_list) {
    return rput_strided<2>(context, values.data(), kStrides, there, kStrides, {3, rows},
                           {.method = method});
  }
  std::vector<const uint64_t*> from;
  std::vector<global_ptr<uint64_t>> to;
  for (size_t row = 0; row < rows; ++row) {
    from.push_back(values.data() + 6 * row);
    to.push_back(there + static_cast<std::ptrdiff_t>(6 * row));
  }
  return rput_regular(context, from.begin(), from.end(), 3, to.begin(), to.end(), 3,
                      {.method = method});
}

TEST_P(SourceCompletion, WhatArrivesIsWhatWasThereBefore) {
  constexpr size_t kMostRows = 8000;  // several chunks
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(6 * kMostRows));
    std::vector<uint64_t> values(6 * kMostRows);
    uint64_t round = 0;
    for (const VisMethod method : {VisMethod::packed, VisMethod::pipelined, VisMethod::best}) {
      for (const bool as_list : {false, true}) {
        for (const size_t rows : {size_t{10}, kMostRows}) {
          ++round;
          context.barrier();
          if (context.rank_me() == 0) {
            for (size_t i = 0; i < values.size(); ++i) values[i] = round << 32 | i;
            const future put =
                put_rows(context, values, context.on_rank(mine, 1), rows, as_list, method);
            put.wait_source();
            values.assign(values.size(), 0);
            put.wait_source();
            put.wait();
            put.wait_source();
          }
          context.barrier();
          if (context.rank_me() == 0) continue;
          for (size_t i = 0; i < 6 * rows; ++i) {
            if (i % 6 >= 3) continue;
            ASSERT_EQ(context.local(mine)[i], round << 32 | i) << "round " << round;
          }
        }
      }
    }
  });
}

// The target does nothing until the source has been given back. No one passes the turn on the
// virtual clock who waits outside of calls.
TEST_P(SourceCompletion, WhatIsPackedWaitsForNobody) {
  std::atomic<bool> free = false;
  on_ranks(2, [&](Context& context) {
    if (GetParam().clock == "virtual") return;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(60));
    ASSERT_OK_AND_ASSIGN(const auto flag, context.new_symmetric_array<uint64_t>(1));
    const auto there = context.on_rank(mine, 1);
    std::vector<uint64_t> values(60, 7);
    context.barrier();
    if (context.rank_me() == 1) {
      free.wait(false);
      context.wait_signal(flag, 1);
      EXPECT_EQ(context.local(mine)[54], 7U);
    } else {
      const future put =
          rput_strided_signal<2>(context, values.data(), kStrides, there, kStrides, {3, 10},
                                 context.on_rank(flag, 1), 1, {.method = VisMethod::packed});
      put.wait_source();
      values.assign(values.size(), 0);
      free = true;
      free.notify_all();
      put.wait();
    }
    context.barrier();
  });
}

// Operations whose memory stays in use, and no operation.
TEST_P(SourceCompletion, OtherOperationsAreComplete) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(5));
    const rank_t peer = 1 - context.rank_me();
    const auto there = context.on_rank(mine, peer);
    context.local(mine)[1] = 5 + context.rank_me();
    context.barrier();
    uint64_t value = 1;
    const future put = context.rput(&value, there, 1);
    put.wait_source();
    value = 2;
    uint64_t got = 0;
    context.rget(there + 1, &got, 1).wait_source();
    EXPECT_EQ(got, 5U + peer);
    uint64_t buffered = 3;
    const future copied = context.rput_buffered(&buffered, there + 2, 1);
    copied.wait_source();
    buffered = 4;
    uint64_t signalled = 5;
    const future raised = context.rput_signal(&signalled, there + 3, 1, there + 4, 6);
    raised.wait_source();
    signalled = 7;
    future().wait_source();
    context.barrier();
    EXPECT_EQ(context.local(mine)[0], 1U);
    EXPECT_EQ(context.local(mine)[2], 3U);
    EXPECT_EQ(context.local(mine)[3], 5U);
    EXPECT_EQ(context.local(mine)[4], 6U);
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, SourceCompletion,
                         ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
