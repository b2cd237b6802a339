// The puts of a rank that its program has returned from, and that may not be complete: for each
// target a queue with a bounding box, so that an access which lies beside all of them costs two
// comparisons (Chen, Optimizing PGAS Programs for Cluster Architectures, 2007, section 7.1.1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <stripline/global_ptr.h>

#include "runtime/rma/completion_slots.h"

namespace stripline::bulk {

/// A put in flight, of these bytes of its target's segment.
struct OutstandingPut {
  uint64_t begin = 0;
  uint64_t end = 0;
  rma::SlotUse use;
};

/// Those to one target, by age. A value; not thread-safe.
class PutList {
 public:
  bool empty() const { return puts_.empty(); }
  size_t size() const { return puts_.size(); }
  const OutstandingPut& oldest() const { return puts_.front(); }  ///< Requires !empty().

  void add(const OutstandingPut& put) {
    puts_.push_back(put);
    begin_ = std::min(begin_, put.begin);
    end_ = std::max(end_, put.end);
  }

  /// Takes the oldest one out. Requires !empty().
  OutstandingPut take_oldest() { return take(puts_.begin()); }
  /// Takes the oldest one out that overlaps a range; none does where that is outside of the
  /// bounding box, in O(1).
  std::optional<OutstandingPut> take_overlapping(uint64_t begin, uint64_t end) {
    if (begin >= end_ || end <= begin_) return std::nullopt;
    const auto found = std::ranges::find_if(
        puts_, [&](const OutstandingPut& put) { return begin < put.end && put.begin < end; });
    if (found == puts_.end()) return std::nullopt;
    return take(found);
  }

 private:
  // The box stays until the list is empty: to shrink it would take a look at all.
  OutstandingPut take(const std::deque<OutstandingPut>::iterator& place) {
    const OutstandingPut put = *place;
    puts_.erase(place);
    if (puts_.empty()) {
      begin_ = std::numeric_limits<uint64_t>::max();
      end_ = 0;
    }
    return put;
  }

  std::deque<OutstandingPut> puts_;
  uint64_t begin_ = std::numeric_limits<uint64_t>::max();
  uint64_t end_ = 0;
};

/// The lists of all targets, of which those that have puts are found at once.
class PutLists {
 public:
  explicit PutLists(rank_t ranks) : ranks_(ranks) {}

  /// True if there is none at all.
  bool empty() const { return active_.empty(); }

  void add(rank_t target, const OutstandingPut& put) {
    if (lists_.empty()) [[unlikely]]
      lists_.resize(ranks_);
    PutList& list = lists_[target];
    if (list.empty()) active_.push_back(target);
    list.add(put);
  }
  /// The number of puts to a rank.
  size_t size(rank_t target) const { return lists_.empty() ? 0 : lists_[target].size(); }
  /// The oldest put to a rank; null: there is none.
  const OutstandingPut* oldest(rank_t target) const {
    return size(target) == 0 ? nullptr : &lists_[target].oldest();
  }
  /// Takes the oldest put to a rank out. Requires size(target) > 0.
  OutstandingPut take_oldest(rank_t target) {
    const OutstandingPut put = lists_[target].take_oldest();
    forget_if_empty(target);
    return put;
  }
  /// PutList::take_overlapping().
  std::optional<OutstandingPut> take_overlapping(rank_t target, uint64_t begin, uint64_t end) {
    if (size(target) == 0) return std::nullopt;
    const auto put = lists_[target].take_overlapping(begin, end);
    if (put) forget_if_empty(target);
    return put;
  }
  /// Takes some put out. Requires !empty().
  OutstandingPut take_any() { return take_oldest(active_.back()); }

 private:
  void forget_if_empty(rank_t target) {
    if (!lists_[target].empty()) return;
    // Most often the one that is drained.
    if (active_.back() != target) std::swap(*std::ranges::find(active_, target), active_.back());
    active_.pop_back();
  }

  rank_t ranks_;
  std::vector<PutList> lists_;  // by target, from the first put on
  std::vector<rank_t> active_;  // targets whose list is not empty
};

}  // namespace stripline::bulk
