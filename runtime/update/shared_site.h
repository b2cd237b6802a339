// The decision about points in order that workers spread over cells they share, on the first worker
// of a team: by which strategy their epochs are carried out, compared with the baseline, and shown
// in traces. The other workers follow it, at the ends of epochs.
#pragma once

#include <optional>

#include <stripline/call_site.h>
#include <stripline/context.h>

#include "optimizer/plan/shared_mechanism.h"
#include "runtime/decide/execution.h"

namespace stripline::update {

/// Not thread-safe. Goes before the context.
class SharedSite {
 public:
  SharedSite(Context& context, CallSite call);
  ~SharedSite();
  SharedSite(const SharedSite&) = delete;
  SharedSite& operator=(const SharedSite&) = delete;

  /// The points have been arranged, and are another request from now on. `costs`: what counts for
  /// it (SharedMechanism::costs_of_team()).
  void decide(const plan::SharedRequest& request, const plan::SharedCosts& costs);
  /// Nothing is decided any more.
  void drop();
  /// True if some epochs are carried out by another strategy than the others.
  bool compares() const;

  /// The strategy of the epoch that begins; none: nothing has been decided.
  std::optional<plan::SharedStrategy> begin();
  /// The epoch is over, if one has begun.
  void end();

  // As a mechanism (runtime/decide/execution.h).
  plan::SharedPlan make(decide::Arm, double /*compute_s*/) const;
  bool fits(const plan::SharedPlan&) const { return true; }
  void decide(decide::Site<plan::SharedPlan>& site, double compute_s);
  void note(decide::Trace& trace, double seconds) const;

 private:
  detail::ContextState& state_;
  const CallSite call_;
  std::optional<plan::SharedRequest> request_;
  plan::SharedCosts costs_;
  decide::Site<plan::SharedPlan> site_;
  decide::Execution<plan::SharedPlan> execution_;
  bool has_begun_ = false;
};

}  // namespace stripline::update
