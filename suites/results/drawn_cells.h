// Problems that no one thought of: loops, nests, calls, updates and gathers whose sizes and shapes
// are drawn, with all that a sweep measures of each. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/model/sections/vis.h"
#include "suites/results/vis_regret.h"

namespace stripline::suites::results {

enum class ProblemKind : uint8_t { loop, nest, call, update, gather };
inline constexpr size_t kProblemKinds = 5;
std::string_view to_string(ProblemKind kind);

/// How many problems of each kind are drawn for a network.
struct DrawnCounts {
  std::array<size_t, kProblemKinds> of_kind{20, 10, 20, 5, 5};
};

/// One of them.
struct DrawnCell {
  ProblemKind kind = ProblemKind::loop;
  uint32_t ranks = 2;
  /// Complete; of the variant that decides by the model. Of a call: without a method.
  experiment::Point problem;
  std::optional<VisCell> call;  ///< what the planner is asked about a call

  /// "4 ranks, kernel.tile: rows=17 cols=300 ...".
  std::string text() const;
};

/// The same for the same seed. Sizes are drawn evenly on a logarithmic scale, none from a grid.
std::vector<DrawnCell> draw_cells(uint64_t seed, const DrawnCounts& counts);

/// What is measured of a problem.
struct DrawnPoints {
  experiment::Point chosen;   ///< with the model
  experiment::Point untuned;  ///< what programs do without a model
  /// Forced, or by hand: methods, strips, pieces. Independent of any model.
  std::vector<experiment::Point> sweep;
};

/// `model` is what decides calls; all others decide for themselves, when they are carried out.
/// Errors: internal when an experiment no longer accepts a point.
Result<DrawnPoints> points_of(const DrawnCell& cell, const model::TunedModel& model);

}  // namespace stripline::suites::results
