// The decision about updates of cells that workers share, on the first worker of a team: by which
// strategy their epochs are carried out, compared with updates that compete for their cells, and
// shown in traces. It announces to the other workers for some epochs at a time in which of them all
// updates compete; they change at the ends of epochs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <stripline/call_site.h>
#include <stripline/context.h>

#include "optimizer/plan/shared_mechanism.h"
#include "runtime/decide/group_execution.h"

namespace stripline::update {

/// Not thread-safe. Goes before the context.
class SharedSite {
 public:
  /// `known`: as plan::plan_shared().
  SharedSite(Context& context, CallSite call, const model::SharedUpdateModel* known);
  ~SharedSite();
  SharedSite(const SharedSite&) = delete;
  SharedSite& operator=(const SharedSite&) = delete;

  /// The updates from now on are this request, of which this worker makes about `calls` calls in an
  /// epoch. `within`: as of the middle of one, whose rest is carried out by the new plan, and not
  /// compared.
  void decide(const plan::SharedRequest& request, double calls, bool within);
  /// Nothing is decided any more.
  void drop();

  /// The epoch that is about to end, with this number of calls, is the last one that workers know
  /// of, or what they know does not hold any more: announce() follows on all of them.
  bool is_over(uint64_t calls) const {
    return runs_ && (calls == 0 || ended_ + 1 == epochs_.count());
  }
  /// The epoch is over.
  void end(uint64_t calls);
  /// Decides on the next epochs: a bit of each, the next one first, which is set where all updates
  /// compete in place of what was decided.
  uint64_t announce();
  /// All know of them, and the first one begins.
  void restart_clock() {
    if (runs_) epochs_.restart_clock();
  }

  /// As a mechanism (runtime/decide/group_execution.h).
  plan::SharedPlan make(decide::Arm, double /*compute_s*/) const {
    return plan::baseline_of_shared(*request_, known_);
  }

 private:
  void learn();
  // What an epoch did, as a part of what was decided on.
  double share(uint32_t epoch) const {
    return calls_ > 0 ? static_cast<double>(made_[epoch]) / calls_ : 1;
  }
  void note(decide::Trace& trace, uint32_t epoch) const;

  detail::ContextState& state_;
  const CallSite call_;
  const model::SharedUpdateModel* const known_;
  std::optional<plan::SharedRequest> request_;
  double calls_ = 0;
  decide::Site<plan::SharedPlan> site_;
  decide::GroupExecution<plan::SharedPlan, 2> epochs_;
  bool runs_ = false;                                // epochs_ has some
  uint32_t ended_ = 0;                               // of them
  std::array<uint64_t, decide::kMostAhead> made_{};  // calls in each of these
};

}  // namespace stripline::update
