#include "suites/results/quality_summary.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "suites/results/cells.h"

namespace stripline::suites::results {
namespace {

// Six runs of a cell; all rows share the noise of a run.
CellResult cell(const std::string& key, const std::string& fabric, double blocking, double hand,
                double tuned, double best) {
  CellResult result;
  result.key = key;
  result.fabric = fabric;
  result.ranks = 2;
  result.problem = "kernel.matvec: rows=1";
  result.candidates = 3;
  for (const double noise : {1.0, 1.1, 0.9, 1.05, 0.95, 1.0}) {
    const double uneven = 1 + (noise - 1) / 100;
    result.times["blocking"].push_back(blocking * noise);
    result.times["hand"].push_back(hand * noise * uneven);
    result.times["hand4"].push_back(hand * noise);
    result.times["hand_t"].push_back(0.9 * hand * noise);
    result.times["tuned"].push_back(tuned * noise * uneven);
    result.times["best"].push_back(best * noise);
  }
  for (const char* row : kRows) result.plans[row] = std::string("plan of ") + row;
  return result;
}

TEST(QualitySummary, MeansVerdictsAndShareOfGain) {
  const std::vector<CellResult> cells = {cell("a", "tcp", 10, 10, 8, 8),
                                         cell("b", "tcp", 10, 10, 11, 8)};
  ASSERT_OK_AND_ASSIGN(const auto summary, summarize_cells(cells));
  EXPECT_EQ(summary.cells, 2U);
  EXPECT_NEAR(summary.tuned_over_best.value, std::sqrt(11.0 / 8), 1e-3);
  EXPECT_NEAR(summary.best_over_hand.value, 0.8, 1e-3);
  EXPECT_EQ(summary.worst_cell, "b");
  EXPECT_NEAR(summary.worst_lower, 11.0 / 8, 0.02);
  EXPECT_EQ(summary.against_blocking.non_inferior, 1U);
  EXPECT_EQ(summary.against_blocking.inferior, 1U);
  EXPECT_EQ(summary.against_blocking.inconclusive, 0U);
  EXPECT_EQ(summary.against_hand_t.non_inferior, 1U);
  EXPECT_EQ(summary.against_hand_t.inferior, 1U);
  EXPECT_NEAR(summary.tuned_over_hand_t.value, std::sqrt(0.8 * 1.1) / 0.9, 1e-2);
  EXPECT_NEAR(summary.share_of_gain(), (1 - std::sqrt(0.8 * 1.1)) / 0.2, 0.01);
}

TEST(QualitySummary, WithoutAGainThereIsNoShareOfIt) {
  ASSERT_OK_AND_ASSIGN(const auto summary, summarize_cells({cell("a", "tcp", 10, 10, 10, 9.99)}));
  EXPECT_TRUE(std::isnan(summary.share_of_gain()));
}

TEST(QualitySummary, AFabricThatOffersNoOverlapIsNotHeldAgainstTuning) {
  const std::vector<CellResult> cells = {cell("a", "tcp", 10, 10, 10.1, 10),
                                         cell("b", "emulated:x", 10, 10, 8, 8)};
  ASSERT_OK_AND_ASSIGN(const auto text,
                       quality_tables(cells, {{"tcp", 0.05}, {"emulated:x", 0.9}}));
  EXPECT_EQ(text.find("HAND on tcp"), std::string::npos);
  EXPECT_NE(text.find("HAND on emulated:x"), std::string::npos);
  EXPECT_NE(text.find("| cells | 2 | at least 60 | NOT MET |"), std::string::npos) << text;
  EXPECT_NE(text.find("plan of best"), std::string::npos);
}

// The row is there where programs' guards are measured, too.
TEST(QualitySummary, WhatGuardsMakeOfPlansIsJudgedBesideThem) {
  CellResult guarded = cell("a", "tcp", 10, 10, 12, 8);
  guarded.times["guarded"] = guarded.times["blocking"];
  guarded.plans["guarded"] = "plan";
  ASSERT_OK_AND_ASSIGN(const auto summary, summarize_cells({guarded}, kGuardedRow));
  EXPECT_NEAR(summary.tuned_over_best.value, 10.0 / 8, 1e-3);
  EXPECT_EQ(summary.against_blocking.non_inferior, 1U);
  ASSERT_OK_AND_ASSIGN(const auto record, cell_result_from_json(to_json(guarded), kRows));
  EXPECT_EQ(record.times.at(kGuardedRow), guarded.times.at(kGuardedRow));

  const std::string with = quality_tables({record}, {}).value();
  EXPECT_NE(with.find("| tuned not slower than blocking by more than 2 % | 0 NON_INFERIOR, 1 INF"),
            std::string::npos)
      << with;
  EXPECT_NE(with.find("| tuned with guards not slower than blocking by more than 2 % | 1 NON_INF"),
            std::string::npos)
      << with;
  const CellResult other = cell("b", "tcp", 10, 10, 12, 8);
  EXPECT_EQ(quality_tables({guarded, other}, {}).value().find("with guards"), std::string::npos);
}

TEST(QualitySummary, OverlapIsThatOfTransfersWorthCutting) {
  EXPECT_DOUBLE_EQ(largest_hidden_share({{8, 0.99}, {16384, 0.3}, {65536, 0.5}}), 0.5);
  EXPECT_TRUE(std::isnan(largest_hidden_share({{8, 0.99}})));
}

TEST(Quality, RecordsReadBackEqual) {
  const CellResult before = cell("a", "tcp", 10, 9, 8, 7);
  ASSERT_OK_AND_ASSIGN(const auto after, cell_result_from_json(to_json(before), kRows));
  EXPECT_EQ(to_json(after), to_json(before));
  Json damaged = to_json(before);
  damaged["rows"]["best"]["run_medians_s"][0] = "fast";
  EXPECT_FALSE(cell_result_from_json(damaged, kRows).ok());
  damaged["rows"].erase("best");
  EXPECT_FALSE(cell_result_from_json(damaged, kRows).ok());
}

TEST(QualityCells, AreDifferentAndOfNoMoreRanksThanProcessorsUnlessDeclared) {
  ASSERT_OK_AND_ASSIGN(const auto few, quality_cells({}, CellKind::few_ranks));
  EXPECT_GE(few.size(), 60U);
  std::set<std::string> keys;
  for (const Cell& one : few) {
    keys.insert(one.key());
    EXPECT_EQ(one.ranks, 2U) << one.key();
    EXPECT_EQ(one.network.fabric.find("declared"), std::string::npos) << one.key();
  }
  ASSERT_OK_AND_ASSIGN(const auto many, quality_cells({}, CellKind::many_ranks));
  EXPECT_GE(many.size(), 100U);
  std::set<uint32_t> ranks;
  for (const Cell& one : many) {
    keys.insert(one.key());
    ranks.insert(one.ranks);
    EXPECT_TRUE(one.network.fabric.ends_with(",compute=declared")) << one.key();
  }
  EXPECT_EQ(ranks, (std::set<uint32_t>{2, 4, 8, 9, 16, 64}));
  EXPECT_EQ(keys.size(), few.size() + many.size());
}

TEST(QualityCells, OfManyRanksAreOfEmulatedNetworksOnly) {
  Options options;
  options.only = "tcp";
  EXPECT_EQ(quality_cells(options, CellKind::many_ranks)->size(), 0U);
  options.quick = true;
  options.only = "opteron";
  EXPECT_EQ(quality_cells(options, CellKind::many_ranks)->size(), 1U);
}

}  // namespace
}  // namespace stripline::suites::results
