#include "runtime/loop/compute_rates.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>
#include <stripline/loop.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/loop_state.h"
#include "runtime/loop/testing/model_file.h"

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

TEST(ComputeRates, FollowABodyThatComesToTakeLonger) {
  ComputeRates rates;
  rates.note(7, 1000, 1e-6);
  rates.note(7, 1100, 20e-6);
  EXPECT_DOUBLE_EQ(*rates.seconds(7, 1100), 1.1e-6) << "once may be a disturbance";
  rates.note(7, 1000, 20e-6);
  EXPECT_DOUBLE_EQ(*rates.seconds(7, 1000), 20e-6 / 1.1);
  rates.note(7, 1000, 2e-6);
  EXPECT_DOUBLE_EQ(*rates.seconds(7, 1000), 2e-6);
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

constexpr size_t kLeast = 100000;

// What loops of one place are planned to compute, in any order; negative: estimated. Each is an
// element longer than the one before, and its body takes this many seconds per element.
std::vector<double> planned_for(const std::vector<double>& seconds_per_element) {
  const ModelFile file("compute_rates_test");
  bootstrap::ThreadGroupOptions options;
  options.context.fabric = "emulated:opteron-vapi,compute=none,jitter=off";
  options.context.clock = "virtual";
  options.context.segment_bytes = size_t{4} << 20;
  options.context.model_path = file.path();
  std::vector<double> planned;
  bootstrap::on_ranks(options, [&](Context& context) {
    const auto mine = context.new_symmetric_array<double>(kLeast + seconds_per_element.size());
    ASSERT_TRUE(mine.ok());
    context.barrier();
    if (context.rank_me() == 0) {
      for (size_t i = 0; i < seconds_per_element.size(); ++i) {
        strip_for(context, context.on_rank(*mine, 1), kLeast + i, {},
                  [&](size_t begin, size_t end, const double*) {
                    context.compute_for(static_cast<double>(end - begin) * seconds_per_element[i]);
                  });
      }
      LoopState::of(context.state()).sites.for_each([&](const LoopSite& site) {
        planned.push_back(site.refinement.planned_s());
      });
    }
    context.barrier();
  });
  return planned;
}

// The keys of a sort, say, of which a rank gets a few more or less each time: no size comes often
// enough for its own computation to be known.
TEST(ComputeRates, LoopsThatChangeTheirSizeArePlannedByWhatOthersOfTheirPlaceTook) {
  constexpr size_t kTimes = 10;
  constexpr double kSecondsPerElement = 2e-8;  // much more than a body without operations takes
  const std::vector<double> planned = planned_for(std::vector<double>(kTimes, kSecondsPerElement));
  ASSERT_EQ(planned.size(), kTimes);
  int estimated = 0;
  for (const double seconds : planned) {
    if (seconds < 0) {
      ++estimated;
      continue;
    }
    EXPECT_NEAR(seconds, kSecondsPerElement * kLeast, 0.05 * kSecondsPerElement * kLeast);
  }
  EXPECT_EQ(estimated, 1) << "the first one";
}

TEST(ComputeRates, LoopsWhoseBodyComesToTakeLongerArePlannedByThat) {
  constexpr size_t kTimes = 6;
  constexpr double kSecondsPerElement = 1e-9;
  constexpr double kMore = 20;
  std::vector<double> seconds_per_element(kTimes, kSecondsPerElement);
  seconds_per_element.insert(seconds_per_element.end(), kTimes, kMore * kSecondsPerElement);
  const std::vector<double> planned = planned_for(seconds_per_element);
  ASSERT_EQ(planned.size(), 2 * kTimes);
  const auto learnt = std::count_if(planned.begin(), planned.end(), [](double seconds) {
    return seconds > 0.95 * kMore * kSecondsPerElement * kLeast;
  });
  EXPECT_EQ(learnt, kTimes - 2) << "all but the first, and the one that confirms it";
}

}  // namespace
}  // namespace stripline::detail
