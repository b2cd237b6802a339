#include <span>

#include <stripline/context.h>

#include "runtime/rma/context_state.h"

namespace stripline {

using Kind = rma::CompletionSlots::Kind;

bool future::is_complete() const {
  if (context_ == nullptr) return true;
  detail::ContextState& state = *context_->state_;
  const auto inside = state.exclusive();
  if (!state.slots.released(slot_, generation_)) {
    if (const fabric::Counter& counter = state.slots.counter(slot_); counter.pending != 0) {
      state.messages.ask(counter);
      return false;
    }
    state.slots.release(slot_);
  }
  state.synchronise();
  if (state.debug != nullptr) [[unlikely]]
    state.debug->completed(slot_, generation_);
  return true;
}

bool future::is_ready() const {
  if (is_complete()) return true;
  context_->make_progress();
  return is_complete();
}

void future::wait_for_slot() const {
  detail::ContextState& state = *context_->state_;
  const auto inside = state.exclusive();
  if (!state.slots.released(slot_, generation_)) {
    const bool traced = state.trace != nullptr && state.slots.counter(slot_).pending != 0;
    const double begun_s = traced ? state.fabric->now_s() : 0;
    const auto may_run = state.continuations.allow();
    if (const Kind kind = state.slots.kind(slot_);
        kind == Kind::message || kind == Kind::collective) {
      state.wait_for_messages(state.slots.counter(slot_));
    } else {
      state.wait_for(state.slots.counter(slot_));
    }
    if (traced) [[unlikely]] {
      state.call_trace.waited(state, slot_, generation_);
      state.operations.waited(slot_, generation_, state.fabric->now_s() - begun_s);
    }
    state.slots.release(slot_);
  }
  state.synchronise();
  if (state.debug != nullptr) [[unlikely]]
    state.debug->completed(slot_, generation_);
}

void future::wait_source() const {
  if (context_ == nullptr) return;
  detail::ContextState& state = *context_->state_;
  const auto inside = state.exclusive();
  if (state.slots.released(slot_, generation_)) return wait();
  if (!state.slots.source_free(slot_)) {
    if (state.slots.kind(slot_) != Kind::message) return wait();
    state.wait_for_source(slot_);
    if (!state.slots.source_free(slot_)) return wait();
    state.synchronise();
  }
  if (state.debug != nullptr) [[unlikely]]
    state.debug->source_free(slot_, generation_);
}

void wait_all(std::span<const future> futures) {
  for (const future& one : futures) one.wait();
}

size_t wait_any(std::span<const future> futures) {
  Context* context = nullptr;
  size_t ready = futures.size();
  const auto find = [&] {
    for (size_t i = 0; i < futures.size() && ready == futures.size(); ++i) {
      if (futures[i].is_complete()) ready = i;
      context = futures[i].context_;
    }
    return ready < futures.size();
  };
  if (!find() && context != nullptr) context->wait_until(find);
  return ready;
}

}  // namespace stripline
