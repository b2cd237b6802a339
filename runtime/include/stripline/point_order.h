// Sorting an array in place by all workers that reach it: each element to the part of its owner,
// and there by its column. For <stripline/shared_updates.h>; of use by itself where parts of an
// array are to be brought together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stripline/worker_team.h>

namespace stripline::detail {

/// Where the part of [begin, end) begins that worker `index` of `workers` looks at.
inline size_t share_begin(size_t begin, size_t end, uint32_t index, uint32_t workers) {
  return begin + (end - begin) * index / workers;
}

/// The positions that intervals hold, one after the other.
class Positions {
 public:
  void add(size_t begin, size_t end) {
    if (begin >= end) return;
    intervals_.emplace_back(begin, end);
    count_ += end - begin;
  }
  size_t count() const { return count_; }
  /// Goes to position number `number`.
  void seek(size_t number) {
    interval_ = 0;
    while (number > 0 && number >= length()) number -= length(), ++interval_;
    within_ = number;
  }
  size_t next() {
    const size_t position = intervals_[interval_].first + within_;
    if (++within_ == length()) ++interval_, within_ = 0;
    return position;
  }

 private:
  size_t length() const { return intervals_[interval_].second - intervals_[interval_].first; }

  std::vector<std::pair<size_t, size_t>> intervals_;
  size_t count_ = 0;
  size_t interval_ = 0;
  size_t within_ = 0;
};

/// As std::partition of elements that come in no order. Small ones are swapped whichever side they
/// are of: that takes less than a branch which is predicted wrongly every other time.
template <typename P, typename Left>
P* split(P* begin, P* end, const Left& left) {
  constexpr size_t kSmall = 64;
  if constexpr (sizeof(P) > kSmall) {
    return std::partition(begin, end, left);
  } else {
    for (P* element = begin; element < end; ++element) {
      const bool goes_left = left(*element);
      std::swap(*element, *begin);
      begin += goes_left ? 1 : 0;
    }
    return begin;
  }
}

/// Collective. Moves the elements of an array that all workers reach, in place, so that those of
/// worker w are at [ends[w - 1], ends[w]): owner(element) says whose one is, and `ends` how many
/// each has. Quicksort by all workers: in each round a group of them splits its range between its
/// halves, every worker first a part of its own, and then all exchange what is on the wrong side.
/// The order within a part is not kept.
template <typename P, typename Owner>
void bring_to_owners(worker_team& team, P* elements, std::span<const size_t> ends,
                     const Owner& owner) {
  const uint32_t me = team.index();
  const auto begin_of = [&](uint32_t worker) { return worker == 0 ? 0 : ends[worker - 1]; };
  uint32_t first = 0;  // my group
  uint32_t last = team.count();
  for (uint32_t rounds = team.count(); rounds > 1; rounds = (rounds + 1) / 2) {
    const uint32_t group = last - first;
    const uint32_t middle = first + group / 2;
    const size_t begin = begin_of(first);
    const size_t end = ends[last - 1];
    const auto part = [&](uint32_t worker) {
      return share_begin(begin, end, worker - first, group);
    };
    const auto goes_left = [&](const P& element) { return owner(element) < middle; };
    size_t left = 0;
    if (group > 1) {
      P* const mine = elements + part(me);
      left = static_cast<size_t>(split(mine, elements + part(me + 1), goes_left) - mine);
    }
    const std::vector<uint64_t> lefts = team.allgather(left);
    if (group > 1) {
      const size_t border = begin_of(middle);
      Positions from_left;  // left of the border, of elements that go right
      Positions from_right;
      for (uint32_t worker = first; worker < last; ++worker) {
        const size_t cut = part(worker) + lefts[worker];
        from_left.add(cut, std::min(border, part(worker + 1)));
        from_right.add(std::max(border, part(worker)), cut);
      }
      const size_t from = share_begin(0, from_left.count(), me - first, group);
      const size_t to = share_begin(0, from_left.count(), me - first + 1, group);
      if (from < to) {
        from_left.seek(from);
        from_right.seek(from);
      }
      for (size_t k = from; k < to; ++k) {
        std::swap(elements[from_left.next()], elements[from_right.next()]);
      }
    }
    team.barrier();
    if (group > 1) (me < middle ? last : first) = middle;
  }
}

/// Sorts in place by key(element), a number below counts.size(), of which there are counts[key]
/// elements each, and `counts` then says where they end. Every element goes to its place in one
/// move, as in American flag sort (McIlroy, Bostic and McIlroy: Engineering radix sort, 1993). But
/// what comes back for it waits until its bucket is looked at again, so that one move does not need
/// the result of the one before. The order of equal keys is not kept.
template <typename P, typename Key>
void sort_by_counts(std::span<P> elements, std::span<size_t> counts, const Key& key) {
  std::vector<size_t> ends(counts.size());
  size_t end = 0;
  for (size_t bucket = 0; bucket < counts.size(); ++bucket) {
    end += counts[bucket];
    ends[bucket] = end;
    counts[bucket] = end - counts[bucket];  // from here on, where its next one goes
  }
  for (bool left = true; left;) {
    left = false;
    for (size_t bucket = 0; bucket < counts.size(); ++bucket) {
      for (size_t i = counts[bucket]; i < ends[bucket]; ++i) {
        std::swap(elements[i], elements[counts[key(elements[i])]++]);
      }
      left |= counts[bucket] < ends[bucket];
    }
  }
}

}  // namespace stripline::detail
