// Peers are served while the program computes. Programs here compute until they see what only a
// thread beside them can have done; without one they never would.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/loop.h>
#include <stripline/progress.h>
#include <stripline/vis.h>

#include "base/exit_codes.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::FabricUnderTest;
using bootstrap::group_on;
using bootstrap::run_ranks;
using namespace std::chrono_literals;

/// Computes, that is, calls nothing, until the condition holds; false after a time in which it
/// should have held.
bool compute_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(200us);  // the CPUs are few
  }
  return true;
}

class ProgressThread : public ::testing::TestWithParam<FabricUnderTest> {
 protected:
  void on_ranks(rank_t ranks, const std::function<void(Context&)>& body) {
    bootstrap::on_ranks(group_on(GetParam(), ranks), body);
  }
};

TEST_P(ProgressThread, ServesMessagesWhileTheProgramComputes) {
  on_ranks(2, [](Context& context) {
    std::atomic<int> served{0};
    int answered = 0;
    const uint32_t answer =
        context.register_am([&](rank_t, std::span<const std::byte>) { ++answered; });
    const uint32_t ask = context.register_am([&](rank_t source, std::span<const std::byte>) {
      context.am_send(source, answer, {});
      ++served;
    });
    context.barrier();
    constexpr int kRequests = 200;  // more than there are credits
    if (context.rank_me() == 0) {
      for (int i = 0; i < kRequests; ++i) {
        context.am_send(1, ask, {});
        if (i % 3 == 0) context.wait_until([&] { return answered > i; });
      }
      context.wait_until([&] { return answered == kRequests; });
    } else {
      EXPECT_TRUE(compute_until([&] { return served == kRequests; }));
      const auto inside = context.state().exclusive();
      EXPECT_GT(context.state().progress_thread()->statistics().served, 0U);
    }
    context.barrier();
  });
}

TEST_P(ProgressThread, ServesOneSidedAndPackedOperationsWhileTheProgramComputes) {
  on_ranks(2, [](Context& context) {
    const atomic_domain<uint64_t> by_message(context, AtomicPath::message);
    const auto words = *context.new_symmetric_array<uint64_t>(2048);
    std::memset(context.local(words), 0, 2048 * sizeof(uint64_t));
    context.barrier();
    const auto there = context.on_rank(words, 1);
    if (context.rank_me() == 0) {
      context.rput(uint64_t{5}, there + 1);
      EXPECT_EQ(context.rget(there + 1), 5U);
      EXPECT_EQ(by_message.fetch_add(there + 2, uint64_t{3}), 0U);
      const std::vector<uint64_t> column(64, 7);
      VisOptions options;
      options.method = VisMethod::packed;
      rput_strided(context, column.data(), std::array<std::ptrdiff_t, 1>{8}, there + 16,
                   std::array<std::ptrdiff_t, 1>{64}, std::array<size_t, 1>{64}, options)
          .wait();
      std::vector<uint64_t> values(100);
      for (uint64_t i = 0; i < 100; ++i) {
        values[i] = i;
        context.rput_nbi(&values[i], there + static_cast<std::ptrdiff_t>(1024 + i), 1);
      }
      context.fence();
      context.rput_signal(column.data(), there + 1200, 10, there, 1);
      context.barrier();
    } else {
      const std::atomic_ref<uint64_t> flag(*context.local(words));
      EXPECT_TRUE(compute_until([&] { return flag.load(std::memory_order_acquire) == 1; }));
      const uint64_t* const mine = context.local(words);
      EXPECT_EQ(mine[2], 3U);
      for (int row = 0; row < 64; ++row) EXPECT_EQ(mine[16 + 8 * row], 7U);
      for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(mine[1024 + i], i);
      EXPECT_EQ(mine[1209], 7U);
      context.barrier();
    }
  });
}

// What is too large for an active message.
TEST_P(ProgressThread, ServesWhatLandsWhileTheProgramComputes) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kRows = 8000;
    constexpr size_t kPuts = 20000;
    const auto words = *context.new_symmetric_array<uint64_t>(2 * kRows + 2 * kPuts + 1);
    uint64_t* const mine = context.local(words);
    std::memset(mine, 0, (2 * kRows + 2 * kPuts + 1) * sizeof(uint64_t));
    context.barrier();
    const auto there = context.on_rank(words, 1);
    constexpr auto kFlag = static_cast<std::ptrdiff_t>(2 * kRows + 2 * kPuts);
    if (context.rank_me() == 0) {
      std::vector<uint64_t> column(kRows);
      for (size_t i = 0; i < kRows; ++i) column[i] = i + 1;
      std::vector<uint64_t> back(kRows);
      VisOptions options;
      options.method = VisMethod::packed;
      options.chunk_bytes = context.state().operations.vis().max_chunk_bytes();
      const std::array<std::ptrdiff_t, 1> close{8};
      const std::array<std::ptrdiff_t, 1> apart{16};
      const std::array<size_t, 1> extents{kRows};
      rput_strided(context, column.data(), close, there, apart, extents, options).wait();
      rget_strided(context, there, apart, back.data(), close, extents, options).wait();
      EXPECT_EQ(back, column);
      std::vector<uint64_t> values(kPuts);
      for (size_t i = 0; i < kPuts; ++i) {
        values[i] = i;
        context.rput_nbi(&values[i], there + static_cast<std::ptrdiff_t>(2 * (kRows + i)), 1);
      }
      context.fence();
      context.rput_signal(column.data(), there, 1, there + kFlag, 1);
      context.barrier();
    } else {
      const std::atomic_ref<uint64_t> flag(mine[kFlag]);
      EXPECT_TRUE(compute_until([&] { return flag.load(std::memory_order_acquire) == 1; }));
      for (size_t i = 0; i < kRows; ++i) ASSERT_EQ(mine[2 * i], i + 1);
      for (uint64_t i = 0; i < kPuts; ++i) ASSERT_EQ(mine[2 * (kRows + i)], i);
      context.barrier();
    }
  });
}

// Both compute and call, in turns of all lengths, while each asks the other.
TEST_P(ProgressThread, TakesTurnsWithTheProgram) {
  on_ranks(2, [](Context& context) {
    uint64_t answered = 0;
    uint64_t sum = 0;
    const uint32_t answer =
        context.register_am([&](rank_t, std::span<const std::byte>) { ++answered; });
    const uint32_t ask = context.register_am([&](rank_t source, std::span<const std::byte> load) {
      uint64_t value = 0;
      std::memcpy(&value, load.data(), sizeof value);
      sum += value;
      context.am_send(source, answer, {});
    });
    const auto place = *context.new_symmetric_array<uint64_t>(64);
    context.barrier();
    const rank_t peer = 1 - context.rank_me();
    constexpr uint64_t kTurns = 60;
    for (uint64_t turn = 0; turn < kTurns; ++turn) {
      for (uint64_t i = 0; i < 4; ++i) {
        const uint64_t value = 4 * turn + i;
        context.am_send(peer, ask, std::as_bytes(std::span(&value, 1)));
        const auto word = context.on_rank(place, peer) + static_cast<std::ptrdiff_t>(i);
        context.rput(value, word);
        EXPECT_EQ(context.rget(word), value);
      }
      if (turn % 4 == context.rank_me()) std::this_thread::sleep_for(1ms * (turn % 7));
      if (turn % 8 == 0) {
        const handlers_paused paused(context);
        const uint64_t before = sum;
        std::this_thread::sleep_for(2ms);
        EXPECT_EQ(sum, before);
      }
    }
    EXPECT_TRUE(context.wait_until([&] { return answered == 4 * kTurns; }, 60));
    context.barrier();
    const handlers_paused paused(context);
    EXPECT_EQ(sum, 4 * kTurns * (4 * kTurns - 1) / 2);
  });
}

// The body of a loop computes; what the loop does around it is a call.
TEST_P(ProgressThread, ServesInsideOfLoopBodies) {
  on_ranks(2, [](Context& context) {
    std::atomic<bool> served{false};
    const uint32_t handler =
        context.register_am([&](rank_t, std::span<const std::byte>) { served = true; });
    const auto data = *context.new_symmetric_array<double>(1000);
    context.barrier();
    if (context.rank_me() == 0) {
      bool seen = false;
      strip_for(context, context.on_rank(data, 1), 1000, {}, [&](size_t, size_t, const double*) {
        if (seen) return;
        context.am_send(0, handler, {});
        seen = compute_until([&] { return served.load(); });
      });
      EXPECT_TRUE(seen);
    }
    context.barrier();
  });
}

TEST_P(ProgressThread, ComesAndGoesWithTheContext) {
  for (int turn = 0; turn < 5; ++turn) {
    on_ranks(3, [&](Context& context) {
      EXPECT_NE(context.state().progress_thread(), nullptr);
      if (turn % 2 == 0) std::this_thread::sleep_for(3ms);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics, ProgressThread,
    ::testing::Values(FabricUnderTest{"tcp", "tcp", "real", "network", "thread"},
                      FabricUnderTest{"mapped", "tcp", "real", "mapped", "thread"},
                      FabricUnderTest{"cma", "tcp", "real", "cma", "thread"},
                      FabricUnderTest{"shm", "shm", "real", "network", "thread"}),
    bootstrap::FabricLabel());

// The same program as above, by itself.
TEST(WithoutAProgressThread, NobodyIsServedWhileTheProgramComputes) {
  std::atomic<bool> computing{false};  // rank 1 is out of all calls; ranks are threads
  bootstrap::on_ranks(
      group_on({"tcp", "tcp", "real", "network", "manual"}, 2), [&](Context& context) {
        std::atomic<bool> served{false};
        const uint32_t handler =
            context.register_am([&](rank_t, std::span<const std::byte>) { served = true; });
        if (context.rank_me() == 0) {
          EXPECT_TRUE(compute_until([&] { return computing.load(); }));
          context.am_send(1, handler, {});
        } else {
          computing = true;
          std::this_thread::sleep_for(100ms);
          EXPECT_FALSE(served);
          context.wait_until([&] { return served.load(); });
        }
        EXPECT_EQ(context.state().progress_thread(), nullptr);
        context.barrier();
      });
}

class TunedProgress : public ProgressThread {};

// Peers ask rank 1 for something while it computes; rank 0 is always attentive.
TEST_P(TunedProgress, StartsAThreadWherePeersWait) {
  on_ranks(2, [](Context& context) {
    std::atomic<int> served{0};
    int answered = 0;
    const uint32_t answer =
        context.register_am([&](rank_t, std::span<const std::byte>) { ++answered; });
    const uint32_t ask = context.register_am([&](rank_t source, std::span<const std::byte>) {
      context.am_send(source, answer, {});
      ++served;
    });
    constexpr int kRounds = 50;
    EXPECT_EQ(context.state().progress_thread(), nullptr);
    context.barrier();
    if (context.rank_me() == 0) {
      for (int i = 0; i < kRounds; ++i) {
        context.am_send(1, ask, {});
        context.wait_until([&] { return answered > i; });
      }
      EXPECT_EQ(context.state().progress_thread(), nullptr);
      context.am_send(1, ask, {});
    } else {
      while (served < kRounds) {
        std::this_thread::sleep_for(5ms);
        context.progress();
      }
      EXPECT_NE(context.state().progress_thread(), nullptr);
      EXPECT_TRUE(compute_until([&] { return served > kRounds; }));
    }
    context.barrier();
  });
}

// What waits for a rank's own operations is no reason.
TEST_P(TunedProgress, StartsNoneForARankWhoseOwnOperationsWait) {
  on_ranks(2, [](Context& context) {
    const auto words = *context.new_symmetric_array<uint64_t>(2);
    context.barrier();
    if (context.rank_me() == 0) {
      for (uint64_t i = 0; i < 20; ++i) {
        future put = context.rput(&i, context.on_rank(words, 1), 1);
        std::this_thread::sleep_for(5ms);
        put.wait();
      }
    }
    context.barrier();
    EXPECT_EQ(context.state().progress_thread(), nullptr);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics, TunedProgress,
    ::testing::Values(FabricUnderTest{"tcp", "tcp", "real", "network", "tuned"},
                      FabricUnderTest{"mapped", "tcp", "real", "mapped", "tuned"},
                      FabricUnderTest{"shm", "shm", "real", "network", "tuned"}),
    bootstrap::FabricLabel());

// Gets need no handler: the provider alone knows of them.
TEST(TunedProgressOverTcp, CountsGetsThatWait) {
  const auto group = group_on({"", "tcp", "real", "network", "tuned"}, 2);
  bootstrap::on_ranks(group, [](Context& context) {
    const auto words = *context.new_symmetric_array<uint64_t>(2);
    uint64_t* const mine = context.local(words);
    mine[0] = mine[1] = 0;
    context.barrier();
    if (context.rank_me() == 0) {
      for (uint64_t i = 0; i < 50; ++i) context.rget(context.on_rank(words, 1));
      context.rput_signal(mine, context.on_rank(words, 1), 1, context.on_rank(words, 1) + 1, 1);
      EXPECT_EQ(context.state().progress_thread(), nullptr);
    } else {
      const std::atomic_ref<uint64_t> flag(mine[1]);
      while (flag.load(std::memory_order_acquire) == 0) {
        std::this_thread::sleep_for(5ms);
        context.progress();
      }
      EXPECT_NE(context.state().progress_thread(), nullptr);
    }
    context.barrier();
  });
}

TEST(TunedProgressOnEmulatedNetworks, StaysWithCalls) {
  bootstrap::on_ranks(group_on({"", "emulated:cloud-ethernet", "virtual", "network", "tuned"}, 2),
                      [](Context& context) {
                        context.barrier();
                        EXPECT_EQ(context.state().progress_thread(), nullptr);
                      });
}

TEST(ProgressChoice, IsRefusedWhereItCannotBe) {
  for (const std::string clock : {"virtual", "real"}) {
    for (const std::string progress : {"thread", "auto"}) {
      const Status ran =
          run_ranks(group_on({"", "emulated:cloud-ethernet", clock, "network", progress}, 1),
                    [](Context&) { ADD_FAILURE(); });
      ASSERT_FALSE(ran.ok());
      EXPECT_EQ(ran.error().code(), ErrorCode::invalid_argument);
      EXPECT_NE(ran.error().message().find("inside of calls only"), std::string::npos)
          << ran.error().message();
    }
  }
  const Status ran = run_ranks(group_on({"", "tcp", "real", "network", "sometimes"}, 1),
                               [](Context&) { ADD_FAILURE(); });
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(ran.error().message().find("STRIPLINE_PROGRESS='sometimes'"), std::string::npos);
}

/// Where two processes, one forked from the other, leave their addresses.
struct Board {
  struct Entry {
    std::atomic<uint32_t> bytes{0};
    char address[4092];
  };
  Entry entries[2];
};

class BoardBootstrap final : public bootstrap::Bootstrap {
 public:
  BoardBootstrap(Board& board, uint32_t rank)
      : board_(board),
        rank_(rank),
        job_id_("board-" + std::to_string(rank == 0 ? ::getpid() : ::getppid())) {}
  uint32_t rank() const override { return rank_; }
  uint32_t ranks() const override { return 2; }
  const std::string& job_id() const override { return job_id_; }
  Result<std::vector<std::string>> exchange(const std::string& address) override {
    Board::Entry& mine = board_.entries[rank_];
    if (address.size() > sizeof mine.address) std::abort();
    std::memcpy(mine.address, address.data(), address.size());
    mine.bytes = static_cast<uint32_t>(address.size());
    std::vector<std::string> all;
    for (Board::Entry& entry : board_.entries) {
      while (entry.bytes == 0) std::this_thread::sleep_for(1ms);
      all.emplace_back(entry.address, entry.bytes);
    }
    return all;
  }
  bool report_failure(const Error& /*error*/) override { return false; }
  void left() override {}
  JsonChannel* control() override { return nullptr; }

 private:
  Board& board_;
  uint32_t rank_;
  std::string job_id_;
};

/// Rank 0, which computes, and rank 1, which dies.
void lose_a_peer_while_computing(const std::string& same_node) {
  void* const memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const board = new (memory) Board();  // NOLINT(cppcoreguidelines-owning-memory)
  const uint32_t rank = ::fork() == 0 ? 1 : 0;
  auto options = group_on({"", "tcp", "real", same_node, "thread"}, 2).context;
  auto context =
      detail::ContextState::join(options, std::make_unique<BoardBootstrap>(*board, rank));
  if (!context.ok()) {
    std::fprintf(stderr, "%s\n", context.error().message().c_str());
    std::_Exit(99);
  }
  (*context)->barrier();
  if (rank == 1) {
    std::this_thread::sleep_for(20ms);
    ::raise(SIGKILL);
  }
  compute_until([] { return false; });
  std::_Exit(98);  // no one has noticed
}

TEST(ProgressThreadDeathTest, NoticesThatAPeerHasDiedWhileTheProgramComputes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* same_node : {"network", "mapped"}) {
    EXPECT_EXIT(lose_a_peer_while_computing(same_node), ::testing::ExitedWithCode(kExitRankDied),
                "rank 0 has lost rank 1 .*its process has ended.*"
                "during serving peers while the program computes")
        << same_node;
  }
}

}  // namespace
}  // namespace stripline
