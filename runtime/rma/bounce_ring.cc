#include "runtime/rma/bounce_ring.h"

namespace stripline::rma {

std::byte* BounceRing::acquire(size_t bytes, SlotUse use) {
  if (memory_.empty()) memory_.resize(capacity_);
  size_t begin = 0;
  size_t limit = capacity_;
  if (!copies_.empty()) {
    const size_t oldest = copies_.front().begin;
    begin = copies_.back().end;
    const bool wrapped = copies_.back().begin < oldest;
    if (!wrapped && capacity_ - begin < bytes) begin = 0;
    if (wrapped || begin == 0) limit = oldest;
  }
  if (bytes > limit - begin) return nullptr;
  copies_.push_back({begin, begin + bytes, use});
  return memory_.data() + begin;
}

}  // namespace stripline::rma
