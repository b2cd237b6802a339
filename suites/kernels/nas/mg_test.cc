// MG gives the reference norm on every grid of ranks, with its faces moved at once or plane by
// plane, and does not when one ghost is wrong or old.
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/nas/mg_solver.h"
#include "suites/kernels/nas/testing/team.h"

namespace stripline::suites::nas {
namespace {

enum class Fault { none, wrong_ghost, stale_face, swapped_sides, missing_block };
enum class Method { fetch_faces, send_planes };

class PlainExchange {
 public:
  PlainExchange(TestTeam<double>& team, Method method, Fault fault)
      : team_(&team), method_(method), fault_(fault) {}

  void ghosts(MgShare& share, MgStep step) {
    ++steps_;
    if (method_ == Method::fetch_faces) {
      share.compute(step, 0, share.planes(step));
      for (size_t axis = 0; axis < 3; ++axis) {
        team_->barrier();
        for (const bool up : {false, true}) {
          fetch(share, share.face(step, axis, up), share.face(step, axis, !up).source_offset);
        }
      }
    } else {
      send_planes(share, step);
    }
    team_->barrier();
  }

  void gather(MgShare& share, MgStep step) {
    in_pieces(0, share.planes(step), 1, [&](size_t b, size_t e) { share.compute(step, b, e); });
    team_->barrier();
    for (uint32_t rank = 0; rank < team_->ranks(); ++rank) {
      if (rank == share.me() || (fault_ == Fault::missing_block && rank == 0)) continue;
      const MgBlock block = share.partition().replicated_block(rank);
      copy_block(team_->shared(rank).data() + block.offset, share.shared().data() + block.offset,
                 block.counts, block.strides);
    }
    team_->barrier();
  }

  double sum(MgShare& share, double value) { return team_->sum(share.me(), value); }
  double maximum(MgShare& share, double value) { return team_->max(share.me(), value); }

 private:
  void fetch(MgShare& share, const MgFace& face, size_t opposite) {
    const bool spoiled = steps_ == 12 && share.me() == 0 && face.block.counts[2] == 1;
    if (spoiled && fault_ == Fault::stale_face) return;
    double* const target = share.shared().data() + face.block.offset;
    const bool swapped = spoiled && fault_ == Fault::swapped_sides;
    const size_t source = swapped ? opposite : face.source_offset;
    copy_block(team_->shared(face.neighbour).data() + source, target, face.block.counts,
               face.block.strides);
    if (spoiled && fault_ == Fault::wrong_ghost) {
      target[face.block.counts[0] / 2 + face.block.strides[1]] += 1e-2;
    }
  }

  // Last plane first; each sends its rows at once, and the faces along axis 2 at the end.
  void send_planes(MgShare& share, MgStep step) {
    for (size_t axis = 0; axis < 3; ++axis) {
      if (axis == 2) {
        for (const bool up : {false, true}) send(share, share.face(step, axis, up), axis, up);
        break;
      }
      for (size_t plane = share.planes(step); plane-- != 0;) {
        if (axis == 0) share.compute(step, plane, plane + 1);
        for (const bool up : {false, true}) {
          send(share, share.face(step, axis, up).planes(plane, plane + 1), axis, up);
        }
      }
      team_->barrier();
    }
  }

  // What lies here at the source is the ghost of the neighbour on the other side.
  void send(MgShare& share, const MgFace& face, size_t axis, bool up) {
    const uint32_t receiver = share.partition().neighbour(share.me(), axis, !up);
    copy_block(share.shared().data() + face.source_offset,
               team_->shared(receiver).data() + face.block.offset, face.block.counts,
               face.block.strides);
  }

  TestTeam<double>* team_;
  Method method_;
  Fault fault_;
  size_t steps_ = 0;
};

MgResult run(NasClass problem_class, uint32_t ranks, Fault fault = Fault::none,
             Method method = Method::fetch_faces) {
  const MgProblem& problem = mg_problem(problem_class);
  const MgPartition partition = MgPartition::create(problem, ranks).value();
  TestTeam<double> team(ranks, partition.shared_elements());
  std::vector<MgResult> results(ranks);
  run_as_ranks(ranks, [&](uint32_t me) {
    MgShare share(problem, partition, me, team.shared(me));
    PlainExchange exchange(team, method, fault);
    results[me] = solve_mg(share, exchange);
  });
  for (const MgResult& result : results) EXPECT_EQ(result.norm, results[0].norm);
  return results[0];
}

TEST(Mg, GivesTheReferenceNormOnEveryGrid) {
  for (const uint32_t ranks : {1, 2, 4, 8, 16}) {
    const MgResult result = run(NasClass::s, ranks);
    EXPECT_TRUE(result.verified) << ranks << " ranks: " << result.norm;
    EXPECT_GT(result.largest, result.norm);
  }
}

TEST(Mg, GivesTheReferenceNormOfClassW) { EXPECT_TRUE(run(NasClass::w, 2).verified); }

TEST(Mg, PlanesCanLeaveOneByOneInAnyOrder) {
  const double norm = run(NasClass::s, 4).norm;
  for (const uint32_t ranks : {1, 4, 8}) {
    const MgResult result = run(NasClass::s, ranks, Fault::none, Method::send_planes);
    EXPECT_TRUE(result.verified) << ranks;
    if (ranks == 4) {
      EXPECT_EQ(result.norm, norm);
    }
  }
}

TEST(Mg, CatchesOneWrongGhost) { EXPECT_FALSE(run(NasClass::s, 4, Fault::wrong_ghost).verified); }

TEST(Mg, CatchesAStaleFace) { EXPECT_FALSE(run(NasClass::s, 4, Fault::stale_face).verified); }

TEST(Mg, CatchesTheFaceOfTheWrongSide) {
  EXPECT_FALSE(run(NasClass::s, 4, Fault::swapped_sides).verified);
}

TEST(Mg, CatchesAMissingBlockOfACoarseLevel) {
  EXPECT_FALSE(run(NasClass::s, 8, Fault::missing_block).verified);
}

TEST(MgPartition, DividesTheLevelsThatHaveTwoPointsForARank) {
  const MgProblem& problem = mg_problem(NasClass::s);
  const MgPartition partition = MgPartition::create(problem, 32).value();
  EXPECT_EQ(partition.grid(), (std::array<uint32_t, 3>{2, 4, 4}));
  EXPECT_FALSE(partition.replicated(3));
  EXPECT_EQ(partition.extents(3), (std::array<size_t, 3>{4, 2, 2}));
  EXPECT_TRUE(partition.replicated(2));
  EXPECT_EQ(partition.extents(2), (std::array<size_t, 3>{4, 4, 4}));
  // One rank needs nothing gathered.
  EXPECT_FALSE(MgPartition::create(problem, 1).value().replicated(1));
}

TEST(MgPartition, RefusesOtherNumbersOfRanks) {
  const MgProblem& problem = mg_problem(NasClass::s);
  for (const uint32_t ranks : {0U, 6U, 1U << 15}) {
    EXPECT_FALSE(MgPartition::create(problem, ranks).ok()) << ranks;
  }
  EXPECT_TRUE(MgPartition::create(problem, 1U << 12).ok());
}

}  // namespace
}  // namespace stripline::suites::nas
