// The NAS kernels verify over every way to communicate, wherever their grids are divided, and do
// not when a transfer is left out.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/measure_mg.h"
#include "suites/kernels/mg_transfers.h"
#include "suites/registry.h"
#include "suites/testing/ranks.h"
#include "suites/testing/small_model.h"

namespace stripline::suites {
namespace {

using experiment::Point;
using experiment::SampleSeries;
using experiment::StopRule;

constexpr const char* kEmulated = "emulated:opteron-vapi,compute=none";
const StopRule kTwice{.min_reps = 1, .max_reps = 1, .time_budget_s = 0.001};

// Every variant, forced with all that may be forced.
std::vector<Point> points_of(const std::string& experiment) {
  std::vector<Point> points;
  for (const std::string variant : {"blocking", "hand", "packed", "tuned"}) {
    points.push_back({experiment, variant, {}});
  }
  for (const std::string method : {"pipelined", "native_iov", "packed"}) {
    points.push_back({experiment, "forced", {{"method", method}}});
  }
  return points;
}

// What rank 0 has of these points.
std::vector<SampleSeries> measure(rank_t ranks, const std::string& fabric, const std::string& clock,
                                  const std::vector<Point>& points,
                                  const std::string& model_path = "") {
  std::vector<SampleSeries> all;
  on_ranks(
      ranks, fabric, clock,
      [&](Session& session) {
        for (const Point& point : points) {
          auto series = as_series(run_point(session, point, kTwice), point, session.run());
          if (session.context().rank_me() == 0) all.push_back(std::move(series));
        }
      },
      model_path);
  return all;
}

void expect_verified(rank_t ranks, const std::string& fabric, const std::string& clock,
                     const std::vector<Point>& points) {
  const SmallModel model(fabric);
  const auto all = measure(ranks, fabric, clock, points, model.path());
  EXPECT_EQ(all.size(), points.size());
  for (const SampleSeries& series : all) {
    EXPECT_TRUE(series.verified) << experiment::point_key(series.point) << ", " << ranks
                                 << " ranks, " << fabric << ": " << series.note;
  }
}

// Eight ranks divide all three axes: faces of points, of rows and in one piece.
TEST(NasMg, VerifiesWhereAllAxesAreDivided) {
  on_ranks(8, kEmulated, "virtual", [](Session& session) {
    Context& ctx = session.context();
    const nas::MgProblem& problem = nas::mg_problem(nas::NasClass::s);
    const auto partition = nas::MgPartition::create(problem, ctx.rank_n()).value();
    for (const NasVariant variant : {NasVariant::hand, NasVariant::packed}) {
      auto transfers = MgTransfers::create(ctx, {.variant = variant}, partition);
      ASSERT_TRUE(transfers.ok());
      nas::MgShare share(problem, partition, ctx.rank_me(), transfers->shared());
      EXPECT_TRUE(nas::solve_mg(share, *transfers).verified);
    }
  });
}

TEST(NasMg, EveryVariantVerifies) { expect_verified(2, "tcp", "real", points_of("kernel.nas_mg")); }

TEST(NasMg, VerifiesOnOneRank) { expect_verified(1, "tcp", "real", points_of("kernel.nas_mg")); }

// Brings all ghosts of one step but those of one face.
class LeavesAFaceOut {
 public:
  LeavesAFaceOut(MgTransfers& transfers, bool leaves) : transfers_(&transfers), leaves_(leaves) {}
  void ghosts(nas::MgShare& share, nas::MgStep step) {
    const bool now = ++steps_ == 12 && leaves_;
    const nas::MgFace face = share.face(step, 2, true);
    double* const memory = share.shared().data() + face.block.offset;
    std::vector<double> old(face.block.strides[2] * face.block.counts[2]);
    if (now) nas::copy_block(memory, old.data(), face.block.counts, face.block.strides);
    transfers_->ghosts(share, step);
    if (now) nas::copy_block(old.data(), memory, face.block.counts, face.block.strides);
  }
  void gather(nas::MgShare& share, nas::MgStep step) { transfers_->gather(share, step); }
  double sum(nas::MgShare& share, double value) { return transfers_->sum(share, value); }
  double maximum(nas::MgShare& share, double value) { return transfers_->maximum(share, value); }

 private:
  MgTransfers* transfers_;
  bool leaves_;
  size_t steps_ = 0;
};

TEST(NasMg, AFaceThatIsLeftOutFailsTheVerification) {
  on_ranks(2, kEmulated, "virtual", [](Session& session) {
    Context& ctx = session.context();
    const nas::MgProblem& problem = nas::mg_problem(nas::NasClass::s);
    const auto partition = nas::MgPartition::create(problem, ctx.rank_n()).value();
    for (const bool leaves : {false, true}) {
      auto transfers = MgTransfers::create(ctx, {}, partition);
      ASSERT_TRUE(transfers.ok());
      nas::MgShare share(problem, partition, ctx.rank_me(), transfers->shared());
      LeavesAFaceOut exchange(*transfers, leaves && ctx.rank_me() == 1);
      EXPECT_EQ(measure_mg(session, kTwice, share, exchange).verified, !leaves);
    }
  });
}

// Single operations cost next to nothing by this model, so that it never packs; without one, the
// runtime packs whatever is small.
TEST(NasVariants, OnlyTunedUsesTheModel) {
  const SmallModel model(kEmulated, [](model::TunedModel& changed) {
    changed.pack = model::example_pack();
    for (auto* operation :
         {&changed.network["inter-node"].put, &changed.network["inter-node"].get}) {
      for (model::Segment& segment : (*operation)->segments) {
        segment.o_base_s = segment.L_s = segment.r_base_s = model::example_parameter(1e-9);
        segment.o_per_byte_s = segment.G_s_per_byte = model::example_parameter(1e-12);
        segment.g_s.reset();
      }
    }
  });
  const auto all = measure(4, kEmulated, "virtual", points_of("kernel.nas_mg"), model.path());
  ASSERT_EQ(all.size(), 7U);
  const auto packs = [&](size_t i) { return all[i].note.find("packed") != std::string::npos; };
  EXPECT_TRUE(packs(0)) << all[0].note;   // blocking
  EXPECT_TRUE(packs(1)) << all[1].note;   // hand
  EXPECT_FALSE(packs(3)) << all[3].note;  // tuned
  EXPECT_FALSE(packs(4)) << all[4].note;  // forced, pipelined
  EXPECT_FALSE(packs(5)) << all[5].note;  // forced, native_iov
  EXPECT_TRUE(packs(6)) << all[6].note;   // forced, packed
}

TEST(NasVariants, RefuseWhatTheyCannotDo) {
  const auto expect = [&](const std::string& part, rank_t ranks, const Point& point) {
    const std::string note = measure(ranks, kEmulated, "virtual", {point}).at(0).note;
    EXPECT_NE(note.find(part), std::string::npos) << note;
  };
  expect("needs a tuned model", 2, {"kernel.nas_mg", "tuned", {}});
  expect("only variant 'forced' takes a method", 2,
         {"kernel.nas_mg", "hand", {{"method", std::string("packed")}}});
  expect("use a power of two", 3, {"kernel.nas_mg", "hand", {}});
  expect("segment", 2, {"kernel.nas_mg", "hand", {{"class", std::string("B")}}});
}

}  // namespace
}  // namespace stripline::suites
