#include "runtime/rma/call_trace.h"

#include <string>

#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/plan/vis_mechanism.h"
#include "runtime/decide/choice.h"
#include "runtime/decide/run_guard.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/explain_command.h"
#include "runtime/rma/program_trace.h"

namespace stripline::detail {
namespace {

std::string what_of(const TracedCall& call) {
  const plan::VisRequest& request = call.request;
  return std::string(to_string(request.direction)) + (request.signalled ? " + flag, " : ", ") +
         std::to_string(request.regions) + " x " + exact_bytes_text(request.region_bytes);
}

}  // namespace

void CallTrace::note(ContextState& state, const TracedCall& call, std::optional<double> seconds) {
  const plan::VisRequest& request = call.request;
  // The initiator does not know when the target sees a flag, which is what is predicted.
  if (request.signalled) seconds.reset();
  state.job.observers().trace()->choices().note(
      call.call,
      stripline::hash_of(request.direction, request.regions, request.region_bytes, call.path,
                         request.signalled),
      decide::choice_of<plan::VisMechanism>(request, call.plan), seconds, what_of(call), [&] {
        return explain_command<plan::VisMechanism>(state, request, call.plan.reason, call.path);
      });
}

void CallTrace::begin(ContextState& state, uint32_t slot, uint32_t generation,
                      const TracedCall& call) {
  // What was there is complete by now, but no one has waited for it.
  if (const auto before = in_flight_.find(slot); before != in_flight_.end()) {
    note(state, before->second.call, std::nullopt);
    in_flight_.erase(before);
  }
  in_flight_.try_emplace(slot, InFlight{generation, call});
}

void CallTrace::done(ContextState& state, const TracedCall& call) {
  note(state, call, state.job.fabric().now_s() - call.begun_s);
}

void CallTrace::waited(ContextState& state, uint32_t slot, uint32_t generation) {
  const auto found = in_flight_.find(slot);
  if (found == in_flight_.end() || found->second.generation != generation) return;
  note(state, found->second.call, state.job.fabric().now_s() - found->second.call.begun_s);
  in_flight_.erase(found);
}

void CallTrace::end(ContextState& state) {
  for (const auto& [slot, one] : in_flight_) note(state, one.call, std::nullopt);
  in_flight_.clear();
}

}  // namespace stripline::detail
