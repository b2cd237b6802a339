// Puts of many regions with a signal: who sees the flag sees every byte, by every method.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/vis.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"
#include "runtime/vis/transfers.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::group_on;
using bootstrap::ThreadGroupOptions;

constexpr size_t kLane = 256 << 10;  // several chunks of the landing zone
constexpr size_t kLanes = 6;

/// One put into a lane, which the writer and the reader each derive from the same numbers.
class Put {
 public:
  Put(std::mt19937_64& random, std::byte first) : first_(first) {
    kind_ = random() % 4;
    options_.method = static_cast<VisMethod>(random() % 5);
    options_.window = std::array<uint32_t, 4>{0, 1, 3, 64}[random() % 4];
    options_.chunk_bytes = std::array<size_t, 4>{0, 100, 9000, 1 << 20}[random() % 4];
    row_bytes_ = 1 + random() % (random() % 4 == 0 ? 9000 : 60);
    const size_t room = kLane / 2 / row_bytes_;
    rows_ = random() % 16 == 0 ? 0 : 1 + random() % std::min<size_t>(room, 3000);
    there_gap_ = random() % 3 == 0 ? 0 : random() % row_bytes_;
    here_gap_ = random() % 3 == 0 ? 0 : random() % row_bytes_;
    backwards_ = random() % 2 == 0;
  }

  /// Starts a put of this rank to a lane.
  future start(Context& context, global_ptr<std::byte> there, global_ptr<uint64_t> flag,
               uint64_t value) {
    source_.assign(rows_ * (row_bytes_ + here_gap_), std::byte{0});
    for (size_t row = 0; row < rows_; ++row) {
      for (size_t i = 0; i < row_bytes_; ++i) source_[here(row) + i] = byte_of(row, i);
    }
    const auto signed_size = [](size_t size) { return static_cast<std::ptrdiff_t>(size); };
    if (kind_ >= 2) {
      const std::ptrdiff_t step = signed_size(row_bytes_ + here_gap_);
      const std::array<std::ptrdiff_t, 2> local{1, backwards_ ? -step : step};
      const std::array<std::ptrdiff_t, 2> remote{1, signed_size(row_bytes_ + there_gap_)};
      const std::array<size_t, 2> extents{row_bytes_, rows_};
      const std::byte* const first = source_.data() + (rows_ == 0 ? 0 : here(0));
      if (kind_ == 2) {
        return rput_strided_signal(context, first, local, there, remote, extents, flag, value,
                                   options_);
      }
      return rput_strided_signal<2>(context, first, local.data(), there, remote.data(),
                                    extents.data(), flag, value, options_);
    }
    std::vector<global_ptr<std::byte>> places;
    std::vector<const std::byte*> memory;
    for (size_t row = 0; row < rows_; ++row) {
      places.push_back(there + signed_size(row * (row_bytes_ + there_gap_)));
      memory.push_back(source_.data() + here(row));
    }
    if (kind_ == 1) {
      return rput_regular_signal(context, memory.begin(), memory.end(), row_bytes_, places.begin(),
                                 places.end(), row_bytes_, flag, value, options_);
    }
    std::vector<std::pair<global_ptr<std::byte>, size_t>> there_runs;
    std::vector<std::pair<const std::byte*, size_t>> here_runs;
    for (size_t row = 0; row < rows_; ++row) {
      there_runs.emplace_back(places[row], row_bytes_);
      here_runs.emplace_back(memory[row], row_bytes_);
    }
    return rput_irregular_signal(context, here_runs.begin(), here_runs.end(), there_runs.begin(),
                                 there_runs.end(), flag, value, options_);
  }

  /// What the lane holds afterwards.
  void expect_in(std::span<std::byte> lane) const {
    for (size_t row = 0; row < rows_; ++row) {
      for (size_t i = 0; i < row_bytes_; ++i) {
        lane[row * (row_bytes_ + there_gap_) + i] = byte_of(row, i);
      }
    }
  }

 private:
  size_t here(size_t row) const {
    return (backwards_ ? rows_ - 1 - row : row) * (row_bytes_ + here_gap_);
  }
  std::byte byte_of(size_t row, size_t i) const {
    return static_cast<std::byte>(static_cast<size_t>(first_) + row * 7 + i * 3);
  }

  std::byte first_;
  uint64_t kind_ = 0;
  VisOptions options_;
  size_t row_bytes_ = 0;
  size_t rows_ = 0;
  size_t there_gap_ = 0;
  size_t here_gap_ = 0;
  bool backwards_ = false;
  std::vector<std::byte> source_;
};

std::vector<Put> puts_of(rank_t writer, uint64_t round) {
  std::mt19937_64 random(uint64_t{writer} * 1000 + round);
  std::vector<Put> puts;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    puts.emplace_back(random, static_cast<std::byte>(random()));
  }
  return puts;
}

// Each rank puts to all lanes of another one, or of its own, and waits for nothing but the flags of
// the lanes that are put here, the last ones first.
void exchange(Context& context, uint64_t rounds) {
  const rank_t me = context.rank_me();
  const rank_t ranks = context.rank_n();
  const auto memory = context.new_symmetric_array<std::byte>(kLanes * kLane);
  const auto flags = context.new_symmetric_array<uint64_t>(kLanes);
  ASSERT_TRUE(memory.ok() && flags.ok());
  std::vector<std::byte> expected(kLanes * kLane);
  context.barrier();
  for (uint64_t round = 1; round <= rounds; ++round) {
    const rank_t step = static_cast<rank_t>(round % ranks);
    const rank_t target = (me + step) % ranks;
    std::vector<Put> mine = puts_of(me, round);
    std::vector<future> futures;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const auto at = static_cast<std::ptrdiff_t>(lane);
      futures.push_back(mine[lane].start(
          context, context.on_rank(*memory, target) + at * static_cast<std::ptrdiff_t>(kLane),
          context.on_rank(*flags, target) + at, round));
    }
    const std::vector<Put> arriving = puts_of((me + ranks - step) % ranks, round);
    for (size_t lane = kLanes; lane-- > 0;) {
      const std::span<std::byte> image = std::span(expected).subspan(lane * kLane, kLane);
      arriving[lane].expect_in(image);
      EXPECT_EQ(context.wait_signal(*flags + static_cast<std::ptrdiff_t>(lane), round), round);
      ASSERT_EQ(std::memcmp(context.local(*memory) + lane * kLane, image.data(), kLane), 0)
          << "round " << round << ", lane " << lane;
    }
    wait_all(futures);
    EXPECT_EQ(context.state().operations.slots().in_use(), 0U);
    context.barrier();
  }
}

class SignalledVis : public bootstrap::RanksTest {};
class SignalledVisOnNetworks : public SignalledVis {};

TEST_P(SignalledVis, WhoSeesTheFlagSeesEveryByte) {
  on_ranks(3, [](Context& context) { exchange(context, 6); });
}

TEST_P(SignalledVis, OneCreditAndSmallMessagesSuffice) {
  ThreadGroupOptions options = group_on(GetParam(), 2);
  options.am_config.request_credits = 1;
  options.am_config.reply_credits = 1;
  options.am_config.max_message_bytes = 300;
  on_ranks(options, [](Context& context) { exchange(context, 3); });
}

constexpr size_t kRows = 40;
constexpr std::array<std::ptrdiff_t, 1> kApart{16};
constexpr std::array<std::ptrdiff_t, 1> kClose{8};
constexpr std::array<size_t, 1> kExtents{kRows};

// Packed into one message, the flag takes no further one; otherwise it is one put.
TEST_P(SignalledVisOnNetworks, TheFlagTravelsWithPackedData) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(2 * kRows + 1));
    const auto there = context.on_rank(mine, 1);
    const std::vector<uint64_t> values(kRows, 7);
    detail::ContextState& state = context.state();
    context.barrier();
    uint64_t round = 0;
    for (const VisMethod method : {VisMethod::packed, VisMethod::pipelined}) {
      ++round;
      if (context.rank_me() == 0) {
        const uint64_t sent = state.operations.messages().statistics().sent;
        const uint64_t puts = state.job.fabric().traffic().puts;
        const future done =
            rput_strided_signal(context, values.data(), kClose, there, kApart, kExtents,
                                there + 2 * kRows, round, {.method = method});
        const bool packed = method == VisMethod::packed;
        // No put of the flag before those of the data are complete.
        EXPECT_EQ(state.job.fabric().traffic().puts - puts, packed ? 0U : kRows);
        done.wait();
        EXPECT_EQ(state.operations.messages().statistics().sent - sent, packed ? 1U : 0U);
        EXPECT_EQ(state.job.fabric().traffic().puts - puts, packed ? 0U : kRows + 1);
      } else {
        context.wait_signal(mine + 2 * kRows, round);
        EXPECT_EQ(context.local(mine)[2 * kRows - 2], 7U);
      }
      context.barrier();
    }
  });
}

// The program drops the future and the flag comes all the same, before the barrier is passed.
TEST_P(SignalledVis, ABarrierCompletesWhatWasDropped) {
  on_ranks(2, [](Context& context) {
    constexpr uint64_t kFlags = 5 * 2 * kRows;  // behind the rows of each put
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(kFlags + 5));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const std::vector<uint64_t> values(kRows, 7);
    for (uint64_t i = 0; i < 5; ++i) {
      rput_strided_signal(context, values.data(), kClose,
                          there + static_cast<std::ptrdiff_t>(2 * kRows * i), kApart, kExtents,
                          there + static_cast<std::ptrdiff_t>(kFlags + i), i + 1,
                          {.method = static_cast<VisMethod>(i)});
    }
    context.barrier();
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(context.local(mine)[kFlags + i], i + 1);
    context.barrier();
  });
}

// The last message of a put is served before the others.
TEST_P(SignalledVisOnNetworks, MessagesMayComeInAnyOrder) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(8));
    const uint64_t base = mine.offset();
    const auto send = [&](uint32_t token, uint64_t place, uint32_t messages) {
      const vis::wire::Head head{.token = token, .format = vis::wire::kList | vis::wire::kSignal};
      const vis::wire::Signal signal{
          .offset = base + 48 + uint64_t{token} * 8, .value = 9, .messages = messages};
      const std::array<uint64_t, 2> data{vis::wire::word_of(base + place * 8, 8), place + 1};
      std::vector<std::byte> message(sizeof head + sizeof signal);
      std::memcpy(message.data(), &head, sizeof head);
      std::memcpy(message.data() + sizeof head, &signal, sizeof signal);
      am::ActiveMessages& layer = context.state().operations.messages();
      layer.send(1, layer.id("noncontiguous put"), message, std::as_bytes(std::span(data)));
    };
    const std::array<std::array<uint64_t, 8>, 3> expected = {{
        {0, 0, 3, 0, 0, 6, 0, 0},
        {1, 0, 3, 0, 5, 6, 0, 9},
        {1, 2, 3, 0, 5, 6, 9, 9},
    }};
    for (size_t step = 0; step < expected.size(); ++step) {
      if (context.rank_me() == 0) {
        switch (step) {
          case 0:
            send(0, 2, 3);
            send(1, 5, 2);
            break;
          case 1:
            send(0, 0, 0);
            send(1, 4, 0);
            break;
          default:
            send(0, 1, 0);
        }
      } else {
        // Barriers do not wait for messages of the program.
        const std::array<uint64_t, 8>& now = expected[step];
        context.wait_until([&] { return std::equal(now.begin(), now.end(), context.local(mine)); },
                           10);
        EXPECT_TRUE(std::equal(now.begin(), now.end(), context.local(mine))) << step;
      }
      context.barrier();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, SignalledVis, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());
INSTANTIATE_TEST_SUITE_P(Fabrics, SignalledVisOnNetworks,
                         ::testing::ValuesIn(bootstrap::networks_under_test()),
                         bootstrap::FabricLabel());

class SignalledVisDeathTest : public bootstrap::RanksDeathTest {
 protected:
  static void put(global_ptr<uint64_t> flag) {
    on_ranks(2, [flag](Context& context) {
      const std::array<double, kRows> values{};
      rput_strided_signal(context, values.data(), kClose, global_ptr<double>(1, 64), kApart,
                          kExtents, flag, 1)
          .wait();
    });
  }
  static void put_list(rank_t target, global_ptr<uint64_t> flag) {
    on_ranks(2, [=](Context& context) {
      const std::array<double, 2> values{};
      const std::vector<const double*> here = {values.data() + 1, values.data()};
      const std::vector<global_ptr<double>> there(target == 1 ? 2 : 0, global_ptr<double>(1, 64));
      rput_regular_signal(context, here.begin(), here.begin() + (target == 1 ? 2 : 0), 1,
                          there.begin(), there.end(), 1, flag, 1)
          .wait();
    });
  }
  static void send(std::vector<uint64_t> words) {
    on_ranks(2, [&](Context& context) {
      if (context.rank_me() == 0) {
        am::ActiveMessages& messages = context.state().operations.messages();
        messages.send(1, messages.id("noncontiguous put"), std::as_bytes(std::span(words)), {});
      }
      context.barrier();
    });
  }
};

TEST_F(SignalledVisDeathTest, FlagsAreChecked) {
  EXPECT_EXIT(put(global_ptr<uint64_t>(0, 0)), ::testing::ExitedWithCode(2),
              "rput_strided_signal to rank 1 with a flag that is not on that rank");
  EXPECT_EXIT(put({}), ::testing::ExitedWithCode(2), "a flag that is not on that rank");
  EXPECT_EXIT(put(global_ptr<uint64_t>(1, 12)), ::testing::ExitedWithCode(2),
              "flag of rput_strided_signal of 8 bytes at offset 12 of rank 1, which is not a mult");
  EXPECT_EXIT(put(global_ptr<uint64_t>(1, 8U << 20)), ::testing::ExitedWithCode(2),
              "flag of rput_strided_signal of 8 bytes .* is out of bounds");
  EXPECT_EXIT(put_list(1, global_ptr<uint64_t>(0, 0)), ::testing::ExitedWithCode(2),
              "rput_regular_signal to rank 1 with a flag that is not on that rank");
  EXPECT_EXIT(put_list(0, {}), ::testing::ExitedWithCode(2), "a flag that is not on that rank");
  EXPECT_EXIT(put_list(0, global_ptr<uint64_t>(1, 4)), ::testing::ExitedWithCode(2),
              "flag of rput_regular_signal of 8 bytes at offset 4 of rank 1");
}

// What no sender of ours makes.
TEST_F(SignalledVisDeathTest, MessagesAreCheckedOnArrival) {
  constexpr uint64_t kHead = uint64_t{vis::wire::kList | vis::wire::kSignal} << 32;
  constexpr uint64_t kEnd = 8 << 20;
  EXPECT_EXIT(send({kHead, 0, 1}), ::testing::ExitedWithCode(3),
              "rank 0 sent a put with a signal that is not well formed");
  EXPECT_EXIT(send({kHead, 4, 1, 1}), ::testing::ExitedWithCode(3), "a put with a signal");
  EXPECT_EXIT(send({kHead, kEnd, 1, 1}), ::testing::ExitedWithCode(3), "a put with a signal");
}

}  // namespace
}  // namespace stripline
