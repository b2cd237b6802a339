// Where the memory of a nest's references is, and what the data cache has of it.
#include <algorithm>
#include <span>

#include "optimizer/access/saturate.h"
#include "runtime/loop/loop_state.h"
#include "runtime/loop/nest_engine.h"

namespace stripline::detail {

using access::Reference;

// The bytes of a reference, in one piece of it.
access::Extent NestEngine::extent_of(const Reference& reference) const {
  access::Extent extent{reference.base,
                        access::saturating_add(reference.base, reference.element_bytes)};
  for (uint32_t loop = 0; loop < nest_.depth; ++loop) {
    if (reference.in_pieces() && loop == reference.piece_loop) continue;
    const int64_t span = access::saturating_span(reference.stride_bytes[loop], nest_.counts[loop]);
    int64_t& end = span < 0 ? extent.begin : extent.end;
    end = access::saturating_add(end, span);
  }
  return extent;
}

void NestEngine::check_bounds(CallSite call) const {
  for (const Reference& reference : nest_.reference) {
    const access::Extent extent = extent_of(reference);
    const auto check = [&](rank_t owner, int64_t begin) {
      // What begins before the segment is out of bounds as an unsigned number.
      state_.operations.check({"nest", call}, owner,
                              static_cast<uint64_t>(access::saturating_add(extent.begin, begin)),
                              extent.bytes());
    };
    if (!reference.in_pieces()) {
      check(reference.owner, 0);
      continue;
    }
    for (uint64_t k = 0; k < nest_.counts[reference.piece_loop]; ++k) {
      const access::Piece& piece = reference.pieces[k];
      if (piece.base < 0) fail_nest(context_, call, "a piece is not at a null pointer");
      check(piece.owner, access::saturating_add(
                             piece.base, access::saturating_span(
                                             reference.stride_bytes[reference.piece_loop], k + 1)));
    }
  }
}

// Finds references that only read what the data cache has, and the nest does not write.
void NestEngine::look_for_kept() {
  const auto is_written = [&](const Reference& read) {
    const access::Extent extent = extent_of(read);
    for (const Reference& other : nest_.reference) {
      if (!writes(other.mode)) continue;
      if (other.in_pieces()) return true;
      const access::Extent written = extent_of(other);
      if (other.owner == read.owner && written.begin < extent.end && extent.begin < written.end) {
        return true;
      }
    }
    return false;
  };
  for (uint32_t r = 0; r < nest_.references(); ++r) {
    const Reference& reference = nest_.reference[r];
    if (writes(reference.mode) || reference.in_pieces() ||
        state_.memory.reachable(reference.owner) != nullptr || is_written(reference)) {
      continue;
    }
    std::array<access::Dimension, access::kMaxDepth> dims;
    for (uint32_t loop = 0; loop < nest_.depth; ++loop) {
      dims[loop] = {reference.stride_bytes[loop], nest_.counts[loop]};
    }
    const auto kept = loops_.cache.find({.rank = reference.owner,
                                         .base = reference.base,
                                         .bytes = reference.element_bytes,
                                         .element_bytes = reference.element_bytes,
                                         .loops = std::span(dims).first(nest_.depth)});
    if (!kept) continue;
    if (served_ == 0) described_ = nest_;
    served_ |= uint32_t{1} << r;
    served_at_[r] = *kept;
    served_in_.emplace_back(loops_.pool, *kept->buffer);
    described_.reference[r].owner |= kKeptOwner;
  }
}

// Tells the data cache what is about to be fetched.
void NestEngine::keep() {
  for (uint32_t g = 0; g < groups(); ++g) {
    if (!layout_->kept[g]) continue;
    access::Lmad bytes = *layout_->kept[g];
    bytes.base += origin_[g];
    loops_.cache.keep(*memory_.buffer(), reference_of(g).owner, bytes,
                      memory_.memory() + layout_->kept_offset[g]);
    keeps_ = true;
  }
}

// What the body has read of these bytes, before what it wrote came there, is old.
void NestEngine::note_stores() const {
  const auto note = [&](rank_t owner, int64_t base, const access::Extent& extent) {
    if (state_.memory.reachable(owner) != nullptr) return;
    state_.memory.keepers().stored(owner, static_cast<uint64_t>(base + extent.begin),
                                   extent.bytes());
  };
  for (const Reference& reference : nest_.reference) {
    if (!writes(reference.mode)) continue;
    const access::Extent extent = extent_of(reference);
    if (!reference.in_pieces()) {
      note(reference.owner, 0, extent);
      continue;
    }
    const int64_t stride = reference.stride_bytes[reference.piece_loop];
    for (uint64_t k = 0; k < nest_.counts[reference.piece_loop]; ++k) {
      note(reference.pieces[k].owner, reference.pieces[k].base + stride * static_cast<int64_t>(k),
           extent);
    }
  }
}

}  // namespace stripline::detail
