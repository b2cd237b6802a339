// Operations without handles: counted by target, completed by fences.
#pragma once

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
    return entry.counter;
  }

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

 private:
  struct Target {
    fabric::Counter counter;
    bool touched = false;
  };
  std::vector<Target> targets_;
  std::vector<fabric::Rank> touched_;
};

}  // namespace stripline::rma
