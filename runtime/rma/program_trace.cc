#include "runtime/rma/program_trace.h"

#include <string>

#include "base/quantity.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/model_use.h"

namespace stripline::rma {
namespace {

OperationTrace::Kind kind_of(Access access) {
  switch (access) {
    case Access::get:
      return OperationTrace::Kind::get;
    case Access::put:
      return OperationTrace::Kind::put;
    case Access::atomic:
    case Access::update:
      return OperationTrace::Kind::atomic;
    case Access::none:
      break;
  }
  return OperationTrace::Kind::message;
}

}  // namespace

ProgramTrace::ProgramTrace(detail::ContextState& state, Of what)
    : state_(state),
      begun_s_(state.job.fabric().now_s()),
      all_operations_(what == Of::all_operations) {}

const decide::Trace& ProgramTrace::all_choices() {
  calls_.end(state_);
  return choices_;
}

double ProgramTrace::seconds() const { return state_.job.fabric().now_s() - begun_s_; }

// Transfers of many regions are shown with what was chosen for them. A part of another operation
// belongs to that.
void ProgramTrace::begins(Observation& operation) {
  if (operation.many_regions || !all_operations_) return;
  operation.outermost = operations_.outermost();
  operations_.enter();
  operation.begun_s = state_.job.fabric().now_s();
}

void ProgramTrace::started(Observation& operation, const std::optional<SlotUse>& use,
                           bool complete) {
  // Debug mode has slots for what was complete when its call returned, too.
  const bool in_flight = use && !complete;
  if (operation.plan) {
    in_flight ? calls_.begin(state_, use->slot, use->generation, *operation.plan)
              : calls_.done(state_, *operation.plan);
  }
  if (operation.many_regions || !all_operations_) return;
  operations_.leave();
  if (!operation.outermost || !noting_) return;
  const double seconds = state_.job.fabric().now_s() - operation.begun_s;
  const OperationTrace::Operation noted{operation.call, kind_of(operation.access), operation.target,
                                        operation.offset, operation.bytes};
  if (in_flight) {
    operations_.begun(noted, seconds, use->slot, use->generation);
  } else {
    operations_.done(noted, seconds, complete);
  }
}

void ProgramTrace::waited(const SlotUse& use, double seconds) {
  calls_.waited(state_, use.slot, use.generation);
  if (all_operations_) operations_.waited(use.slot, use.generation, seconds);
}

std::string ProgramTrace::text(const decide::GuardTime& guard) {
  const decide::Trace& choices = all_choices();
  std::string text =
      "stripline: loops, nests, stages of sweeps, updates and transfers of many regions of rank 0, "
      "times of one execution:\n";
  text += choices.empty() ? nothing_traced_text(state_) : choices.text(guard);
  const double traced_s = seconds();
  if (const std::string operations = operations_.text(traced_s); !operations.empty()) {
    text += "stripline: operations of rank 0 one by one, of " + seconds_text(traced_s) + ":\n" +
            operations;
  }
  return text;
}

}  // namespace stripline::rma
