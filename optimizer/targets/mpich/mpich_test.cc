#include "optimizer/targets/mpich/mpich.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/targets/environment_file.h"

namespace stripline::targets::mpich {
namespace {

TEST(Mpich, NumbersAreThoseOfTheWords) {
  // As MPI_T of 4.0.2 gives them when the variable is set by its word.
  std::map<std::string, int> numbers;
  for (const Candidate& candidate : candidates(Collective::bcast)) {
    numbers[candidate.name] = candidate.id;
  }
  EXPECT_EQ(numbers, (std::map<std::string, int>{{"default", 0},
                                                 {"binomial", 1},
                                                 {"nb", 2},
                                                 {"scatter_recursive_doubling_allgather", 4},
                                                 {"scatter_ring_allgather", 5}}));
}

TEST(Mpich, EachCandidateIsAWordOfItsVariable) {
  for (const Collective collective : kCollectives) {
    for (const Candidate& candidate : candidates(collective)) {
      ASSERT_EQ(candidate.select.size(), 1U);
      const auto& [variable, number] = candidate.select.front();
      EXPECT_EQ(number, candidate.id);
      const std::string word = candidate.id == 0 ? "auto" : candidate.name;
      EXPECT_TRUE(check_settings(target(), {{variable, word}}).ok()) << variable << "=" << word;
    }
  }
}

TEST(Mpich, PowersOfTwoAreForAlgorithmsThatAbortOtherwise) {
  const std::map<Collective, std::string> restricted = {
      {Collective::allgather, "recursive_doubling"},
      {Collective::allgatherv, "recursive_doubling"},
      {Collective::bcast, "scatter_recursive_doubling_allgather"},
      {Collective::reduce_scatter, "noncommutative"},
      {Collective::reduce_scatter_block, "noncommutative"}};
  for (const Collective collective : kCollectives) {
    const auto found = restricted.find(collective);
    bool listed = found == restricted.end();
    for (const Candidate& candidate : candidates(collective)) {
      const bool is = found != restricted.end() && candidate.name == found->second;
      listed = listed || is;
      const Cell three{.collective = collective, .ranks = 3, .bytes = 4096};
      const Cell four{.collective = collective, .ranks = 4, .bytes = 4096};
      EXPECT_EQ(refusal(candidate, three, {}).empty(), !is) << candidate.name;
      EXPECT_EQ(refusal(candidate, four, {}), "") << candidate.name;
    }
    EXPECT_TRUE(listed) << to_string(collective);
  }
}

}  // namespace
}  // namespace stripline::targets::mpich
