// FT gives the reference checksums on every number of ranks, with slabs, pencils or lines
// exchanged, and does not when one number of them is wrong, old or displaced.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/nas/ft_solver.h"
#include "suites/kernels/nas/testing/team.h"

namespace stripline::suites::nas {
namespace {

enum class Fault { none, wrong_number, stale_row, swapped_numbers };

class PlainExchange {
 public:
  PlainExchange(TestTeam<FtComplex>& team, Fault fault) : team_(&team), fault_(fault) {}

  FtComplex sum(FtShare& share, FtComplex value) {
    const double re = team_->sum(share.me(), value.real());
    return {re, team_->sum(share.me(), value.imag())};
  }

 protected:
  // Sends rows [begin, end) of a plane, which have one reader.
  void send(FtShare& share, size_t plane, size_t begin, size_t end) {
    const FtTransposition& t = share.transposition();
    const bool spoiled = share.me() == 0 && transpositions_ == 3 && plane == 2 && begin <= 5 &&
                         5 < end && fault_ != Fault::none;
    FtComplex* const landing =
        team_->shared(t.reader(begin)).data() + share.partition().landing_offset();
    const FtComplex* const from = share.source().data() + t.source(plane, begin);
    FtComplex* const to = landing + t.landing(share.me(), plane, begin);
    if (spoiled && fault_ == Fault::stale_row) return;
    std::copy_n(from, (end - begin) * t.nx, to);
    if (spoiled && fault_ == Fault::wrong_number) to[7] *= 1.5;
    if (spoiled && fault_ == Fault::swapped_numbers) std::swap(to[7], to[8]);
  }

  TestTeam<FtComplex>* team_;
  Fault fault_;
  size_t transpositions_ = 0;
};

// A slab of a plane for each rank, when the plane is done.
class SlabExchange : public PlainExchange {
 public:
  using PlainExchange::PlainExchange;

  void transpose(FtShare& share) {
    const FtTransposition& t = share.transposition();
    ++transpositions_;
    for (size_t plane = 0; plane < t.planes; ++plane) {
      share.columns(plane, plane + 1);
      share.rows(plane, 0, t.rows);
      in_pieces(0, t.rows, t.rows_per_rank(),
                [&](size_t b, size_t e) { send(share, plane, b, e); });
    }
    team_->barrier();
    share.finish(0, t.lines());
    team_->barrier();
  }
};

// Each row when it is done, and lines finished in odd pieces from the end.
class PencilExchange : public PlainExchange {
 public:
  using PlainExchange::PlainExchange;

  void transpose(FtShare& share) {
    const FtTransposition& t = share.transposition();
    ++transpositions_;
    for (size_t plane = t.planes; plane-- != 0;) {
      share.columns(plane, plane + 1);
      in_pieces(0, t.rows, 1, [&](size_t b, size_t e) {
        share.rows(plane, b, e);
        send(share, plane, b, e);
      });
    }
    team_->barrier();
    for (size_t end = t.lines(); end != 0;) {
      const size_t begin = end - std::min<size_t>(end, 27);
      share.finish(begin, end);
      end = begin;
    }
    team_->barrier();
  }
};

// Some lines at a time, fetched from all planes.
class LineExchange : public PlainExchange {
 public:
  using PlainExchange::PlainExchange;

  void transpose(FtShare& share) {
    const FtTransposition& t = share.transposition();
    share.columns(0, t.planes);
    for (size_t plane = 0; plane < t.planes; ++plane) {
      in_pieces(0, t.rows, 5, [&](size_t b, size_t e) { share.rows(plane, b, e); });
    }
    team_->barrier();
    const size_t first_row = share.me() * t.rows_per_rank();
    in_pieces(0, t.lines(), 96, [&](size_t begin, size_t end) {
      for (uint32_t owner = 0; owner < team_->ranks(); ++owner) {
        for (size_t plane = 0; plane < t.planes; ++plane) {
          std::copy_n(team_->shared(owner).data() + t.source(plane, first_row) + begin, end - begin,
                      share.landing().data() + t.landing(owner, plane, first_row) + begin);
        }
      }
      share.finish(begin, end);
    });
    team_->barrier();
  }
};

template <typename Exchange>
FtResult run(NasClass problem_class, uint32_t ranks, Fault fault = Fault::none) {
  const FtProblem& problem = ft_problem(problem_class);
  const FtPartition partition = FtPartition::create(problem, ranks).value();
  TestTeam<FtComplex> team(ranks, partition.shared_elements());
  std::vector<FtResult> results(ranks);
  run_as_ranks(ranks, [&](uint32_t me) {
    FtShare share(problem, partition, me, team.shared(me));
    Exchange exchange(team, fault);
    results[me] = solve_ft(share, exchange);
  });
  for (const FtResult& result : results) EXPECT_EQ(result.verified, results[0].verified);
  return results[0];
}

TEST(Ft, SlabsGiveTheReferenceChecksumsOnEveryNumberOfRanks) {
  for (const uint32_t ranks : {1, 2, 4, 8}) {
    const FtResult result = run<SlabExchange>(NasClass::s, ranks);
    EXPECT_TRUE(result.transported) << ranks;
    EXPECT_TRUE(result.verified) << ranks << " ranks: " << result.checksums[0];
  }
}

TEST(Ft, PencilsGiveTheReferenceChecksumsOnEveryNumberOfRanks) {
  for (const uint32_t ranks : {1, 2, 4}) {
    EXPECT_TRUE(run<PencilExchange>(NasClass::s, ranks).verified) << ranks;
  }
}

TEST(Ft, LinesGiveTheReferenceChecksums) {
  EXPECT_TRUE(run<LineExchange>(NasClass::s, 4).verified);
}

TEST(Ft, GivesTheReferenceChecksumsOfClassW) {
  EXPECT_TRUE(run<SlabExchange>(NasClass::w, 2).verified);
}

TEST(Ft, PiecesDoNotChangeTheChecksums) {
  const FtResult slabs = run<SlabExchange>(NasClass::s, 2);
  EXPECT_EQ(run<PencilExchange>(NasClass::s, 2).checksums, slabs.checksums);
  EXPECT_EQ(run<LineExchange>(NasClass::s, 2).checksums, slabs.checksums);
}

TEST(Ft, CatchesWrongOldAndDisplacedNumbers) {
  for (const Fault fault : {Fault::wrong_number, Fault::stale_row, Fault::swapped_numbers}) {
    EXPECT_FALSE(run<SlabExchange>(NasClass::s, 4, fault).verified) << static_cast<int>(fault);
    EXPECT_FALSE(run<PencilExchange>(NasClass::s, 2, fault).verified) << static_cast<int>(fault);
  }
}

TEST(FtPartition, RefusesRanksThatDivideOneAxisOnly) {
  // 128 rows of y, but 32 planes of z.
  EXPECT_FALSE(FtPartition::create(ft_problem(NasClass::w), 64).ok());
  EXPECT_FALSE(FtPartition::create(ft_problem(NasClass::w), 0).ok());
  EXPECT_TRUE(FtPartition::create(ft_problem(NasClass::w), 32).ok());
}

}  // namespace
}  // namespace stripline::suites::nas
