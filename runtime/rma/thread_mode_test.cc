// The threads of a rank that may call.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>
#include <stripline/rpc.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bootstrap/testing/scoped_environment.h"

namespace stripline {
namespace {

using bootstrap::FabricUnderTest;
using bootstrap::group_on;

// The virtual clock counts the processor time of the rank's thread.
std::vector<FabricUnderTest> real_clocks() {
  auto fabrics = bootstrap::fabrics_under_test();
  std::erase_if(fabrics, [](const FabricUnderTest& one) { return one.clock == "virtual"; });
  for (FabricUnderTest one : {fabrics[0]}) {
    one.label += "_with_progress_thread";
    one.progress = "thread";
    fabrics.push_back(one);
  }
  return fabrics;
}

class ThreadMode : public bootstrap::RanksTest {};

TEST_P(ThreadMode, ThreadsTakeTurns) {
  auto options = group_on(GetParam(), 2);
  options.context.threads = thread_mode::serialized;
  on_ranks(options, [](Context& context) {
    constexpr uint64_t kEach = 50;
    const auto array = context.new_symmetric_array<uint64_t>(3 * kEach);
    ASSERT_TRUE(array.ok());
    context.barrier();
    const rank_t other = 1 - context.rank_me();
    std::mutex turn;
    std::vector<std::thread> threads;
    std::atomic<uint64_t> answers = 0;
    for (uint64_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (uint64_t i = 0; i < kEach; ++i) {
          const uint64_t value = t * kEach + i;
          const std::scoped_lock lock(turn);
          context
              .rput(&value, context.on_rank(*array, other) + static_cast<std::ptrdiff_t>(value), 1)
              .wait();
          answers += rpc(
                         context, other, [](uint64_t x) { return x; }, i)
                         .wait();
        }
      });
    }
    for (std::thread& one : threads) one.join();
    context.barrier();
    for (uint64_t i = 0; i < 3 * kEach; ++i) EXPECT_EQ(context.local(*array)[i], i);
    EXPECT_EQ(answers, 3 * kEach * (kEach - 1) / 2);
  });
}

TEST(JoinAs, SerializedByTheEnvironmentOtherwise) {
  const bootstrap::ScopedEnvironment alone(
      {{"STRIPLINE_FABRIC", "tcp"}, {"STRIPLINE_SEGMENT_BYTES", "1M"}});
  const auto context = Context::init(thread_mode::serialized);
  ASSERT_TRUE(context.ok()) << context.error().message();
  std::thread([&] { (*context)->progress(); }).join();
  (*context)->progress();
}

INSTANTIATE_TEST_SUITE_P(Fabrics, ThreadMode, ::testing::ValuesIn(real_clocks()),
                         bootstrap::FabricLabel());

class ThreadModeDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(ThreadModeDeathTest, AnotherThreadIsNamed) {
  const FabricUnderTest mapped{"mapped", "tcp", "real", "mapped"};
  for (const char* const progress : {"manual", "thread"}) {
    FabricUnderTest fabric = mapped;
    fabric.progress = progress;
    EXPECT_EXIT(
        on_ranks(
            1, [](Context& context) { std::thread([&] { context.progress(); }).join(); }, fabric),
        ::testing::ExitedWithCode(2),
        "thread [0-9]+ of this rank calls the Context, but another one has joined");
  }
}

TEST_F(ThreadModeDeathTest, TwoAtOnceAreNamed) {
  EXPECT_EXIT(
      {
        auto options = group_on({"mapped", "tcp", "real", "mapped"}, 1);
        options.context.threads = thread_mode::serialized;
        (void)bootstrap::run_ranks(options, [](Context& context) {
          std::atomic<bool> inside = false;
          std::thread second([&] {
            while (!inside) std::this_thread::yield();
            context.progress();
          });
          context.wait_until([&] {
            inside = true;
            return false;
          });
        });
      },
      ::testing::ExitedWithCode(2), "while another one is inside of a call");
}

}  // namespace
}  // namespace stripline
