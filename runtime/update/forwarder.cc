#include "runtime/update/forwarder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/update/epoch.h"

namespace stripline::update {
namespace {

// Directions in the order in which they wait for each other, the last one for none.
constexpr std::array kStages = {Onward::place_of, Onward::column_of, Onward::row_of,
                                Onward::layer_of};

}  // namespace

Forwarder::Forwarder(Epoch& epoch, const detail::UpdateType& type, const Grid& grid, rank_t me,
                     rank_t ranks, uint64_t cells, uint32_t capacity)
    : epoch_(epoch),
      type_(type),
      me_(me),
      grid_(grid),
      cells_(cells),
      by_cells_(cells),
      capacity_(capacity),
      lanes_(ranks) {}

bool Forwarder::send(rank_t next) {
  Lane& lane = lanes_[next];
  if (!epoch_.can_forward(next)) return false;
  ++unreturned_;
  const uint32_t count = lane.count;
  lane.count = 0;
  // Sending makes progress, which may come back here.
  const uint32_t full = lane.buffer;
  lane.buffer = epoch_.spare_buffer();
  const Onward onward = grid_.meaning(next);
  lane.sent_on = lane.sent_on || onward != Onward::nothing;
  epoch_.forward(next, onward, full, lane.window, count);
  return true;
}

bool Forwarder::append(Stage& stage, rank_t next, uint64_t cell, const std::byte* value) {
  Lane& lane = lanes_[next];
  const auto window = static_cast<uint32_t>(cell >> 32U);
  if (lane.count == capacity_ || (lane.count > 0 && lane.window != window)) {
    if (!send(next)) {
      stage.blocked = next;
      return false;
    }
  }
  if (!lane.open) {
    if (!epoch_.has_spare_buffer()) {
      stage.blocked = next;
      return false;
    }
    lane.buffer = epoch_.spare_buffer();
    lane.open = true;
  }
  lane.window = window;
  std::byte* const memory = epoch_.memory_of(lane.buffer);
  const auto low = static_cast<Cell>(cell);
  std::memcpy(memory + size_t{lane.count} * sizeof low, &low, sizeof low);
  std::memcpy(memory + values_at(capacity_) + size_t{lane.count} * type_.value_bytes, value,
              type_.value_bytes);
  ++lane.count;
  return true;
}

// False if it has to wait.
bool Forwarder::forward(Stage& stage, Held& parcel) {
  const size_t count = parcel.head.count;
  const std::byte* const values = parcel.body.data() + values_at(count);
  for (; parcel.next < count; ++parcel.next) {
    Cell low = 0;
    std::memcpy(&low, parcel.body.data() + parcel.next * sizeof low, sizeof low);
    const auto [number, cell] = by_cells_.divide((uint64_t{parcel.head.window} << 32U) + low);
    const rank_t owner = grid_.owner_of(parcel.head.onward, number);
    const std::byte* const value =
        parcel.head.form == Form::same ? values : values + parcel.next * type_.value_bytes;
    if (owner == me_) {
      epoch_.carry_out_one(parcel.source, cell, value);
      continue;
    }
    if (owner >= lanes_.size()) epoch_.fail_malformed(parcel.source);
    const Grid::Step step = grid_.step_to(owner);
    // What does not go on by a later step would wait in a circle; no rank sends that.
    if (!is_behind(grid_.meaning(step.next), parcel.head.onward)) {
      epoch_.fail_malformed(parcel.source);
    }
    if (!append(stage, step.next, step.number * cells_ + cell, value)) return false;
  }
  return true;
}

// True if what came as `before` may go on as `onward`.
bool Forwarder::is_behind(Onward onward, Onward before) const {
  return std::ranges::find(kStages, before) < std::ranges::find(kStages, onward);
}

bool Forwarder::has_sent_all() const {
  return std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.count == 0; });
}

// True if somebody is to be asked to flush before this rank has flushed what came so.
bool Forwarder::must_ask(Onward onward) const {
  for (rank_t next = 0; next < lanes_.size(); ++next) {
    if (lanes_[next].sent_on && is_behind(grid_.meaning(next), onward)) return true;
  }
  return false;
}

// True if all that came so is carried out.
bool Forwarder::may_tell(Onward onward) const {
  return std::ranges::all_of(kStages, [&](Onward behind) {
    return !is_behind(behind, onward) || stages_[static_cast<size_t>(behind)].unanswered == 0;
  });
}

bool Forwarder::flushed(Onward onward) {
  Stage& stage = stage_of(onward);
  if (stage.unanswered == 0) return false;
  --stage.unanswered;
  return true;
}

bool Forwarder::ready() const {
  if (advancing_) return false;
  bool flushes = false;
  for (const Stage& stage : stages_) {
    if (!stage.held.empty() && (!stage.blocked || epoch_.can_forward(*stage.blocked))) return true;
    flushes = flushes || !stage.flushing.empty();
  }
  if (!flushes) return false;
  for (rank_t next = 0; next < lanes_.size(); ++next) {
    if (lanes_[next].count > 0 && epoch_.can_forward(next)) return true;
  }
  if (unreturned_ > 0 || !has_sent_all()) return false;
  return std::ranges::any_of(kStages, [this](Onward onward) {
    const Stage& stage = stages_[static_cast<size_t>(onward)];
    return !stage.flushing.empty() && stage.held.empty() && (must_ask(onward) || may_tell(onward));
  });
}

void Forwarder::go_on(Stage& stage) {
  stage.blocked.reset();
  // Sending makes progress, which may add to the parcels.
  while (!stage.held.empty()) {
    Held parcel = stage.held.front();
    const bool all = forward(stage, parcel);
    stage.held.front().next = parcel.next;
    if (!all) break;
    stage.held.pop_front();
    epoch_.give_back(parcel.source, parcel.slot);
  }
}

// Ranks that wait for what came in this direction are notified once all of it is carried out.
void Forwarder::flush(Onward onward) {
  Stage& stage = stage_of(onward);
  if (stage.flushing.empty() || !stage.held.empty() || unreturned_ > 0 || !has_sent_all()) return;
  for (rank_t next = 0; next < lanes_.size(); ++next) {
    const Onward sent = grid_.meaning(next);
    if (!lanes_[next].sent_on || !is_behind(sent, onward)) continue;
    lanes_[next].sent_on = false;
    ++stage_of(sent).unanswered;
    epoch_.ask_to_flush(next, sent, true);
  }
  if (!may_tell(onward)) return;
  for (const Flushing& one : std::exchange(stage.flushing, {})) {
    epoch_.tell_flushed(one.source, one.number);
  }
}

void Forwarder::advance() {
  if (advancing_) return;
  advancing_ = true;
  for (Stage& stage : stages_) go_on(stage);
  if (std::ranges::any_of(stages_, [](const Stage& stage) { return !stage.flushing.empty(); })) {
    for (rank_t next = 0; next < lanes_.size(); ++next) {
      if (lanes_[next].count > 0) send(next);
    }
    for (const Onward onward : kStages) flush(onward);
  }
  advancing_ = false;
}

}  // namespace stripline::update
