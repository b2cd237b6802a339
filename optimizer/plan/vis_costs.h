// What the planner of vis.h needs of a tuned model, compiled: operations of one path, the cost of
// packing, what was tuned, and by how much the cost model is wrong. Immutable; safe to share
// between threads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "optimizer/cost/link_costs.h"
#include "optimizer/cost/pack_costs.h"
#include "optimizer/cost/residual_table.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/vis.h"

namespace stripline::plan {

/// Where no residual was measured, a prediction is taken to be right within this factor.
inline constexpr double kUnmeasuredFactor = 1.5;

/// What was measured of transfers in one direction, beside the residuals.
struct VisTuning {
  uint64_t chunk_bytes = 0;       ///< 0: not tuned
  uint32_t window = 0;            ///< 0: not tuned
  uint32_t pipelined_window = 0;  ///< 0: not tuned
  double iov_piece_s = 0;
  std::array<double, kComputeClasses> service_delay_s{};
};

class VisCosts {
 public:
  /// Compiles. The model is valid (model/validate.h). `vis` is that of the same path, or null.
  VisCosts(const model::PathModel& path, const std::optional<model::PackModel>& pack,
           const model::VisModel* vis);

  /// True if the contiguous operation of a direction is known; without it nothing is predicted.
  bool has(Direction direction) const { return has_[static_cast<size_t>(direction)]; }
  /// True if active messages are known; without them packed transfers are not predicted.
  bool has_am() const { return has_am_; }

  const cost::LinkCosts& link(Direction direction) const {
    return link_[static_cast<size_t>(direction)];
  }
  const cost::LinkCosts& am() const { return am_; }
  const cost::PackCosts& pack() const { return pack_; }
  const VisTuning& tuning(Direction direction) const {
    return tuning_[static_cast<size_t>(direction)];
  }

  /// Measured over predicted time, by region bytes and data bytes: of each method, where packed
  /// data do not land and where they do (vis_lands()). What was measured of transfers that go
  /// otherwise counts only where there is nothing else. Where a class or a footprint was not
  /// measured, the one measured nearest to it holds: the other footprint of the class, then
  /// communication_only. Where nothing was measured: 1, within kUnmeasuredFactor.
  using Residuals = std::array<std::array<cost::ResidualTable, 2>, kVisMethods>;
  const Residuals& residuals(Direction direction, ComputeClass compute, bool spread) const {
    return residuals_[static_cast<size_t>(direction)][static_cast<size_t>(compute)][spread ? 1 : 0];
  }

 private:
  static constexpr size_t kDirections = 2;
  static constexpr size_t kFootprints = 2;

  void compile(Direction direction, const model::VisDirection& measured);

  std::array<bool, kDirections> has_{};
  bool has_am_ = false;
  std::array<cost::LinkCosts, kDirections> link_;
  cost::LinkCosts am_;
  cost::PackCosts pack_;
  std::array<VisTuning, kDirections> tuning_{};
  std::array<std::array<std::array<Residuals, kFootprints>, kComputeClasses>, kDirections>
      residuals_;
};

}  // namespace stripline::plan
