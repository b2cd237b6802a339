#include "optimizer/fit/doubts.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/fit/held_out_plans.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/validate.h"

namespace stripline::fit {
namespace {

using experiment::HeldOutKind;

// Loops and nests whose cuts take longer than predicted by a share that depends on the run.
std::vector<HeldOutTimes> cuts_that_take(const model::TunedModel& model, double longer,
                                         size_t problems) {
  const plan::CompiledModel compiled(model);
  std::vector<HeldOutTimes> all;
  size_t loops = 0;
  for (size_t index = 0; loops < problems; ++index) {
    HeldOutTimes times{experiment::draw_held_out(3, 2, index), {}};
    const bool is_loop = times.problem.kind == HeldOutKind::loop;
    if (!is_loop && times.problem.kind != HeldOutKind::nest) continue;
    loops += is_loop ? 1 : 0;
    for (size_t one = 0; one < times.problem.points.size(); ++one) {
      RunMedians& medians = times.alternatives.emplace_back();
      for (uint32_t run = 0; run < 4; ++run) {
        constexpr double kUncut = 5e-3;
        const double of_run = longer + 0.001 * run;
        medians[run] =
            one == 0 ? kUncut
                     : (1 + of_run) * predicted_cut(compiled, times.problem, one, kUncut).value();
      }
    }
    all.push_back(std::move(times));
  }
  return all;
}

TEST(FitDoubts, AreTheExcessOfCutsOverTheirPrediction) {
  model::TunedModel model = model::example_model();
  fit_doubts(cuts_that_take(model, 0.08, 12), 0.95, model);
  ASSERT_TRUE(model.strip->composition_doubt);
  EXPECT_NEAR(model.strip->composition_doubt->value, 0.0815, 1e-6);
  EXPECT_EQ(model.strip->composition_doubt->runs, 4U);
  EXPECT_TRUE(model.strip->others_doubt) << "it is not fitted, and stays";
  EXPECT_TRUE(model::validate(model).ok());
  const plan::CompiledModel compiled(model);
  EXPECT_NEAR(compiled.strip(model::Path::network)->composition(), 0.0815, 1e-6);
  EXPECT_EQ(compiled.strip(model::Path::network)->others(), 0.15);
}

TEST(FitDoubts, OfCutsThatAreFasterAreNone) {
  model::TunedModel model = model::example_model();
  fit_doubts(cuts_that_take(model, -0.1, 12), 0.95, model);
  EXPECT_EQ(model.strip->composition_doubt->value, 0);
}

TEST(FitDoubts, HaveProblemsEnoughAmongThoseThatAreDrawn) {
  size_t loops = 0;
  size_t nests = 0;
  for (size_t index = 0; index < experiment::kMostHeldOut; ++index) {
    const HeldOutKind kind = experiment::draw_held_out(3, 2, index).kind;
    loops += kind == HeldOutKind::loop ? 1 : 0;
    nests += kind == HeldOutKind::nest ? 1 : 0;
  }
  EXPECT_GE(loops, kLeastDoubted);
  EXPECT_GE(nests, kLeastDoubted);
}

TEST(FitDoubts, NeedProblemsEnough) {
  model::TunedModel model = model::example_model();
  model.strip.reset();
  fit_doubts(cuts_that_take(model, 0.08, kLeastDoubted - 1), 0.95, model);
  EXPECT_TRUE(!model.strip || !model.strip->composition_doubt);
  fit_doubts({}, 0.95, model);
  const plan::CompiledModel compiled(model);
  EXPECT_EQ(compiled.strip(model::Path::network)->composition(), plan::kDefaultComposition);
}

}  // namespace
}  // namespace stripline::fit
