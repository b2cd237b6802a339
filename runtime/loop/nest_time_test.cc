// Tells whether nests take the time that the planner predicts, as loop_time_test.cc asks of loops.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>
#include <stripline/nest.h>

#include "runtime/bootstrap/testing/as_fibers.h"
#include "runtime/loop/testing/exact_costs.h"

namespace stripline {
namespace {

using plan::NestCandidate;
using plan::Schedule;

constexpr size_t kRows = 64;
constexpr size_t kColumns = 512;
constexpr size_t kAtOnce = 64;  // iterations whose computation is spent together

struct Timing {
  double measured_s = 0;
  double predicted_s = 0;
};

class NestTime : public ::testing::TestWithParam<std::string> {
 protected:
  // The nest y[i] += a[i][j], whose computation takes compute_s, under each candidate; the last
  // one is the planner's choice.
  std::vector<Timing> run(const std::vector<NestCandidate>& candidates, double compute_s) const {
    const std::string fabric = "emulated:" + GetParam() + ",compute=none,jitter=off";
    const plan::StripCosts costs = exact_costs(fabric);
    std::vector<Timing> timings;
    bootstrap::ThreadGroupOptions options;
    options.context.fabric = fabric;
    options.context.clock = "virtual";
    options.context.segment_bytes = size_t{4} << 20;
    const Status ran = bootstrap::run_as_fibers(options, [&](Context& context) {
      const auto matrix = *context.new_symmetric_array<double>(kRows * kColumns);
      const auto sums = *context.new_symmetric_array<double>(kRows);
      const auto [i, j] = loop_indices<2>();
      const auto a = context.on_rank(matrix, 1);
      const auto y = context.on_rank(sums, 1);
      plan::NestRequest request;
      request.nest.add_loop(kRows);
      request.nest.add_loop(kColumns);
      request.nest.add(detail::reference_of(context, request.nest, read(a, i * kColumns + j)));
      request.nest.add(detail::reference_of(context, request.nest, update(y, i)));
      request.links[0].strip = &costs;
      request.compute_s = compute_s;
      std::vector<NestCandidate> all = candidates;
      const plan::NestPlan best = plan::plan_nest(request);
      all.push_back(best.candidate());
      for (const NestCandidate& candidate : all) {
        context.barrier();
        if (context.rank_me() == 0) {
          Timing timing;
          timing.predicted_s = plan::force_nest(request, candidate).predicted_s;
          NestOptions nest_options;
          nest_options.force = candidate;
          const double begin_s = context.now_s();
          for_nest(
              context, {kRows, kColumns}, nest_options,
              [&](const std::array<size_t, 2>& index, const double&, double&) {
                if (index[1] % kAtOnce == 0) {
                  context.compute_for(compute_s * kAtOnce / (kRows * kColumns));
                }
              },
              read(a, i * kColumns + j), update(y, i));
          timing.measured_s = context.now_s() - begin_s;
          timings.push_back(timing);
        }
        context.barrier();
      }
    });
    EXPECT_TRUE(ran.ok());
    return timings;
  }
};

TEST_P(NestTime, AgreesWithThePredictionAndTheChoiceIsGood) {
  const std::vector<NestCandidate> candidates = {
      {Schedule::vectorised, {0, kRows}, 1}, {Schedule::vectorised, {0, 8}, 1},
      {Schedule::all_issued, {0, 8}, 1},     {Schedule::pipelined, {0, 1}, 4},
      {Schedule::pipelined, {0, 4}, 2},      {Schedule::pipelined, {0, 8}, 1},
      {Schedule::pipelined, {1, 256}, 4}};
  for (const double compute_s : {100e-6, 1e-3, 5e-3}) {
    const auto timings = run(candidates, compute_s);
    ASSERT_EQ(timings.size(), candidates.size() + 1);
    double best_s = timings[0].measured_s;
    for (size_t i = 0; i < timings.size(); ++i) {
      EXPECT_NEAR(timings[i].predicted_s, timings[i].measured_s, 0.2 * timings[i].measured_s)
          << "candidate " << i << ", computation of " << compute_s << " s";
      best_s = std::min(best_s, timings[i].measured_s);
    }
    // A gain that a body which is a little slower on tiles would eat up is left alone.
    EXPECT_LE(timings.back().measured_s, 1.08 * best_s);
    EXPECT_LE(timings.back().measured_s, 1.0001 * timings[0].measured_s);
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, NestTime,
                         ::testing::Values("opteron-vapi", "itanium-gm", "power5-lapi",
                                           "modern-rdma", "cloud-ethernet"),
                         [](const auto& profile) {
                           std::string name = profile.param;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace stripline
