// The calls of the table with each kind of each argument, and random combinations: the result is
// right, or one line says what is wrong.
#include "tests/edges/edges.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::edges {
namespace {

constexpr uint64_t kMappedInterval = 512;  // scripts/check.sh edges has more of them

// Their types are arguments of calls in other headers; their own functions accept every value.
const std::set<std::string> kWithoutCalls = {
    "atomic_operation.h", "byte_count.h",   "call_site.h",       "grid.h",        "loop_index.h",
    "point_order.h",      "shared_cells.h", "update_operator.h", "update_type.h", "work.h"};

TEST(Edges, EveryPublicHeaderHasCalls) {
  std::set<std::string> with;
  for (const Call& call : all_calls()) with.emplace(call.header);
  for (const auto& entry : std::filesystem::directory_iterator(STRIPLINE_HEADERS)) {
    const std::string header = entry.path().filename().string();
    EXPECT_NE(with.contains(header), kWithoutCalls.contains(header)) << header;
  }
}

void expect_pass(const Case& one, const std::vector<Call>& calls) {
  const auto failure = failure_of(one, calls[one.call]);
  EXPECT_FALSE(failure.has_value()) << text(one, calls[one.call]) << ": " << failure.value_or("");
}

TEST(Edges, EachKindOfEachArgumentIsRightOrOneLine) {
  const std::vector<Call> calls = all_calls();
  for (const Case& one : systematic_cases(calls, kMappedInterval)) expect_pass(one, calls);
}

TEST(Edges, RandomCombinationsAreRightOrOneLine) {
  const std::vector<Call> calls = all_calls();
  constexpr uint64_t kTrials = 200;
  for (uint64_t seed = 1; seed <= kTrials; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_pass(random_case(calls, kMappedInterval, seed), calls);
  }
}

}  // namespace
}  // namespace stripline::edges
