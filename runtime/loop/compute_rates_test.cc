#include "runtime/loop/compute_rates.h"

#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>
#include <stripline/loop.h>

#include "runtime/bootstrap/thread_group.h"
#include "runtime/loop/loop_state.h"
#include "runtime/loop/model_file.h"

namespace stripline::detail {
namespace {

TEST(ComputeRates, AreOfASiteAndOfLoopsOfAboutTheSize) {
  ComputeRates rates;
  EXPECT_FALSE(rates.seconds(7, 1000));
  rates.note(7, 1000, 2e-6);
  ASSERT_TRUE(rates.seconds(7, 1000));
  EXPECT_DOUBLE_EQ(*rates.seconds(7, 1000), 2e-6);
  EXPECT_DOUBLE_EQ(*rates.seconds(7, 1500), 3e-6);
  EXPECT_DOUBLE_EQ(*rates.seconds(7, 500), 1e-6);
  EXPECT_FALSE(rates.seconds(7, 2001));
  EXPECT_FALSE(rates.seconds(7, 499));
  EXPECT_FALSE(rates.seconds(8, 1000));
  rates.note(7, 4000, 1e-6);
  EXPECT_DOUBLE_EQ(*rates.seconds(7, 4000), 1e-6);
  EXPECT_FALSE(rates.seconds(7, 1000));
}

TEST(ComputeRates, ForgetRatherThanMixUp) {
  ComputeRates rates;
  for (uint64_t site = 1; site <= 5000; ++site) {
    rates.note(site, 100, static_cast<double>(site));
    ASSERT_EQ(rates.seconds(site, 100), static_cast<double>(site));
  }
  size_t kept = 0;
  for (uint64_t site = 1; site <= 5000; ++site) {
    const auto seconds = rates.seconds(site, 100);
    if (!seconds) continue;
    ++kept;
    EXPECT_EQ(*seconds, static_cast<double>(site));
  }
  EXPECT_GT(kept, 100U);
}

// The keys of a sort, say, of which a rank gets a few more or less each time: no size comes often
// enough for its own computation to be known.
TEST(ComputeRates, LoopsThatChangeTheirSizeArePlannedByWhatOthersOfTheirPlaceTook) {
  constexpr size_t kLeast = 100000;
  constexpr int kTimes = 10;
  constexpr double kSecondsPerElement = 2e-8;  // much more than a body without operations takes
  const ModelFile file("compute_rates_test");
  bootstrap::ThreadGroupOptions options;
  options.context.fabric = "emulated:opteron-vapi,compute=none,jitter=off";
  options.context.clock = "virtual";
  options.context.segment_bytes = size_t{4} << 20;
  options.context.model_path = file.path();
  std::vector<double> known;
  const Status ran = bootstrap::run_ranks(options, [&](Context& context) {
    const auto mine = context.new_symmetric_array<double>(kLeast + kTimes);
    ASSERT_TRUE(mine.ok());
    context.barrier();
    if (context.rank_me() == 0) {
      for (int i = 0; i < kTimes; ++i) {
        const size_t count = kLeast + static_cast<size_t>(i);
        strip_for(context, context.on_rank(*mine, 1), count, {},
                  [&](size_t begin, size_t end, const double*) {
                    context.compute_for(static_cast<double>(end - begin) * kSecondsPerElement);
                  });
      }
      LoopState::of(context.state()).sites.for_each([&](const LoopSite& site) {
        known.push_back(site.planned_compute_s);
      });
    }
    context.barrier();
  });
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  ASSERT_EQ(known.size(), static_cast<size_t>(kTimes));
  int estimated = 0;
  for (const double seconds : known) {
    if (seconds < 0) {
      ++estimated;
      continue;
    }
    EXPECT_NEAR(seconds, kSecondsPerElement * kLeast, 0.05 * kSecondsPerElement * kLeast);
  }
  EXPECT_EQ(estimated, 1) << "the first one";
}

}  // namespace
}  // namespace stripline::detail
