#include "runtime/update/accumulators.h"

#include <algorithm>
#include <cstddef>

#include "optimizer/plan/update.h"

namespace stripline::update {
namespace {

uint64_t marks_for(uint64_t cells) {
  return (cells + detail::kMarkedCells - 1) / detail::kMarkedCells;
}

}  // namespace

void CellsSeen::add(uint64_t first, std::span<const Cell> cells, uint64_t merged_here,
                    bool looked) {
  if (cells.empty()) return;
  Cell low = cells.front();
  Cell high = low;
  for (const Cell cell : cells) {
    low = std::min(low, cell);
    high = std::max(high, cell);
  }
  lowest = std::min(lowest, first + low);
  highest = std::max(highest, first + high);
  const uint64_t made = cells.size() + merged_here;
  updates += made;
  if (!looked) return;
  pairs += static_cast<double>(made) * static_cast<double>(made) / 2;
  merged += merged_here;
}

double CellsSeen::cells() const {
  if (updates == 0) return 0;
  const auto between = static_cast<double>(highest - lowest + 1);
  const double met = merged == 0 ? between : pairs / static_cast<double>(merged);
  return std::min({between, met, static_cast<double>(updates)});
}

bool CellsSeen::would_pay() const {
  return updates > 0 && cells() * plan::kUpdatesOfASum <= static_cast<double>(updates);
}

bool CellsSeen::pays(uint64_t extent) const {
  if (summed == 0) return true;  // a pause
  return sent * plan::kUpdatesOfASum <= summed && extent <= summed * detail::kMarkedCells;
}

Accumulators::Accumulators(const detail::UpdateType& type, rank_t ranks)
    : type_(type), identity_(type.value_bytes), by_owner_(ranks) {
  if (type_.fill != nullptr) type_.fill(identity_.data(), 1);
}

bool Accumulators::possible(const detail::UpdateType& type) {
  return type.fill != nullptr && type.value_bytes == type.unit &&
         type.unit <= alignof(std::max_align_t);
}

uint64_t Accumulators::bytes_for(uint64_t cells) const {
  return marks_for(cells) * (detail::kMarkedCells * type_.value_bytes + 1);
}

void Accumulators::open(detail::UpdateLane& lane, rank_t owner, uint64_t first, uint64_t cells) {
  Accumulator& one = by_owner_[owner];
  bytes_ -= one.cells.size() + one.marks.size();
  one.first = first;
  one.marks.assign(marks_for(cells), 0);
  one.cells.resize(one.marks.size() * detail::kMarkedCells * type_.value_bytes);
  type_.fill(one.cells.data(), one.marks.size() * detail::kMarkedCells);
  bytes_ += one.cells.size() + one.marks.size();
  attach(lane, owner);
}

void Accumulators::attach(detail::UpdateLane& lane, rank_t owner) {
  Accumulator& one = by_owner_[owner];
  if (one.marks.empty()) return;
  lane.via = &lane;
  lane.number = 0;
  lane.memory = one.cells.data();
  lane.first = one.first;
  lane.extent = one.marks.size() * detail::kMarkedCells;
  lane.marks = one.marks.data();
}

void Accumulators::close(detail::UpdateLane& lane, rank_t owner) {
  Accumulator& one = by_owner_[owner];
  bytes_ -= one.cells.size() + one.marks.size();
  one = {};
  lane.via = nullptr;
  lane.memory = nullptr;
  lane.extent = 0;
  lane.marks = nullptr;
}

void Accumulators::reset() {
  by_owner_.assign(by_owner_.size(), {});
  bytes_ = 0;
}

bool Accumulators::hold_any() const {
  return std::ranges::any_of(by_owner_, [](const Accumulator& one) {
    return std::ranges::any_of(one.marks, [](uint8_t mark) { return mark != 0; });
  });
}

uint64_t Accumulators::clear(rank_t owner) {
  Accumulator& one = by_owner_[owner];
  const size_t block_bytes = detail::kMarkedCells * type_.value_bytes;
  uint64_t gone_through = one.marks.size();
  for (size_t mark = 0; mark < one.marks.size(); ++mark) {
    if (one.marks[mark] == 0) continue;
    one.marks[mark] = 0;
    type_.fill(one.cells.data() + mark * block_bytes, detail::kMarkedCells);
    gone_through += 2 * block_bytes;
  }
  return gone_through;
}

}  // namespace stripline::update
