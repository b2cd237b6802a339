#include "runtime/rma/continuations.h"

#include <utility>

#include "runtime/rma/context_state.h"

namespace stripline::rma {

void Continuations::when_complete(const future& operation, std::function<void()> run) {
  if (!is_over(operation)) state_.messages.ask(state_.slots.counter(operation.slot_));
  watched_.push_back({operation, std::move(run)});
  has_work_ = true;
}

void Continuations::run_soon(std::function<void()> run) {
  due_.push_back(std::move(run));
  has_work_ = true;
}

// Handlers run on a thread of the runtime, too, but continuations are the program's.
bool Continuations::may_run() const {
  return allowed_ && !running_ && !state_.exclusion.is_runtime_thread();
}

bool Continuations::is_over(const future& operation) const {
  return state_.slots.released(operation.slot_, operation.generation_) ||
         state_.slots.counter(operation.slot_).pending == 0;
}

bool Continuations::ready() const { return may_run() && (!due_.empty() || find()); }

bool Continuations::find() const {
  for (size_t looked = 0; looked < watched_.size(); ++looked, ++next_) {
    if (next_ >= watched_.size()) next_ = 0;
    if (is_over(watched_[next_].operation)) return true;
  }
  return false;
}

// Those that are over are often neighbours, as they began one after another.
void Continuations::take_over() {
  constexpr size_t kMostMisses = 16;
  if (!find()) return;
  for (size_t misses = 0; misses < kMostMisses && next_ < watched_.size();) {
    Watched& one = watched_[next_];
    if (!is_over(one.operation)) {
      ++misses;
      ++next_;
      continue;
    }
    (void)one.operation.is_complete();  // which gives the slot back
    due_.push_back(std::move(one.run));
    if (&one != &watched_.back()) one = std::move(watched_.back());
    watched_.pop_back();
  }
}

void Continuations::advance() {
  if (!may_run()) return;
  running_ = true;
  take_over();
  for (size_t left = due_.size(); left > 0; --left) {
    const std::function<void()> run = std::move(due_.front());
    due_.pop_front();
    run();
  }
  running_ = false;
  has_work_ = !idle();
}

}  // namespace stripline::rma
