// The calls of the table with each kind of each argument, and random combinations: the result is
// right, or one line says what is wrong.
#include "tests/edges/edges.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::edges {
namespace {

// Headers without a row, and why; what has none in the others: README.md.
const std::map<std::string, std::string> kWithoutCalls = {
    {"atomic_operation.h", "enumerators, which atomic.h takes"},
    {"byte_count.h", "a product that says when it overflows; calls with counts refuse that"},
    {"call_site.h", "a place in the source, for messages alone"},
    {"grid.h", "extents and cells, which spread() and arrange() check"},
    {"loop_index.h", "expressions of any numbers, whose elements for_nest() checks"},
    {"point_order.h", "steps of SharedUpdates::arrange(), which is the call"},
    {"shared_cells.h", "methods of SharedUpdates, which is the call"},
    {"update_operator.h", "what holds for an operator, when it is compiled"},
    {"update_type.h", "what an UpdateEpoch knows of its cells, for the runtime"},
    {"work.h", "sums of what is declared; clocks refuse what is not finite"}};

TEST(Edges, EveryPublicHeaderHasCalls) {
  std::set<std::string> with;
  for (const Call& call : all_calls()) with.emplace(call.header);
  for (const auto& entry : std::filesystem::directory_iterator(STRIPLINE_HEADERS)) {
    const std::string header = entry.path().filename().string();
    EXPECT_NE(with.contains(header), kWithoutCalls.contains(header)) << header;
  }
}

// Mapped memory has code of its own in most calls, and so has each network.
TEST(Edges, EveryCallHasTrialsOnBothPaths) {
  const std::vector<Call> calls = all_calls();
  std::vector<size_t> mapped(calls.size());
  std::vector<size_t> all(calls.size());
  for (const Case& one : systematic_cases(calls)) {
    ++all[one.call];
    mapped[one.call] += one.network ? 0 : 1;
  }
  for (size_t number = 0; number < calls.size(); ++number) {
    const Call& call = calls[number];
    EXPECT_GE(mapped[number], all[number] / 4) << call.name << " of " << call.header;
    EXPECT_GT(mapped[number], 0U) << call.name << " of " << call.header;
    EXPECT_EQ(mapped[number] == all[number], call.in_reach) << call.name << " of " << call.header;
  }
}

TEST(Edges, CollectiveCallsComeFromEverywhereAndDifferOnEachRank) {
  const std::vector<Call> calls = all_calls();
  std::map<From, size_t> from;
  std::map<rank_t, size_t> alone;
  for (const Case& one : systematic_cases(calls)) {
    if (!calls[one.call].collective) continue;
    ++from[one.from];
    if (one.alone) ++alone[*one.alone];
  }
  for (const From place : {From::twice, From::handler, From::continuation, From::thread}) {
    EXPECT_GT(from[place], 0U) << to_string(place);
  }
  for (rank_t rank = 0; rank < Trial::kRanks; ++rank) EXPECT_GT(alone[rank], 0U) << rank;
}

void expect_pass(const std::vector<Case>& cases, const std::vector<Call>& calls) {
  run_trials(cases, calls, [&](size_t index, const std::optional<std::string>& failure) {
    EXPECT_FALSE(failure.has_value())
        << "case " << index << ", " << text(cases[index], calls[cases[index].call]) << ": "
        << failure.value_or("");
  });
}

TEST(Edges, EachKindOfEachArgumentIsRightOrOneLine) {
  const std::vector<Call> calls = all_calls();
  expect_pass(systematic_cases(calls), calls);
}

// Case i is that of `edges I 1`.
TEST(Edges, RandomCombinationsAreRightOrOneLine) {
  const std::vector<Call> calls = all_calls();
  constexpr uint64_t kTrials = 100;
  std::vector<Case> cases;
  for (uint64_t seed = 0; seed < kTrials; ++seed) cases.push_back(random_case(calls, seed));
  expect_pass(cases, calls);
}

}  // namespace
}  // namespace stripline::edges
