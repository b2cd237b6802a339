// Calls of collective operations as guarded decisions: by which algorithm each is carried out. What
// a rule of the model says is shown in traces, and compared with what is done without one
// (compared_collective.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <stripline/call_site.h>

#include "optimizer/plan/collective_mechanism.h"
#include "runtime/decide/execution.h"
#include "runtime/rma/compared_collective.h"
#include "runtime/rma/context_state.h"
#include "runtime/sync/group.h"

namespace stripline::rma {

/// What a program asks for.
struct CollectiveCall {
  model::CollectiveOperation operation = model::CollectiveOperation::broadcast;
  uint64_t bytes = 0;  ///< as model::CollectiveRequest
  model::CollectiveAlgorithm algorithm = model::CollectiveAlgorithm::automatic;
  /// Name of the call, where that is not the operation's; a literal.
  std::string_view name = {};
};

/// One call, from the decision to its end. Not thread-safe.
class CollectiveExecution {
 public:
  /// Decides: what the program names, or else a score map, a rule of the model, or sizes of the
  /// literature. A part of the collective call: where algorithms are compared, the ranks of the
  /// group agree here on those of the next calls. Ends the job if the operation does not have the
  /// algorithm that the program names. `state` must outlive this object.
  CollectiveExecution(sync::Group& group, detail::ContextState& state, const CollectiveCall& call,
                      CallSite site);
  CollectiveExecution(const CollectiveExecution&) = delete;
  CollectiveExecution& operator=(const CollectiveExecution&) = delete;

  model::CollectiveAlgorithm algorithm() const { return taken_->algorithm; }
  /// The operation has been carried out by that algorithm.
  void ended();

 private:
  detail::ContextState& state_;
  const CallSite site_;
  const plan::AskedCollective request_;
  const plan::CollectivePlan planned_;
  const plan::CollectivePlan* taken_ = &planned_;
  ComparedCollective* compared_ = nullptr;  // null: carried out as planned
  decide::Instruments instruments_;
  std::optional<double> begun_s_;  // nullopt: neither shown nor compared
};

/// Carries out an operation of a team: `perform(algorithm)`.
template <typename Perform>
void carry_out(sync::Group& group, detail::ContextState& state, const CollectiveCall& call,
               CallSite site, const Perform& perform) {
  CollectiveExecution execution(group, state, call, site);
  perform(execution.algorithm());
  execution.ended();
}

}  // namespace stripline::rma
