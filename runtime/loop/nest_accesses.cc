// Nests that cannot be cut: their accesses are made one by one, in the order of the program.
#include "runtime/loop/nest_engine.h"

namespace stripline::detail {

using access::Reference;
using plan::Direction;

const NestTile* NestEngine::next_access() {
  if (out_) {
    out_ = false;
    move_elements(Direction::put);
    advance(compute_);
  }
  if (compute_.step == plan().steps) return nullptr;
  state_.operations.make_progress();
  tile_.cut_loop = plan().cut.loop;
  tile_.first = compute_.index;
  tile_.count = 1;
  tile_.stride_bytes = {};
  move_elements(Direction::get);
  out_ = true;
  return &tile_;
}

// Moves what one iteration needs: what it reads, or what it has written. Writes are waited for one
// by one: the next one may be of the same bytes.
void NestEngine::move_elements(Direction direction) {
  fabric::Counter counter;
  for (uint32_t r = 0; r < nest_.references(); ++r) {
    const Reference& reference = nest_.reference[r];
    const rank_t owner = owner_at(reference, compute_);
    const uint64_t offset = offset_at(reference, compute_, nest_.depth);
    std::byte* const element = memory_.memory() + r * layout_->slot_bytes;
    tile_.element[r] = element;
    if (direction == Direction::get && reads(reference.mode)) {
      state_.operations.get(element, owner, offset, reference.element_bytes, counter,
                            {"nest", call_});
    } else if (direction == Direction::put && writes(reference.mode)) {
      state_.operations.put(owner, offset, element, reference.element_bytes, counter,
                            {"nest", call_});
      state_.operations.wait_for(counter);
    }
  }
  state_.operations.wait_for(counter);
}

}  // namespace stripline::detail
