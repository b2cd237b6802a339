// Every call with every kind of each of its arguments, and some combinations: the result is right,
// or one line says what is wrong.
#include "tests/edges/edges.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::edges {
namespace {

// What the headers declare is used by calls of others, and takes nothing that could be wrong.
const std::set<std::string> kWithoutCalls = {
    "atomic_operation.h", "byte_count.h",      "call_site.h",   "global_ptr.h",
    "indexed_list.h",     "loop_index.h",      "point_order.h", "reduction.h",
    "shared_cells.h",     "update_operator.h", "work.h"};

TEST(Edges, EveryPublicHeaderHasCalls) {
  std::set<std::string> with;
  for (const Call& call : all_calls()) with.emplace(call.header);
  for (const auto& entry : std::filesystem::directory_iterator(STRIPLINE_HEADERS)) {
    const std::string header = entry.path().filename().string();
    EXPECT_NE(with.contains(header), kWithoutCalls.contains(header)) << header;
  }
}

void expect_no_mistake(const Case& one, const std::vector<Call>& calls) {
  const auto mistake = verdict_on(one, calls[one.call]);
  EXPECT_FALSE(mistake.has_value()) << text(one, calls[one.call]) << ": " << mistake.value_or("");
}

TEST(Edges, EachKindOfEachArgumentIsRightOrOneLine) {
  const std::vector<Call> calls = all_calls();
  for (const Case& one : systematic_cases(calls)) expect_no_mistake(one, calls);
}

TEST(Edges, RandomCombinationsAreRightOrOneLine) {
  const std::vector<Call> calls = all_calls();
  constexpr uint64_t kTrials = 200;  // `edges SEED TRIALS` makes others
  for (uint64_t seed = 1; seed <= kTrials; ++seed) {
    SCOPED_TRACE("edges " + std::to_string(seed) + " 1");
    expect_no_mistake(random_case(calls, seed), calls);
  }
}

}  // namespace
}  // namespace stripline::edges
