// What the planners need of a tuned model, compiled once.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "optimizer/model/paths.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/bulk_costs.h"
#include "optimizer/plan/collective.h"
#include "optimizer/plan/single.h"
#include "optimizer/plan/strip_costs.h"
#include "optimizer/plan/update.h"
#include "optimizer/plan/vis_costs.h"

namespace stripline::plan {

/// One path of a model, by its name there.
struct CompiledPath {
  std::string name;
  StripCosts strip;
  VisCosts vis;
  UpdateCosts update;
  BulkCosts bulk;

  /// `entry` is one of the model's TunedModel::network. Of the other sections those that hold on
  /// this path count.
  CompiledPath(const model::TunedModel& model,
               const decltype(model::TunedModel::network)::value_type& entry);
};

/// Immutable; what it points to stays where it is when it is moved. Safe to share between threads.
class CompiledModel {
 public:
  /// The compiled form of no model: every path is null.
  CompiledModel() = default;
  explicit CompiledModel(const model::TunedModel& model);

  /// The entry to plan a path by (model::find_path); null without a model, or if it has no path.
  const CompiledPath* path(model::Path path) const {
    const size_t entry = entry_of_[static_cast<size_t>(path)];
    return entry < paths_.size() ? &paths_[entry] : nullptr;
  }
  const StripCosts* strip(model::Path path) const {
    const CompiledPath* const known = this->path(path);
    return known == nullptr ? nullptr : &known->strip;
  }
  const VisCosts* vis(model::Path path) const {
    const CompiledPath* const known = this->path(path);
    return known == nullptr ? nullptr : &known->vis;
  }
  const UpdateCosts* update(model::Path path) const {
    const CompiledPath* const known = this->path(path);
    return known == nullptr ? nullptr : &known->update;
  }
  /// What does not depend on a path; without a model, or its sections, the defaults.
  const CollectivePlanner& collectives() const { return collectives_; }
  const SingleCosts& single() const { return single_; }
  /// What the model says, for planners that need nothing compiled of a section; empty without one.
  const model::TunedModel& tuned() const { return tuned_; }

 private:
  CollectivePlanner collectives_;
  SingleCosts single_;
  model::TunedModel tuned_;
  std::vector<CompiledPath> paths_;  // those that path() may give
  std::array<size_t, model::kPaths> entry_of_{};
};

}  // namespace stripline::plan
