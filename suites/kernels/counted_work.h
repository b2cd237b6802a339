// What a kernel's loop bodies say that they compute (stripline/work.h).
#pragma once

#include <cstddef>

#include <stripline/work.h>

namespace stripline::suites {

/// Base of the shares, problems and experiments whose bodies count their work. Operations are those
/// that the source has, as benchmarks publish them; bytes are those of the arrays that a body goes
/// through, each time that it does, as if they came from memory.
class CountedWork {
 public:
  /// Bodies add to `work` from now on, which outlives them; to nothing if it is null.
  void count_work(Work* work) { work_ = work; }

  /// A body has done this for each of `times` elements.
  void did(size_t times, double flops, double bytes) const {
    if (work_ == nullptr) return;
    work_->compute(static_cast<double>(times) * flops, static_cast<double>(times) * bytes);
  }

 protected:
  CountedWork() = default;

 private:
  Work* work_ = nullptr;
};

}  // namespace stripline::suites
