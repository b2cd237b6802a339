// The order in which alternatives are measured, and what was measured of each: every one once in a
// round, so that what changes on the host between rounds meets all of them alike. Pure.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace stripline::suites::harness {

/// What was measured of one alternative.
struct Alternative {
  std::vector<double> seconds;  ///< by round
  bool right = true;            ///< in every round, those of the warm-up included
};

/// The one of `count` alternatives that is measured at a turn of a round. Every second round begins
/// with another one, and the rounds between go backwards, so that each is first as often as any
/// other, and none always follows the same one.
constexpr size_t alternative_of(size_t turn, size_t round, size_t count) {
  const size_t forward = (turn + round / 2) % count;
  return round % 2 == 0 ? forward : count - 1 - forward;
}

/// Measures `count` alternatives in `warm_up` rounds that do not count, whose numbers are below 0,
/// and `rounds` that do. `one(i, round)` measures the i-th: {seconds, whether the result was
/// right}.
template <typename One>
std::vector<Alternative> alternate(size_t count, int warm_up, int rounds, const One& one) {
  std::vector<Alternative> measured(count);
  for (int round = -warm_up; round < rounds; ++round) {
    for (size_t turn = 0; turn < count; ++turn) {
      const size_t i = alternative_of(turn, static_cast<size_t>(round + warm_up), count);
      const std::pair<double, bool> result = one(i, round);
      measured[i].right = measured[i].right && result.second;
      if (round >= 0) measured[i].seconds.push_back(result.first);
    }
  }
  return measured;
}

}  // namespace stripline::suites::harness
