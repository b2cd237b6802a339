#include "suites/results/strips_summary.h"

#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "suites/results/cells.h"
#include "suites/results/quality.h"

namespace stripline::suites::results {
namespace {

// Four runs of a cell whose rows share the noise of a run but for a little.
CellResult cell(const std::string& fabric, const std::string& problem, double bulk, double model,
                double best) {
  CellResult result;
  result.fabric = fabric;
  result.ranks = 8;
  result.problem = problem;
  result.key = fabric + ", " + problem;
  for (const double noise : {1.0, 1.02, 0.97, 1.01}) {
    const double uneven = 1 + (noise - 1) / 100;
    result.times["blocking"].push_back(bulk * noise);
    result.times["hand"].push_back(bulk * noise);
    result.times["tuned"].push_back(model * noise * uneven);
    result.times["best"].push_back(best * noise);
  }
  for (const char* row : kRows) result.plans[row] = std::string("plan of ") + row;
  return result;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(StripSummary, GainsAreThoseOfSpeed) {
  EXPECT_NEAR(gain_of(1 / 1.2), 0.2, 1e-12);
  EXPECT_NEAR(share_of_gain(1 / 1.1, 1 / 1.2), 0.5, 1e-12);
  EXPECT_LT(share_of_gain(1.1, 1 / 1.2), 0);
  EXPECT_TRUE(std::isnan(share_of_gain(1 / 1.1, 1 / 1.009)));
}

TEST(StripSummary, CountsLoopsThatGetHalfAndMostOfWhatCanBeGained) {
  const auto summary = summarize_strips(
      {cell("x", "all of it", 12, 10, 10), cell("x", "half of it", 12, 10.9, 10),
       cell("x", "little of it", 12, 11.5, 10), cell("x", "nothing to gain", 10, 10, 10),
       cell("x", "slower than bulk", 10, 10.5, 10)});
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_EQ(summary->cells, 5U);
  EXPECT_EQ(summary->gaining, 3U);
  EXPECT_EQ(summary->with_half, 2U);
  EXPECT_EQ(summary->with_most, 1U);
  EXPECT_EQ(summary->against_bulk.non_inferior, 4U);
  EXPECT_EQ(summary->against_bulk.inferior, 1U);
  EXPECT_EQ(summary->worst_cell, "8 ranks, slower than bulk");
  EXPECT_NEAR(summary->worst, 1.05, 1e-3);
  // Geometric means of the ratios.
  const double model = std::pow(1 / 1.2 * 10.9 / 12 * 11.5 / 12 * 1.05, 0.2);
  const double best = std::pow(1.2, -0.6);
  EXPECT_NEAR(summary->share(), (1 / model - 1) / (1 / best - 1), 1e-3);
  EXPECT_FALSE(summarize_strips({}).ok());
}

TEST(StripSummary, WhatMayBeJitterIsNoGain) {
  CellResult noisy = cell("x", "all of it", 12, 10, 10);
  noisy.times["best"] = {8, 14, 9, 13};
  const auto summary = summarize_strips({noisy, cell("x", "all of it", 12, 10, 10)});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->gaining, 1U);
}

TEST(StripTables, JudgeTheApplicationsByTheThesis) {
  const std::string opteron = "emulated:opteron-vapi";
  const std::string power5 = "emulated:power5-lapi";
  StripResults results;
  results.sweep = {cell(opteron, "kernel.matvec: rows=1", 12, 11.9, 10)};
  results.applications = {cell(opteron, "kernel.nas_ft: class=W", 12.5, 10, 10),
                          cell(opteron, "kernel.nas_is: class=W", 10.5, 10, 10),
                          cell(power5, "kernel.nas_ft: class=W", 11.5, 10, 10),
                          cell(power5, "kernel.nas_is: class=W", 10, 10.5, 10)};
  const auto text = strip_tables(results, {{opteron, 0.9}});
  ASSERT_TRUE(text.ok()) << text.error().message();
  EXPECT_TRUE(holds(*text, "at least half of the gain | 0 of 1 | 90 % | NOT MET |")) << *text;
  const auto row = [&](const std::string& begin) {
    const size_t at = text->find(begin);
    return at == std::string::npos ? "" : text->substr(at, text->find('\n', at) - at);
  };
  EXPECT_TRUE(row("| kernel.nas_ft on " + opteron).ends_with("| 20 % | met |")) << *text;
  EXPECT_TRUE(row("| kernel.nas_ft on " + power5).ends_with("| 20 % | NOT MET |")) << *text;
  EXPECT_TRUE(row("| kernel.nas_is on " + opteron).ends_with("| 10 % | NOT MET |")) << *text;
  EXPECT_TRUE(row("| kernel.nas_is on " + power5).ends_with("| – | – |")) << *text;
  EXPECT_TRUE(row("| all on " + power5 + ", where 8 ranks").ends_with("| no INFERIOR | NOT MET |"))
      << *text;
  EXPECT_TRUE(row("| all on " + opteron).ends_with("| no INFERIOR | met |")) << *text;
  EXPECT_TRUE(holds(*text, "| " + opteron + " | 90 % | one, by size | 1 |")) << *text;
  EXPECT_FALSE(holds(*text, "\nKernels:")) << "there are none";
}

TEST(StripCells, AreTheSizesAndTheClustersOfTheThesis) {
  const auto cells = strip_cells({});
  ASSERT_TRUE(cells.ok()) << cells.error().message();
  std::set<std::string> keys;
  std::set<std::string> fabrics;
  std::set<uint32_t> ranks;
  for (const Cell& one : cells->sweep) keys.insert(one.key());
  for (const Cell& one : cells->applications) {
    keys.insert(one.key());
    fabrics.insert(one.network.fabric);
    ranks.insert(one.ranks);
    EXPECT_TRUE(is_cut(one)) << one.key();
  }
  EXPECT_EQ(keys.size(), cells->sweep.size() + cells->applications.size());
  EXPECT_EQ(cells->sweep.size(), 5U * 2 * 11);
  EXPECT_EQ(fabrics.size(), 3U);
  EXPECT_EQ(ranks, (std::set<uint32_t>{2, 4, 8, 16, 32}));
  Options tcp;
  tcp.only = "tcp";
  EXPECT_TRUE(strip_cells(tcp)->sweep.empty());
}

TEST(StripCells, StridedTransfersAreNotCut) {
  const auto cells = quality_cells({}, CellKind::many_ranks);
  ASSERT_TRUE(cells.ok());
  size_t cut = 0;
  for (const Cell& one : *cells) {
    const bool strided = one.problem.experiment == "kernel.nas_mg" ||
                         one.problem.experiment == "kernel.prk_stencil" ||
                         one.problem.experiment == "kernel.nas_bt" ||
                         one.problem.experiment == "kernel.nas_sp";
    EXPECT_EQ(is_cut(one), !strided) << one.key();
    cut += is_cut(one) ? 1 : 0;
  }
  EXPECT_GT(cut, 100U);
}

}  // namespace
}  // namespace stripline::suites::results
