// Loops take the time that the planner predicts, on networks that are exactly known: the
// emulated fabric on its virtual clock, without jitter, with computation of given length. Fabric,
// engine and closed forms are three implementations of docs/measurement.md.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>
#include <stripline/loop.h>

#include "base/json.h"
#include "optimizer/plan/strip_costs.h"
#include "runtime/bootstrap/testing/as_fibers.h"
#include "runtime/fabric/emulated/testing/profile_file.h"
#include "runtime/loop/testing/exact_costs.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using plan::Direction;
using plan::Schedule;

struct Case {
  Direction direction;
  plan::StripCandidate candidate;
  double compute_s;
  double own_s = 0;
};

struct Timing {
  double measured_s = 0;
  double predicted_s = 0;
  double overhead_s = 0;  ///< of all strips, as predicted
  double alone_s = 0;     ///< predicted if peers served at any time
};

class LoopTime : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr size_t kCount = 65536;  // doubles
  // Longer than a collective operation takes on any of the networks.
  static constexpr double kPauseSeconds = 1e-2;

  // The measured and the predicted time of each case, on rank 0. `both`: rank 1 does the same.
  static std::vector<Timing> run(const std::string& profile, const std::vector<Case>& cases,
                                 bool both = false) {
    const std::string fabric = "emulated:" + profile + ",compute=none,jitter=off";
    const plan::StripCosts costs = exact_costs(fabric);
    std::vector<Timing> timings(cases.size());
    bootstrap::ThreadGroupOptions options;
    options.context.fabric = fabric;
    options.context.clock = "virtual";
    options.context.segment_bytes = size_t{4} << 20;
    const Status ran = bootstrap::run_as_fibers(options, [&](Context& context) {
      const auto mine = context.new_symmetric_array<double>(kCount);
      ASSERT_TRUE(mine.ok());
      for (size_t i = 0; i < cases.size(); ++i) {
        // All at the same time, however they leave a collective operation.
        const double begin_s =
            context.reduce_all(context.now_s(), Context::ReduceOp::max) + kPauseSeconds;
        context.compute_for(begin_s - context.now_s());
        if (context.rank_me() == 0) timings[i] = time_of(context, *mine, costs, cases[i]);
        if (context.rank_me() != 0 && both) time_of(context, *mine, costs, cases[i]);
        context.barrier();
      }
    });
    EXPECT_TRUE(ran.ok());
    return timings;
  }

 private:
  static Timing time_of(Context& context, global_ptr<double> mine, const plan::StripCosts& costs,
                        const Case& c) {
    LoopOptions options;
    options.force = c.candidate;
    plan::StripRequest request;
    request.direction = c.direction;
    request.total_bytes = kCount * sizeof(double);
    request.compute_s = c.compute_s;
    request.surroundings.target_polls_only = context.state().job.fabric().info().gets_need_target;
    if (c.own_s > 0) {
      request.own_bytes =
          static_cast<uint64_t>(c.own_s / c.compute_s * static_cast<double>(request.total_bytes));
    }
    const auto compute = [&](size_t, size_t begin, size_t end, const double*) {
      context.compute_for(c.compute_s * static_cast<double>(end - begin) / kCount);
    };
    const auto remote = context.on_rank(mine, 1 - context.rank_me());
    Timing timing;
    const plan::StripPlan plan = plan::force_strip(request, &costs, c.candidate);
    timing.predicted_s = plan.predicted_s;
    timing.overhead_s =
        static_cast<double>(plan.count) * costs.strip_overhead(cost::Corner::nominal);
    request.surroundings.target_polls_only = false;
    timing.alone_s = plan::force_strip(request, &costs, c.candidate).predicted_s;
    const double begin_s = context.now_s();
    if (c.direction == Direction::get) {
      const LoopBlock<const double> block{remote, kCount};
      strip_for_blocks(
          context, std::span(&block, 1), options,
          [&] {
            if (c.own_s > 0) context.compute_for(c.own_s);
          },
          compute);
    } else {
      strip_write(context, remote, kCount, options,
                  [&](size_t begin, size_t end, double* strip) { compute(0, begin, end, strip); });
    }
    timing.measured_s = context.now_s() - begin_s;
    return timing;
  }
};

TEST_P(LoopTime, AgreesWithThePrediction) {
  std::vector<Case> cases;
  for (const Direction direction : {Direction::get, Direction::put}) {
    for (const double compute_s : {50e-6, 500e-6, 5e-3}) {
      cases.push_back({direction, {Schedule::vectorised, 0, 1}, compute_s});
      for (const uint64_t strip : {uint64_t{4096}, uint64_t{16384}, uint64_t{75000}}) {
        if (kCount * sizeof(double) / strip <= 32) {  // within every profile's queue
          cases.push_back({direction, {Schedule::all_issued, strip, 1}, compute_s});
        }
        for (const uint32_t window : {1U, 2U, 4U}) {
          cases.push_back({direction, {Schedule::pipelined, strip, window}, compute_s});
        }
      }
    }
  }
  for (const double own_s : {100e-6, 2e-3}) {
    cases.push_back({Direction::get, {Schedule::vectorised, 0, 1}, 500e-6, own_s});
    cases.push_back({Direction::get, {Schedule::all_issued, 32768, 1}, 500e-6, own_s});
    cases.push_back({Direction::get, {Schedule::pipelined, 32768, 2}, 500e-6, own_s});
  }
  const std::vector<Timing> timings = run(GetParam(), cases);
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    // A strip that must be waited for needs no poll: the overhead is charged up to once per strip.
    EXPECT_NEAR(timings[i].measured_s, timings[i].predicted_s,
                0.02 * timings[i].predicted_s + timings[i].overhead_s)
        << plan::to_string(c.direction) << " " << plan::to_string(c.candidate.schedule)
        << " strips of " << c.candidate.strip_bytes << ", window " << c.candidate.window
        << ", compute " << c.compute_s << " s, own " << c.own_s << " s: " << timings[i].measured_s
        << " s, predicted " << timings[i].predicted_s << " s";
  }
}

// Both ranks go through the same loop, and serve each other where they wait and between strips.
TEST_P(LoopTime, OfPeersThatServeBetweenStripsAgreesWithThePrediction) {
  std::vector<Case> cases;
  for (const double compute_s : {50e-6, 500e-6, 5e-3}) {
    for (const double own_s : {0.0, 500e-6}) {
      cases.push_back({Direction::get, {Schedule::vectorised, 0, 1}, compute_s, own_s});
      cases.push_back({Direction::get, {Schedule::all_issued, 512 << 10, 1}, compute_s, own_s});
      cases.push_back({Direction::get, {Schedule::all_issued, 64 << 10, 1}, compute_s, own_s});
      for (const uint32_t window : {1U, 2U, 4U}) {
        cases.push_back(
            {Direction::get, {Schedule::pipelined, 64 << 10, window}, compute_s, own_s});
      }
    }
  }
  for (const double serve_s : {0.0, 2e-6}) {
    const fabric::ProfileFile profile(GetParam(), [&](Json& changed) {
      changed["get"]["needs_target"] = true;
      for (Json& segment : changed["get"]["segments"]) {
        segment["s_base_s"] = {{"value", serve_s}, {"assumed", "for this test"}};
      }
    });
    const std::vector<Timing> timings = run(profile.path(), cases, true);
    double error = 0;
    double error_alone = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
      const Case& c = cases[i];
      const Timing& t = timings[i];
      const std::string what = std::string(plan::to_string(c.candidate.schedule)) + " strips of " +
                               std::to_string(c.candidate.strip_bytes) + ", window " +
                               std::to_string(c.candidate.window) + ", compute " +
                               std::to_string(c.compute_s) + " s, own " + std::to_string(c.own_s) +
                               " s: " + std::to_string(t.measured_s) + " s, predicted " +
                               std::to_string(t.predicted_s) + " s";
      // Requests that come behind the replies to the peer's take longer. Ranks in step ask when the
      // other one begins to compute; those that get out of step find each other waiting more often.
      EXPECT_LT(t.measured_s, 1.15 * t.predicted_s + t.overhead_s) << what;
      EXPECT_GT(t.measured_s, 0.97 * t.alone_s - t.overhead_s) << what;
      error += std::abs(std::log(t.measured_s / t.predicted_s));
      error_alone += std::abs(std::log(t.measured_s / t.alone_s));
    }
    const auto count = static_cast<double>(cases.size());
    EXPECT_LT(error / count, 0.04);
    EXPECT_LT(error, error_alone);
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, LoopTime,
                         ::testing::Values("opteron-vapi", "itanium-gm", "modern-rdma",
                                           "cloud-ethernet"),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace stripline
