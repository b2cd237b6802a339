// IS passes the published tests on every number of ranks, in any pieces and with keys fetched or
// sent, and does not when one number of what is exchanged is wrong.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/nas/is_solver.h"
#include "suites/kernels/nas/testing/team.h"

namespace stripline::suites::nas {
namespace {

enum class Fault { none, wrong_count, wrong_segment, wrong_key, lost_key, stale_keys };
enum class Direction { fetch, send };

class PlainExchange {
 public:
  PlainExchange(TestTeam<uint32_t>& team, size_t piece, Direction direction, Fault fault)
      : team_(&team), piece_(piece), direction_(direction), fault_(fault) {}

  void sum_counts(IsShare& share) {
    ++iteration_;
    const IsPartition& partition = share.partition();
    in_pieces(0, partition.keys_per_rank(), piece_,
              [&](size_t b, size_t e) { share.scatter(b, e); });
    team_->barrier();
    for (uint32_t rank = 0; rank < partition.ranks(); ++rank) {
      if (rank == share.me()) continue;
      const uint32_t* const theirs = team_->shared(rank).data() + partition.counts_offset();
      for (size_t i = 0; i < partition.counts_elements(); ++i) share.totals()[i] += theirs[i];
    }
    if (spoil(Fault::wrong_count, share)) share.totals()[share.problem().buckets() / 2] += 1000000;
    team_->barrier();
  }

  void trade_segments(IsShare& share) {
    const IsPartition& partition = share.partition();
    team_->barrier();
    for (uint32_t rank = 0; rank < partition.ranks(); ++rank) {
      const uint32_t* const entry =
          team_->shared(rank).data() + partition.segments_offset() + 2 * size_t{share.me()};
      share.set_segment(rank, {entry[0], entry[1]});
    }
    if (spoil(Fault::wrong_segment, share)) share.set_segment(0, {1 << 30, 1 << 30});
    team_->barrier();
  }

  void trade_keys(IsShare& share) {
    if (direction_ == Direction::fetch) {
      fetch(share);
    } else {
      send(share);
    }
    if (spoil(Fault::wrong_key, share)) share.incoming()[5] ^= 1;
    if (spoil(Fault::lost_key, share)) share.incoming()[5] = share.incoming()[6];
    in_pieces(0, share.incoming().size(), piece_,
              [&](size_t b, size_t e) { share.count_keys(b, e); });
    team_->barrier();
  }

  double sum(IsShare& share, double value) { return team_->sum(share.me(), value); }

  double from_previous(IsShare& share, double value) {
    const uint32_t previous = share.me() == 0 ? 0 : share.me() - 1;
    return team_->reduce(share.me(), value, previous, 1, 1, std::plus<double>());
  }

 private:
  bool spoil(Fault fault, const IsShare& share) const {
    return fault_ == fault && iteration_ == 4 && share.me() == 0;
  }

  void fetch(IsShare& share) {
    const IsPartition& partition = share.partition();
    for (uint32_t rank = 0; rank < partition.ranks(); ++rank) {
      if (spoil(Fault::stale_keys, share) && rank == 0) continue;
      const IsSegment segment = share.segment(rank);
      std::copy_n(team_->shared(rank).data() + partition.outgoing_offset() + segment.begin,
                  segment.count, share.incoming().data() + share.place_of(rank));
    }
  }

  void send(IsShare& share) {
    const IsPartition& partition = share.partition();
    team_->barrier();
    for (uint32_t rank = 0; rank < partition.ranks(); ++rank) {
      const uint32_t* const own = team_->shared(share.me()).data();
      const uint32_t* const segment = own + partition.segments_offset() + 2 * size_t{rank};
      uint32_t* const theirs = team_->shared(rank).data();
      const uint32_t place = theirs[partition.places_offset() + share.me()];
      std::copy_n(own + partition.outgoing_offset() + segment[0], segment[1],
                  theirs + partition.incoming_offset() + place);
    }
    team_->barrier();
  }

  TestTeam<uint32_t>* team_;
  size_t piece_;
  Direction direction_;
  Fault fault_;
  size_t iteration_ = 0;
};

IsResult run(NasClass problem_class, uint32_t ranks, size_t piece, Fault fault = Fault::none,
             Direction direction = Direction::fetch) {
  const IsProblem& problem = is_problem(problem_class);
  const IsPartition partition = IsPartition::create(problem, ranks).value();
  TestTeam<uint32_t> team(ranks, partition.shared_elements());
  std::vector<IsResult> results(ranks);
  run_as_ranks(ranks, [&](uint32_t me) {
    IsShare share(problem, partition, me, team.shared(me));
    PlainExchange exchange(team, piece, direction, fault);
    iterate_is(share, exchange, 1);  // as the specification does, to warm up
    PlainExchange timed(team, piece, direction, fault);
    results[me] = solve_is(share, timed);
  });
  for (const IsResult& result : results) EXPECT_EQ(result.verified, results[0].verified);
  return results[0];
}

TEST(Is, PassesTheTestsOnEveryNumberOfRanks) {
  for (const uint32_t ranks : {1, 2, 4, 8}) {
    const IsResult result = run(NasClass::s, ranks, 1 << 20);
    EXPECT_EQ(result.passed_tests, 50U) << ranks;
    EXPECT_TRUE(result.sorted) << ranks;
    EXPECT_TRUE(result.unchanged) << ranks;
    EXPECT_TRUE(result.verified) << ranks;
  }
}

TEST(Is, PassesTheTestsOfClassW) { EXPECT_TRUE(run(NasClass::w, 4, 1 << 20).verified); }

TEST(Is, PiecesAndDirectionDoNotMatter) {
  for (const size_t piece : {100, 4099}) {
    EXPECT_TRUE(run(NasClass::s, 4, piece).verified) << piece;
    EXPECT_TRUE(run(NasClass::s, 4, piece, Fault::none, Direction::send).verified) << piece;
  }
}

TEST(Is, CatchesAWrongCount) {
  EXPECT_FALSE(run(NasClass::s, 4, 1000, Fault::wrong_count).verified);
}

TEST(Is, CatchesAWrongSegment) {
  EXPECT_FALSE(run(NasClass::s, 4, 1000, Fault::wrong_segment).verified);
}

TEST(Is, CatchesOneWrongKeyInAnEarlyIteration) {
  // The published ranks do not show it, and the keys of the last iteration are in order.
  for (const Fault fault : {Fault::wrong_key, Fault::lost_key}) {
    const IsResult result = run(NasClass::s, 2, 1000, fault);
    EXPECT_TRUE(result.sorted);
    EXPECT_FALSE(result.verified);
  }
}

TEST(Is, CatchesKeysOfTheIterationBefore) {
  EXPECT_FALSE(run(NasClass::s, 2, 1000, Fault::stale_keys).verified);
}

TEST(IsPartition, RefusesRanksThatGetNoEqualPart) {
  const IsProblem& problem = is_problem(NasClass::s);
  for (const uint32_t ranks : {0, 3, 1024}) {
    EXPECT_FALSE(IsPartition::create(problem, ranks).ok()) << ranks;
  }
  EXPECT_TRUE(IsPartition::create(problem, 512).ok());
}

TEST(IsPartition, HasRoomForTheKeysOfEveryDivision) {
  // The ranks in turn, without threads: what each is to receive fits, and adds up to all.
  const IsProblem& problem = is_problem(NasClass::s);
  for (const uint32_t ranks : {32, 512}) {
    const IsPartition partition = IsPartition::create(problem, ranks).value();
    std::vector<uint32_t> keys(problem.keys());
    make_is_keys(problem, 0, keys);
    std::vector<uint32_t> totals(partition.counts_elements());
    for (const uint32_t key : keys) ++totals[problem.bucket_of(key)];
    std::vector<uint32_t> memory(partition.shared_elements());
    std::vector<uint32_t> received(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      IsShare share(problem, partition, rank, memory);
      share.count_buckets(1);
      std::copy(totals.begin(), totals.end(), share.totals().begin());
      share.divide();
      for (uint32_t r = 0; r < ranks; ++r) {
        received[r] += memory[partition.segments_offset() + 2 * size_t{r} + 1];
      }
    }
    size_t all = 0;
    for (const uint32_t count : received) {
      EXPECT_LE(count, partition.room());
      all += count;
    }
    EXPECT_EQ(all, problem.keys());
  }
}

}  // namespace
}  // namespace stripline::suites::nas
