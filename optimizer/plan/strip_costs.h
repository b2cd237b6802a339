// What the strip planner needs of a tuned model, compiled once per path.
#pragma once

#include <array>

#include "optimizer/cost/compute_costs.h"
#include "optimizer/cost/corner.h"
#include "optimizer/cost/link_costs.h"
#include "optimizer/cost/load_costs.h"
#include "optimizer/cost/octave_table.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::plan {

/// The relative gain that must be exceeded where a model does not say (StripModel::minimum_gain).
inline constexpr double kDefaultMinimumGain = 0.02;

// What a plan may take longer, as a share, than its parts say that a campaign measured (series of
// transfers of one size with nothing else, and computations on their own), where a model does not
// say (StripModel::composition_doubt and the following ones).

/// A loop in strips may take so much longer than its parts.
inline constexpr double kDefaultComposition = 0.03;
/// A nest may take so much longer: its tiles are of several sizes, shapes and neighbours.
inline constexpr double kDefaultNestComposition = 0.05;
/// A loop over the data of several ranks that go through loops of their own may take so much
/// longer: in which order the network serves their messages is not known.
inline constexpr double kDefaultOthers = 0.15;

/// Immutable; safe to share between threads.
class StripCosts {
 public:
  /// `path` is one entry of TunedModel::network. Without compute costs every loop counts as free;
  /// without a strip model the overhead is zero and the margin kDefaultMinimumGain; without service
  /// levels (model::service_on) a byte takes as long as on an idle network.
  StripCosts(const model::PathModel& path, const std::optional<model::ComputeModel>& compute,
             const std::optional<model::StripModel>& strip,
             const std::optional<model::ServiceModel>& service = std::nullopt);

  /// True if the model holds the operation, its overhead included; without it the planner
  /// vectorises.
  bool has_get() const { return has_get_; }
  bool has_put() const { return has_put_; }
  const cost::LinkCosts& get() const { return get_; }
  const cost::LinkCosts& put() const { return put_; }
  const cost::LoadCosts& get_load() const { return get_load_; }
  const cost::LoadCosts& put_load() const { return put_load_; }
  const cost::ComputeCosts& compute() const { return compute_; }

  /// Engine cost per strip beyond o and r, in seconds.
  double strip_overhead(cost::Corner corner) const {
    return strip_overhead_[static_cast<size_t>(corner)];
  }
  /// CPU seconds per byte of a get, by the size of the buffer that is gone through before any of it
  /// is used again: to retire, beyond r; and to go through the data for the first time. Zero, and
  /// false, if the model does not say.
  bool has_buffers() const { return has_buffers_; }
  double retire_into(uint64_t buffer_bytes, cost::Corner corner) const {
    return retire_into_[static_cast<size_t>(corner)].at(buffer_bytes);
  }
  double first_read(uint64_t buffer_bytes, cost::Corner corner) const {
    return first_read_[static_cast<size_t>(corner)].at(buffer_bytes);
  }
  /// The same for every later time, by the bytes that are gone through each time.
  double reuse(uint64_t bytes, cost::Corner corner) const {
    return reuse_[static_cast<size_t>(corner)].at(bytes);
  }

  double minimum_gain() const { return minimum_gain_; }
  /// What strips, nests, and loops among those of other ranks may take longer than their parts.
  double composition() const { return composition_; }
  double nest_composition() const { return nest_composition_; }
  double others() const { return others_; }

 private:
  bool has_get_;
  bool has_put_;
  cost::LinkCosts get_;
  cost::LinkCosts put_;
  cost::LoadCosts get_load_;
  cost::LoadCosts put_load_;
  cost::ComputeCosts compute_;
  bool has_buffers_;
  std::array<cost::OctaveTable, cost::kCorners> retire_into_;
  std::array<cost::OctaveTable, cost::kCorners> first_read_;
  std::array<cost::OctaveTable, cost::kCorners> reuse_;
  std::array<double, cost::kCorners> strip_overhead_{};
  double minimum_gain_ = kDefaultMinimumGain;
  double composition_ = kDefaultComposition;
  double nest_composition_ = kDefaultNestComposition;
  double others_ = kDefaultOthers;
};

}  // namespace stripline::plan
