#include "suites/targets/search_table.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "optimizer/targets/registry.h"

namespace stripline::suites::tune {
namespace {

using targets::Cell;
using targets::Collective;

const targets::Target& openmpi() { return **targets::find_target("openmpi"); }
// One that distinguishes neither ranks nor sizes.
targets::Target indistinct() {
  targets::Target target = openmpi();
  target.choice_by_ranks = false;
  return target;
}

// A run in which `time_of(cell, candidate)` says what each takes, but for a small wave.
template <typename Time>
void measure(SearchTable& table, Time time_of) {
  table.begin_run();
  for (size_t at = 0; at < table.cells().size(); ++at) {
    const SearchCell& cell = table.cells()[at];
    for (size_t i = 0; i < cell.runners.size(); ++i) {
      if (!cell.runners[i].in_race) continue;
      const double wave = 1 + 0.01 * std::sin(static_cast<double>(7 * table.runs() + 3 * i + at));
      table.record(at, i, wave * time_of(cell.cell, cell.runners[i].candidate));
    }
  }
}

// Below 1 KiB binomial trees are twice as fast as the default, from there on the pipeline is.
double bcast_time(const Cell& cell, const targets::Candidate& candidate) {
  if (candidate.name == "binomial" && cell.bytes < 1024) return 5e-6;
  if (candidate.name == "knomial" && cell.bytes >= 1024) return 5e-6;
  return candidate.id == 0 ? 10e-6 : 12e-6;
}

const targets::Choice* choice_of(const SearchResult& result, const Cell& cell) {
  for (const auto& choice : result.by_cell) {
    if (choice.cell == cell) return &choice;
  }
  return nullptr;
}

TEST(SearchTable, NothingIsDecidedAboutCellsThatAreLeftOut) {
  SearchTable table(openmpi(), {});
  for (const uint64_t bytes : {8U, 128U}) table.add({Collective::bcast, 4, 4, bytes});
  table.add({Collective::gather, 8, 8, 8});
  for (int run = 0; run < 2; ++run) measure(table, bcast_time);
  EXPECT_EQ(table.leave_out_after(1), 2U);
  for (int run = 0; run < 8; ++run) {
    measure(table, bcast_time);
    ASSERT_TRUE(table.race().ok());
  }
  ASSERT_OK_AND_ASSIGN(const auto result, table.decide({}));
  for (const auto& decision : result.decisions) {
    const bool kept = decision.cell == table.cells()[0].cell;
    EXPECT_EQ(decision.outcome, kept ? targets::Outcome::departs : targets::Outcome::few_runs);
  }
}

TEST(SearchTable, FindsWhatIsFasterAndWhereItChanges) {
  SearchTable table(openmpi(), {});
  for (const uint64_t bytes : {8U, 128U, 2048U, 32768U}) {
    table.add({Collective::bcast, 4, 4, bytes});
  }
  for (int run = 0; run < 3; ++run) {
    measure(table, bcast_time);
    ASSERT_TRUE(table.race().ok());
  }
  EXPECT_EQ(table.refine(), 1U);
  EXPECT_EQ(table.cells().back().cell.bytes, 512U);
  EXPECT_EQ(table.cells().back().runners.size(), 3U);  // the default, and one of either side
  for (int run = 0; run < 4; ++run) measure(table, bcast_time);
  EXPECT_EQ(table.refine(), 1U);
  EXPECT_EQ(table.cells().back().cell.bytes, 1024U);
  for (int run = 0; run < 6; ++run) measure(table, bcast_time);
  ASSERT_OK_AND_ASSIGN(const auto result, table.decide({}));
  EXPECT_EQ(choice_of(result, {Collective::bcast, 4, 4, 512})->candidate.name, "binomial");
  EXPECT_EQ(choice_of(result, {Collective::bcast, 4, 4, 1024})->candidate.name, "knomial");
  EXPECT_EQ(choice_of(result, {Collective::bcast, 4, 4, 32768})->candidate.name, "knomial");
}

TEST(SearchTable, TimesOfChoicesStandBesideTheDefaults) {
  SearchTable table(openmpi(), {});
  for (const uint64_t bytes : {8U, 128U}) table.add({Collective::bcast, 4, 4, bytes});
  for (int run = 0; run < 8; ++run) {
    measure(table, [](const Cell& cell, const targets::Candidate& candidate) {
      // The default is the best of the larger size.
      return candidate.name == "binomial" && cell.bytes == 8 ? 5e-6
             : candidate.id == 0                             ? 10e-6
                                                             : 12e-6;
    });
  }
  ASSERT_OK_AND_ASSIGN(const auto result, table.decide({}));
  const auto times = table.chosen(result);
  ASSERT_EQ(times.size(), 2U);
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i].cell, result.by_cell[i].cell);
    ASSERT_EQ(times[i].value_s.size(), 8U);
    EXPECT_NEAR(times[i].default_s[0], 10e-6, 1e-6);
    EXPECT_NEAR(times[i].value_s[0], times[i].cell.bytes == 8 ? 5e-6 : 10e-6, 1e-6);
  }
  // The default took as long for 8 bytes as for 128; what was chosen violates nothing either.
  std::vector<targets::CellSeries> chosen;
  for (const auto& one : times) chosen.push_back({one.cell, one.value_s});
  ASSERT_OK_AND_ASSIGN(const auto violations, targets::violated_guidelines(chosen, {}));
  EXPECT_TRUE(violations.empty());
}

TEST(SearchTable, SlowerOnesLeaveTheRaceAndTheDefaultStays) {
  SearchTable table(openmpi(), {});
  table.add({Collective::bcast, 4, 4, 64});
  for (int run = 0; run < 8; ++run) {
    measure(table, [](const Cell&, const targets::Candidate& candidate) {
      return candidate.id == 0 ? 50e-6 : candidate.id == 1 ? 9e-6 : 30e-6;
    });
    ASSERT_TRUE(table.race().ok());
  }
  size_t in_race = 0;
  for (const Runner& runner : table.cells()[0].runners) in_race += runner.in_race ? 1 : 0;
  EXPECT_EQ(in_race, 2U);
  EXPECT_TRUE(table.cells()[0].runners[0].in_race);
  EXPECT_TRUE(table.undecided());
}

TEST(SearchTable, WhatGaveWrongDataIsOutOfAllSizesOfItsRanks) {
  SearchTable table(openmpi(), {});
  table.add({Collective::bcast, 4, 4, 64});
  table.add({Collective::bcast, 4, 4, 4096});
  table.add({Collective::bcast, 3, 3, 64});
  measure(table, bcast_time);
  table.fail(0, 1, "rank 2: byte 3 is wrong");
  EXPECT_FALSE(table.cells()[0].runners[1].in_race);
  EXPECT_FALSE(table.cells()[1].runners[1].failure.empty());
  EXPECT_TRUE(table.cells()[2].runners[1].in_race);
  table.fail(0, 0, "aborted");
  EXPECT_TRUE(table.cells()[0].runners[0].in_race);
}

TEST(SearchTable, TooFewRunsOfAllSizesAreSaidToBeTooFew) {
  SearchTable table(openmpi(), {});
  for (const uint64_t bytes : {8U, 4096U}) table.add({Collective::gather, 4, 4, bytes});
  const auto twice_as_fast = [](const Cell&, const targets::Candidate& candidate) {
    return candidate.id == 2 ? 5e-6 : 10e-6;
  };
  for (int run = 0; run < 2; ++run) measure(table, twice_as_fast);
  ASSERT_OK_AND_ASSIGN(const auto early, table.decide({}));
  ASSERT_EQ(early.decisions.size(), 2U);
  for (const auto& decision : early.decisions) {
    EXPECT_EQ(decision.outcome, targets::Outcome::few_runs);
  }
  for (int run = 0; run < 4; ++run) measure(table, twice_as_fast);
  ASSERT_OK_AND_ASSIGN(const auto result, table.decide({}));
  for (const auto& decision : result.decisions) {
    EXPECT_EQ(decision.outcome, targets::Outcome::departs);
  }
}

TEST(SearchTable, OnlyWhatIsSafeIsMeasured) {
  SearchTable careful(openmpi(), {});
  SearchTable allowed(openmpi(), {.commutative_only = true});
  const Cell cell{Collective::allreduce, 4, 4, 65536};
  careful.add(cell);
  allowed.add(cell);
  const auto has_ring = [](const SearchTable& table) {
    for (const Runner& runner : table.cells()[0].runners) {
      if (runner.candidate.name == "ring") return true;
    }
    return false;
  };
  EXPECT_FALSE(has_ring(careful));
  EXPECT_TRUE(has_ring(allowed));
}

TEST(SearchTable, AChoiceForACollectiveMayLoseInNoCell) {
  const targets::Target target = indistinct();
  for (const bool loses : {false, true}) {
    SearchTable table(target, {});
    for (const uint32_t ranks : {2U, 4U}) {
      for (const uint64_t bytes : {8U, 4096U}) table.add({Collective::bcast, ranks, ranks, bytes});
    }
    for (int run = 0; run < 6; ++run) {
      measure(table, [&](const Cell& cell, const targets::Candidate& candidate) {
        if (candidate.name != "binomial") return candidate.id == 0 ? 10e-6 : 40e-6;
        return loses && cell.ranks == 4 && cell.bytes == 4096 ? 11e-6 : 6e-6;
      });
      ASSERT_TRUE(table.race().ok());
    }
    EXPECT_EQ(table.refine(), 0U);
    ASSERT_OK_AND_ASSIGN(const auto result, table.decide({}));
    EXPECT_EQ(result.choices.size(), loses ? 0U : 1U);
    EXPECT_EQ(result.by_cell.size(), 4U);
  }
}

}  // namespace
}  // namespace stripline::suites::tune
