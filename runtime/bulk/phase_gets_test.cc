#include "runtime/bulk/phase_gets.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::bulk {
namespace {

using Records = std::vector<GetRecord>;

// Issues all that is to be fetched ahead, into buffers 0, 1, ...: how many.
uint64_t issue_all(PhaseGets& gets) {
  uint64_t buffers = 0;
  while (const auto index = gets.next()) gets.issued(*index, buffers++);
  return buffers;
}

TEST(PhaseGets, RemembersWhatTheFirstVisitMakes) {
  PhaseGets gets;
  gets.begin({}, true);
  EXPECT_FALSE(gets.next());
  EXPECT_FALSE(gets.take(1, 0, 8));
  EXPECT_FALSE(gets.take(2, 16, 8));
  EXPECT_EQ(gets.end(), (Records{{1, 0, 8}, {2, 16, 8}}));
  EXPECT_FALSE(gets.take(1, 0, 8)) << "no visit";
  gets.begin({}, true);
  EXPECT_TRUE(gets.end().empty());
}

TEST(PhaseGets, ServesWhatWasExpectedInAnyOrder) {
  PhaseGets gets;
  const Records expected{{1, 0, 8}, {2, 0, 8}, {1, 8, 8}, {1, 0, 8}};
  gets.begin(expected, true);
  EXPECT_EQ(issue_all(gets), 4U);
  EXPECT_EQ(gets.take(1, 8, 8), 2U);
  EXPECT_EQ(gets.take(1, 0, 8), 0U);
  EXPECT_EQ(gets.take(1, 0, 8), 3U) << "each serves one get";
  EXPECT_EQ(gets.take(1, 0, 8), std::nullopt);
  EXPECT_EQ(gets.take(2, 0, 16), std::nullopt) << "another size";
  EXPECT_TRUE(gets.given_up().empty());
  // In the order of this visit, with what is new and without what was not asked for.
  const Records made{{1, 8, 8}, {1, 0, 8}, {1, 0, 8}, {1, 0, 8, true}, {2, 0, 16, true}};
  EXPECT_EQ(gets.end(), made);
  EXPECT_EQ(gets.given_up(), std::vector<uint64_t>{1});
}

TEST(PhaseGets, FetchAheadWhatTwoVisitsMadeWhereVisitsDiffer) {
  PhaseGets gets;
  Records made;
  const auto visit = [&](uint64_t offset) {
    gets.begin(made, true);
    const uint64_t ahead = issue_all(gets);
    gets.take(1, offset, 8);
    made = gets.end();
    return ahead;
  };
  EXPECT_EQ(visit(0), 0U);
  EXPECT_EQ(visit(8), 1U) << "in vain";
  // Others in each visit: nothing more is.
  EXPECT_EQ(visit(16), 0U);
  EXPECT_EQ(visit(24), 0U);
  EXPECT_EQ(visit(24), 0U);
  EXPECT_EQ(visit(24), 1U);
}

TEST(PhaseGets, LetsGetsComeBeforeTheyAreIssued) {
  PhaseGets gets;
  gets.begin(Records{{1, 0, 8}, {1, 8, 8}, {1, 16, 8}}, true);
  gets.issued(*gets.next(), 5);
  EXPECT_EQ(gets.take(1, 8, 8), std::nullopt);
  ASSERT_TRUE(gets.next());
  EXPECT_EQ(gets.expected(*gets.next()).offset, 16U)
      << "the one that has come is not fetched again";
  EXPECT_EQ(gets.take(1, 0, 8), 5U);
}

TEST(PhaseGets, ServesNothingThatTheRankStoredInto) {
  PhaseGets gets;
  const Records expected{{1, 0, 8}, {1, 8, 8}, {2, 0, 8}, {1, 100, 8}};
  gets.begin(expected, true);
  gets.issued(*gets.next(), 0);
  gets.issued(*gets.next(), 1);
  gets.issued(*gets.next(), 2);
  gets.spoil(1, 7, 8);
  gets.spoil(1, 107, 200);  // before it is fetched
  EXPECT_EQ(gets.given_up(), std::vector<uint64_t>{0});
  EXPECT_FALSE(gets.next());
  EXPECT_EQ(gets.take(1, 0, 8), std::nullopt);
  EXPECT_EQ(gets.take(1, 8, 8), 1U);
  EXPECT_EQ(gets.take(2, 0, 8), 2U);
  EXPECT_EQ(gets.take(1, 100, 8), std::nullopt);
  const Records made = gets.end();
  EXPECT_EQ(made, (Records{{1, 0, 8, true}, {1, 8, 8}, {2, 0, 8}, {1, 100, 8, true}}));

  // The next visit does not fetch these ahead; one without such stores has them fetched again.
  gets.begin(made, true);
  gets.given_up().clear();
  EXPECT_EQ(issue_all(gets), 2U);
  EXPECT_EQ(gets.take(1, 0, 8), std::nullopt);
  gets.spoil(1, 100, 101);
  EXPECT_EQ(gets.take(1, 100, 8), std::nullopt);
  EXPECT_EQ(gets.end(), (Records{{1, 0, 8}, {1, 100, 8, true}}));
}

TEST(PhaseGets, GivesUpAtAnAcquire) {
  PhaseGets gets;
  gets.begin(Records{{1, 0, 8}, {1, 8, 8}, {1, 16, 8}}, true);
  gets.issued(*gets.next(), 0);
  gets.issued(*gets.next(), 1);
  EXPECT_EQ(gets.take(1, 0, 8), 0U);
  gets.give_up();
  EXPECT_EQ(gets.given_up(), std::vector<uint64_t>{1});
  EXPECT_FALSE(gets.next());
  EXPECT_EQ(gets.take(1, 8, 8), std::nullopt);
  EXPECT_EQ(gets.end(), (Records{{1, 0, 8}})) << "what came behind the acquire is not remembered";
}

TEST(PhaseGets, SkipsThoseThatHaveCome) {
  PhaseGets gets;
  gets.begin(Records{{1, 0, 8}, {1, 8, 8}, {1, 16, 8}, {1, 24, 8}}, true);
  issue_all(gets);
  EXPECT_EQ(gets.take(1, 8, 8), 1U);
  EXPECT_EQ(gets.take(1, 16, 8), 2U);
  EXPECT_EQ(gets.take(1, 24, 8), 3U);
  EXPECT_EQ(gets.take(1, 8, 8), std::nullopt);
  gets.spoil(1, 0, 32);
  EXPECT_EQ(gets.given_up(), std::vector<uint64_t>{0});
}

TEST(PhaseGets, DoNotRememberWhatIsGivenBack) {
  PhaseGets gets;
  gets.begin({}, true);
  gets.take(1, 0, 8);
  gets.take(2, 8, 8);
  gets.give_up(0, 8);
  EXPECT_EQ(gets.end(), (Records{{2, 8, 8}}));
}

TEST(PhaseGets, DoNotExpectWhereNothingIsFetchedAhead) {
  PhaseGets gets;
  gets.begin(Records{{1, 0, 8}}, false);
  EXPECT_FALSE(gets.next());
  EXPECT_FALSE(gets.take(1, 0, 8));
  EXPECT_EQ(gets.end(), (Records{{1, 0, 8}}));
}

TEST(PhaseGets, BoundWhatTheyRemember) {
  PhaseGets gets;
  gets.begin({}, true);
  for (uint64_t i = 0; i < PhaseGets::kMaxRecords + 10; ++i) gets.take(1, 8 * i, 8);
  EXPECT_EQ(gets.end().size(), PhaseGets::kMaxRecords);
}

// The same ones in each visit, in another order: all are served, and fetched ahead again.
TEST(PhaseGets, ServeWhatIsAskedForInADrawnOrder) {
  constexpr uint64_t kGets = 20 * PhaseGets::kLookAhead;
  Records made;
  std::vector<uint64_t> order(kGets);
  std::iota(order.begin(), order.end(), uint64_t{0});
  std::mt19937_64 random(5);
  PhaseGets gets;
  for (int visit = 0; visit < 4; ++visit) {
    std::shuffle(order.begin(), order.end(), random);
    gets.begin(made, true);
    EXPECT_EQ(issue_all(gets), visit == 0 ? 0 : kGets);
    const Records expected = made;
    for (const uint64_t i : order) {
      // Each place twice, some of them by gets of two sizes.
      const auto rank = static_cast<rank_t>(i % 3);
      const uint64_t bytes = i % 8 == 0 ? 16 : 8;
      const auto buffer = gets.take(rank, i / 6 * 8, bytes);
      ASSERT_EQ(buffer.has_value(), visit > 0) << i;
      if (!buffer) continue;
      const GetRecord& served = expected[*buffer];
      ASSERT_EQ(served, (GetRecord{rank, i / 6 * 8, bytes})) << i;
    }
    EXPECT_FALSE(gets.take(1, 0, 8).has_value()) << "all have come";
    made = gets.end();
    EXPECT_TRUE(gets.given_up().empty());
    made.pop_back();
  }
}

// As many stores as gets, between them: each looks at none but what it overlaps.
TEST(PhaseGets, LoseNothingToStoresBetweenThem) {
  Records expected;
  for (uint64_t i = 0; i < PhaseGets::kMaxRecords; ++i) expected.push_back({1, 16 * i, 8});
  PhaseGets gets;
  gets.begin(expected, true);
  EXPECT_EQ(issue_all(gets), expected.size());
  for (uint64_t i = 0; i < expected.size(); ++i) gets.spoil(1, 16 * i + 8, 16 * i + 16);
  gets.spoil(2, 0, UINT64_MAX);
  for (uint64_t i = 0; i < expected.size(); i += 3) gets.spoil(1, 16 * i + 7, 16 * i + 8);
  EXPECT_EQ(gets.given_up().size(), (expected.size() + 2) / 3);
  for (uint64_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(gets.take(1, 16 * i, 8).has_value(), i % 3 != 0) << i;
  }
}

TEST(GetRecords, AreForgottenWithTheirMemory) {
  Records records{{1, 0, 8}, {2, 8, 8}, {3, 16, 8}};
  forget(records, 8, 16);
  EXPECT_EQ(records, (Records{{1, 0, 8}, {3, 16, 8}}));
  forget(records, 7, 17);
  EXPECT_TRUE(records.empty());
}

}  // namespace
}  // namespace stripline::bulk
