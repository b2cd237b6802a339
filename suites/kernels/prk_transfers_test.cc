// The PRK kernels and the triad verify with every method of communication, and the stencil does not
// when a ghost is left out.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/prk/stencil_solver.h"
#include "suites/kernels/stencil_transfers.h"
#include "suites/registry.h"
#include "suites/testing/ranks.h"
#include "suites/testing/small_model.h"

namespace stripline::suites {
namespace {

using experiment::Params;
using experiment::Point;
using experiment::SampleSeries;
using experiment::StopRule;

constexpr const char* kEmulated = "emulated:opteron-vapi,compute=none";
const StopRule kTwice{.min_reps = 2, .max_reps = 2, .time_budget_s = 0.001};

// What rank 0 has of these points.
std::vector<SampleSeries> measure(rank_t ranks, const std::string& fabric,
                                  const std::vector<Point>& points) {
  const SmallModel model(fabric);
  std::vector<SampleSeries> all;
  on_ranks(
      ranks, fabric, fabric == "tcp" ? "real" : "virtual",
      [&](Session& session) {
        for (const Point& point : points) {
          auto series = as_series(run_point(session, point, kTwice), point, session.run());
          if (session.context().rank_me() == 0) all.push_back(std::move(series));
        }
      },
      model.path());
  return all;
}

void expect_verified(rank_t ranks, const std::string& fabric, const std::vector<Point>& points) {
  const auto all = measure(ranks, fabric, points);
  EXPECT_EQ(all.size(), points.size());
  for (const SampleSeries& series : all) {
    EXPECT_TRUE(series.verified) << experiment::point_key(series.point) << ", " << ranks
                                 << " ranks, " << fabric << ": " << series.note;
  }
}

// Every variant, forced with decompositions of each schedule.
std::vector<Point> loop_points(const std::string& experiment, const Params& problem) {
  std::vector<Point> points;
  for (const std::string variant : {"blocking", "fine", "hand", "hand4", "untuned", "tuned"}) {
    points.push_back({experiment, variant, problem});
  }
  const std::vector<Params> decompositions = {
      {{"schedule", "V"}},
      {{"strip_bytes", int64_t{1000}}},
      {{"strip_bytes", int64_t{256}}, {"schedule", "B"}, {"window", int64_t{3}}}};
  for (const Params& decomposition : decompositions) {
    Point point{experiment, "forced", problem};
    for (const auto& [factor, value] : decomposition) point.params[factor] = value;
    points.push_back(std::move(point));
  }
  return points;
}

// Every variant, forced by all methods.
std::vector<Point> stencil_points(const Params& problem) {
  std::vector<Point> points;
  for (const std::string variant :
       {"blocking", "fine", "hand", "packed", "untuned", "tuned", "guarded"}) {
    points.push_back({"kernel.prk_stencil", variant, problem});
  }
  for (const std::string method : {"pipelined", "native_iov", "packed"}) {
    Point point{"kernel.prk_stencil", "forced", problem};
    point.params["method"] = method;
    points.push_back(std::move(point));
  }
  return points;
}

TEST(PrkStencilTransfers, VerifyWithRowsAndWithColumns) {
  for (const int64_t ranks_x : {1, 2}) {
    expect_verified(
        2, "tcp",
        stencil_points({{"n", int64_t{21}}, {"ranks_x", ranks_x}, {"iterations", int64_t{2}}}));
  }
}

// The block in the middle has neighbours on all sides; sizes differ.
TEST(PrkStencilTransfers, VerifyOnAllSides) {
  expect_verified(9, kEmulated, stencil_points({{"n", int64_t{38}}, {"radius", int64_t{3}}}));
}

// Brings all ghosts but one of one iteration, which stays what it was.
class LeavesAGhostOut {
 public:
  LeavesAGhostOut(StencilTransfers& transfers, bool leaves)
      : transfers_(&transfers), leaves_(leaves) {}
  void ghosts(prk::StencilShare& share) {
    double& ghost = share.shared()[share.partition().at(3, 0) - share.partition().pitch()];
    const double old = ghost;
    transfers_->ghosts(share);
    if (++step_ == 2 && leaves_) ghost = old;
  }
  void used(prk::StencilShare& share) { transfers_->used(share); }
  double sum(prk::StencilShare& share, double value) { return transfers_->sum(share, value); }

 private:
  StencilTransfers* transfers_;
  bool leaves_;
  size_t step_ = 0;
};

TEST(PrkStencilTransfers, AGhostThatIsLeftOutFailsTheVerification) {
  on_ranks(2, kEmulated, "virtual", [](Session& session) {
    Context& ctx = session.context();
    const auto partition = prk::StencilPartition::create(24, 2, ctx.rank_n(), 0).value();
    for (const bool leaves : {false, true}) {
      auto transfers = StencilTransfers::create(ctx, {}, partition);
      ASSERT_TRUE(transfers.ok());
      prk::StencilShare share(partition, ctx.rank_me(), transfers->shared());
      LeavesAGhostOut exchange(*transfers, leaves && ctx.rank_me() == 1);
      share.start(1);
      ctx.barrier();
      for (size_t i = 0; i < 3; ++i) prk::iterate_stencil(share, exchange);
      EXPECT_EQ(prk::verify_stencil(share, exchange, 3), !leaves);
    }
  });
}

TEST(PrkTransposeTransfers, VerifyInEveryVariant) {
  const Params problem = {{"n", int64_t{30}}, {"iterations", int64_t{2}}};
  expect_verified(2, "tcp", loop_points("kernel.prk_transpose", problem));
  expect_verified(5, kEmulated, loop_points("kernel.prk_transpose", problem));
}

TEST(PrkSparseTransfers, VerifyInEveryVariant) {
  const Params problem = {
      {"lsize", int64_t{4}}, {"radius", int64_t{3}}, {"iterations", int64_t{2}}};
  expect_verified(2, "tcp", loop_points("kernel.prk_sparse", problem));
  expect_verified(8, kEmulated, loop_points("kernel.prk_sparse", problem));
}

TEST(TriadTransfers, VerifyInEveryVariant) {
  const auto points = loop_points("kernel.triad", {{"elements", int64_t{150}}});
  expect_verified(2, "tcp", points);
  expect_verified(3, kEmulated, points);
}

TEST(TriadTransfers, RunInPlaceOnOnesOwnData) {
  auto points = loop_points("kernel.triad", {{"elements", int64_t{150}}, {"shift", int64_t{0}}});
  std::erase_if(points, [](const Point& point) {
    return point.variant.starts_with("hand") || point.variant == "forced";
  });
  for (const SampleSeries& series : measure(2, kEmulated, points)) {
    EXPECT_TRUE(series.verified) << series.note;
    if (series.point.variant == "fine") continue;
    EXPECT_EQ(series.note, "in place") << experiment::point_key(series.point);
  }
}

TEST(PrkPoints, AreRefusedWithAReason) {
  const std::vector<Point> points = {
      {"kernel.prk_stencil", "fine", {{"n", int64_t{16384}}}},
      {"kernel.prk_stencil", "hand", {{"ranks_x", int64_t{2}}}},
      {"kernel.prk_stencil", "hand", {{"method", std::string("packed")}}},
      {"kernel.prk_transpose", "hand", {{"n", int64_t{64}}}},
      {"kernel.prk_sparse", "hand", {}},
      {"kernel.prk_sparse", "hand", {{"lsize", int64_t{3}}}},
      {"kernel.triad", "hand", {{"shift", int64_t{0}}}},
      {"kernel.triad", "hand", {{"window", int64_t{2}}}}};
  const std::vector<std::string> reasons = {"at most 4096",          "does not divide the 3 ranks",
                                            "only variant 'forced'", "not a multiple",
                                            "takes a power of two",  "takes a power of two",
                                            "nothing to fetch",      "only variant 'forced'"};
  const auto all = measure(3, kEmulated, points);
  ASSERT_EQ(all.size(), reasons.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_NE(all[i].note.find(reasons[i]), std::string::npos) << all[i].note;
  }
}

}  // namespace
}  // namespace stripline::suites
