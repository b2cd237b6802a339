// The NAS kernels verify by every method of communication, wherever their grids are divided, and
// do not when a transfer is left out.
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/bulk.h>

#include "runtime/rma/fiber_group.h"
#include "suites/kernels/nas/bt_sweeps.h"
#include "suites/kernels/nas/exchanges/adi_transfers.h"
#include "suites/kernels/nas/exchanges/measure_adi.h"
#include "suites/kernels/nas/exchanges/measure_mg.h"
#include "suites/kernels/nas/exchanges/mg_transfers.h"
#include "suites/kernels/nas/sp_sweeps.h"
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
  for (const std::string variant : {"blocking", "hand", "packed", "untuned", "tuned", "guarded",
                                    "plain", "plain_hand", "bulk"}) {
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
    for (const StridedVariant variant :
         {StridedVariant::hand, StridedVariant::packed, StridedVariant::untuned,
          StridedVariant::plain, StridedVariant::plain_hand, StridedVariant::bulk}) {
      std::optional<bulk_region> region;
      if (in_bulk_region(variant)) region.emplace(ctx);
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

TEST(NasSp, EveryVariantVerifies) { expect_verified(4, "tcp", "real", points_of("kernel.nas_sp")); }
TEST(NasBt, Verifies) {
  expect_verified(4, "tcp", "real",
                  {{"kernel.nas_bt", "hand", {}},
                   {"kernel.nas_bt", "packed", {}},
                   {"kernel.nas_bt", "untuned", {}},
                   {"kernel.nas_bt", "tuned", {}},
                   {"kernel.nas_bt", "bulk", {}},
                   {"kernel.nas_bt", "bulk_bursts", {}}});
}

// More pieces than lines, too.
TEST(NasAdi, SweepsGoOnInPieces) {
  expect_verified(4, "tcp", "real",
                  {{"kernel.nas_sp", "hand", {{"pieces", int64_t{3}}}},
                   {"kernel.nas_bt", "forced", {{"pieces", int64_t{64}}}}});
}

TEST(NasAdi, OneRankNeedsNoTransfers) {
  expect_verified(1, "tcp", "real",
                  {{"kernel.nas_sp", "hand", {{"pieces", int64_t{2}}}},
                   {"kernel.nas_sp", "packed", {}},
                   {"kernel.nas_bt", "blocking", {}}});
}

nas::AdiLayout layout_of(Context& ctx, const nas::AdiClass& problem, nas::AdiWidths widths) {
  return {nas::AdiPartition::create(problem.points, ctx.rank_n(), ctx.rank_me()).value(), widths};
}

// How far the norms after the first time steps are from those of one rank.
template <typename Sweeps>
double first_deviation(Context& ctx, const nas::AdiClass& problem, const StridedManner& manner) {
  const nas::AdiLayout layout = layout_of(ctx, problem, Sweeps::kWidths);
  const auto plain_faces = std::is_same_v<Sweeps, nas::BtSweeps> ? AdiTransfers::PlainFaces::gets
                                                                 : AdiTransfers::PlainFaces::puts;
  auto transfers = AdiTransfers::create(ctx, manner, layout, plain_faces).value();
  nas::AdiShare share(layout, problem.dt, transfers.shared());
  ctx.barrier();
  std::optional<bulk_region> region;
  if (in_bulk_region(manner.variant)) region.emplace(ctx);
  Sweeps sweeps(share);
  for (int step = 0; step < kFirstTimeSteps; ++step) nas::adi_iterate(share, sweeps, transfers);
  return nas::largest_deviation({.reference = first_norms<Sweeps>(problem)},
                                nas::adi_norms(share, problem.dt, transfers));
}

// Nine ranks have neighbours on either side that are not the same.
TEST(NasAdi, EveryVariantComputesTheSameOnAnEmulatedNetwork) {
  const nas::AdiClass& sp = *nas::find_class(nas::sp_classes(), nas::NasClass::s);
  const nas::AdiClass& bt = *nas::find_class(nas::bt_classes(), nas::NasClass::s);
  std::vector<StridedManner> manners;
  for (const StridedVariant variant :
       {StridedVariant::blocking, StridedVariant::hand, StridedVariant::packed,
        StridedVariant::untuned, StridedVariant::plain, StridedVariant::plain_hand,
        StridedVariant::bulk, StridedVariant::bulk_bursts}) {
    manners.push_back({.variant = variant, .transfers = {.use_model = false}});
  }
  manners.push_back({.variant = StridedVariant::forced,
                     .transfers = {.method = VisMethod::pipelined, .use_model = false},
                     .pieces = 4});
  for (const rank_t ranks : {rank_t{4}, rank_t{9}}) {
    on_ranks(ranks, kEmulated, "virtual", [&](Session& session) {
      for (const StridedManner& manner : manners) {
        EXPECT_LT(first_deviation<nas::SpSweeps>(session.context(), sp, manner), kFirstTolerance);
        EXPECT_LT(first_deviation<nas::BtSweeps>(session.context(), bt, manner), kFirstTolerance);
      }
    });
  }
}

// What goes wrong with a ghost layer of rank 1 in one call of copy_faces(), counted from 1; in none
// where it is 0.
struct Mistake {
  int call = 0;
  bool slight = false;  // One number of the layer differs a little; else the layer does not come.
};

class SpoilsALayer {
 public:
  SpoilsALayer(AdiTransfers& transfers, Mistake mistake)
      : transfers_(&transfers), mistake_(mistake) {}
  void copy_faces(nas::AdiShare& share) {
    const nas::AdiFace face = share.layout().faces().front();
    const nas::AdiRegion& region = face.target;
    double* const layer = share.shared() + region.begin;
    const size_t extent = (region.count[0] - 1) * region.stride[0] +
                          (region.count[1] - 1) * region.stride[1] + region.run;
    const std::vector<double> old(layer, layer + extent);
    transfers_->copy_faces(share);
    if (++calls_ != mistake_.call) return;
    if (mistake_.slight) {
      // In the middle: the right-hand side does not reach the grid's boundary.
      layer[region.run / 2 + region.stride[0] + 2 * region.stride[1]] += 1e-5;
    } else {
      for (size_t b = 0; b < region.count[1]; ++b) {
        for (size_t a = 0; a < region.count[0]; ++a) {
          const size_t at = a * region.stride[0] + b * region.stride[1];
          std::copy_n(old.data() + at, region.run, layer + at);
        }
      }
    }
    share.rhs(face.cell);
  }
  template <typename Body>
  void sweep(const nas::AdiSweepStep& step, Body&& body) {
    transfers_->sweep(step, std::forward<Body>(body));
  }
  void sum(std::span<double> values) { transfers_->sum(values); }

 private:
  AdiTransfers* transfers_;
  Mistake mistake_;
  int calls_ = 0;
};

template <typename Sweeps>
bool verifies(Session& session, const nas::AdiClass& problem, Mistake mistake) {
  Context& ctx = session.context();
  const nas::AdiLayout layout = layout_of(ctx, problem, Sweeps::kWidths);
  auto transfers = AdiTransfers::create(ctx, {}, layout).value();
  nas::AdiShare share(layout, problem.dt, transfers.shared());
  SpoilsALayer exchange(transfers, ctx.rank_me() == 1 ? mistake : Mistake{});
  return measure_adi<Sweeps>(session, kTwice, problem, share, exchange).verified;
}

TEST(NasAdi, ALayerThatIsWrongFailsTheVerification) {
  on_ranks(4, "tcp", "real", [](Session& session) {
    const nas::AdiClass& sp = *nas::find_class(nas::sp_classes(), nas::NasClass::s);
    const nas::AdiClass& bt = *nas::find_class(nas::bt_classes(), nas::NasClass::s);
    EXPECT_TRUE(verifies<nas::SpSweeps>(session, sp, {}));
    // In the second time step, where only the norms of the first ones show it.
    EXPECT_FALSE(verifies<nas::SpSweeps>(session, sp, {2, true}));
    // In the last time step: it comes after the call for the norms of the first ones.
    EXPECT_FALSE(verifies<nas::BtSweeps>(session, bt, {bt.iterations + 1}));
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
  const auto all =
      measure(4, kEmulated, "virtual",
              {{"kernel.nas_mg", "untuned", {}}, {"kernel.nas_mg", "tuned", {}}}, model.path());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NE(all[0].note.find("packed"), std::string::npos) << all[0].note;
  EXPECT_EQ(all[1].note.find("packed"), std::string::npos) << all[1].note;
  EXPECT_TRUE(all[1].verified) << all[1].note;
}

// On fibers, which pass turns fastest: fine takes very many.
void on_fibers(rank_t ranks, const std::function<void(Session&)>& body) {
  bootstrap::FiberGroupOptions group{.ranks = ranks};
  group.context.fabric = kEmulated;
  group.context.clock = "virtual";
  group.context.same_node = "network";
  group.context.segment_bytes = size_t{16} << 20;
  const Status ran = bootstrap::run_fibers(group, [&](Context& context) {
    Session session(context, 1);
    body(session);
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
}

class NasFine : public testing::TestWithParam<std::string> {};

// The whole solution, as every sample of a kernel is. That of SP takes longest, and its transfers
// are those of BT.
TEST_P(NasFine, MovesEveryElementByItself) {
  on_fibers(GetParam() == "kernel.nas_bt" ? 4 : 2, [](Session& session) {
    const auto blocking = run_point(session, {GetParam(), "blocking", {}}, kTwice);
    const auto fine = run_point(session, {GetParam(), "fine", {}}, kTwice);
    ASSERT_TRUE(blocking.ok());
    ASSERT_TRUE(fine.ok()) << fine.error().message();
    if (session.context().rank_me() != 0) return;
    EXPECT_TRUE(fine->verified) << fine->note;
    EXPECT_EQ(fine->note, "element by element");
    // By the emulated clock, which shows the number of operations.
    EXPECT_GT(fine->values.at(0), 20 * blocking->values.at(0));
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, NasFine,
                         testing::Values("kernel.nas_bt", "kernel.nas_cg", "kernel.nas_ft",
                                         "kernel.nas_is", "kernel.nas_mg"),
                         [](const testing::TestParamInfo<std::string>& kernel) {
                           std::string name = kernel.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

class NasPlain : public testing::TestWithParam<std::string> {};

// By the emulated clock. A mistake that leaves puts waiting, or gets where they were, shows.
TEST_P(NasPlain, TakesLessTimeInABulkRegion) {
  on_fibers(4, [](Session& session) {
    const auto seconds = [&](const char* variant) {
      const auto series =
          as_series(run_point(session, {GetParam(), variant, {}}, kTwice), {}, session.run());
      if (session.context().rank_me() != 0) return 0.0;
      EXPECT_TRUE(series.verified) << variant << ": " << series.note;
      return series.values.empty() ? 0.0 : series.values.front();
    };
    const bool has_plain = GetParam() != "kernel.nas_ft";
    const double blocking = seconds(has_plain ? "plain" : "blocking");
    const double by_hand = seconds(has_plain ? "plain_hand" : "hand");
    const double in_region = seconds("bulk");
    if (session.context().rank_me() != 0) return;
    EXPECT_LT(by_hand, blocking);
    EXPECT_LT(in_region, blocking);
  });
}

// Not IS: its exchange of a few keys among all takes a tenth longer where nothing is waited for, by
// hand, too.
INSTANTIATE_TEST_SUITE_P(Kernels, NasPlain,
                         testing::Values("kernel.nas_bt", "kernel.nas_cg", "kernel.nas_ft",
                                         "kernel.nas_mg", "kernel.nas_sp"),
                         [](const testing::TestParamInfo<std::string>& kernel) {
                           std::string name = kernel.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

// Where all neighbours are other ranks.
TEST(NasFineTransfers, BringAllThatIsNeeded) {
  constexpr StridedVariant kFine = StridedVariant::fine;
  on_fibers(8, [](Session& session) {
    Context& ctx = session.context();
    const nas::MgProblem& problem = nas::mg_problem(nas::NasClass::s);
    const auto partition = nas::MgPartition::create(problem, ctx.rank_n()).value();
    auto transfers = MgTransfers::create(ctx, {.variant = kFine}, partition).value();
    nas::MgShare share(problem, partition, ctx.rank_me(), transfers.shared());
    EXPECT_TRUE(nas::solve_mg(share, transfers).verified);
  });
  on_fibers(9, [](Session& session) {
    const nas::AdiClass& sp = *nas::find_class(nas::sp_classes(), nas::NasClass::s);
    const nas::AdiClass& bt = *nas::find_class(nas::bt_classes(), nas::NasClass::s);
    const StridedManner manner{.variant = kFine};
    EXPECT_LT(first_deviation<nas::SpSweeps>(session.context(), sp, manner), kFirstTolerance);
    EXPECT_LT(first_deviation<nas::BtSweeps>(session.context(), bt, manner), kFirstTolerance);
  });
}

TEST(NasVariants, RefuseWhatTheyCannotDo) {
  const auto expect = [&](const std::string& part, rank_t ranks, const Point& point) {
    const std::string note = measure(ranks, kEmulated, "virtual", {point}).at(0).note;
    EXPECT_NE(note.find(part), std::string::npos) << note;
  };
  for (const std::string kernel : {"bt", "cg", "ft", "is", "mg", "sp"}) {
    expect("use class S", 4, {"kernel.nas_" + kernel, "fine", {{"class", std::string("W")}}});
  }
  expect("needs a tuned model", 2, {"kernel.nas_mg", "tuned", {}});
  expect("take pieces", 4, {"kernel.nas_sp", "fine", {{"pieces", int64_t{2}}}});
  expect("only variant 'forced' takes a method", 2,
         {"kernel.nas_mg", "hand", {{"method", std::string("packed")}}});
  expect("only variants 'hand' and 'forced' take pieces", 4,
         {"kernel.nas_sp", "packed", {{"pieces", int64_t{2}}}});
  expect("takes a square", 3, {"kernel.nas_sp", "hand", {}});
  expect("fewer than 4", 16, {"kernel.nas_bt", "hand", {}});
  expect("takes a power of two", 3, {"kernel.nas_mg", "hand", {}});
  expect("segment", 2, {"kernel.nas_mg", "hand", {{"class", std::string("B")}}});
}

}  // namespace
}  // namespace stripline::suites
