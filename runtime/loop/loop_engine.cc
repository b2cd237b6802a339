#include "runtime/loop/loop_engine.h"

#include <algorithm>
#include <utility>

#include "runtime/loop/loop_state.h"

namespace stripline::detail {

void LoopEngine::begin(plan::Direction direction, const LoopBlocks& blocks, size_t element_bytes,
                       const LoopOptions& options, CallSite call) {
  Analysis::Span deciding(loops_.analysis);
  loops_.analysis.count_execution();
  direction_ = direction;
  blocks_ = blocks;
  element_bytes_ = element_bytes;
  halo_bytes_ = direction == plan::Direction::get ? options.halo * element_bytes : 0;
  call_ = call;
  issue_ = compute_ = {};
  local_ = 0;
  local_out_ = {};
  out_ = over_ = false;
  strips_ = 0;
  const Remote remote = describe(options);
  find_plan(options, remote);
  deciding.end();
  if (remote.blocks == 0) return;
  prepare_buffer();
  attention_ = Attention(state_.job.fabric().info(), loops_.look_time.seconds(),
                         plan().predicted_s / static_cast<double>(std::max<uint64_t>(strips_, 1)));
  enter_block(issue_);
  compute_ = issue_;
  if (direction == plan::Direction::put) return;
  const uint64_t ahead = plan().schedule == plan::Schedule::pipelined    ? plan().burst
                         : plan().schedule == plan::Schedule::vectorised ? 1
                                                                         : strips_;
  for (uint64_t i = 0; i < std::min(ahead, strips_); ++i) issue_get();
}

void LoopEngine::end() {
  if (over_ && strips_ > 0) {
    learn();
  } else {
    // Nothing was transferred; or a body has thrown: not all was asked for, or what it wrote has
    // come there since it read.
    wait_for_all();
    if (keeps_) DataCache::forget(*buffer_.buffer());
    if (direction_ == plan::Direction::put) note_stores();
    execution_.abandon();
  }
  keeps_ = false;
  buffer_ = {};
  kept_.clear();
  kept_in_.clear();
}

// Takes the buffers of the plan from the pool.
void LoopEngine::prepare_buffer() {
  const uint64_t bytes = lay_out_slots();
  if (counters_.size() < slots_) counters_.resize(slots_);
  if (placed_) return;
  buffer_ = loops_.buffer_of(state_, bytes);
  if (!keeps_) return;
  std::byte* place = buffer_.memory();
  for (size_t i = 0; i < blocks_.count; ++i) {
    const RawBlock block = blocks_[i];
    if (in_place(i, block) != nullptr || block.count == 0) continue;
    const uint64_t of_block = block.count * element_bytes_ + halo_bytes_;
    loops_.cache.keep(*buffer_.buffer(), block.rank,
                      {.base = static_cast<int64_t>(block.offset), .run_bytes = of_block}, place);
    place += align_up(of_block);
  }
}

// Blocks may differ in size, so that their number of strips, and the room for all of them, are
// counted here. Returns the bytes of all slots.
uint64_t LoopEngine::lay_out_slots() {
  uint64_t whole = 0;
  strips_ = 0;
  for (size_t i = 0; i < blocks_.count; ++i) {
    const RawBlock block = blocks_[i];
    if (in_place(i, block) != nullptr || block.count == 0) continue;
    const uint64_t bytes = block.count * element_bytes_;
    strips_ += (bytes + plan().strip_bytes - 1) / plan().strip_bytes;
    whole += align_up(bytes + halo_bytes_);
  }
  slot_bytes_ = align_up(plan().strip_bytes + halo_bytes_);
  whole_in_buffer_ = keeps_ || plan().schedule == plan::Schedule::all_issued;
  slots_ = plan::strip_slots(direction_, plan().schedule, plan().burst, strips_);
  return whole_in_buffer_ ? whole : slots_ * slot_bytes_;
}

// Moves a cursor that stands before a block onto the next remote one.
void LoopEngine::enter_block(Cursor& cursor) const {
  for (; cursor.block < blocks_.count; ++cursor.block) {
    cursor.raw = blocks_[cursor.block];
    if (in_place(cursor.block, cursor.raw) == nullptr && cursor.raw.count != 0) return;
  }
}

uint64_t LoopEngine::strip_end(const Cursor& cursor) const {
  return std::min(cursor.begin + plan().strip_bytes, cursor.raw.count * element_bytes_);
}

void LoopEngine::advance(Cursor& cursor) const {
  ++cursor.index;
  const uint64_t block_bytes = cursor.raw.count * element_bytes_;
  cursor.begin = strip_end(cursor);
  if (cursor.begin < block_bytes) return;
  cursor.base += align_up(block_bytes + halo_bytes_);
  cursor.begin = 0;
  ++cursor.block;
  enter_block(cursor);
}

size_t LoopEngine::slot_of(const Cursor& cursor) const {
  return plan().schedule == plan::Schedule::all_issued ? cursor.index : cursor.index % slots_;
}

std::byte* LoopEngine::place_of(const Cursor& cursor) const {
  if (cursor.raw.place != nullptr) return cursor.raw.place + cursor.begin;
  if (whole_in_buffer_) return buffer_.memory() + cursor.base + cursor.begin;
  return buffer_.memory() + slot_of(cursor) * slot_bytes_;
}

void LoopEngine::issue_get() {
  const Cursor& at = issue_;
  // Where the strips of a block share one buffer, or its place, what the halo of the strip before
  // brings is not fetched again.
  const bool one_buffer = whole_in_buffer_ || at.raw.place != nullptr;
  const bool halo_is_there = one_buffer && at.begin > 0;
  const uint64_t skip = halo_is_there ? halo_bytes_ : 0;
  const uint64_t bytes = strip_end(at) - at.begin + halo_bytes_ - skip;
  state_.operations.get(place_of(at) + skip, at.raw.rank, at.raw.offset + at.begin + skip, bytes,
                        counters_[slot_of(at)], {"loop", call_});
  advance(issue_);
}

void LoopEngine::issue_put() {
  const Cursor& at = issue_;
  state_.operations.put(at.raw.rank, at.raw.offset + at.begin, place_of(at),
                        strip_end(at) - at.begin, counters_[slot_of(at)], {"loop", call_});
  advance(issue_);
}

// Where a block is that needs no transfer: in reach of loads and stores, or kept. Else null.
std::byte* LoopEngine::in_place(size_t index, const RawBlock& block) const {
  if (context_.is_local(block.rank)) return state_.memory.reachable(block.rank) + block.offset;
  return kept_.empty() ? nullptr : kept_[index];
}

// Blocks before `end` that need no transfer: the body works in place.
const Strip* LoopEngine::hand_out_local(size_t end) {
  for (; local_ < end; ++local_) {
    const RawBlock block = blocks_[local_];
    std::byte* const data = in_place(local_, block);
    if (data == nullptr || block.count == 0) continue;
    // Peers of other nodes may be waiting for this rank's attention.
    if (block.rank != context_.rank_me()) state_.operations.make_progress();
    strip_ = {local_, 0, block.count, data};
    ++local_;
    if (block.place != nullptr && block.place != data) {
      strip_.data = block.place;
      if (direction_ == plan::Direction::get) {
        state_.memory.copy_here(block.place, data, block.count * element_bytes_ + halo_bytes_);
      } else {
        local_out_ = block;
      }
    }
    return &strip_;
  }
  return nullptr;
}

// Copies what the body has written to where it belongs.
void LoopEngine::settle_local() {
  if (local_out_.place == nullptr) return;
  state_.memory.copy_here(state_.memory.reachable(local_out_.rank) + local_out_.offset,
                          local_out_.place, local_out_.count * element_bytes_);
  local_out_.place = nullptr;
}

const Strip* LoopEngine::hand_out() {
  const uint64_t begin = compute_.begin / element_bytes_;
  strip_ = {compute_.block, begin, strip_end(compute_) / element_bytes_, place_of(compute_)};
  advance(compute_);
  return &strip_;
}

void LoopEngine::begin_computing() {
  out_ = true;
  execution_.begin_computing();
}

bool LoopEngine::end_computing() {
  if (!std::exchange(out_, false)) return false;
  execution_.end_computing();
  return true;
}

const Strip* LoopEngine::next_get() {
  if (end_computing()) {
    if (plan().schedule == plan::Schedule::vectorised && issue_.index < strips_) issue_get();
  }
  if (const Strip* local = hand_out_local(blocks_.count)) return local;
  if (compute_.index == strips_) {
    if (std::exchange(keeps_, false)) loops_.cache.complete(*buffer_.buffer());
    over_ = true;
    return nullptr;
  }
  fabric::Counter& counter = counters_[slot_of(compute_)];
  if (counter.pending != 0) {
    state_.operations.wait_for(counter);
    attention_.has_looked();
  } else if (attention_.due()) {
    loops_.look(context_, attention_);
  }
  const Strip* const strip = hand_out();
  if (plan().schedule == plan::Schedule::pipelined && issue_.index < strips_) issue_get();
  begin_computing();
  return strip;
}

const Strip* LoopEngine::next_put() {
  settle_local();
  if (end_computing()) {
    issue_put();
    if (plan().schedule == plan::Schedule::vectorised) {
      wait_for_all();
    } else if (attention_.due()) {
      loops_.look(context_, attention_);
    }
  }
  // In the program's order, which follows what is in the cache.
  const bool all_sent = compute_.index == strips_;
  if (const Strip* local = hand_out_local(all_sent ? blocks_.count : compute_.block)) return local;
  if (all_sent) {
    wait_for_all();
    note_stores();
    over_ = true;
    return nullptr;
  }
  // The buffer's last put, if any, must have left it.
  state_.operations.wait_for(counters_[slot_of(compute_)]);
  const Strip* const strip = hand_out();
  begin_computing();
  return strip;
}

// What the body has read of the blocks, before what it wrote came there, is old.
void LoopEngine::note_stores() const {
  if (loops_.cache.empty()) return;
  for (size_t i = 0; i < blocks_.count; ++i) {
    const RawBlock block = blocks_[i];
    if (in_place(i, block) != nullptr) continue;
    state_.memory.keepers().stored(block.rank, block.offset, block.count * element_bytes_);
  }
}

void LoopEngine::wait_for_all() {
  if (strips_ == 0) return;
  const uint64_t used = std::min<uint64_t>(slots_, strips_);
  for (uint64_t slot = 0; slot < used; ++slot) {
    state_.operations.wait_for(counters_[slot]);
  }
}

}  // namespace stripline::detail
