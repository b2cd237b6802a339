#include "runtime/bulk/aggregation.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stripline::bulk {
namespace {

uint64_t address(const std::byte* memory) { return reinterpret_cast<uintptr_t>(memory); }

}  // namespace

bool RangeSet::overlaps(uint64_t begin, uint64_t end) const {
  const auto behind = ranges_.lower_bound(end);
  return begin < end && behind != ranges_.begin() && std::prev(behind)->second > begin;
}

void RangeSet::add(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  // Ranges that touch it become part of it.
  auto place = ranges_.upper_bound(begin);
  if (place != ranges_.begin() && std::prev(place)->second >= begin) --place;
  while (place != ranges_.end() && place->first <= end) {
    begin = std::min(begin, place->first);
    end = std::max(end, place->second);
    place = ranges_.erase(place);
  }
  ranges_.emplace_hint(place, begin, end);
}

bool Aggregation::depends(Direction direction, const Piece& piece) const {
  if (empty()) return false;
  const uint64_t here = address(piece.memory);
  const bool is_get = direction == Direction::get;
  if (stored_here_.overlaps(here, here + piece.bytes)) return true;
  if (is_get && read_here_.overlaps(here, here + piece.bytes)) return true;
  const auto known = ranks_.find(piece.rank);
  if (known == ranks_.end()) return false;
  const uint64_t end = piece.offset + piece.bytes;
  return known->second.stored.overlaps(piece.offset, end) ||
         (!is_get && known->second.read.overlaps(piece.offset, end));
}

bool Aggregation::depends_on_copy(const std::byte* from, const std::byte* to,
                                  uint64_t bytes) const {
  return stored_here_.overlaps(address(from), address(from) + bytes) ||
         stored_here_.overlaps(address(to), address(to) + bytes) ||
         read_here_.overlaps(address(to), address(to) + bytes);
}

void Aggregation::add(Direction direction, const Piece& piece) {
  const bool is_get = direction == Direction::get;
  OfRank& rank = ranks_[piece.rank];
  (is_get ? rank.gets : rank.puts).pieces.push_back(piece);
  (is_get ? rank.read : rank.stored).add(piece.offset, piece.offset + piece.bytes);
  const uint64_t here = address(piece.memory);
  (is_get ? stored_here_ : read_here_).add(here, here + piece.bytes);
  ++pieces_;
}

std::vector<Aggregation::Batch> Aggregation::take() {
  std::vector<Batch> all;
  for (auto& [rank, of_rank] : ranks_) {
    if (!of_rank.gets.pieces.empty()) all.push_back(std::move(of_rank.gets));
  }
  for (auto& [rank, of_rank] : ranks_) {
    if (!of_rank.puts.pieces.empty()) all.push_back(std::move(of_rank.puts));
  }
  ranks_.clear();
  stored_here_.clear();
  read_here_.clear();
  pieces_ = 0;
  return all;
}

}  // namespace stripline::bulk
