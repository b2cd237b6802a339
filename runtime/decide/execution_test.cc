#include "runtime/decide/execution.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline::decide {
namespace {

// A strategy of a mechanism that has four, and what the planner thinks it takes.
struct Strategy {
  int number = 0;
  plan::Reason reason = plan::Reason::tuned;
  double predicted_s = 0;
};

constexpr size_t kStrategies = 4;
using Toy = Execution<Strategy, kStrategies>;
using ToySite = Site<Strategy, kStrategies>;

// Four methods to do one thing, of which the model knows little: they are raced. What they take in
// truth is `seconds`, beside the computation.
class Mechanism {
 public:
  explicit Mechanism(Context& context) : context_(context) {}

  Strategy make(Arm arm, double compute_s) {
    ++made;
    return {arm, arm == kBaseline ? plan::Reason::guarded : plan::Reason::tied, compute_s};
  }
  bool fits(const Strategy& strategy) const { return strategy.number != too_large; }
  void decide(ToySite& site, double compute_s) {
    ++planned;
    site.decide(preferred, {preferred, plan::Reason::tuned, compute_s}, kStrategies,
                Race::Of::turns);
  }
  void note(Trace& trace, double elapsed_s) {
    const Choice choice{.text = "strategy " + std::to_string(execution.plan().number),
                        .reason = execution.plan().reason,
                        .predicted_s = execution.plan().predicted_s};
    trace.note({"toy.cc", 1}, 1, choice, elapsed_s, "toy", [] { return std::string("explain"); });
  }

  // Carries the site out once. Returns the strategy.
  int run(ToySite& site, const Terms& terms) {
    execution.begin(context_.state().mechanisms.instruments(), *this, site, terms);
    const int number = execution.plan().number;
    context_.compute_for(compute_s + seconds.at(static_cast<size_t>(number)));
    execution.finish(*this, compute_s);
    return number;
  }

  Toy execution;
  std::vector<double> seconds{1e-3, 1e-3, 1e-3, 1e-3};
  double compute_s = 1e-3;
  Arm preferred = 1;
  int too_large = -1;
  int planned = 0;
  int made = 0;

 private:
  Context& context_;
};

const Terms kTerms{.call = {.what = 7}, .measures = true};

// On a virtual clock, with a guard of iterations, as a model brings it.
template <typename Body>
void on_one_rank(const Body& body, const std::string& trace = "off") {
  auto group =
      bootstrap::group_on({"", "emulated:opteron-vapi,compute=none,jitter=off", "virtual"}, 1);
  group.context.trace = trace;
  bootstrap::on_ranks(group, [&](Context& context) {
    ASSERT_TRUE(context.state().use_model(std::make_shared<model::TunedModel>()).ok());
    body(context);
  });
}

TEST(Execution, PlansAgainByWhatWasMeasured) {
  on_one_rank([](Context& context) {
    Mechanism toy(context);
    ToySite site;
    toy.decide(site, -1);
    for (const double compute_s : {9e-3, 4e-3, 4e-3, 2e-3, 1e-3}) {
      toy.compute_s = compute_s;
      EXPECT_EQ(toy.run(site, kTerms), 1);
    }
    // After the second one and the fourth; the fifth is not measured any more.
    EXPECT_EQ(toy.planned, 3);
    EXPECT_EQ(site.refinement.planned_s(), 2e-3);
    EXPECT_EQ(site.users, 0U);
    EXPECT_EQ(site.plan(1).predicted_s, 2e-3);
  });
}

TEST(Execution, RacesAllStrategies) {
  for (Arm fastest = 0; fastest < kStrategies; ++fastest) {
    on_one_rank([&](Context& context) {
      Mechanism toy(context);
      toy.seconds = {2e-3, 3e-3, 4e-3, 5e-3};
      toy.seconds[fastest] = 1e-3;
      ToySite site;
      toy.decide(site, -1);
      for (int i = 0; i < 5000; ++i) toy.run(site, kTerms);
      int best = 0;
      for (int i = 0; i < 300; ++i) best += toy.run(site, kTerms) == fastest ? 1 : 0;
      EXPECT_GT(best, 280) << int{fastest};
      EXPECT_EQ(toy.made, 3) << "each plan is made once";
    });
  }
}

// What a plan promises is looked at from its first executions on, and checked at once where it is
// not kept; what is said of that is one story.
TEST(Execution, APlanThatMissesItsPredictionIsCheckedAtOnce) {
  ::testing::internal::CaptureStderr();
  on_one_rank(
      [](Context& context) {
        Mechanism toy(context);
        toy.seconds = {1e-3, 3e-3, 0, 0};
        ToySite site;
        site.decide(1, {1, plan::Reason::tuned, 1e-3}, 2);
        struct {
          double predicted_s = 1.5e-3, baseline_s = 2e-3, gain_low = 0.2;
        } promised;
        site.expect(promised);
        int tuned = 0;
        for (int i = 0; i < 30; ++i) tuned += toy.run(site, {.call = {.what = 7}}) == 1 ? 1 : 0;
        EXPECT_EQ(tuned, 2);
        for (int i = 0; i < 1000; ++i) tuned += toy.run(site, {.call = {.what = 7}}) == 1 ? 1 : 0;
        EXPECT_EQ(tuned, 4);
        EXPECT_TRUE(site.race().is_demoted());
      },
      "sites");
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("strategy 0"), std::string::npos) << said;
}

// Nothing is compared that the program does not want compared, or that has nothing to compare.
TEST(Execution, KeepsToThePlanWithoutAGuard) {
  on_one_rank([](Context& context) {
    for (const bool baseline : {false, true}) {
      Mechanism toy(context);
      toy.preferred = baseline ? kBaseline : Arm{1};
      toy.seconds = {2e-3, 5e-3, 1e-3, 1e-3};
      ToySite site;
      toy.decide(site, -1);
      for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(toy.run(site, {.guarded = baseline, .measures = true}), baseline ? 0 : 1);
      }
      EXPECT_EQ(toy.made, 0);
    }
  });
}

// Where there is no room for another plan now, the one that was decided on is carried out.
TEST(Execution, TakesWhatFits) {
  on_one_rank([](Context& context) {
    Mechanism toy(context);
    toy.seconds = {1e-3, 5e-3, 6e-3, 7e-3};
    toy.too_large = kBaseline;
    ToySite site;
    toy.decide(site, -1);
    for (int i = 0; i < 200; ++i) EXPECT_NE(toy.run(site, kTerms), 0);
  });
}

// An execution within another one of the site is not compared with the whole, and leaves the plan
// that is in use around it.
TEST(Execution, WithinItselfTakesTheSameMethod) {
  on_one_rank([](Context& context) {
    Mechanism outer(context);
    ToySite site;
    outer.decide(site, -1);
    for (int i = 0; i < 20; ++i) outer.run(site, kTerms);
    for (int i = 0; i < 100; ++i) {
      outer.execution.begin(context.state().mechanisms.instruments(), outer, site, kTerms);
      const Strategy* const plan = &outer.execution.plan();
      Mechanism inner(context);
      inner.run(site, kTerms);
      EXPECT_EQ(inner.planned, 0);
      EXPECT_EQ(plan, &outer.execution.plan());
      outer.execution.abandon();
    }
    EXPECT_EQ(site.users, 0U);
  });
}

TEST(Execution, TimesThePartsOfAComputationIfItMeasures) {
  on_one_rank([](Context& context) {
    Mechanism toy(context);
    ToySite site;
    toy.decide(site, -1);
    for (const bool measures : {true, false}) {
      toy.execution.begin(context.state().mechanisms.instruments(), toy, site,
                          {.call = {.what = 7}, .measures = measures});
      for (const double seconds : {2e-3, 3e-3}) {
        toy.execution.begin_computing();
        context.compute_for(seconds);
        toy.execution.end_computing();
        context.compute_for(1e-3);  // moving
      }
      EXPECT_NEAR(toy.execution.computed_s(), measures ? 5e-3 : 0, 1e-9);
      toy.execution.abandon();
    }
  });
}

TEST(Execution, TellsTheTraceOfEach) {
  ::testing::internal::CaptureStderr();
  on_one_rank(
      [](Context& context) {
        Mechanism toy(context);
        toy.seconds = {4e-3, 1e-3, 4e-3, 4e-3};
        ToySite site;
        toy.decide(site, -1);
        for (int i = 0; i < 50; ++i) toy.run(site, kTerms);
      },
      "sites");
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("toy.cc:1"), std::string::npos) << said;
  EXPECT_NE(said.find("toy                       50 "), std::string::npos) << said;
  EXPECT_NE(said.find("strategy 1"), std::string::npos) << said;
}

// A plan that gains something, if the model is right.
struct Promise {
  double predicted_s = 0;
  double baseline_s = 0;
  double gain_low = 0;
};

// The computation takes nothing, and the baseline `baseline_s`.
class Promising {
 public:
  explicit Promising(Context& context) : context_(context) {}

  Promise make(Arm, double) const { return {promise.baseline_s, promise.baseline_s, 0}; }
  bool fits(const Promise&) const { return true; }
  void decide(Site<Promise>& site, double compute_s) {
    if (compute_s < 0) return site.decide(kBaseline, make(kBaseline, compute_s));
    outweighs = site.outweighs(promise);
  }
  void note(Trace&, double) const {}
  void run(Site<Promise>& site) {
    execution.begin(context_.state().mechanisms.instruments(), *this, site, kTerms);
    context_.compute_for(baseline_s);
    execution.finish(*this, 0);
  }

  Execution<Promise> execution;
  Promise promise{0.8, 1, 0.15};
  double baseline_s = 1;
  std::optional<bool> outweighs;

 private:
  Context& context_;
};

// Be it too slow or too fast.
TEST(Execution, WhatTheBaselineTakesSaysHowFarAModelIsTrusted) {
  on_one_rank([](Context& context) {
    for (const double times : {0.5, 0.8, 0.9, 1.0, 1.1, 1.3, 2.0}) {
      Promising toy(context);
      toy.baseline_s = times;
      Site<Promise> site;
      toy.decide(site, -1);
      toy.run(site);
      toy.run(site);
      ASSERT_TRUE(toy.outweighs.has_value());
      EXPECT_NEAR(site.refinement.baseline_s(), times, 1e-9);
      EXPECT_NEAR(site.shown_error(toy.promise), std::max(times, 1 / times), 1e-9);
      EXPECT_EQ(*toy.outweighs, times > 0.85 && times < 1.15) << times;
    }
    // Beside other doubts.
    Site<Promise> unknown;
    EXPECT_EQ(unknown.shown_error(Promise{0.8, 1, 0.15}), 1);
    EXPECT_TRUE(unknown.outweighs(Promise{0.8, 1, 0.15}, 0.1));
    EXPECT_FALSE(unknown.outweighs(Promise{0.8, 1, 0.15}, 0.2));
  });
}

}  // namespace
}  // namespace stripline::decide
