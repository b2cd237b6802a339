// Tells whether a rank that did without a progress thread so far shall have one
// (STRIPLINE_PROGRESS=tuned).
#pragma once

#include <cstdint>

#include "runtime/fabric/fabric.h"

namespace stripline::rma {

/// What a thread that serves peers costs and leaves: of the model (RmaModel::progress), else
/// defaults that suit what was seen of networks over TCP.
struct ProgressCosts {
  double call_s = 1e-6;     ///< it adds to each call of the program that waits
  double answer_s = 50e-6;  ///< a request to a computing rank waits all the same
};

/// True once peers have waited for this rank's attention, beyond what a thread would have let them
/// wait, for longer than it would have cost the rank's calls: a rank that shall have a thread loses
/// by waiting for that at most what its calls saved, and the last wait.
/// `absence_s`: a thread does not serve a program that called less than so long ago.
inline bool thread_pays(const ProgressCosts& costs, double absence_s, uint64_t calls,
                        const fabric::Missed& missed) {
  const double left_s = static_cast<double>(missed.times) * (absence_s + costs.answer_s);
  return missed.seconds - left_s > static_cast<double>(calls) * costs.call_s;
}

}  // namespace stripline::rma
