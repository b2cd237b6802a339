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

TEST(Mpich, NumbersOfAnotherVersionAreReadFromItsDescriptions) {
  // As mpivars prints them: lines of a description are put together.
  const auto found = renumbering(
      "\tMPIR_CVAR_IBCAST_INTRA_ALGORITHM=0\tSCOPE\tVariableauto - Internal selection\n"
      "\tMPIR_CVAR_BCAST_INTRA_ALGORITHM =0\tSCOPE\tVariable to select bcast algorithmauto - "
      "Internal algorithm selectionbinomial                             - Force Binomial Treenb "
      "  - Force nonblocking algorithmsmp - Force smptree    - Force Tree"
      "scatter_recursive_doubling_allgather - Force itscatter_ring_allgather - Force it\n"
      "\tMPIR_CVAR_ALLGATHER_INTRA_ALGORITHM=0\tSCOPE\talgorithmauto - Internalk_brucks - Force it"
      "brucks - Force itnb - Force itrecursive_doubling - Force itring - Force it\n"
      "\tMPIR_CVAR_GATHER_INTRA_ALGORITHM=0\tSCOPE\talgorithmauto - Internalnb - Force it\n"
      "\tMPIR_CVAR_BCAST_INTRA_ALGORITHM :\tSCOPE\n");
  using Numbers = std::map<std::pair<std::string, int64_t>, int64_t>;
  const std::string bcast = "MPIR_CVAR_BCAST_INTRA_ALGORITHM";
  const std::string allgather = "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM";
  EXPECT_EQ(found.numbers, (Numbers{{{bcast, 4}, 5},
                                    {{bcast, 5}, 6},
                                    {{allgather, 1}, 2},
                                    {{allgather, 2}, 3},
                                    {{allgather, 3}, 4},
                                    {{allgather, 4}, 5},
                                    {{"MPIR_CVAR_GATHER_INTRA_ALGORITHM", 2}, 1}}));
  // A word is missing, or the variable is.
  EXPECT_TRUE(found.unknown.contains("MPIR_CVAR_GATHER_INTRA_ALGORITHM"));
  EXPECT_TRUE(found.unknown.contains("MPIR_CVAR_SCAN_INTRA_ALGORITHM"));
  EXPECT_FALSE(found.unknown.contains(bcast));
  EXPECT_FALSE(found.unknown.contains(allgather));
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
