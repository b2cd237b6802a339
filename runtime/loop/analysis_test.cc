#include "runtime/loop/analysis.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <stripline/loop.h>
#include <stripline/loop_index.h>
#include <stripline/nest.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/loop_state.h"
#include "runtime/loop/testing/exact_costs.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline {
namespace {

using detail::Analysis;

// A clock of which a reading takes a second.
thread_local double host_s = 0;
double reading() { return host_s += 1; }

// One whose readings take nothing at first, and then a second.
constexpr int kReadingsAtOnce = 2000;
thread_local int readings = 0;
double later_reading() { return ++readings <= kReadingsAtOnce ? host_s : reading(); }

void spend(Analysis& analysis, double seconds, bool plan) {
  const Analysis::Span span(analysis);
  host_s += seconds;
  if (plan) analysis.count_plan();
}

TEST(Analysis, IsTheTimeOfSpansWithoutReadingTheClock) {
  Analysis analysis;
  spend(analysis, 100, true);
  analysis.begin(reading);
  spend(analysis, 3, true);
  spend(analysis, 4, false);
  {
    Analysis::Span span(analysis);
    host_s += 5;
    span.end();
    host_s += 100;  // is no part of it any more
  }
  const Analysis::Total total = analysis.end();
  EXPECT_EQ(total.seconds, 12);
  EXPECT_EQ(total.planning_s, 3);
  EXPECT_EQ(total.planned, 1U);
  const double before_s = host_s;
  spend(analysis, 0, false);
  EXPECT_EQ(host_s, before_s) << "nothing measures: the clock is not read";
  analysis.begin(reading);
  EXPECT_EQ(analysis.end().seconds, 0);
}

TEST(Analysis, CountsWhatLoopsAndNestsDecide) {
  constexpr const char* kFabric = "emulated:opteron-vapi,compute=none,jitter=off";
  constexpr size_t kCount = 1 << 16;
  constexpr int kTimes = 5;
  model::TunedModel model = model::example_model();
  model.network["inter-node"] = exact_path(kFabric);
  const ModelFile file("analysis", model);
  auto group = bootstrap::group_on({"", kFabric, "virtual"}, 2);
  group.context.model_path = file.path();
  bootstrap::on_ranks(group, [&](Context& context) {
    const auto array = *context.new_symmetric_array<double>(kCount);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto remote = global_ptr<const double>(context.on_rank(array, 1));
      Analysis& analysis = detail::LoopState::of(context.state()).analysis;
      readings = 0;
      analysis.begin(later_reading);
      for (int time = 0; time < kTimes; ++time) {
        strip_for(context, remote, kCount, {.compute_s = 5e-4},
                  [](size_t, size_t, const double*) {});
      }
      const Analysis::Total loops = analysis.end();
      EXPECT_EQ(loops.executions, uint64_t{kTimes});
      EXPECT_EQ(loops.planned, 1U);
      EXPECT_EQ(loops.planning_s, 1) << "of the first execution";
      EXPECT_GE(loops.seconds, kTimes) << "each has decided, and its guard, once they are checked";

      const auto [i] = loop_indices<1>();
      analysis.begin(reading);
      double sum = 0;
      for (int time = 0; time < kTimes; ++time) {
        for_nest(
            context, {kCount}, {}, [&sum](const double& in) { sum += in; }, read(remote, i));
      }
      const Analysis::Total nests = analysis.end();
      EXPECT_EQ(nests.executions, uint64_t{kTimes});
      // The first one, and when its computation has been measured.
      EXPECT_GT(nests.planned, 1U);
      EXPECT_LT(nests.planned, uint64_t{kTimes});

      // What is not a time is measured, too, and the nest is the same each time.
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
      uint64_t site = 0;
      for (const double compute_s : {kNoNumber, kInfinity, -kInfinity}) {
        ++site;
        analysis.begin(reading);
        for (int time = 0; time < kTimes; ++time) {
          for_nest(
              context, {kCount}, {.compute_s = compute_s, .site = site},
              [&sum](const double& in) { sum += in; }, read(remote, i));
        }
        EXPECT_LT(analysis.end().planned, uint64_t{kTimes}) << compute_s;
      }
    }
    context.barrier();
  });
}

}  // namespace
}  // namespace stripline
