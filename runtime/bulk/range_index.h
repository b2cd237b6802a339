// Ranges of ranks' segments, each with a number: those that are a given range are found, and those
// that overlap one, in O(log n) for each that is found, however they lie.
//
// What overlaps is found by a tree over the ranges by rank and beginning, of which each node knows
// the highest end below it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <stripline/global_ptr.h>

namespace stripline::bulk {

/// A value. Not thread-safe.
class RangeIndex {
 public:
  struct Entry {
    rank_t rank = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
    uint32_t number = 0;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  bool empty() const { return entries_.empty(); }
  void clear();
  /// Replaces what is in it by these, in any order. O(n log n).
  void build(std::vector<Entry> entries);

  /// The lowest number of a range that is this one, as a whole; it is not found so again.
  std::optional<uint32_t> take_same(rank_t rank, uint64_t begin, uint64_t end);
  /// The number of a range that overlaps this one; it is not found so again.
  std::optional<uint32_t> take_overlapping(rank_t rank, uint64_t begin, uint64_t end);

 private:
  size_t first_not_below(const Entry& entry) const;
  size_t first_ending_behind(size_t from, uint64_t begin) const;

  std::vector<Entry> entries_;  // sorted
  // Where entries are the same range, at the first of them: how many take_same() has found.
  std::vector<uint32_t> found_;
  std::vector<uint64_t> highest_end_;  // node i has the children 2 i and 2 i + 1
  size_t leaves_ = 0;                  // the first one's node, and the room for them
};

}  // namespace stripline::bulk
