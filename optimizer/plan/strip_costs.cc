#include "optimizer/plan/strip_costs.h"

namespace stripline::plan {

StripCosts::StripCosts(const model::PathModel& path,
                       const std::optional<model::ComputeModel>& compute,
                       const std::optional<model::StripModel>& strip)
    : has_get_(path.get.has_value()),
      has_put_(path.put.has_value()),
      get_(path.get.value_or(model::OperationModel{})),
      put_(path.put.value_or(model::OperationModel{})),
      compute_(compute.value_or(model::ComputeModel{})) {
  if (!strip) return;
  if (strip->strip_overhead_s) {
    for (size_t corner = 0; corner < cost::kCorners; ++corner) {
      strip_overhead_[corner] =
          cost::at_corner(*strip->strip_overhead_s, static_cast<cost::Corner>(corner));
    }
  }
  if (strip->minimum_gain) minimum_gain_ = strip->minimum_gain->value;
}

}  // namespace stripline::plan
