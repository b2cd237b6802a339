#include "runtime/decide/call_rhythm.h"

#include <algorithm>

namespace stripline::decide {

void CallRhythm::add(uint64_t id) {
  period_ = 0;
  const auto longest = static_cast<uint32_t>(std::min<uint64_t>(calls_, kLongest));
  for (uint32_t distance = 1; distance <= longest; ++distance) {
    uint32_t& run = runs_[distance];
    run = before(distance) == id ? run + 1 : 0;
    if (period_ == 0 && run >= repeats_ * distance) period_ = distance;
  }
  ids_[calls_++ % kLongest] = id;
}

CallRhythm::Anchor CallRhythm::anchor() const {
  Anchor anchor{.calls = period_};
  std::vector<uint64_t> iteration;
  for (uint32_t at = period_; at > 0; --at) iteration.push_back(before(at));
  anchor.times = period_ + 1;
  for (const uint64_t id : iteration) {
    const auto times = static_cast<uint32_t>(std::ranges::count(iteration, id));
    if (times < anchor.times) {
      anchor.id = id;
      anchor.times = times;
    }
  }
  return anchor;
}

bool CallRhythm::contains(uint64_t id) const {
  for (uint32_t at = 1; at <= period_; ++at) {
    if (before(at) == id) return true;
  }
  return false;
}

}  // namespace stripline::decide
