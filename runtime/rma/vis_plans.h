// The plans of transfers of many regions, of one rank.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "optimizer/model/paths.h"
#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/vis.h"

namespace stripline::rma {

/// Asks the planner with the costs of a model, and remembers what it said: programs repeat their
/// shapes.
class VisPlans {
 public:
  /// `compiled` must outlive this object.
  explicit VisPlans(const plan::CompiledModel& compiled);

  /// By the model, and as without one.
  struct Plans {
    plan::VisPlan tuned;
    plan::VisPlan simple;
    /// True if they are carried out alike.
    bool same = true;
  };

  /// For a target on this path. Valid until the next call.
  const Plans& plans(const plan::VisRequest& request, model::Path path);
  plan::VisPlan best(const plan::VisRequest& request, model::Path path) {
    return plans(request, path).tuned;
  }

  /// Null without a model.
  const plan::VisCosts* costs(model::Path path) const { return compiled_.vis(path); }

 private:
  static constexpr size_t kPlaces = 64;  // a power of two
  struct Entry {
    bool known = false;
    model::Path path = model::Path::network;
    plan::VisRequest request;
    Plans plans;
  };

  const plan::CompiledModel& compiled_;
  std::unique_ptr<std::array<Entry, kPlaces>> entries_;
};

}  // namespace stripline::rma
