// Looks for values of a few knobs together, as a value may gain beside another one and not alone.
// Pure.
//
// From the best combination on, one value is changed at a time until none is better. That ends
// where two values have to change at once, so each two values are looked at, too, in the order of
// what is expected of them if knobs did not act on each other.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace stripline::search {

/// The index of each knob's value; 0: its default.
using Combination = std::vector<std::size_t>;

class CoordinateSearch {
 public:
  /// The number of values of each knob, its default included.
  explicit CoordinateSearch(std::vector<std::size_t> values);

  /// What was found of a combination, with as many entries as there are knobs: the logarithm of its
  /// time, of which only differences count. NaN: it cannot be measured.
  void add(const Combination& combination, double log_time);

  /// What was added of it; nothing, or NaN: it is not known.
  std::optional<double> log_time(const Combination& combination) const;

  /// What to measure next. Nothing: each two values, and all that differs from the best in one
  /// value, were added.
  std::optional<Combination> next() const;

  /// The combination with the shortest time; the default where nothing is known.
  Combination best() const;

 private:
  double expected(const Combination& combination) const;
  std::vector<Combination> neighbours_of(const Combination& combination) const;
  std::vector<Combination> pairs() const;

  std::vector<std::size_t> values_;
  std::map<Combination, double> found_;
};

}  // namespace stripline::search
