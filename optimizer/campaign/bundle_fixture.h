// A small plan, and results of it. For tests.
#pragma once

#include <utility>

#include "optimizer/campaign/offline_results.h"

namespace stripline::campaign {

/// Blocking gets of `sizes` sizes, between two ranks on two nodes; six runs of all of them.
inline PlanBundle small_plan(int sizes = 4) {
  PlanBundle plan;
  plan.spec_json = R"({"fabric":"tcp"})";
  plan.requirements = {{"micro.latency", 3}};
  plan.planned_run_s = 2;
  plan.seed = 0xfedcba9876543210;
  plan.assignment.fabric = "tcp";
  plan.assignment.run = 1;
  for (int size = 0; size < sizes; ++size) {
    plan.assignment.points.push_back({"micro.latency", "get", {{"bytes", int64_t{8} << size}}});
  }
  plan.rule.runs = plan.rule.enough_runs = 6;
  plan.rule.nodes = 2;
  plan.rule.all_points = plan.rule.core_points = plan.rule.least_points =
      static_cast<uint32_t>(sizes);
  plan.rule.time_budget_s = 60;
  return plan;
}

/// A run of all points of the plan, in two batches.
inline OfflineRun small_run(const PlanBundle& plan, uint32_t run) {
  OfflineRun result;
  result.grid = plan.rule.all_points;
  result.start_s = 0.5;
  result.duration_s = 2;
  result.rank_nodes = {"n1", "n2"};
  result.facts = {{"n1", {{"cpu", "a"}}}, {"n2", {{"cpu", "a"}}}};
  result.batches.resize(2);
  for (size_t i = 0; i < plan.assignment.points.size(); ++i) {
    experiment::SampleSeries series;
    series.point = plan.assignment.points[i];
    series.run = run;
    series.verified = true;
    for (int one = 0; one < 6; ++one) {
      series.values.push_back(1e-6 * (1 + static_cast<double>(i)) + 1e-9 * (one % 3 + run));
      series.timestamps_s.push_back(0.1 * one);
    }
    result.batches[i % 2].push_back(std::move(series));
  }
  return result;
}

}  // namespace stripline::campaign
