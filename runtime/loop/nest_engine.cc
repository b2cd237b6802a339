#include "runtime/loop/nest_engine.h"

#include <algorithm>
#include <utility>

#include "runtime/loop/loop_state.h"

namespace stripline::detail {

using access::Group;
using access::Reference;
using plan::Direction;

std::byte* NestEngine::place_in_whole(uint32_t g, const Place& place) const {
  return memory_.memory() + layout_->kept_offset[g] +
         (base_of(g, place) - origin_[g] - layout_->kept[g]->base);
}

std::byte* NestEngine::held_buffer(uint32_t g, uint64_t tile) const {
  const NestShape& shape = layout_->whole_shapes[g];
  return memory_.memory() + shape.offset + (tile % 2) * align_up(shape.bytes);
}

void NestEngine::advance(Place& place) const {
  ++place.step;
  uint32_t loop = plan().cut.loop;
  place.index[loop] += granule();
  while (place.index[loop] >= nest_.counts[loop] && loop > 0) {
    place.index[loop] = 0;
    ++place.index[--loop];
  }
}

// Counted from 0, of a group that is held.
uint64_t NestEngine::tile_of(const Group& group, const Place& place) const {
  uint64_t tile = 0;
  for (uint32_t loop = 0; loop < group.hold; ++loop) {
    tile = tile * nest_.counts[loop] + place.index[loop];
  }
  return tile;
}

NestEngine::Place NestEngine::place_of(const Group& group, uint64_t tile) const {
  Place place;
  for (uint32_t loop = group.hold; loop-- > 0;) {
    place.index[loop] = tile % nest_.counts[loop];
    tile /= nest_.counts[loop];
  }
  return place;
}

bool NestEngine::ends_tile(const Group& group, const Place& place) const {
  if (place.index[plan().cut.loop] + granule() < nest_.counts[plan().cut.loop]) return false;
  for (uint32_t loop = group.hold; loop < plan().cut.loop; ++loop) {
    if (place.index[loop] + 1 < nest_.counts[loop]) return false;
  }
  return true;
}

// The base of a tile that belongs to this place.
int64_t NestEngine::base_of(uint32_t g, const Place& place) const {
  const Group& of_place = group(g, place);
  const Reference& reference = reference_of(g);
  int64_t base = origin_[g] + of_place.tile.base;
  if (reference.in_pieces()) base += reference.pieces[place.index[reference.piece_loop]].base;
  for (uint32_t loop = 0; loop < of_place.hold; ++loop) {
    base += of_place.stride_bytes[loop] * static_cast<int64_t>(place.index[loop]);
  }
  return base;
}

rank_t NestEngine::owner_at(const Reference& reference, const Place& place) const {
  return reference.in_pieces() ? reference.pieces[place.index[reference.piece_loop]].owner
                               : reference.owner;
}

// The offset of the element of an iteration, by the numbers of the outer `loops`.
uint64_t NestEngine::offset_at(const Reference& reference, const Place& place,
                               uint32_t loops) const {
  int64_t offset = reference.base;
  if (reference.in_pieces()) offset += reference.pieces[place.index[reference.piece_loop]].base;
  for (uint32_t loop = 0; loop < loops; ++loop) {
    offset += reference.stride_bytes[loop] * static_cast<int64_t>(place.index[loop]);
  }
  return static_cast<uint64_t>(offset);
}

void NestEngine::transfer(Direction direction, uint32_t g, const Place& place, std::byte* memory,
                          fabric::Counter& counter) {
  const bool get = direction == Direction::get;
  const rank_t owner = owner_at(reference_of(g), place);
  const NestShape& of_tile = shape(g, place);
  const int64_t base = base_of(g, place);
  if (of_tile.many_regions) {
    const Methods& methods = methods_[g];
    vis::Strided strided = of_tile.strided;
    strided.remote = base;
    if (!get) {
      const access::Extent extent = group(g, place).tile.extent();
      state_.memory.keepers().stored(owner, static_cast<uint64_t>(base), extent.bytes());
    }
    state_.job.activity() = "nest";
    state_.operations.vis().start(direction, owner, strided, memory,
                                  *(get ? methods.get : methods.put), counter);
  } else if (get) {
    state_.operations.get(memory, owner, static_cast<uint64_t>(base), of_tile.bytes, counter,
                          {"nest", call_});
  } else {
    state_.operations.put(owner, static_cast<uint64_t>(base), memory, of_tile.bytes, counter,
                          {"nest", call_});
  }
}

void NestEngine::wait(uint32_t g, const fabric::Counter& counter) {
  layout_->whole_shapes[g].many_regions ? state_.operations.wait_for_messages(counter)
                                        : state_.operations.wait_for(counter);
}

// Asks for what the next step needs. What left from the same slot must be gone.
void NestEngine::fetch_step() {
  for (uint32_t g = 0; g < groups(); ++g) {
    if (!layout_->moves(g) || !reads(group(g, fetch_).mode)) continue;
    Flight& of_slot = flight(g, fetch_.step);
    wait(g, of_slot.out);
    if (is_reached(g, fetch_)) continue;
    transfer(Direction::get, g, fetch_, slot(g, fetch_), of_slot.in);
  }
  advance(fetch_);
}

void NestEngine::fetch_held(uint32_t g) {
  const Group& held = layout_->whole.group[g];
  const uint64_t tile = held_[g].fetched++;
  Flight& of_buffer = held_[g].flight[tile % 2];
  wait(g, of_buffer.out);
  const Place place = place_of(held, tile);
  if (!reads(held.mode) || is_reached(g, place)) return;
  transfer(Direction::get, g, place, held_buffer(g, tile), of_buffer.in);
}

// Waits for what the step is computed on.
void NestEngine::await_step() {
  if (!layout_->transfers) return;
  while (fetch_.step <= compute_.step) fetch_step();
  for (uint32_t g = 0; g < groups(); ++g) {
    if (!layout_->is_held(g)) continue;
    const uint64_t tile = tile_of(layout_->whole.group[g], compute_);
    while (held_[g].fetched <= tile) fetch_held(g);
  }
  for (uint32_t g = 0; g < groups(); ++g) {
    const Group& whole = layout_->whole.group[g];
    if (layout_->moves(g)) {
      const Flight& of_slot = flight(g, compute_.step);
      wait(g, reads(whole.mode) ? of_slot.in : of_slot.out);
    } else if (layout_->is_held(g)) {
      const uint64_t tile = tile_of(whole, compute_);
      wait(g, held_[g].flight[tile % 2].in);
      // The next one comes while this one is in use, once its buffer is free.
      const bool more = place_of(whole, tile + 1).index != Place{}.index;
      if (layout_->ahead > 0 && more && held_[g].fetched == tile + 1 &&
          held_[g].flight[(tile + 1) % 2].out.pending == 0) {
        fetch_held(g);
      }
    }
  }
  if (layout_->ahead > 0 && fetch_.step < plan().steps &&
      fetch_.step <= compute_.step + layout_->ahead) {
    fetch_step();
  }
}

// Sends what the step has written, and what was written to a tile that ends with it.
void NestEngine::take_back() {
  if (!layout_->transfers) return;
  for (uint32_t g = 0; g < groups(); ++g) {
    const Group& of_step = group(g, compute_);
    if (!writes(of_step.mode) || is_reached(g, compute_)) continue;
    if (layout_->moves(g)) {
      transfer(Direction::put, g, compute_, slot(g, compute_), flight(g, compute_.step).out);
    } else if (layout_->is_held(g) && ends_tile(of_step, compute_)) {
      const uint64_t tile = tile_of(of_step, compute_);
      transfer(Direction::put, g, place_of(of_step, tile), held_buffer(g, tile),
               held_[g].flight[tile % 2].out);
    }
  }
  if (plan().schedule == plan::Schedule::vectorised) wait_for_all();
}

void NestEngine::wait_for_all() {
  if (!layout_->transfers) return;
  for (uint32_t g = 0; g < groups(); ++g) {
    const auto settle = [&](const Flight& flight) {
      wait(g, flight.in);
      wait(g, flight.out);
    };
    if (layout_->moves(g)) {
      for (uint64_t slot = 0; slot < layout_->slots; ++slot) settle(flight(g, slot));
    } else if (layout_->is_held(g)) {
      for (const Flight& flight : held_[g].flight) settle(flight);
    }
  }
}

void NestEngine::point_at_elements() {
  const uint32_t cut_loop = plan().cut.loop;
  tile_.cut_loop = cut_loop;
  tile_.first = compute_.index;
  tile_.count = std::min(granule(), nest_.counts[cut_loop] - compute_.index[cut_loop]);
  for (uint32_t g = 0; g < groups(); ++g) {
    const Group& of_step = group(g, compute_);
    std::byte* buffer = nullptr;
    if (is_reached(g, compute_)) {
      // In place.
    } else if (layout_->moves(g)) {
      buffer = slot(g, compute_);
    } else {
      buffer = held_buffer(g, tile_of(of_step, compute_));
      for (uint32_t loop = of_step.hold; loop <= cut_loop; ++loop) {
        buffer += of_step.buffer_stride_bytes[loop] * static_cast<int64_t>(compute_.index[loop]);
      }
    }
    for (uint32_t m = 0; m < of_step.members; ++m) {
      const uint32_t r = of_step.member[m];
      if (buffer != nullptr) {
        tile_.element[r] = buffer + of_step.buffer_offset[m];
        tile_.stride_bytes[r] = of_step.buffer_stride_bytes;
        continue;
      }
      if (is_served(r)) {
        const KeptRegion& kept = served_at_[r];
        tile_.element[r] = kept.data;
        for (uint32_t loop = 0; loop <= cut_loop; ++loop) {
          tile_.element[r] += kept.stride_bytes[loop] * static_cast<int64_t>(compute_.index[loop]);
        }
        tile_.stride_bytes[r] = kept.stride_bytes;
        continue;
      }
      const Reference& reference = nest_.reference[r];
      tile_.element[r] = state_.memory.reachable(owner_at(reference, compute_)) +
                         offset_at(reference, compute_, cut_loop + 1);
      tile_.stride_bytes[r] = reference.stride_bytes;
    }
  }
}

const NestTile* NestEngine::next() {
  if (plan().obstacle) return next_access();
  if (std::exchange(out_, false)) {
    execution_.end_computing();
    take_back();
    advance(compute_);
  }
  if (compute_.step == plan().steps) {
    wait_for_all();
    if (state_.memory.keepers().any()) note_stores();
    if (std::exchange(keeps_, false)) loops_.cache.complete(*memory_.buffer());
    return nullptr;
  }
  if (attention_.due()) {
    if (layout_->attention_step_s) {
      loops_.look(context_, attention_);
    } else {
      state_.operations.make_progress();
    }
  }
  await_step();
  point_at_elements();
  out_ = true;
  execution_.begin_computing();
  return &tile_;
}

uint64_t NestEngine::iterations(const NestTile& tile) const {
  uint64_t iterations = tile.count;
  for (uint32_t loop = tile.cut_loop + 1; loop < nest_.depth; ++loop) {
    iterations *= nest_.counts[loop];
  }
  return iterations;
}

void NestEngine::end() {
  if (!plan().obstacle) wait_for_all();
  const bool complete = compute_.step == plan().steps;
  // A body has thrown: not all was asked for, or what it wrote has come there since it read.
  if (std::exchange(keeps_, false)) DataCache::forget(*memory_.buffer());
  if (!complete && state_.memory.keepers().any()) note_stores();
  if (memory_.buffer() != nullptr) memory_ = {};
  if (served_ != 0) served_in_.clear();
  if (!complete) return execution_.abandon();
  const Analysis::Span deciding(loops_.analysis);
  execution_.finish(*this, execution_.computed_s());
}

}  // namespace stripline::detail
