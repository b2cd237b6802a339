// Operations of which a bounded number is in flight.
#pragma once

#include <cstddef>
#include <vector>

#include <stripline/context.h>

namespace stripline::suites {

/// Starting one more waits for the oldest. Of one thread.
class FutureWindow {
 public:
  explicit FutureWindow(size_t size) : futures_(size) {}

  /// `start` returns a future.
  template <typename Start>
  void push(const Start& start) {
    futures_[next_].wait();
    futures_[next_] = start();
    if (++next_ == futures_.size()) next_ = 0;
  }

  void drain() { wait_all(futures_); }

 private:
  std::vector<future> futures_;
  size_t next_ = 0;
};

}  // namespace stripline::suites
