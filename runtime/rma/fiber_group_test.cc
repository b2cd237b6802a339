#include "runtime/rma/fiber_group.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/rma/context_state.h"

namespace stripline::bootstrap {
namespace {

constexpr rank_t kRanks = 6;

Options options_on(const std::string& fabric) {
  Options options;
  options.fabric = fabric;
  options.clock = "virtual";
  options.same_node = "network";
  options.segment_bytes = size_t{1} << 20;
  return options;
}

// Communicates by every method, and notes when each thing was done.
std::vector<double> program(Context& context) {
  std::vector<double> times;
  const auto note = [&] { times.push_back(context.now_s()); };
  const rank_t next = (context.rank_me() + 1) % context.rank_n();
  const auto words = context.new_symmetric_array<uint64_t>(64).value();
  note();
  context.compute_for(1e-6 * (1 + context.rank_me()));
  context.rput(uint64_t{context.rank_me()}, context.on_rank(words, next));
  note();
  context.barrier();
  EXPECT_EQ(*context.local(words), (context.rank_me() + context.rank_n() - 1) % context.rank_n());
  std::vector<uint64_t> all(context.rank_n());
  for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
    all[rank] = context.rget(context.on_rank(words, rank));
    note();
  }
  EXPECT_EQ(context.reduce_all(all[0], Context::ReduceOp::sum),
            uint64_t{context.rank_n()} * (context.rank_n() - 1));
  const auto flag = words + 1;
  if (context.rank_me() == 0) {
    context.rput_signal<uint64_t>(nullptr, context.on_rank(flag, next), 0,
                                  context.on_rank(flag, next), 1);
  } else {
    context.wait_signal(context.on_rank(flag, context.rank_me()), 1);
    context.rput_signal<uint64_t>(nullptr, context.on_rank(flag, next), 0,
                                  context.on_rank(flag, next), 1);
  }
  note();
  context.barrier();
  note();
  return times;
}

class FiberGroup : public testing::TestWithParam<const char*> {};

// Whatever its ranks are, a job takes the same time, to the last bit.
TEST_P(FiberGroup, TakesTheTimesThatThreadsTake) {
  std::vector<std::vector<double>> as_fibers(kRanks);
  const Status ran =
      run_fibers({.ranks = kRanks, .context = options_on(GetParam())},
                 [&](Context& context) { as_fibers[context.rank_me()] = program(context); });
  ASSERT_TRUE(ran.ok()) << ran.error().message();

  ThreadGroupOptions threads;
  threads.ranks = kRanks;
  threads.context = options_on(GetParam());
  const auto as_threads = run_ranks_returning<std::vector<double>>(threads, program);
  ASSERT_TRUE(as_threads.ok()) << as_threads.error().message();
  EXPECT_EQ(as_fibers, *as_threads);
  EXPECT_GT(as_fibers[0].back(), 0);
}

INSTANTIATE_TEST_SUITE_P(Profiles, FiberGroup,
                         testing::Values("emulated:opteron-vapi,compute=none",
                                         "emulated:opteron-vapi,compute=declared",
                                         "emulated:power5-lapi,compute=none"));

TEST(FiberGroup, OfOneRankAndOfMany) {
  for (const uint32_t ranks : {1U, 64U}) {
    Options options = options_on("emulated:congested-tree,compute=none");
    uint64_t sum = 0;
    const Status ran = run_fibers({.ranks = ranks, .context = options}, [&](Context& context) {
      const uint64_t total =
          context.reduce_all(uint64_t{context.rank_me()}, Context::ReduceOp::sum);
      if (context.rank_me() == 0) sum = total;
    });
    ASSERT_TRUE(ran.ok()) << ran.error().message();
    EXPECT_EQ(sum, uint64_t{ranks} * (ranks - 1) / 2);
  }
}

/// A process that its launcher knows by this name.
class Process final : public Bootstrap {
 public:
  uint32_t rank() const override { return 0; }
  uint32_t ranks() const override { return 1; }
  const std::string& job_id() const override { return job_id_; }
  Result<std::vector<std::string>> exchange(const std::string& address) override {
    return std::vector{address};
  }
  bool report_failure(const Error& error) override {
    failures.push_back(error.message());
    return true;
  }
  void left() override {}
  JsonChannel* control() override { return nullptr; }

  std::vector<std::string> failures;

 private:
  std::string job_id_ = "fiber-group-test-" + std::to_string(::getpid());
};

TEST(FiberGroup, IsTheJobOfItsProcess) {
  Process process;
  const Status ran =
      run_fibers({.ranks = 2,
                  .context = options_on("emulated:opteron-vapi,compute=none"),
                  .process = &process},
                 [&](Context& context) {
                   EXPECT_EQ(context.state().job.bootstrap().job_id(), process.job_id());
                 });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
}

// One worker runs many jobs. What it would leave in /dev/shm stays there if it is killed.
TEST(FiberGroup, SharesMemoryOfItsProcessWhichBeginsAsZeros) {
  constexpr size_t kWords = 10000;
  Process process;
  for (uint64_t job = 1; job <= 2; ++job) {
    const Status ran = run_fibers(
        {.ranks = 3,
         .context = options_on("emulated:opteron-vapi,compute=none"),
         .process = &process},
        [&](Context& context) {
          EXPECT_FALSE(std::filesystem::exists("/dev/shm/stripline-" + process.job_id()));
          const auto words = context.new_symmetric_array<uint64_t>(kWords).value();
          uint64_t* const mine = context.local(words);
          EXPECT_EQ(std::count(mine, mine + kWords, 0U), kWords) << "job " << job;
          std::fill_n(mine, kWords, job);
          context.barrier();
          const rank_t next = (context.rank_me() + 1) % context.rank_n();
          EXPECT_EQ(context.rget(context.on_rank(words, next) + (kWords - 1)), job);
          context.barrier();
        });
    ASSERT_TRUE(ran.ok()) << ran.error().message();
  }
}

TEST(FiberGroup, SaysWhyThereIsNoMemoryForItsSegments) {
  Process process;
  Options options = options_on("emulated:opteron-vapi,compute=none");
  options.segment_bytes = size_t{1} << 42;  // 64 of them are more than a process has addresses for
  const Status ran =
      run_fibers({.ranks = 64, .context = options, .process = &process}, [](Context&) { FAIL(); });
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().code(), ErrorCode::resource_exhausted) << ran.error().message();
  EXPECT_NE(ran.error().message().find("STRIPLINE_SEGMENT_BYTES"), std::string::npos);
  ASSERT_EQ(process.failures.size(), 1U);
  EXPECT_NE(process.failures[0].find(ran.error().message()), std::string::npos);
}

TEST(FiberGroup, NeedsTheVirtualClock) {
  Options options = options_on("emulated:opteron-vapi");
  options.clock = "real";
  const Status ran = run_fibers({.ranks = 2, .context = options}, [](Context&) { FAIL(); });
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().code(), ErrorCode::invalid_argument);
}

TEST(FiberGroup, ARankThatCannotJoinEndsTheJob) {
  const Status ran = run_fibers({.ranks = 3, .context = options_on("emulated:no-such-network")},
                                [](Context&) { FAIL(); });
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(ran.error().message().find("no-such-network"), std::string::npos);
}

// What started the process hears of the failure that explains the others, once.
TEST(FiberGroup, TellsItsProcessWhy) {
  Process process;
  Options options = options_on("emulated:opteron-vapi,compute=none");
  options.model_path = "/no/such/model";
  const Status ran =
      run_fibers({.ranks = 3, .context = options, .process = &process}, [](Context&) { FAIL(); });
  ASSERT_FALSE(ran.ok());
  ASSERT_EQ(process.failures.size(), 1U);
  EXPECT_NE(process.failures[0].find("/no/such/model"), std::string::npos) << process.failures[0];
}

}  // namespace
}  // namespace stripline::bootstrap
