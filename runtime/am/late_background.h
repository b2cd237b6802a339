// Work in the background of a mechanism that is made later than the message layer, and may go
// earlier.
#pragma once

#include "runtime/am/active_messages.h"

namespace stripline::am {

class LateBackground final : public Background {
 public:
  /// Serves `work` from now on; null: none.
  void serve(Background* work) {
    work_ = work;
    has_work_ = work != nullptr;
  }
  bool ready() const override { return work_ != nullptr && work_->ready(); }
  void advance() override {
    if (work_ != nullptr) work_->advance();
  }

 private:
  Background* work_ = nullptr;
};

}  // namespace stripline::am
