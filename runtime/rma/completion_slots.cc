#include "runtime/rma/completion_slots.h"

namespace stripline::rma {

CompletionSlots::CompletionSlots(uint32_t capacity)
    : slots_(capacity), free_(capacity), free_count_(capacity) {
  for (uint32_t i = 0; i < capacity; ++i) free_[i] = capacity - 1 - i;
}

bool CompletionSlots::sweep(bool& collective) {
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].counter.pending != 0) continue;
    collective = collective || slots_[slot].kind == Kind::collective;
    release(slot);
  }
  return !exhausted();
}

}  // namespace stripline::rma
