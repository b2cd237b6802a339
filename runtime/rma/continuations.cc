#include "runtime/rma/continuations.h"

#include "runtime/rma/operations.h"

namespace stripline::rma {

void Continuations::when_complete(const SlotUse& operation, std::function<void()> run) {
  if (!operations_.is_over(operation)) {
    operations_.messages().ask(operations_.slots().counter(operation.slot));
  }
  watched_.push_back({operation, std::move(run)});
  has_work_ = true;
}

void Continuations::run_soon(std::function<void()> run) {
  due_.push_back(std::move(run));
  has_work_ = true;
}

// Handlers run on a thread of the runtime, too, but continuations are the program's.
bool Continuations::may_run() const {
  return allowed_ && !running_ && !exclusion_.is_runtime_thread();
}

bool Continuations::is_over(const Watched& watched) const {
  return operations_.is_over(watched.operation);
}

bool Continuations::ready() const { return may_run() && (!due_.empty() || find()); }

bool Continuations::find() const {
  for (size_t looked = 0; looked < watched_.size(); ++looked, ++next_) {
    if (next_ >= watched_.size()) next_ = 0;
    if (is_over(watched_[next_])) return true;
  }
  return false;
}

// Operations that are over are often neighbours, as they began one after another.
void Continuations::take_over() {
  constexpr size_t kMostMisses = 16;
  if (!find()) return;
  for (size_t misses = 0; misses < kMostMisses && next_ < watched_.size();) {
    Watched& one = watched_[next_];
    if (!is_over(one)) {
      ++misses;
      ++next_;
      continue;
    }
    (void)operations_.is_complete(one.operation);  // which gives the slot back
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
