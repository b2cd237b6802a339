// What the strip planner needs of a tuned model, compiled once per path.
#pragma once

#include <array>

#include "optimizer/cost/compute_costs.h"
#include "optimizer/cost/corner.h"
#include "optimizer/cost/link_costs.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::plan {

/// The relative gain that must be exceeded where a model does not say (StripModel::minimum_gain).
inline constexpr double kDefaultMinimumGain = 0.02;

/// Immutable; safe to share between threads.
class StripCosts {
 public:
  /// `path` is one entry of TunedModel::network. Without compute costs every loop counts as free;
  /// without a strip model the overhead is zero and the margin kDefaultMinimumGain.
  StripCosts(const model::PathModel& path, const std::optional<model::ComputeModel>& compute,
             const std::optional<model::StripModel>& strip);

  /// Whether the model holds the operation; without it the planner vectorises.
  bool has_get() const { return has_get_; }
  bool has_put() const { return has_put_; }
  const cost::LinkCosts& get() const { return get_; }
  const cost::LinkCosts& put() const { return put_; }
  const cost::ComputeCosts& compute() const { return compute_; }

  /// Engine cost per strip beyond o and r, in seconds.
  double strip_overhead(cost::Corner corner) const {
    return strip_overhead_[static_cast<size_t>(corner)];
  }
  double minimum_gain() const { return minimum_gain_; }

 private:
  bool has_get_;
  bool has_put_;
  cost::LinkCosts get_;
  cost::LinkCosts put_;
  cost::ComputeCosts compute_;
  std::array<double, cost::kCorners> strip_overhead_{};
  double minimum_gain_ = kDefaultMinimumGain;
};

}  // namespace stripline::plan
