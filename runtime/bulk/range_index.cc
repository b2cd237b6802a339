#include "runtime/bulk/range_index.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace stripline::bulk {

void RangeIndex::clear() {
  entries_.clear();
  found_.clear();
  highest_end_.clear();
  leaves_ = 0;
}

void RangeIndex::build(std::vector<Entry> entries) {
  clear();
  entries_ = std::move(entries);
  std::ranges::sort(entries_);
  found_.resize(entries_.size());
  leaves_ = std::bit_ceil(entries_.size());
  highest_end_.resize(2 * leaves_);
  for (size_t i = 0; i < entries_.size(); ++i) highest_end_[leaves_ + i] = entries_[i].end;
  for (size_t node = leaves_ - 1; node > 0; --node) {
    highest_end_[node] = std::max(highest_end_[2 * node], highest_end_[2 * node + 1]);
  }
}

size_t RangeIndex::first_not_below(const Entry& entry) const {
  return static_cast<size_t>(std::ranges::lower_bound(entries_, entry) - entries_.begin());
}

std::optional<uint32_t> RangeIndex::take_same(rank_t rank, uint64_t begin, uint64_t end) {
  const size_t first = first_not_below({rank, begin, end, 0});
  if (first == entries_.size()) return std::nullopt;
  const size_t place = first + found_[first];
  if (place >= entries_.size()) return std::nullopt;
  const Entry& entry = entries_[place];
  if (entry.rank != rank || entry.begin != begin || entry.end != end) return std::nullopt;
  ++found_[first];
  return entry.number;
}

std::optional<uint32_t> RangeIndex::take_overlapping(rank_t rank, uint64_t begin, uint64_t end) {
  const size_t from = first_not_below({rank, 0, 0, 0});
  const size_t behind = first_not_below({rank, end, 0, 0});
  if (from >= behind) return std::nullopt;
  const size_t place = first_ending_behind(from, begin);
  if (place >= behind) return std::nullopt;
  size_t node = leaves_ + place;
  highest_end_[node] = 0;
  while ((node /= 2) > 0) {
    highest_end_[node] = std::max(highest_end_[2 * node], highest_end_[2 * node + 1]);
  }
  return entries_[place].number;
}

// From that place on; leaves_: there is none.
size_t RangeIndex::first_ending_behind(size_t from, uint64_t begin) const {
  size_t node = leaves_ + from;
  while (highest_end_[node] <= begin) {
    // On to the next subtree: up from right children, the root among them, and to the right.
    while (node % 2 == 1) node /= 2;
    if (node == 0) return leaves_;
    ++node;
  }
  while (node < leaves_) {
    node *= 2;
    if (highest_end_[node] <= begin) ++node;
  }
  return node - leaves_;
}

}  // namespace stripline::bulk
