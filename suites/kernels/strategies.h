// The baselines: methods of fetching remote blocks and computing on them without tuning. All of
// them, and the loop engine, run the same body on buffers that exist before the timing starts.
//
// A body is callable as body(block, begin, end, data): compute on elements [begin, end) of block
// number `block`, `data` pointing at element `begin`. Blocks that have a place come there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <stripline/bulk.h>
#include <stripline/context.h>
#include <stripline/loop.h>

namespace stripline::suites {

/// The most elements that variant `fine` fetches one by one in a repetition; beyond it the time of
/// these is scaled to all of them, and the series says so. Those of NAS, whose verification takes
/// the whole solution, fetch all elements of a small problem instead.
inline constexpr size_t kFineElements = 1024;

/// The name of variants that are the blocking program in a bulk region.
inline constexpr const char* kBulkVariant = "bulk";

/// The pieces that variant hand4 makes of a block.
inline constexpr size_t kHandParts = 4;

/// Element by element, blocking: the shared-memory style source (Figure 2-(1) of Iancu et al.).
/// Stops after `most` elements of all blocks together.
template <typename T, typename Body>
void run_fine(Context& ctx, std::span<const LoopBlock<const T>> blocks, size_t most, Body&& body) {
  for (size_t b = 0; b < blocks.size(); ++b) {
    const size_t count = std::min(blocks[b].count, most);
    T element{};
    for (size_t i = 0; i < count; ++i) {
      T* const target = blocks[b].place != nullptr ? blocks[b].place + i : &element;
      *target = ctx.rget(blocks[b].data + static_cast<std::ptrdiff_t>(i));
      body(b, i, i + 1, target);
    }
    most -= count;
  }
}

/// One blocking bulk transfer per block (Figure 2-(2)). One buffer serves all blocks, so that it
/// stays in cache.
template <typename T, typename Body>
void run_blocking(Context& ctx, std::span<const LoopBlock<const T>> blocks, T* buffer,
                  Body&& body) {
  for (size_t b = 0; b < blocks.size(); ++b) {
    T* const target = blocks[b].place != nullptr ? blocks[b].place : buffer;
    memget(ctx, target, blocks[b].data, blocks[b].count);
    body(b, 0, blocks[b].count, target);
  }
}

/// Nonblocking: every block in `parts` equal pieces, all issued up front, each computed on as soon
/// as it is there. With one part this is HAND of Iancu et al., section 8; with four a programmer's
/// guess at strip-mining. `buffer` has room for all blocks; `in_flight` for blocks x parts.
template <typename T, typename Body, typename Own>
void run_nonblocking(Context& ctx, std::span<const LoopBlock<const T>> blocks, size_t parts,
                     T* buffer, std::span<future> in_flight, Own&& own_work, Body&& body) {
  size_t operation = 0;
  size_t before = 0;  // elements of the blocks before
  const auto target_of = [&](const LoopBlock<const T>& block) {
    return block.place != nullptr ? block.place : buffer + before;
  };
  for (const LoopBlock<const T>& block : blocks) {
    T* const target = target_of(block);
    for (size_t part = 0; part < parts; ++part) {
      const size_t begin = block.count * part / parts;
      const size_t end = block.count * (part + 1) / parts;
      in_flight[operation++] =
          ctx.rget(block.data + static_cast<std::ptrdiff_t>(begin), target + begin, end - begin);
    }
    before += block.count;
  }
  own_work();
  operation = 0;
  before = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    T* const target = target_of(blocks[b]);
    for (size_t part = 0; part < parts; ++part) {
      const size_t begin = blocks[b].count * part / parts;
      const size_t end = blocks[b].count * (part + 1) / parts;
      in_flight[operation++].wait();
      body(b, begin, end, target + begin);
    }
    before += blocks[b].count;
  }
}

}  // namespace stripline::suites
