// The held-out problems that a campaign measures beside its grids, to judge its model by. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::server {

/// The share of a run's points that judge the model. Where a run is cut down to a coarser grid,
/// that is the share of what it measures.
inline constexpr double kHeldOutShare = 0.12;

/// Draws problems (optimizer/experiment/held_out.h) for a campaign.
class HeldOutPlan {
 public:
  /// The declaration by which a campaign may measure an experiment; null: it may not.
  using Find = std::function<const experiment::Experiment*(const std::string& name)>;

  HeldOutPlan(uint64_t seed, uint32_t ranks, Find find)
      : seed_(seed), ranks_(ranks), find_(std::move(find)) {}

  /// Adds `part` of the grids to what is measured, and gives the problems' points that go with it,
  /// whole problems, as many as the share of all that there is so far allows. A problem that no
  /// declaration allows, or that is on a grid, is left out.
  std::vector<experiment::Point> with(const std::vector<experiment::Point>& part);

 private:
  std::vector<experiment::Point> next_problem();

  uint64_t seed_;
  uint32_t ranks_;
  Find find_;
  size_t place_ = 0;  // of the next problem (experiment::held_out_at())
  size_t of_grids_ = 0;
  size_t drawn_ = 0;
  std::vector<experiment::Point> waiting_;  // the problem that did not fit yet
};

}  // namespace stripline::server
