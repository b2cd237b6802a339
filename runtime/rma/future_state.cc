#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <stripline/future.h>

#include "base/exception_text.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {
namespace {

rma::SlotUse use_of(const future& operation) {
  return {operation.ticket().slot, operation.ticket().generation};
}

}  // namespace

FutureState::~FutureState() {
  if (error_ == nullptr || error_taken_) return;
  if (life_ != nullptr && life_->in_child()) return;  // it is the parent's
  const std::string message =
      "an exception that no future's owner has asked for: " + exception_text(error_) +
      "; wait() throws it, and when_all() and then() hand it on";
  if (life_ != nullptr && !life_->is_over()) {
    context_->state().fail(Error(ErrorCode::invalid_argument, message));
  }
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::abort();
}

void FutureState::retire(std::unique_ptr<FutureState> state) {
  // All operations of a Context that has gone are complete; those of a parent process are its own.
  if (!state->by_operation_ || state->settled_ || state->life_->is_over() || state->settled()) {
    return;
  }
  ContextState& context = state->context_->state();
  const auto inside = context.exclusive();
  const rma::SlotUse operation = use_of(state->operation_);
  // Nothing is to be done but to keep the state until then.
  context.operations.continuations().when_complete(
      operation, [kept = std::shared_ptr<FutureState>(std::move(state))] {});
}

void FutureState::run_followers() {
  rma::Continuations& continuations = context_->state().operations.continuations();
  for (std::function<void()>& run : followers_) continuations.run_soon(std::move(run));
  followers_.clear();
}

void FutureState::fulfil() {
  settled_ = true;
  if (!followers_.empty()) run_followers();
}

void FutureState::reject(std::exception_ptr error) {
  error_ = std::move(error);
  fulfil();
}

bool FutureState::settled() {
  if (context_ == nullptr) return settled_;
  const auto inside = context_->state().exclusive();  // an answer may come on another thread
  if (!settled_ && by_operation_) settled_ = settled(operation_);
  return settled_;
}

bool FutureState::is_ready() {
  if (settled()) return true;
  context_->progress();
  return settled();
}

void FutureState::wait(CallSite site) {
  if (!settled()) {
    ContextState& state = context_->state();
    const auto inside = state.exclusive();
    if (by_operation_) {
      operation_.wait(site);
      settled_ = true;
    } else {
      state.operations.begin("wait");
      state.job.activity().at("wait", site);
      const auto may_run = state.operations.continuations().allow();
      state.operations.messages().wait([this] { return settled_; });
    }
  }
  if (error_ != nullptr) std::rethrow_exception(take_error());
}

std::exception_ptr FutureState::take_error() {
  error_taken_ = true;
  return error_;
}

void FutureState::follow(std::function<void()> run) {
  ContextState& state = context_->state();
  const auto inside = state.exclusive();
  if (settled_) {
    state.operations.continuations().run_soon(std::move(run));
  } else if (by_operation_) {
    state.operations.continuations().when_complete(use_of(operation_), std::move(run));
  } else {
    followers_.push_back(std::move(run));
  }
}

void FutureState::follow(const future& operation, std::function<void()> run) {
  ContextState& state = operation.ticket().context->state();
  const auto inside = state.exclusive();
  state.operations.continuations().when_complete(use_of(operation), std::move(run));
}

}  // namespace stripline::detail
