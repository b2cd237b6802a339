#include "runtime/rma/collective_calls.h"

#include <span>
#include <string>

#include <stripline/reduction.h>

#include "base/quantity.h"
#include "base/random.h"
#include "runtime/decide/choice.h"
#include "runtime/rma/explain_command.h"

namespace stripline::rma {
namespace {

using model::CollectiveAlgorithm;
using model::CollectiveOperation;

[[noreturn]] void fail_algorithm(const detail::ContextState& state, const CollectiveCall& call) {
  std::string list;
  for (const CollectiveAlgorithm one : model::algorithms_of(call.operation)) {
    list += (list.empty() ? "" : ", ") + std::string(model::to_string(one));
  }
  state.fail(Error(ErrorCode::invalid_argument,
                   std::string(call.name.empty() ? model::to_string(call.operation) : call.name) +
                       " has no algorithm " +
                       (static_cast<size_t>(call.algorithm) < model::kCollectiveAlgorithms
                            ? "'" + std::string(model::to_string(call.algorithm)) + "'"
                            : std::to_string(static_cast<int>(call.algorithm))) +
                       "; it has " + list));
}

// By the call, by a rule of a score map, of the model, or as without one.
plan::CollectivePlan choose(const detail::ContextState& state, const CollectiveCall& call,
                            const plan::AskedCollective& request) {
  if (call.algorithm != CollectiveAlgorithm::automatic) {
    if (!model::has_algorithm(call.operation, call.algorithm)) fail_algorithm(state, call);
    return {call.algorithm, plan::Reason::forced};
  }
  const std::string_view forced = state.job.tuning().forced.forced(
      plan::CollectiveMechanism::kWords.command, request.bytes, model::to_string(request.operation),
      [&](std::string_view name) {
        return model::has_algorithm(request.operation, *model::collective_algorithm_from(name));
      });
  if (!forced.empty()) {
    const auto algorithm = model::collective_algorithm_from(forced);
    return {algorithm.value_or(model::default_collective(request.request())), plan::Reason::forced};
  }
  plan::CollectiveMechanism::Record record;
  return plan::CollectiveMechanism::plan(request, &state.job.compiled().collectives(), record);
}

// True for operations of which all ranks see the same request, and whose results do not depend on
// the algorithm: sums have the bits that the order of adding gives them, which is to be the same
// each time.
bool is_comparable(CollectiveOperation operation) {
  switch (operation) {
    case CollectiveOperation::broadcast:
    case CollectiveOperation::gather:
    case CollectiveOperation::allgather:
    case CollectiveOperation::all_to_all:
    case CollectiveOperation::allgatherv:
      return true;
    case CollectiveOperation::reduce:
    case CollectiveOperation::allreduce:
    case CollectiveOperation::all_to_allv:
    case CollectiveOperation::scan:
    case CollectiveOperation::reduce_scatter:
      break;
  }
  return false;
}

// The ranks of a team agree on the next calls that are compared, as a part of the call that they
// are in.
void agree(sync::Group& group, detail::ContextState& state, ComparedCollective& compared) {
  sync::Collectives& collectives = state.mechanisms.collectives();
  ComparedCollective::Times longest{};
  if (compared.has_times()) {
    const op_max longer{};
    collectives.reduce(group, std::as_bytes(std::span(compared.times())),
                       std::as_writable_bytes(std::span(longest)),
                       detail::reduction_of<double>(longer), 0, CollectiveAlgorithm::binomial);
  }
  uint64_t block = group.me == 0 ? compared.next(state.mechanisms.instruments(), longest) : 0;
  collectives.broadcast(group, std::as_writable_bytes(std::span(&block, 1)), 0,
                        CollectiveAlgorithm::binomial);
  compared.begin(block);
}

}  // namespace

CollectiveExecution::CollectiveExecution(sync::Group& group, detail::ContextState& state,
                                         const CollectiveCall& call, CallSite site)
    : state_(state),
      site_(site),
      request_{.operation = call.operation,
               .ranks = group.size,
               .bytes = call.bytes,
               .in_node = state.memory.all_shared(),
               .crowded = state.job.crowded()},
      planned_(choose(state, call, request_)) {
  if (planned_.reason != plan::Reason::measured ||
      planned_.algorithm == model::default_collective(request_.request())) {
    return;
  }
  instruments_ = state.mechanisms.instruments();
  if (instruments_.run_guard != nullptr && is_comparable(call.operation) && group.size > 1) {
    compared_ =
        state.mechanisms.of<ComparedCollectives>(state).of(group.id, call.name, request_, planned_);
  }
  if (compared_ == nullptr && instruments_.trace == nullptr) return;
  if (compared_ != nullptr) {
    if (compared_->is_over()) agree(group, state, *compared_);
    taken_ = &compared_->plan();
  }
  begun_s_ = instruments_.fabric->now_s();
}

void CollectiveExecution::ended() {
  if (!begun_s_) return;
  const double seconds = instruments_.fabric->now_s() - *begun_s_;
  if (instruments_.trace != nullptr) {
    instruments_.trace->note(
        site_,
        stripline::hash_of(static_cast<uint64_t>(request_.operation), request_.bytes,
                           request_.ranks),
        decide::choice_of<plan::CollectiveMechanism>(request_, *taken_, {.predicted_s = 0.0}),
        seconds,
        std::string(model::to_string(request_.operation)) + " of " +
            exact_bytes_text(request_.bytes),
        [&] {
          return detail::explain_command<plan::CollectiveMechanism>(state_, request_,
                                                                    taken_->reason);
        });
  }
  if (compared_ != nullptr) compared_->ended(seconds);
}

}  // namespace stripline::rma
