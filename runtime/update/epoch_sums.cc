// What an epoch does with updates that are carried out at once: those of this rank's own cells, and
// those of others' that are summed up in accumulators before they are sent.
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/update/epoch.h"

namespace stripline::update {
namespace {

// After an epoch in which summing up did not pay, this many do without.
constexpr uint32_t kEpochsWithoutSumming = 15;

}  // namespace

void Epoch::count_at_once(rank_t target) {
  const uint64_t updates = std::exchange(lanes_[target].at_once, 0);
  if (updates == 0) return;
  if (target == me_) {
    statistics_.updates += updates;
    tally_.updates += updates;
    tally_.own += updates;
    declare(2 * updates * type_.value_bytes);
  } else {
    filling_[target].summed += updates;
    declare(updates * (2 * uint64_t{type_.value_bytes} + 1));  // and a mark
  }
}

// Looks at what is in the lane of an owner.
void Epoch::see(rank_t owner) {
  if (!may_sum_up_ || owner == me_) return;
  const detail::UpdateLane& lane = lanes_[owner];
  filling_[owner].seen.add(uint64_t{lane.window} << 32U, {lane.cells, lane.count}, lane.merged,
                           lane.positions != nullptr);
  declare(lane.count * sizeof(Cell));
}

void Epoch::append(rank_t owner, uint64_t cell, const std::byte* value) {
  detail::UpdateLane& lane = lanes_[owner];
  const auto window = static_cast<uint32_t>(cell >> 32U);
  if (window != lane.window) {
    send(owner);
    lane.window = window;
  }
  lane.cells[lane.count] = static_cast<Cell>(cell);
  std::memcpy(lane.values + size_t{lane.count} * type_.value_bytes, value, type_.value_bytes);
  if (++lane.count == lane.limit) send(owner);
}

// Sends what the updates of an owner's cells have summed up to.
void Epoch::drain(rank_t owner) {
  count_at_once(owner);
  Filling& filling = filling_[owner];
  const uint64_t updates = std::exchange(filling.summed, 0);
  if (updates == 0) return;
  see(owner);  // what is there beside them
  draining_ = true;
  uint64_t cells = 0;
  accumulators_.each(owner, [&](uint64_t cell, const std::byte* value) {
    append(owner, cell, value);
    ++cells;
  });
  declare(accumulators_.clear(owner));
  send(owner);
  draining_ = false;
  // The cells have been counted as updates when they were sent.
  statistics_.merged += updates - cells;
  tally_.updates += updates - cells;
  filling.seen.summed += updates;
  filling.seen.sent += cells;
}

// Decides, while nothing is held, which updates are summed up from now on, by what they were.
void Epoch::choose_accumulators() {
  if (!may_sum_up_) return;
  const bool allowed = !closely_;
  for (rank_t owner = 0; owner < ranks_; ++owner) {
    if (owner == me_) continue;
    detail::UpdateLane& lane = lanes_[owner];
    Filling& filling = filling_[owner];
    const CellsSeen seen = std::exchange(filling.seen, {});
    const bool open = lane.marks != nullptr;
    if (open && !(allowed && seen.pays(lane.extent))) {
      accumulators_.close(lane, owner);
      if (allowed) filling.without_summing = kEpochsWithoutSumming;
      continue;
    }
    if (!allowed || !seen.would_pay()) continue;
    if (filling.without_summing > 0) {
      --filling.without_summing;
      continue;
    }
    // With some more at both ends, since the next ones may differ a little.
    uint64_t begin = seen.lowest;
    uint64_t end = seen.highest + 1;
    if (open) {
      begin = std::min(begin, lane.first);
      end = std::max(end, lane.first + lane.extent);
    }
    if (end - begin > plan::kCellsForAnUpdate * (seen.updates + seen.summed)) continue;
    const uint64_t more = (end - begin) / 8;
    begin -= std::min(begin, more);
    end = std::min(end + more, cells_);
    const uint64_t taken = buffer_bytes();
    if (taken + 2 * accumulators_.bytes_for(end - begin) > budget_bytes_) continue;
    accumulators_.open(lane, owner, begin, end - begin);
  }
}

}  // namespace stripline::update
