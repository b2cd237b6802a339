// Loops over remote data. A program says which remote elements a loop goes through and what it does
// with them; the runtime decides how they are moved (optimizer/plan/strip.h) and moves them.
//
//   double sum = 0;
//   stripline::strip_for(ctx, remote, n, {.loop = {.n_fp_alu = 1}},
//                        [&](size_t begin, size_t end, const double* strip) {
//                          for (size_t i = 0; i < end - begin; ++i) sum += strip[i];
//                        });
//
// The body is called with consecutive ranges that together are [0, n); `strip` points at element
// `begin`, in cache-line-aligned memory that is valid during the call. What the body does with a
// range must not depend on where ranges begin and end.
//
// Under a tuned model the transfer is cut into strips that overlap with the computation where that
// is predicted to pay. Without one it is made in one piece, which is said once on stderr. The first
// executions of a loop are timed, and the plan is refined with the computation time so found (the
// least one, as too little is the safer error; Iancu et al., section 6.1).
//
// Cost: no allocation once a loop is known and the largest one was carried out; a plan that was
// made before is found in tens of nanoseconds. Threads: as Context. Bodies may communicate and
// contain such loops.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <stripline/call_site.h>
#include <stripline/context.h>
#include <stripline/global_ptr.h>

#include "optimizer/access/saturate.h"
#include "optimizer/cost/compute_costs.h"
#include "optimizer/model/paths.h"
#include "optimizer/plan/strip.h"

namespace stripline {

/// Operations per element, beside the remote reference itself (optimizer/cost/compute_costs.h).
using LoopClass = cost::LoopClass;
/// What was decided for a loop (optimizer/plan/strip.h).
using LoopPlan = plan::StripPlan;

/// A contiguous piece of some rank's segment that a loop goes through.
template <typename T>
struct LoopBlock {
  global_ptr<T> data;  ///< the first element
  size_t count = 0;    ///< elements
  /// Where its elements are to be in this rank's memory: read from there, or written there, by the
  /// body, which gets strips of it. All of them stay, and nothing is copied in between. What is
  /// read with a halo (LoopOptions::halo) takes room for it behind the elements of each block, so
  /// that places of blocks must not follow each other more closely. Null: strips are in buffers,
  /// which hold no more than is needed.
  std::remove_const_t<T>* place = nullptr;
};

/// What is known of a loop. Counts are in elements.
struct LoopOptions {
  LoopClass loop;          ///< for the first estimate of the computation
  uint32_t sweeps = 1;     ///< how often the body uses each element
  size_t local_bytes = 0;  ///< footprint of the body's local references; 0: in cache
  /// Seconds of computation of the loop in one piece, if known: finite and not negative; else
  /// measured.
  double compute_s = -1;
  size_t granule = 1;  ///< strips hold a multiple of this many elements, e.g. a row
  /// Reading only: each range may also read this many elements past its end. They must exist in the
  /// remote memory after each block, too.
  size_t halo = 0;
  /// strip_for_blocks only: elements that `own_work` goes through.
  size_t own_count = 0;
  /// Only this one of the job's ranks goes through such a loop now; the others wait, in calls of
  /// the runtime. Otherwise all are taken to do the same, which shares NICs and links, brings their
  /// messages to the same peers, and keeps them from serving each other. It changes plans, and
  /// never results.
  bool alone = false;
  /// Limit of the buffers of this loop, within what the pool of all has (Options).
  size_t max_buffer_bytes = size_t{64} << 20;
  uint64_t site = 0;      ///< tells loops apart in the plan cache; 0: the place of the call
                          ///< (two loops of one line and shape share a plan)
  bool use_model = true;  ///< false: as if there were no model, without saying so
  /// True if a tuned plan, or one that is predicted to tie with the simple one, is now and then
  /// compared with it, and the faster one used (Options::guard). False for measurements of plans.
  bool self_check = true;
  /// Reading only: whether what was fetched is kept for later loops, and what earlier ones have
  /// kept is used (docs/memory-model.md); unset: as Options::data_cache says. Blocks with a place
  /// are not kept, nor are loops of which not all fits into the buffers.
  std::optional<bool> data_cache{};
  /// Run this decomposition, for measurements; adjusted to what granule and buffer allow.
  std::optional<plan::StripCandidate> force;
};

namespace detail {

/// A block without its type.
struct RawBlock {
  rank_t rank = 0;
  uint64_t offset = 0;
  uint64_t count = 0;
  std::byte* place = nullptr;
};

/// The range to compute on next.
struct Strip {
  size_t block = 0;
  size_t begin = 0;  ///< elements of the block
  size_t end = 0;
  std::byte* data = nullptr;  ///< at element `begin`
};

/// The blocks of a loop, without their type.
struct LoopBlocks {
  using At = RawBlock (*)(const void* blocks, size_t index);
  const void* data = nullptr;
  size_t count = 0;
  At at = nullptr;
  RawBlock operator[](size_t index) const { return at(data, index); }
};

class LoopEngine;

/// One execution of a loop. Not inlined: what the compiler sees of a loop is the body alone.
class LoopRun {
 public:
  /// Plans, and for reading issues the first transfers.
  LoopRun(Context& context, plan::Direction direction, const LoopBlocks& blocks,
          size_t element_bytes, const LoopOptions& options, CallSite site);
  /// Waits for everything that is in flight.
  ~LoopRun();
  LoopRun(const LoopRun&) = delete;
  LoopRun& operator=(const LoopRun&) = delete;

  /// The next range, or null at the end; for writing, the end waits for all puts. Makes progress.
  const Strip* next();

  const plan::StripPlan& plan() const;

 private:
  Context& context_;
  LoopEngine& engine_;
};

/// The bytes of `count` elements and the halo behind them.
inline uint64_t loop_bytes(uint64_t count, uint64_t halo, uint64_t element_bytes) {
  return access::saturating_multiply(access::saturating_add(count, halo), element_bytes);
}

/// What a loop over memory in reach begins with: checks the range as a transfer would be, and makes
/// progress if the memory is another rank's.
void begin_local_loop(Context& context, rank_t rank, uint64_t offset, uint64_t bytes,
                      CallSite site);

/// The plan of a loop over memory that needs no transfer.
inline constexpr LoopPlan kOwnMemoryPlan{.reason = plan::Reason::own_memory};

template <typename Block>
LoopBlocks raw_blocks(std::span<const Block> blocks) {
  return {blocks.data(), blocks.size(), [](const void* data, size_t index) -> RawBlock {
            const Block& block = static_cast<const Block*>(data)[index];
            return {block.data.where(), block.data.offset(), block.count,
                    reinterpret_cast<std::byte*>(block.place)};
          }};
}

}  // namespace detail

/// Runs `body(block, begin, end, const T* strip)` over all elements of several remote blocks, which
/// count as one loop: transfers of later blocks are in flight while earlier ones are computed on.
/// Blocks that are Context::is_local(), or kept by the data cache, are handed to the body in place,
/// before the others (those with a place of their own are copied there).
/// `own_work()` is called once, after the first transfers have been issued. Returns the plan.
template <typename T, typename OwnWork, typename Body>
LoopPlan strip_for_blocks(Context& context, std::span<const LoopBlock<const T>> blocks,
                          const LoopOptions& options, OwnWork&& own_work, Body&& body,
                          CallSite site = CallSite::current()) {
  detail::check_callable(own_work, "loop", site);
  detail::check_callable(body, "loop", site);
  detail::LoopRun run(context, plan::Direction::get, detail::raw_blocks(blocks), sizeof(T), options,
                      site);
  own_work();
  while (const detail::Strip* strip = run.next()) {
    body(strip->block, strip->begin, strip->end, reinterpret_cast<const T*>(strip->data));
  }
  return run.plan();
}

/// Runs `body(begin, end, const T* strip)` over `count` remote elements. If they are
/// Context::is_local(), body is called once, in place, at the cost of a few comparisons.
template <typename T, typename Body>
LoopPlan strip_for(Context& context, global_ptr<T> data, size_t count, const LoopOptions& options,
                   Body&& body, CallSite site = CallSite::current()) {
  using Element = const std::remove_const_t<T>;
  detail::check_callable(body, "loop", site);
  if (context.is_local(data)) {
    if (count == 0) return detail::kOwnMemoryPlan;
    detail::begin_local_loop(context, data.where(), data.offset(),
                             detail::loop_bytes(count, options.halo, sizeof(T)), site);
    body(size_t{0}, count, static_cast<Element*>(context.local(data)));
    return detail::kOwnMemoryPlan;
  }
  const LoopBlock<Element> block{data, count};
  detail::LoopRun run(context, plan::Direction::get, detail::raw_blocks(std::span(&block, 1)),
                      sizeof(T), options, site);
  while (const detail::Strip* strip = run.next()) {
    body(strip->begin, strip->end, reinterpret_cast<Element*>(strip->data));
  }
  return run.plan();
}

/// The same with the usual options.
template <typename T, std::invocable<size_t, size_t, const std::remove_const_t<T>*> Body>
LoopPlan strip_for(Context& context, global_ptr<T> data, size_t count, Body&& body,
                   CallSite site = CallSite::current()) {
  return strip_for(context, data, count, LoopOptions{}, std::forward<Body>(body), site);
}

/// Runs `body(block, begin, end, T* strip)` over several remote blocks that it writes: it must set
/// every element of the range; where a block has a place, `strip` is what is there, and the body
/// may leave elements as they are. Blocks come in their order. Returns when everything is visible
/// at its target.
template <typename T, typename Body>
LoopPlan strip_write_blocks(Context& context, std::span<const LoopBlock<T>> blocks,
                            const LoopOptions& options, Body&& body,
                            CallSite site = CallSite::current()) {
  detail::check_callable(body, "loop", site);
  detail::LoopRun run(context, plan::Direction::put, detail::raw_blocks(blocks), sizeof(T), options,
                      site);
  while (const detail::Strip* strip = run.next()) {
    body(strip->block, strip->begin, strip->end, reinterpret_cast<T*>(strip->data));
  }
  return run.plan();
}

/// Runs `body(begin, end, T* strip)` over `count` remote elements that it writes; in place if they
/// are Context::is_local().
template <typename T, typename Body>
LoopPlan strip_write(Context& context, global_ptr<T> data, size_t count, const LoopOptions& options,
                     Body&& body, CallSite site = CallSite::current()) {
  detail::check_callable(body, "loop", site);
  if (context.is_local(data)) {
    if (count == 0) return detail::kOwnMemoryPlan;
    detail::begin_local_loop(context, data.where(), data.offset(),
                             detail::loop_bytes(count, 0, sizeof(T)), site);
    body(size_t{0}, count, context.local(data));
    return detail::kOwnMemoryPlan;
  }
  const LoopBlock<T> block{data, count};
  detail::LoopRun run(context, plan::Direction::put, detail::raw_blocks(std::span(&block, 1)),
                      sizeof(T), options, site);
  while (const detail::Strip* strip = run.next()) {
    body(strip->begin, strip->end, reinterpret_cast<T*>(strip->data));
  }
  return run.plan();
}

/// The same with the usual options.
template <typename T, std::invocable<size_t, size_t, T*> Body>
LoopPlan strip_write(Context& context, global_ptr<T> data, size_t count, Body&& body,
                     CallSite site = CallSite::current()) {
  return strip_write(context, data, count, LoopOptions{}, std::forward<Body>(body), site);
}

}  // namespace stripline
