// Where the time of a call goes.
#pragma once

#include "runtime/fabric/fabric.h"

namespace stripline::bulk {

/// Adds the time since it was made, or since the last lap, to a sum. Unless it measures it does
/// nothing.
class Laps {
 public:
  Laps(fabric::Fabric& fabric, bool measures)
      : fabric_(measures ? &fabric : nullptr), begun_s_(measures ? fabric.now_s() : 0) {}
  double begun_s() const { return begun_s_; }
  void to(double& sum) {
    if (fabric_ == nullptr) return;
    const double now_s = fabric_->now_s();
    sum += now_s - begun_s_;
    begun_s_ = now_s;
  }

 private:
  fabric::Fabric* fabric_;
  double begun_s_;
};

}  // namespace stripline::bulk
