// What this PE has written to others, and does not know to be complete: for each PE a set of
// ranges of its segment.
//
// The set is bounded. With more ranges than that, all bytes from the lowest to the highest one
// count as written: what is asked about them is answered on the safe side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stripline/global_ptr.h>

namespace stripline::shmem {

class WrittenRanges {
 public:
  static constexpr size_t kMostRanges = 64;  ///< of a PE

  explicit WrittenRanges(rank_t pes) : pes_(pes) {}

  void add(rank_t pe, uint64_t begin, uint64_t end) {
    if (begin == end) return;
    if (of_pes_.empty()) [[unlikely]]
      of_pes_.resize(pes_);
    OfPe& of = of_pes_[pe];
    if (of.all.end == 0) touched_.push_back(pe);
    of.all.add({begin, end});
    if (of.is_hull) return;
    // Programs write in order, or all over: the last range grows, or there is one more.
    if (!of.ranges.empty() && of.ranges.back().touches({begin, end})) {
      return of.ranges.back().add({begin, end});
    }
    of.is_hull = of.ranges.size() == kMostRanges;
    if (!of.is_hull) of.ranges.push_back({begin, end});
  }
  bool overlap(rank_t pe, uint64_t begin, uint64_t end) const {
    if (touched_.empty()) return false;
    const OfPe& of = of_pes_[pe];
    const Range asked{begin, end};
    return of.all.overlaps(asked) &&
           (of.is_hull || std::ranges::any_of(of.ranges, [&](const Range& range) {
              return range.overlaps(asked);
            }));
  }
  /// What was written to a PE, or to all, is complete.
  void clear(rank_t pe) {
    if (std::erase(touched_, pe) > 0) of_pes_[pe].clear();
  }
  void clear() {
    for (const rank_t pe : touched_) of_pes_[pe].clear();
    touched_.clear();
  }

 private:
  struct Range {
    uint64_t begin = UINT64_MAX;
    uint64_t end = 0;

    void add(const Range& other) {
      begin = std::min(begin, other.begin);
      end = std::max(end, other.end);
    }
    bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
    bool touches(const Range& other) const { return begin <= other.end && other.begin <= end; }
  };
  struct OfPe {
    Range all;
    std::vector<Range> ranges;
    bool is_hull = false;  // `all` counts, not `ranges`

    void clear() {
      all = {};
      ranges.clear();
      is_hull = false;
    }
  };

  const rank_t pes_;
  std::vector<OfPe> of_pes_;     // from the first add() on
  std::vector<rank_t> touched_;  // PEs that have ranges
};

}  // namespace stripline::shmem
