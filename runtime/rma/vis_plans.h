// The plans of transfers of many regions, of one rank.
#pragma once

#include "optimizer/model/paths.h"
#include "optimizer/plan/compiled_model.h"
#include "optimizer/plan/vis.h"
#include "runtime/decide/site.h"
#include "runtime/decide/site_table.h"

namespace stripline::rma {

/// Transfers that are planned alike.
struct VisKey {
  model::Path path = model::Path::network;
  plan::VisRequest request;
  bool operator==(const VisKey&) const = default;
};
uint64_t hash_of(const VisKey& key);

/// Decided by the model; compared with what is done without one where that differs.
struct VisSite : decide::Site<plan::VisPlan> {
  VisKey key;

  // As a mechanism (runtime/decide/execution.h): of a site, both plans are made with it.
  plan::VisPlan make(decide::Arm, double) const { return plan::baseline_of_vis(key.request); }
  bool fits(const plan::VisPlan&) const { return true; }
};

/// Asks the planner with the costs of a model, and remembers what it said: programs repeat their
/// shapes.
class VisPlans {
 public:
  /// `compiled` must outlive this object.
  explicit VisPlans(const plan::CompiledModel& compiled) : compiled_(compiled) {}

  /// For a target on this path. Valid until the next call.
  VisSite& site(const plan::VisRequest& request, model::Path path);
  const plan::VisPlan& best(const plan::VisRequest& request, model::Path path) {
    const VisSite& known = site(request, path);
    return known.plan(known.decided());
  }

  /// Null without a model.
  const plan::VisCosts* costs(model::Path path) const { return compiled_.vis(path); }

 private:
  const plan::CompiledModel& compiled_;
  decide::SiteTable<VisSite> sites_;
};

}  // namespace stripline::rma
