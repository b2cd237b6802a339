#include "agent/backoff.h"

#include <algorithm>

namespace stripline::agent {

double Backoff::next(double uniform) {
  constexpr double kSpread = 0.25;
  const double delay = base_s_ * (1 - kSpread + 2 * kSpread * uniform);
  base_s_ = std::min(base_s_ * limits_.factor, limits_.max_s);
  return delay;
}

}  // namespace stripline::agent
