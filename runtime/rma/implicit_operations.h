// Operations without handles: counted by target, completed by fences. A rank has one of these. What
// is to be completed separately, as by each context of OpenSHMEM, is counted by another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/fabric/fabric.h"

namespace stripline::rma {

class ImplicitOperations {
 public:
  explicit ImplicitOperations(fabric::Rank ranks) : targets_(ranks) {}

  /// What counts the operations to `target`. To be asked for with every one: the target is
  /// remembered for the next fence.
  fabric::Counter& counter(fabric::Rank target) {
    Target& entry = targets_[target];
    if (!entry.touched) {
      entry.touched = true;
      touched_.push_back(target);
    }
    has_news_ = true;
    return entry.counter;
  }

  /// True if counter() has been called since the last call of this.
  bool take_news() { return std::exchange(has_news_, false); }

  /// Calls `complete` with each target that was used since the last call of this, the latest first,
  /// so that ranks that go round in the same order do not all wait for the same one.
  template <typename Complete>
  void complete_each(Complete complete) {
    while (!touched_.empty()) {
      const fabric::Rank target = touched_.back();
      touched_.pop_back();
      targets_[target].touched = false;
      complete(target, targets_[target].counter);
    }
  }

  /// Calls `visit` with each target that is in use, its counter, and a number that is kept for it.
  template <typename Visit>
  void for_each(Visit visit) {
    for (const fabric::Rank target : touched_) {
      visit(target, targets_[target].counter, targets_[target].kept);
    }
  }
  /// Forgets those for which `is_complete`, which is called in the same manner, is true. Returns
  /// true if there are no others.
  template <typename IsComplete>
  bool settle(IsComplete is_complete) {
    for (size_t i = touched_.size(); i > 0; --i) {
      const fabric::Rank target = touched_[i - 1];
      if (!is_complete(target, targets_[target].counter, targets_[target].kept)) continue;
      targets_[target].touched = false;
      touched_[i - 1] = touched_.back();
      touched_.pop_back();
    }
    return touched_.empty();
  }

 private:
  struct Target {
    fabric::Counter counter;
    uint32_t kept = 0;
    bool touched = false;
  };
  std::vector<Target> targets_;
  std::vector<fabric::Rank> touched_;
  bool has_news_ = false;
};

}  // namespace stripline::rma
