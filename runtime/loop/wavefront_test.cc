#include "optimizer/plan/wavefront.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/wavefront.h>

#include "base/quantity.h"
#include "runtime/bootstrap/testing/as_fibers.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/fabric/emulated/testing/profile_file.h"
#include "runtime/loop/loop_state.h"
#include "runtime/loop/testing/exact_costs.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline {
namespace {

constexpr size_t kLines = 37;
constexpr size_t kWidth = 3;
constexpr uint64_t kRounds = 6;

// What a line has been through after a stage: the ranks before it, and the round.
uint64_t after(uint64_t before, rank_t rank, size_t line, size_t column, uint64_t round) {
  return before * 31 + uint64_t{rank} * 7 + line * 5 + column + round;
}

// A sweep along all ranks, and one back, in each round; it checks what comes to its ends.
class ThereAndBack {
 public:
  ThereAndBack(Context& context, WavefrontOptions options)
      : context_(context),
        left_(2 * kLines * kWidth),
        wavefront_(*Wavefront::create(context, 2, options)),
        came_(*context.new_symmetric_array<uint64_t>(2 * kLines * kWidth)) {}

  void round(uint64_t round) {
    wavefront_.finish();
    stage(0, round);
    stage(1, round);
    const rank_t me = context_.rank_me();
    if (me != 0) return;
    uint64_t expected = 0;
    for (rank_t r = 0; r < context_.rank_n(); ++r) expected = after(expected, r, 3, 1, round);
    for (rank_t r = context_.rank_n(); r-- > 0;) expected = after(expected, r, 3, 1, round);
    EXPECT_EQ(last_, expected) << round;
  }

  const Wavefront& wavefront() const { return wavefront_; }

 private:
  // Forward (0), or back.
  void stage(size_t direction, uint64_t round) {
    const rank_t me = context_.rank_me();
    const rank_t end = context_.rank_n() - 1;
    const bool first = direction == 0 ? me == 0 : me == end;
    const bool last = direction == 0 ? me == end : me == 0;
    Wavefront::Stage<uint64_t> stage;
    stage.lines = kLines;
    stage.width = kWidth;
    if (!first) stage.comes = direction;
    uint64_t* const left = left_.data() + direction * kLines * kWidth;
    const uint64_t* came = context_.local(came_) + direction * kLines * kWidth;
    if (first && direction == 1) came = left_.data();
    if (!last) {
      stage.leaves = direction;
      stage.results = left;
      stage.place = context_.on_rank(came_, direction == 0 ? me + 1 : me - 1) +
                    static_cast<std::ptrdiff_t>(direction * kLines * kWidth);
    }
    size_t done = 0;
    wavefront_.run(stage, [&](size_t begin, size_t end_line) {
      EXPECT_EQ(begin, done);
      EXPECT_LT(begin, end_line);
      done = end_line;
      for (size_t line = begin; line < end_line; ++line) {
        for (size_t column = 0; column < kWidth; ++column) {
          const size_t at = line * kWidth + column;
          const uint64_t before = first && direction == 0 ? 0 : came[at];
          left[at] = after(before, me, line, column, round);
        }
      }
    });
    EXPECT_EQ(done, kLines);
    last_ = left[3 * kWidth + 1];
  }

  Context& context_;
  std::vector<uint64_t> left_;  // until the wavefront has finished
  Wavefront wavefront_;
  global_ptr<uint64_t> came_;
  uint64_t last_ = 0;
};

class WavefrontOn : public ::testing::TestWithParam<bootstrap::FabricUnderTest> {};

TEST_P(WavefrontOn, HandsOnWhatWasComputed) {
  for (const uint32_t pieces : {0U, 1U, 2U, 7U, 64U}) {
    bootstrap::on_ranks(bootstrap::group_on(GetParam(), 3), [&](Context& context) {
      ThereAndBack sweep(context, {.pieces = pieces});
      for (uint64_t round = 0; round < kRounds; ++round) sweep.round(round);
      if (context.rank_me() == 0) {
        EXPECT_EQ(sweep.wavefront().pieces(0), std::clamp(pieces, 1U, 37U));
        EXPECT_EQ(sweep.wavefront().pieces(1), 0U);
      }
    });
  }
}

TEST_P(WavefrontOn, RanksNeedNotAgree) {
  bootstrap::on_ranks(bootstrap::group_on(GetParam(), 4), [&](Context& context) {
    ThereAndBack sweep(context, {.pieces = 1 + 4 * context.rank_me()});
    for (uint64_t round = 0; round < kRounds; ++round) sweep.round(round);
  });
}

TEST_P(WavefrontOn, CanBeUsedAgainAfterABodyHasThrown) {
  bootstrap::on_ranks(bootstrap::group_on(GetParam(), 2), [](Context& context) {
    const bool sends = context.rank_me() == 0;
    const auto came = *context.new_symmetric_array<uint64_t>(kLines);
    std::vector<uint64_t> left(kLines);
    Wavefront sweep = *Wavefront::create(context, 1, {.pieces = 5});
    for (uint64_t round = 0; round < 4; ++round) {
      Wavefront::Stage<uint64_t> stage;
      stage.lines = kLines;
      if (sends) {
        stage.leaves = 0;
        stage.width = 1;
        stage.results = left.data();
        stage.place = context.on_rank(came, 1);
      } else {
        stage.comes = 0;
      }
      const bool throws = !sends && round == 1;
      const auto body = [&](size_t begin, size_t end) {
        for (size_t line = begin; line < end; ++line) {
          if (sends) {
            left[line] = 1000 * round + line;
          } else {
            EXPECT_EQ(context.local(came)[line], 1000 * round + line);
          }
        }
        if (throws) throw std::runtime_error("enough");
      };
      if (throws) {
        EXPECT_THROW(sweep.run(stage, body), std::runtime_error);
      } else {
        sweep.run(stage, body);
      }
      sweep.finish();
      context.barrier();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, WavefrontOn, ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel{});

TEST(Wavefront, AStageWithoutLinesIsNone) {
  bootstrap::on_ranks(bootstrap::group_on(bootstrap::fabrics_under_test()[1], 2),
                      [&](Context& context) {
                        auto wavefront = *Wavefront::create(context, 1);
                        const auto place = *context.new_symmetric_array<double>(8);
                        Wavefront::Stage<double> stage;
                        stage.comes = context.rank_me() == 1 ? 0 : Wavefront::kNoCrossing;
                        stage.leaves = context.rank_me() == 0 ? 0 : Wavefront::kNoCrossing;
                        stage.place = context.on_rank(place, 1);
                        for (int round = 0; round < 3; ++round) {
                          wavefront.run(stage, [](size_t, size_t) { FAIL(); });
                        }
                      });
}

constexpr const char* kFabric = "emulated:opteron-vapi,compute=none,jitter=off";
constexpr size_t kDoubles = size_t{64} * 40;
constexpr rank_t kRing = 4;
constexpr int kStages = 80;

struct Ring {
  double sweep_s = 0;  // of kStages stages of a rank, after the first rounds
  uint32_t pieces = 0;
};

// Rank r hands on to r + 1, and the last one to the first: all are busy in each stage.
Ring go_round(const std::string& model, double compute_s, const WavefrontOptions& options,
              const std::string& trace = "off", const std::string& fabric = kFabric,
              const std::string& tuning = "") {
  constexpr int kWarm = 24;  // each place is a stage of its own
  Ring ring;
  auto group = bootstrap::group_on({"", fabric, "virtual"}, kRing);
  group.context.model_path = model;
  group.context.trace = trace;
  group.context.tuning = tuning;
  const Status ran = bootstrap::run_as_fibers(group, [&](Context& context) {
    // As many places as ranks: the others are between a rank and its successor.
    auto wavefront = *Wavefront::create(context, kRing, options);
    const auto came = *context.new_symmetric_array<double>(kRing * kDoubles);
    const std::vector<double> left(kDoubles, 1.0);
    const rank_t next = (context.rank_me() + 1) % context.rank_n();
    double begin_s = 0;
    for (int i = 0; i < kWarm + kStages; ++i) {
      if (i == kWarm) begin_s = context.now_s();
      const auto turn = static_cast<size_t>(i) % kRing;
      Wavefront::Stage<double> stage;
      stage.lines = 64;
      stage.width = kDoubles / 64;
      if (i > 0) stage.comes = (turn + kRing - 1) % kRing;
      stage.leaves = turn;
      stage.results = left.data();
      stage.place = context.on_rank(came, next) + static_cast<std::ptrdiff_t>(turn * kDoubles);
      wavefront.run(stage, [&](size_t begin, size_t end) {
        context.compute_for(compute_s * static_cast<double>(end - begin) / 64);
      });
    }
    const double seconds = context.now_s() - begin_s;
    wavefront.finish();
    if (context.rank_me() == 0) ring = {seconds, wavefront.pieces(0)};
    context.barrier();
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return ring;
}

model::TunedModel known_model() {
  model::TunedModel m = model::example_model();
  m.network["inter-node"] = exact_path(kFabric);
  m.compute.reset();
  m.strip = exact_strip(kFabric);
  return m;
}

TEST(PlannedWavefront, HidesTheLatencyWhereThatPays) {
  const ModelFile file("wavefront_test", known_model());
  plan::WavefrontRequest request;
  request.lines = 64;
  request.line_bytes = kDoubles / 64 * sizeof(double);
  request.stages = kStages;
  request.surroundings.flag_with_data = true;
  const plan::StripCosts costs = exact_costs(kFabric);
  for (const double compute_s : {10e-6, 30e-6, 100e-6}) {
    request.compute_s = compute_s;
    const plan::WavefrontPlan plan = plan::plan_wavefront(request, &costs);
    ASSERT_GT(plan.pieces, 1U);
    const Ring planned = go_round(file.path(), compute_s, {.stages = kStages, .self_check = false});
    EXPECT_EQ(planned.pieces, plan.pieces);
    EXPECT_NEAR(planned.sweep_s, plan.predicted_s, 0.03 * plan.predicted_s);
    for (const uint32_t pieces : {1U, 2U, 3U, 4U, 8U, 16U}) {
      const double forced_s = go_round(file.path(), compute_s, {.pieces = pieces}).sweep_s;
      const double predicted_s = plan::predict_wavefront(request, costs, pieces).sweep_s;
      EXPECT_NEAR(forced_s, predicted_s, 0.03 * predicted_s) << compute_s << " s in " << pieces;
      EXPECT_LT(planned.sweep_s, 1.02 * forced_s) << compute_s << " s in " << pieces;
    }
  }
}

// Unless the program says itself how many pieces there are.
TEST(PlannedWavefront, IsCutAsARuleSays) {
  const ModelFile file("wavefront_test", known_model());
  const auto pieces = [&](const std::string& tuning, const WavefrontOptions& options) {
    return go_round(file.path(), 100e-6, options, "off", kFabric, tuning).pieces;
  };
  EXPECT_EQ(pieces("sweep:*:3", {}), 3U);
  EXPECT_EQ(pieces("sweep:*:baseline", {}), 1U);
  EXPECT_EQ(pieces("sweep:*:3", {.pieces = 2}), 2U);
  EXPECT_EQ(pieces("sweep:0-8:3", {.self_check = false}), pieces("", {.self_check = false}))
      << "stages of this size have no rule";
}

// Where calls serve puts, and that takes time, stages that are cut serve as many pieces.
TEST(PlannedWavefront, CountsWhatServingPiecesTakes) {
  const ModelFile file("wavefront_test", known_model());
  const fabric::ProfileFile profile("opteron-vapi", [](Json& changed) {
    changed["put"]["needs_target"] = true;
    for (Json& segment : changed["put"]["segments"]) {
      segment["s_base_s"] = {{"value", 4e-6}, {"assumed", "for this test"}};
    }
  });
  const std::string fabric = "emulated:" + profile.path() + ",compute=none,jitter=off";
  const plan::StripCosts costs = exact_costs(fabric);
  plan::WavefrontRequest request;
  request.lines = 64;
  request.line_bytes = kDoubles / 64 * sizeof(double);
  request.stages = kStages;
  request.surroundings.flag_with_data = true;
  request.surroundings.target_polls_only = true;
  request.compute_s = 100e-6;
  for (const uint32_t pieces : {1U, 4U, 8U, 16U}) {
    const double forced_s =
        go_round(file.path(), request.compute_s, {.pieces = pieces}, "off", fabric).sweep_s;
    const double predicted_s = plan::predict_wavefront(request, costs, pieces).sweep_s;
    EXPECT_NEAR(forced_s, predicted_s, 0.01 * predicted_s) << "in " << pieces;
  }
}

TEST(PlannedWavefront, WithoutAModelItIsOnePiece) {
  EXPECT_EQ(go_round("", 100e-6, {}).pieces, 1U);
  const ModelFile file("wavefront_test", known_model());
  EXPECT_EQ(go_round(file.path(), 100e-6, {.use_model = false}).pieces, 1U);
}

// What a trace shows of a stage.
struct Traced {
  std::string times;
  std::string chosen;
  double predicted_s = 0;  // 0: "-"
  double measured_s = 0;
};

// The row that begins in column 28 with `what`.
Traced row_of(const std::string& text, const std::string& what) {
  const size_t begin = text.find("  " + what + "  ");
  EXPECT_NE(begin, std::string::npos) << what << " is not in\n" << text;
  if (begin == std::string::npos) return {};
  const std::string line = text.substr(begin + 2, text.find('\n', begin) - begin - 2);
  const auto column = [&](size_t at, size_t width) {
    const std::string field = line.substr(at, width);
    return field.substr(0, field.find_last_not_of(' ') + 1);
  };
  const auto seconds = [](std::string field) {
    std::erase(field, ' ');
    return field == "-" ? 0 : *parse_seconds(field);
  };
  return {column(26, 9), column(35, 26), seconds(column(61, 11)), seconds(column(72, 20))};
}

TEST(TracedWavefront, ShowsPiecesWhyAndTheTimesOfAStage) {
  const ModelFile file("wavefront_test", known_model());
  const auto traced = [&](double compute_s, const WavefrontOptions& options) {
    ::testing::internal::CaptureStderr();
    go_round(file.path(), compute_s, options, "sites");
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("wavefront_test.cc:"), std::string::npos) << said;
    return row_of(said, "crossing 0, 64 x 320 B");
  };
  // 26 rounds: the first one begins the sweep, which is another row; two are timed.
  for (const double compute_s : {10e-6, 100e-6}) {
    plan::WavefrontRequest request;
    request.lines = 64;
    request.line_bytes = kDoubles / 64 * sizeof(double);
    request.stages = kStages;
    request.surroundings.flag_with_data = true;
    request.compute_s = compute_s;
    const plan::StripCosts costs = exact_costs(kFabric);
    const uint32_t pieces = plan::plan_wavefront(request, &costs).pieces;
    const Traced row = traced(compute_s, {.stages = kStages, .self_check = false});
    EXPECT_EQ(row.chosen, std::to_string(pieces) + " pieces, tuned");
    EXPECT_EQ(row.times, "25");
    const double step_s = plan::predict_wavefront(request, costs, pieces).step_s;
    EXPECT_NEAR(row.predicted_s, step_s, 0.01 * step_s);
    EXPECT_NEAR(row.measured_s, step_s, 0.05 * step_s);
  }
  const Traced asked = traced(10e-6, {.pieces = 5});
  EXPECT_EQ(asked.chosen, "5 pieces, as asked");
  EXPECT_EQ(asked.predicted_s, 0);
  EXPECT_GT(asked.measured_s, 10e-6);
  EXPECT_EQ(traced(10e-6, {.use_model = false}).chosen, "1 piece, no model");
}

// The command holds all that the planner was asked: what it asks is planned alike.
TEST(TracedWavefront, ShowsTheCommandThatExplains) {
  const ModelFile file("wavefront_test", known_model());
  ::testing::internal::CaptureStderr();
  const uint32_t pieces =
      go_round(file.path(), 30e-6, {.stages = kStages, .self_check = false}, "sites").pieces;
  const std::string said = ::testing::internal::GetCapturedStderr();
  const std::string command = " (crossing 0, 64 x 320 B)\n    stripline explain sweep " +
                              file.path() +
                              " --path inter-node --stages 80 --lines 64 --line-bytes 320 "
                              "--compute ";
  const size_t begin = said.find(command);
  ASSERT_NE(begin, std::string::npos) << said;
  std::string rest = said.substr(begin + command.size());
  rest = rest.substr(0, rest.find('\n'));
  ASSERT_TRUE(rest.ends_with(" --flag-with-data")) << rest;
  plan::WavefrontRequest request;
  request.lines = 64;
  request.line_bytes = 320;
  request.stages = 80;
  request.compute_s = *parse_seconds(rest.substr(0, rest.find(' ')));
  request.surroundings.flag_with_data = true;
  EXPECT_NEAR(request.compute_s, 30e-6, 1e-6);
  const plan::StripCosts costs = exact_costs(kFabric);
  EXPECT_EQ(plan::plan_wavefront(request, &costs).pieces, pieces);
  // No one was asked.
  ::testing::internal::CaptureStderr();
  go_round(file.path(), 30e-6, {.pieces = 2}, "sites");
  EXPECT_EQ(::testing::internal::GetCapturedStderr().find("explain sweep"), std::string::npos);
  // Where puts need their target, the planner knows.
  const fabric::ProfileFile profile("opteron-vapi",
                                    [](Json& changed) { changed["put"]["needs_target"] = true; });
  ::testing::internal::CaptureStderr();
  go_round(file.path(), 30e-6, {.stages = kStages, .self_check = false}, "sites",
           "emulated:" + profile.path() + ",compute=none,jitter=off");
  EXPECT_NE(
      ::testing::internal::GetCapturedStderr().find(" --target-polls-only --flag-with-data\n"),
      std::string::npos);
}

// Where each stage is another rank's, waiting for the front is no part of it.
TEST(TracedWavefront, CountsAStageOfAChainFromItsFirstPiece) {
  constexpr rank_t kChain = 4;
  constexpr double kCompute = 200e-6;
  const ModelFile file("wavefront_test", known_model());
  auto group = bootstrap::group_on({"", kFabric, "virtual"}, kChain);
  group.context.model_path = file.path();
  group.context.trace = "sites";
  std::string second;  // what rank 2 knows
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_as_fibers(group, [&](Context& context) {
    auto wavefront =
        *Wavefront::create(context, 1, {.stages = kChain, .all_busy = false, .self_check = false});
    const auto came = *context.new_symmetric_array<double>(kDoubles);
    const std::vector<double> left(kDoubles, 1.0);
    const rank_t me = context.rank_me();
    for (int round = 0; round < 20; ++round) {
      Wavefront::Stage<double> stage;
      stage.lines = 64;
      stage.width = kDoubles / 64;
      stage.results = left.data();
      if (me > 0) stage.comes = 0;
      if (me + 1 < kChain) {
        stage.leaves = 0;
        stage.place = context.on_rank(came, me + 1);
      }
      wavefront.run(stage, [&](size_t begin, size_t end) {
        context.compute_for(kCompute * static_cast<double>(end - begin) / 64);
      });
      wavefront.finish();
      context.barrier();
    }
    if (me == 2) second = context.state().mechanisms.instruments().trace->text();
    context.barrier();
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  for (const std::string& text : {said, second}) {
    const Traced row = row_of(text, "crossing 0, 64 x 320 B");
    EXPECT_NE(row.chosen.find(" pieces, tuned"), std::string::npos) << text;
    EXPECT_GT(row.predicted_s, kCompute);
    EXPECT_NEAR(row.measured_s, row.predicted_s, 0.05 * row.predicted_s) << text;
  }
}

TEST(Wavefront, HasNoMoreCrossingsThanASegmentHoldsFlagsOf) {
  bootstrap::on_ranks(bootstrap::group_on({"", kFabric, "virtual"}, 2), [](Context& context) {
    for (const size_t crossings : {size_t{1} << 30, size_t{1} << 60, ~size_t{0}}) {
      const auto wavefront = Wavefront::create(context, crossings);
      ASSERT_FALSE(wavefront.ok());
      EXPECT_EQ(wavefront.error().code(), ErrorCode::resource_exhausted);
    }
    context.barrier();
  });
}

class WavefrontDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(WavefrontDeathTest, RefusesWhatDoesNotExist) {
  const auto makes = [](const WavefrontOptions& options, size_t comes) {
    on_ranks(2, [&](Context& context) {
      auto wavefront = *Wavefront::create(context, 2, options);
      Wavefront::Stage<double> stage;
      stage.lines = 1;
      stage.comes = comes;
      wavefront.run(stage, [](size_t, size_t) {});
    });
  };
  EXPECT_EXIT(makes({.pieces = 65}, 0), ::testing::ExitedWithCode(2), "at most 64");
  EXPECT_EXIT(makes({}, 2), ::testing::ExitedWithCode(2),
              "crossing 2; this one was made with 2 crossings, from 0 on: make it with more");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto wavefront = *Wavefront::create(context, 1);
                         const auto place = *context.new_symmetric_array<double>(8);
                         Wavefront::Stage<double> stage;
                         stage.lines = 8;
                         stage.leaves = 0;
                         stage.width = 1;
                         stage.place = context.on_rank(place, 1 - context.rank_me());
                         wavefront.run(stage, [](size_t, size_t) {});
                       }),
              ::testing::ExitedWithCode(2),
              "wavefront_test.cc:[0-9]+: Wavefront::run of 64 bytes with a null pointer");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto wavefront = *Wavefront::create(context, 1);
                         wavefront.run(Wavefront::Stage<double>(),
                                       std::function<void(size_t, size_t)>());
                       }),
              ::testing::ExitedWithCode(2),
              "wavefront_test.cc:[0-9]+: Wavefront::run with an empty std::function");
}

TEST_F(WavefrontDeathTest, SaysWhenAStageIsOvertaken) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto wavefront = *Wavefront::create(context, 1);
                         const auto place = *context.new_symmetric_array<double>(8);
                         const std::vector<double> left(8);
                         Wavefront::Stage<double> stage;
                         stage.lines = 8;
                         if (context.rank_me() == 0) {
                           stage.leaves = 0;
                           stage.width = 1;
                           stage.results = left.data();
                           stage.place = context.on_rank(place, 1);
                           for (int round = 0; round < 2; ++round) {
                             wavefront.run(stage, [](size_t, size_t) {});
                           }
                           wavefront.finish();
                           context.barrier();
                         } else {
                           context.barrier();
                           stage.comes = 0;
                           wavefront.run(stage, [](size_t, size_t) {});
                         }
                         context.barrier();
                       }),
              ::testing::ExitedWithCode(2), "round 2 .* before this rank had read round 1");
}

}  // namespace
}  // namespace stripline
