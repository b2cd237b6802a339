// A wrong model costs speed for a moment, and nothing else.
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <stripline/loop.h>
#include <stripline/nest.h>

#include "runtime/bootstrap/testing/as_fibers.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/loop/loop_state.h"
#include "runtime/loop/testing/exact_costs.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline {
namespace {

constexpr const char* kFabric = "emulated:itanium-gm,compute=none,jitter=off";
constexpr size_t kRows = 32;
constexpr size_t kColumns = 512;
constexpr int kWarmUp = 150;
constexpr int kTimes = 600;
// Computation per element of a loop: a quarter of what its transfer takes, so that a right plan
// surely gains.
constexpr double kElement_s = 5e-9;

// What is known of the network, and wrong: every parameter by a factor of its own, within
// exp(+-spread), times `overhead` for those of the CPU.
model::TunedModel wrong_model(uint64_t seed, double spread, double overhead) {
  std::mt19937_64 random(seed);
  const auto spoil = [&](std::optional<model::Parameter>& parameter, double factor) {
    if (!parameter) return;
    factor *= std::exp(std::uniform_real_distribution<>(-spread, spread)(random));
    parameter = model::Parameter{parameter->value * factor,
                                 parameter->value * factor,
                                 parameter->value * factor,
                                 1,
                                 1,
                                 "guess",
                                 false};
  };
  model::TunedModel m = model::example_model();
  model::PathModel path = exact_path(kFabric);
  for (model::OperationModel* operation : {&*path.get, &*path.put}) {
    for (model::Segment& segment : operation->segments) {
      spoil(segment.o_base_s, overhead);
      spoil(segment.r_base_s, overhead);
      spoil(segment.o_per_byte_s, overhead);
      spoil(segment.r_per_byte_s, overhead);
      spoil(segment.L_s, 1);
      spoil(segment.g_s, overhead);
      spoil(segment.G_s_per_byte, 1);
    }
  }
  m.network["inter-node"] = path;
  m.compute.reset();  // nothing depends on caches there
  m.strip = exact_strip(kFabric);
  return m;
}

struct Times {
  double loop_s = 0;
  double nest_s = 0;
};

// Times of kTimes executions of a loop, and of a nest, after the first ones.
Times run(const std::string& model, bool guard, bool use_model) {
  Times times;
  auto group = bootstrap::group_on({"", kFabric, "virtual"}, 2);
  group.context.model_path = model;
  group.context.guard = guard;
  const Status ran = bootstrap::run_as_fibers(group, [&](Context& context) {
    const auto array = *context.new_symmetric_array<double>(kRows * kColumns);
    for (size_t i = 0; i < kRows * kColumns; ++i) context.local(array)[i] = 1;
    context.barrier();
    if (context.rank_me() == 0) {
      const auto remote = global_ptr<const double>(context.on_rank(array, 1));
      const auto [i, j] = loop_indices<2>();
      const auto loop = [&, remote] {
        double sum = 0;
        strip_for(context, remote, kRows * kColumns, {.use_model = use_model},
                  [&](size_t begin, size_t end, const double* strip) {
                    for (size_t k = 0; k < end - begin; ++k) sum += strip[k];
                    context.compute_for(kElement_s * static_cast<double>(end - begin));
                  });
        EXPECT_EQ(sum, kRows * kColumns);
      };
      const auto nest = [&, i = i, j = j, remote] {
        double sum = 0;
        for_nest(
            context, {kRows, kColumns}, {.use_model = use_model},
            [&](const std::array<size_t, 2>& at, const double& in) {
              sum += in;
              if (at[1] == 0) context.compute_for(1e-6);
            },
            read(remote, i * kColumns + j));
        EXPECT_EQ(sum, kRows * kColumns);
      };
      const auto time = [&](const auto& one) {
        for (int k = 0; k < kWarmUp; ++k) one();
        const double begin_s = context.now_s();
        for (int k = 0; k < kTimes; ++k) one();
        return context.now_s() - begin_s;
      };
      times.loop_s = time(loop);
      times.nest_s = time(nest);
    }
    context.barrier();
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return times;
}

TEST(GuardedRun, AModelWithoutOverheadsCostsLittle) {
  const ModelFile file("guard_test", wrong_model(1, 0, 1e-4));
  const Times simple = run(file.path(), true, false);
  const Times unguarded = run(file.path(), false, true);
  const Times guarded = run(file.path(), true, true);
  // It would.
  EXPECT_GT(unguarded.loop_s, 1.2 * simple.loop_s);
  EXPECT_GT(unguarded.nest_s, 1.2 * simple.nest_s);
  EXPECT_LT(guarded.loop_s, 1.02 * simple.loop_s);
  EXPECT_LT(guarded.nest_s, 1.02 * simple.nest_s);
}

TEST(GuardedRun, ARightModelKeepsItsGain) {
  const ModelFile file("guard_test", wrong_model(1, 0, 1));
  const Times simple = run(file.path(), true, false);
  const Times unguarded = run(file.path(), false, true);
  const Times guarded = run(file.path(), true, true);
  EXPECT_LT(unguarded.loop_s, 0.97 * simple.loop_s);
  EXPECT_LT(guarded.loop_s, 1.02 * unguarded.loop_s);
  EXPECT_LT(guarded.nest_s, 1.02 * unguarded.nest_s);
}

// Runs `visit` on rank 0 under a model, with an array of rank 1.
void run_visit(const std::string& model,
               const std::function<void(Context&, global_ptr<const double>)>& visit) {
  auto group = bootstrap::group_on({"", kFabric, "virtual"}, 2);
  group.context.model_path = model;
  const Status ran = bootstrap::run_as_fibers(group, [&](Context& context) {
    const auto array = *context.new_symmetric_array<double>(kRows * kColumns);
    context.barrier();
    if (context.rank_me() == 0) visit(context, global_ptr<const double>(context.on_rank(array, 1)));
    context.barrier();
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
}

// The time of an execution within another one is not compared with that of the whole.
TEST(GuardedRun, ALoopWithinItselfKeepsARightPlan) {
  const ModelFile file("guard_test", wrong_model(1, 0, 1));
  run_visit(file.path(), [](Context& context, global_ptr<const double> remote) {
    int simple = 0;
    const std::function<void(int)> visit = [&](int level) {
      bool first = true;
      const LoopPlan plan =
          strip_for(context, remote, kRows * kColumns, {.compute_s = kElement_s * kRows * kColumns},
                    [&](size_t begin, size_t end, const double*) {
                      if (level > 0 && std::exchange(first, false)) {
                        visit(level - 1);
                      }
                      context.compute_for(kElement_s * static_cast<double>(end - begin));
                    });
      simple += plan.reason == plan::Reason::guarded ? 1 : 0;
    };
    for (int k = 0; k < 300; ++k) visit(1);
    EXPECT_LT(simple, 30);
  });
}

TEST(GuardedRun, ANestWithinItselfGivesABadPlanUp) {
  const ModelFile file("guard_test", wrong_model(1, 0, 1e-4));
  run_visit(file.path(), [](Context& context, global_ptr<const double> remote) {
    const auto [i, j] = loop_indices<2>();
    int tuned = 0;
    const std::function<void(int)> visit = [&, i = i, j = j](int level) {
      const NestPlan plan = for_nest(
          context, {kRows, kColumns},
          [&](const std::array<size_t, 2>& at, const double&) {
            if (at[1] == 0) context.compute_for(1e-6);
            if (level > 0 && at[0] == 0 && at[1] == 0) visit(level - 1);
          },
          read(remote, i * kColumns + j));
      tuned += plan.reason == plan::Reason::tuned ? 1 : 0;
    };
    for (int k = 0; k < 300; ++k) visit(1);
    tuned = 0;
    for (int k = 0; k < 300; ++k) visit(1);
    EXPECT_LT(tuned, 60);
  });
}

// What a comparison is predicted to take is the baseline's time.
TEST(GuardedRun, AComparisonSaysWhatItTakes) {
  const ModelFile file("guard_test", wrong_model(1, 0, 1));
  run_visit(file.path(), [](Context& context, global_ptr<const double> remote) {
    const auto [i, j] = loop_indices<2>();
    double loop_s = 0;
    double nest_s = 0;
    int compared_loops = 0;
    int compared_nests = 0;
    // As many as let a check take no more than its share.
    for (int k = 0; k < 600; ++k) {
      const LoopPlan loop = strip_for(
          context, remote, kRows * kColumns, {}, [&](size_t begin, size_t end, const double*) {
            context.compute_for(30e-9 * static_cast<double>(end - begin));
          });
      const NestPlan nest = for_nest(
          context, {kRows, kColumns}, {.compute_s = 5e-4},
          [&](const std::array<size_t, 2>& at, const double&) {
            if (at[1] == 0) context.compute_for(5e-4 / kRows);
          },
          read(remote, i * kColumns + j));
      if (loop.reason == plan::Reason::tuned) loop_s = loop.baseline_s;
      if (nest.reason == plan::Reason::tuned) nest_s = nest.baseline_s;
      // Not the first ones, whose computation is estimated.
      if (loop.reason == plan::Reason::guarded && loop_s > 0) {
        EXPECT_NEAR(loop.predicted_s, loop_s, 1e-5);
        ++compared_loops;
      }
      if (nest.reason == plan::Reason::guarded) {
        EXPECT_NEAR(nest.predicted_s, nest_s, 1e-5);
        ++compared_nests;
      }
    }
    EXPECT_GT(compared_loops, 0);
    EXPECT_GT(compared_nests, 0);
  });
}

// A model that estimates what loops compute, so that they may be tuned from their first execution
// on; to it, transfers take `times` as long as they do, and issuing them `overhead` times as long.
model::TunedModel estimating_model(double times, double overhead) {
  model::TunedModel m = wrong_model(1, 0, overhead);
  m.compute = model::example_model().compute;
  for (std::optional<model::OperationModel>* const operation :
       {&m.network["inter-node"].get, &m.network["inter-node"].put}) {
    for (model::Segment& segment : (*operation)->segments) {
      for (std::optional<model::Parameter>* const parameter :
           {&segment.L_s, &segment.G_s_per_byte}) {
        if (*parameter) *parameter = model::example_parameter(times * (*parameter)->value, 0);
      }
    }
  }
  return m;
}

constexpr cost::LoopClass kEstimated{.n_local_ref = 1, .n_fp_alu = 4};

// Executions of a loop and of a nest, of `steps`, as the model says, where a program does not say
// what they compute.
struct Trusted {
  int loops = 0;
  int nests = 0;
};

Trusted trusted_executions(const std::string& model, int steps) {
  Trusted trusted;
  run_visit(model, [&](Context& context, global_ptr<const double> remote) {
    const auto [i, j] = loop_indices<2>();
    for (int step = 0; step < steps; ++step) {
      const LoopPlan loop =
          strip_for(context, remote, kRows * kColumns, {.loop = kEstimated},
                    [&](size_t begin, size_t end, const double*) {
                      context.compute_for(kElement_s * static_cast<double>(end - begin));
                    });
      const NestPlan nest = for_nest(
          context, {kRows, kColumns}, {.loop = kEstimated},
          [&](const std::array<size_t, 2>& at, const double&) {
            if (at[1] == 0) context.compute_for(kElement_s * kColumns);
          },
          read(remote, i * kColumns + j));
      trusted.loops += loop.reason == plan::Reason::tuned ? 1 : 0;
      trusted.nests += nest.reason == plan::Reason::tuned ? 1 : 0;
    }
  });
  return trusted;
}

// It predicts that all takes far longer than it does, so that no execution takes longer than was
// predicted: what the baseline takes shows it, before anything is carried out by it.
TEST(GuardedRun, AModelOfASlowerNetworkIsNotTrusted) {
  const ModelFile file("guard_test", estimating_model(3, 1e-4));
  const Trusted trusted = trusted_executions(file.path(), 30);
  EXPECT_EQ(trusted.loops, 0);
  EXPECT_EQ(trusted.nests, 0);
}

// The first two executions go without it.
TEST(GuardedRun, ARightModelIsTrustedOnceTheBaselineTakesWhatItSays) {
  const ModelFile file("guard_test", estimating_model(1, 1));
  const Trusted trusted = trusted_executions(file.path(), 30);
  EXPECT_GT(trusted.loops, 20);
  EXPECT_LE(trusted.loops, 28);
  EXPECT_LE(trusted.nests, 28);
}

// A loop that loses is given up for the job, however it does later.
TEST(GuardedRun, ALoopThatHasLostIsNotTriedAgain) {
  const ModelFile file("guard_test", wrong_model(1, 0, 1));
  run_visit(file.path(), [](Context& context, global_ptr<const double> remote) {
    constexpr double kComputeS = 1e-4;
    double slower = 20;
    const auto tuned = [&] {
      const LoopPlan plan =
          strip_for(context, remote, kRows * kColumns, {.compute_s = kComputeS},
                    [&](size_t begin, size_t end, const double*) {
                      const double factor = end - begin < kRows * kColumns ? slower : 1;
                      context.compute_for(factor * kComputeS * static_cast<double>(end - begin) /
                                          (kRows * kColumns));
                    });
      return plan.reason == plan::Reason::tuned ? 1 : 0;
    };
    int tried = 0;
    for (int k = 0; k < 30; ++k) tried += tuned();
    // One that pays for what is cold, and one that was longer than was predicted.
    EXPECT_EQ(tried, 2);
    for (int k = 0; k < 20000; ++k) tried += tuned();
    // What was found by one of them was to be confirmed.
    EXPECT_EQ(tried, 4);
    slower = 0;
    for (int k = 0; k < 2000; ++k) tried += tuned();
    EXPECT_EQ(tried, 4);
  });
}

constexpr double kTiedComputeS = 0.1;  // beside which the transfer is nothing

// What the model does not say of a computation: `profit` is the part of it that strips save, as
// they stay in a cache, or what they add.
LoopPlan go_through(Context& context, global_ptr<const double> remote, double profit,
                    double compute_s, const std::function<void()>& within = {}) {
  bool first = true;
  return strip_for(context, remote, kRows * kColumns, {.compute_s = compute_s},
                   [&](size_t begin, size_t end, const double*) {
                     if (std::exchange(first, false) && within) within();
                     const bool whole = end - begin == kRows * kColumns;
                     const auto elements = static_cast<double>(end - begin);
                     context.compute_for(kTiedComputeS * (whole ? 1 : 1 - profit) * elements /
                                         (kRows * kColumns));
                   });
}

struct Tied {
  double seconds = 0;  // of kTimes executions after the first ones
  int cut = 0;         // of these
  decide::Savings savings;
};

Tied run_tied(double profit, double compute_s) {
  const ModelFile file("guard_test", wrong_model(1, 0, 1));
  Tied tied;
  run_visit(file.path(), [&](Context& context, global_ptr<const double> remote) {
    for (int k = 0; k < kWarmUp; ++k) go_through(context, remote, profit, compute_s);
    const double begin_s = context.now_s();
    for (int k = 0; k < kTimes; ++k) {
      const LoopPlan plan = go_through(context, remote, profit, compute_s);
      tied.cut += plan.reason == plan::Reason::tied ? 1 : 0;
    }
    tied.seconds = context.now_s() - begin_s;
    rma::MechanismReport report;
    detail::LoopState::of(context.state()).add_to(report);
    tied.savings = report.savings;
  });
  return tied;
}

TEST(GuardedRun, ATieIsMeasured) {
  constexpr double kMeasured = -1;
  for (const double compute_s : {kTiedComputeS, kMeasured}) {
    const Tied faster = run_tied(0.2, compute_s);
    EXPECT_LT(faster.seconds, 0.82 * kTimes * kTiedComputeS) << compute_s;
    EXPECT_GT(faster.cut, 0.95 * kTimes) << compute_s;
    EXPECT_LT(faster.savings.actual_s, 0.85 * faster.savings.baseline_s) << compute_s;
    EXPECT_EQ(faster.savings.sites, 1) << compute_s;
    for (const double loss : {0.05, 0.5, 5.0}) {
      const Tied slower = run_tied(-loss, compute_s);
      EXPECT_LT(slower.seconds, 1.03 * kTimes * kTiedComputeS) << loss;
      EXPECT_LT(slower.cut, 0.2 * kTimes) << loss;
      EXPECT_EQ(slower.savings.sites, 0) << loss;  // nothing is tuned
    }
  }
}

// The times of a part and of the whole are not compared.
TEST(GuardedRun, ATieWithinItselfIsMeasured) {
  const ModelFile file("guard_test", wrong_model(1, 0, 1));
  run_visit(file.path(), [](Context& context, global_ptr<const double> remote) {
    int cut = 0;
    const auto once = [&](const std::function<void()>& within) {
      const LoopPlan plan = go_through(context, remote, 0.2, kTiedComputeS, within);
      cut += plan.reason == plan::Reason::tied ? 1 : 0;
    };
    for (int k = 0; k < 400; ++k) once([&] { once({}); });
    EXPECT_GT(cut, 700);
  });
}

// A model of another network, on which gets take next to nothing: short rows that lie far apart are
// not worth packing there.
model::TunedModel model_of_fast_gets() {
  const auto profile = fabric::resolve_profile(kFabric);
  EXPECT_TRUE(profile.ok());
  model::TunedModel m = wrong_model(1, 0, 1);
  model::PathModel& path = m.network["inter-node"];
  path.am = exactly(profile->profile.am, profile->profile.queue_depth);
  for (model::Segment& segment : path.get->segments) {
    for (std::optional<model::Parameter>* const parameter :
         {&segment.o_base_s, &segment.o_per_byte_s, &segment.L_s, &segment.g_s,
          &segment.G_s_per_byte, &segment.r_base_s, &segment.r_per_byte_s}) {
      if (*parameter) *parameter = model::example_parameter(1e-3 * (*parameter)->value, 0);
    }
  }
  m.vis.clear();
  return m;
}

// What comes of kSteps executions of a nest that reads two columns.
struct Columns {
  static constexpr int kSteps = 40;
  double seconds = 0;
  int tuned = 0;
  plan::VisMethod method = plan::VisMethod::best;  // of the last one
};

Columns read_columns(const std::string& model, bool guard, const NestOptions& options) {
  Columns columns;
  auto group = bootstrap::group_on({"", kFabric, "virtual"}, 2);
  group.context.model_path = model;
  group.context.guard = guard;
  const Status ran = bootstrap::run_as_fibers(group, [&](Context& context) {
    constexpr size_t kLong = 128;
    constexpr size_t kPitch = 64;
    const auto matrix = *context.new_symmetric_array<double>(kLong * kPitch);
    for (size_t at = 0; at < kLong * kPitch; ++at) context.local(matrix)[at] = 1;
    context.barrier();
    if (context.rank_me() == 0) {
      const auto remote = global_ptr<const double>(context.on_rank(matrix, 1));
      const auto [i, j] = loop_indices<2>();
      const double begin_s = context.now_s();
      for (int step = 0; step < Columns::kSteps; ++step) {
        double sum = 0;
        const NestPlan plan = for_nest(
            context, {kLong, size_t{2}}, options,
            [&](const std::array<size_t, 2>& at, const double& in) {
              sum += in;
              if (at[0] == 0 && at[1] == 0) context.compute_for(1e-6);
            },
            read(remote, i * kPitch + j));
        EXPECT_EQ(sum, 2 * kLong);
        columns.tuned += plan.reason == plan::Reason::tuned ? 1 : 0;
        columns.method = plan.transfer[0].method;
      }
      columns.seconds = context.now_s() - begin_s;
    }
    context.barrier();
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return columns;
}

// The nest is not worth cutting: what the model decides is how the tiles of the vectorised one
// travel. That is a plan like any other, in programs of few steps, too.
TEST(GuardedRun, ANestGivesUpMethodsOfTilesThatLose) {
  const ModelFile file("guard_test", model_of_fast_gets());
  for (const double compute_s : {-1.0, 1e-6}) {
    const NestOptions options{.compute_s = compute_s};
    const NestOptions without{.compute_s = compute_s, .use_model = false};
    const Columns simple = read_columns(file.path(), true, without);
    const Columns unguarded = read_columns(file.path(), false, options);
    const Columns guarded = read_columns(file.path(), true, options);
    EXPECT_EQ(simple.tuned, 0);
    EXPECT_EQ(simple.method, plan::VisMethod::packed);
    // It would lose.
    EXPECT_GT(unguarded.tuned, Columns::kSteps / 2) << compute_s;
    EXPECT_NE(unguarded.method, plan::VisMethod::packed) << compute_s;
    EXPECT_GT(unguarded.seconds, 2 * simple.seconds) << compute_s;
    EXPECT_GT(guarded.tuned, 0) << compute_s;
    EXPECT_LE(guarded.tuned, 4) << compute_s;
    EXPECT_EQ(guarded.method, plan::VisMethod::packed) << compute_s;
    EXPECT_LT(guarded.seconds, unguarded.seconds / 2) << compute_s;
  }
}

TEST(GuardedRun, ACorruptedModelCostsLittle) {
  const ModelFile right("guard_test", wrong_model(1, 0, 1));
  const Times simple = run(right.path(), true, false);
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const ModelFile file("guard_test", wrong_model(seed, 5, 1));
    const Times guarded = run(file.path(), true, true);
    EXPECT_LT(guarded.loop_s, 1.02 * simple.loop_s) << seed;
    EXPECT_LT(guarded.nest_s, 1.02 * simple.nest_s) << seed;
  }
}

}  // namespace
}  // namespace stripline
