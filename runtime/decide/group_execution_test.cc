#include "runtime/decide/group_execution.h"

#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline::decide {
namespace {

struct Method {
  int number = 0;
  plan::Reason reason = plan::Reason::tuned;
};
constexpr size_t kMethods = 3;
using ToySite = Site<Method, kMethods>;

struct Mechanism {
  Method make(Arm arm, double /*compute_s*/) {
    return {arm, arm == kBaseline ? plan::Reason::guarded : plan::Reason::tied};
  }
};

// On a virtual clock, with a guard, as a model brings it.
template <typename Body>
void on_one_rank(const Body& body) {
  auto group =
      bootstrap::group_on({"", "emulated:opteron-vapi,compute=none,jitter=off", "virtual"}, 1);
  bootstrap::on_ranks(group, [&](Context& context) {
    ASSERT_TRUE(context.state().use_model(std::make_shared<model::TunedModel>()).ok());
    body(context, context.state().mechanisms.instruments());
  });
}

const auto kAnyPlan = [](const Method&) { return true; };
const auto kAlike = [](uint32_t) { return 1.0; };
const auto kUntold = [](Trace&, uint32_t) {};

// Carries out as many executions ahead as `most`; counts them by method.
void carry_out(Context& context, const Instruments& instruments, ToySite& site,
               const std::vector<double>& seconds, uint32_t most, std::vector<int>& times) {
  GroupExecution<Method, kMethods> executions;
  Mechanism mechanism;
  executions.begin(instruments, site);
  while (executions.count() < most && executions.is_open()) {
    ASSERT_TRUE(executions.add(mechanism, kAnyPlan));
  }
  executions.restart_clock();
  for (uint32_t i = 0; i < executions.count(); ++i) {
    const auto method = static_cast<size_t>(executions.plan(i).number);
    context.compute_for(seconds[method]);
    executions.ended();
    EXPECT_NEAR(executions.seconds(i), seconds[method], 1e-9);
    ++times[method];
  }
  executions.finish(executions.count(), kAlike, kUntold);
}

TEST(GroupExecution, FindsTheFastestThoughItDecidesAhead) {
  for (const uint32_t most : {1U, 7U, kMostAhead}) {
    on_one_rank([&](Context& context, const Instruments& instruments) {
      ToySite site;
      site.decide(1, {1}, kMethods, Race::Of::turns);
      std::vector<int> times(kMethods);
      const std::vector<double> seconds = {3e-3, 2e-3, 1e-3};
      for (int i = 0; i < 3000; ++i) carry_out(context, instruments, site, seconds, most, times);
      times.assign(kMethods, 0);
      for (int i = 0; i < 30; ++i) carry_out(context, instruments, site, seconds, most, times);
      EXPECT_GT(times[2], 9 * (times[0] + times[1])) << most;
    });
  }
}

TEST(GroupExecution, EndsWhereTimesDecideWhatIsNext) {
  on_one_rank([](Context& context, const Instruments& instruments) {
    ToySite site;
    site.decide(1, {1}, 2, Race::Of::turns);
    // The tuned method is slower than was promised: a check is due at once.
    const plan::Guard::Forecast promised{1e-3, 1e-3, 1e-3};
    site.race().expect(std::vector{promised, promised});
    bool checked = false;
    for (int i = 0; i < 100; ++i) {
      GroupExecution<Method, kMethods> executions;
      Mechanism mechanism;
      executions.begin(instruments, site);
      while (executions.is_open()) ASSERT_TRUE(executions.add(mechanism, kAnyPlan));
      for (uint32_t k = 0; k < executions.count(); ++k) {
        const bool last = k + 1 == executions.count();
        if (executions.is_check(k)) {
          checked = true;
          EXPECT_TRUE(last) << k;
          EXPECT_EQ(executions.plan(k).number, kBaseline);
        }
      }
      executions.restart_clock();
      for (uint32_t k = 0; k < executions.count(); ++k) {
        context.compute_for(5e-3);
        executions.ended();
      }
      executions.finish(executions.count(), kAlike, kUntold);
      if (checked) return;
    }
    ADD_FAILURE() << "nothing was compared";
  });
}

TEST(GroupExecution, TellsTogetherWhatJoins) {
  on_one_rank([](Context& context, const Instruments& instruments) {
    ToySite site;
    site.decide(1, {1}, 1);
    GroupExecution<Method, kMethods> executions;
    Mechanism mechanism;
    executions.begin(instruments, site);
    EXPECT_TRUE(executions.add(mechanism, kAnyPlan));
    EXPECT_FALSE(executions.add(mechanism, [](const Method&) { return false; }));
    EXPECT_EQ(executions.count(), 1U);
    EXPECT_EQ(executions.plan(0).number, 1);
    EXPECT_FALSE(executions.is_check(0));
    // A plan that nothing is to be learnt of.
    const Method given{2, plan::Reason::forced};
    executions.begin(instruments, given, 3);
    EXPECT_EQ(executions.count(), 3U);
    EXPECT_EQ(&executions.plan(2), &given);
    executions.restart_clock();
    context.compute_for(1e-3);
    executions.ended();
    executions.finish(1, kAlike, kUntold);
    EXPECT_NEAR(executions.seconds(0), 1e-3, 1e-9);
  });
}

}  // namespace
}  // namespace stripline::decide
