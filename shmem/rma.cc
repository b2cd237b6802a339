#include "shmem/rma.h"

#include <algorithm>
#include <array>
#include <string>

#include <stripline/bulk.h>
#include <stripline/vis.h>

#include "runtime/rma/get_combiner.h"

namespace stripline::shmem {
namespace {

const std::byte* bytes_at(const void* memory) { return static_cast<const std::byte*>(memory); }
std::byte* bytes_at(void* memory) { return static_cast<std::byte*>(memory); }

// One side of a strided transfer.
struct Side {
  ptrdiff_t stride_bytes = 0;
  ptrdiff_t first = 0;  // the lowest byte, from the first block on
  size_t bytes = 0;     // from there to the end of the highest block
};

Side side_of(const char* call, ptrdiff_t stride, size_t element_bytes, size_t block_bytes,
             size_t count) {
  Side side;
  ptrdiff_t reach = 0;
  const bool too_far =
      __builtin_mul_overflow(stride, static_cast<ptrdiff_t>(element_bytes), &side.stride_bytes) ||
      __builtin_mul_overflow(side.stride_bytes, static_cast<ptrdiff_t>(count - 1), &reach) ||
      count - 1 > static_cast<size_t>(PTRDIFF_MAX) || block_bytes > size_t{1} << 60;
  if (too_far || reach > PTRDIFF_MAX / 2 || reach < -(PTRDIFF_MAX / 2)) {
    world(call).fail(std::string(call) + " of " + std::to_string(count) + " blocks, " +
                     std::to_string(stride) +
                     " elements apart, which is more than memory has; the count or the stride is "
                     "wrong");
  }
  side.first = std::min<ptrdiff_t>(reach, 0);
  side.bytes = static_cast<size_t>(std::max<ptrdiff_t>(reach, -reach)) + block_bytes;
  return side;
}

struct Strided {
  std::byte* symmetric = nullptr;  // this PE's address of it
  Side symmetric_side;
  std::byte* local = nullptr;
  Side local_side;
  size_t block_bytes = 0;
  size_t count = 0;
};

void note_strided_read(World& world, const Place& place, const Strided& strided) {
  world.note_read(place, strided.count == 1 ? strided.local : nullptr,
                  strided.count * strided.block_bytes);
}

void transfer(const char* call, shmem_ctx_t ctx, const Strided& strided, bool is_put, int pe) {
  World& here = world(call);
  CommContext& context = here.context_of(call, ctx);
  std::byte* const lowest = strided.symmetric + strided.symmetric_side.first;
  Place place = here.place(call, context, lowest, strided.symmetric_side.bytes, pe, !is_put);
  if (!is_put) here.complete_written(place, strided.symmetric_side.bytes);
  place.offset -= static_cast<uint64_t>(strided.symmetric_side.first);  // of the first block
  if (place.here != nullptr) {
    std::byte* there = place.here - strided.symmetric_side.first;
    std::byte* local = strided.local;
    for (size_t i = 0; i < strided.count; ++i) {
      is_put ? copy_bytes(there, local, strided.block_bytes)
             : copy_bytes(local, there, strided.block_bytes);
      there += strided.symmetric_side.stride_bytes;
      local += strided.local_side.stride_bytes;
    }
    if (!is_put) note_strided_read(here, place, strided);
    return;
  }
  here.check_local(call, strided.local + strided.local_side.first, strided.local_side.bytes);
  const std::array<ptrdiff_t, 1> local_strides = {strided.local_side.stride_bytes};
  const std::array<ptrdiff_t, 1> remote_strides = {strided.symmetric_side.stride_bytes};
  const std::array<size_t, 1> extents = {strided.count};
  const stripline::detail::VisStrided shape{.local = strided.local,
                                            .local_strides = local_strides,
                                            .target = place.pe,
                                            .offset = place.offset,
                                            .remote_strides = remote_strides,
                                            .extents = extents,
                                            .element_bytes = strided.block_bytes};
  using stripline::detail::VisDirection;
  const auto start = [&](VisDirection direction) {
    here.send_held();
    return stripline::detail::start_strided(here.context(), call, direction, shape, {},
                                            site_of(call));
  };
  future got;
  {
    const Turn turn(here);
    if (is_put) {
      here.note_written(
          {nullptr, place.pe, place.offset + static_cast<uint64_t>(strided.symmetric_side.first)},
          strided.symmetric_side.bytes);
      context.pending.store(true, std::memory_order_relaxed);
      const future moved = start(VisDirection::put);
      moved.wait_source(site_of(call));
      return here.keep(context, place.pe, moved);
    }
    got = start(VisDirection::get);
  }
  here.await(call, got);
  note_strided_read(here, place, strided);
}

// A put that its context completes: its source stays until then, or is copied by the combiner. With
// a Turn.
void put_implicitly(const char* call, World& here, CommContext& context, const Place& place,
                    const void* source, size_t bytes) {
  context.pending.store(true, std::memory_order_relaxed);
  if (here.observed()) {
    here.context().rput_nbi(bytes_at(source), place.global(), bytes, site_of(call));
    return;
  }
  const auto inside = here.state().exclusive();
  here.state().operations.start_put_implicit(place.pe, place.offset, bytes_at(source), bytes,
                                             context.implicit);
}

// The context's own queue, for what travels by itself. Small ones travel together with those of the
// PE's other contexts, which takes less than a queue of their own.
rma::InjectionQueue* queue_for_put(World& here, const CommContext& context, size_t bytes) {
  return here.state().operations.combiner().takes(bytes) ? nullptr : context.queue.get();
}
rma::InjectionQueue* queue_for_get_nbi(World& here, const CommContext& context, const Place& place,
                                       size_t bytes) {
  const bool combined = bytes <= rma::GetCombiner::kMaxGetBytes &&
                        here.state().job.fabric().needs_target(place.pe, false);
  return combined ? nullptr : context.queue.get();
}

}  // namespace

void put_away(const char* call, World& world, CommContext& context, const Place& place,
              const void* source, size_t bytes) {
  world.check_local(call, source, bytes);
  if (rma::InjectionQueue* const queue = queue_for_put(world, context, bytes)) {
    return queue->put_copied(place.pe, place.offset, bytes_at(source), bytes);
  }
  const detail::ContextState& state = world.state();
  future moved;
  {
    const Turn turn(world);
    world.note_written(place, bytes);
    // Debug mode watches sources of puts without handles until a fence, while this one may change
    // at once.
    if (state.operations.combiner().takes(bytes) && state.job.observers().debug() == nullptr) {
      return put_implicitly(call, world, context, place, source, bytes);
    }
    if (bytes <= state.job.tuning().single.copied_put_bytes) {
      context.pending.store(true, std::memory_order_relaxed);
      const future copied =
          world.context().rput_buffered(bytes_at(source), place.global(), bytes, site_of(call));
      return world.keep(context, place.pe, copied);
    }
    if (world.uses_bulk()) {
      context.pending.store(true, std::memory_order_relaxed);
      world.send_held();
      return detail::bulk_put(world.context(), bytes_at(source), place.global(), bytes,
                              site_of(call));
    }
    moved = world.context().rput(bytes_at(source), place.global(), bytes, site_of(call));
  }
  world.await(call, moved);
}

void get_away(const char* call, World& world, CommContext& context, const Place& place, void* dest,
              size_t bytes) {
  world.check_local(call, dest, bytes);
  if (context.queue != nullptr) {
    return context.queue->get_now(bytes_at(dest), place.pe, place.offset, bytes);
  }
  world.complete_written(place, bytes);
  if (context.coalesces && world.reads_ahead() && bytes <= World::kMostValueBytes &&
      world.segment_of(place.pe) == nullptr) {
    return detail::read_fine_now(world.context(), place.global(), bytes_at(dest), bytes,
                                 site_of(call));
  }
  if (world.uses_bulk() && bytes > World::kMostValueBytes) {
    world.send_held();
    return detail::bulk_get(world.context(), bytes_at(dest), place.global(), bytes, site_of(call));
  }
  future got;
  {
    const Turn turn(world);
    world.send_held();  // puts before it leave first
    got = world.context().rget(place.global(), bytes_at(dest), bytes, site_of(call));
  }
  world.await(call, got);
}

void put(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe) {
  World& here = world(call);
  CommContext& context = here.context_of(call, ctx);
  if (bytes == 0) return;
  const Place place = here.place(call, context, dest, bytes, pe, false);
  if (place.here != nullptr) {
    copy_bytes(place.here, source, bytes);
  } else {
    put_away(call, here, context, place, source, bytes);
  }
}

void put_nbi(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
             int pe) {
  World& here = world(call);
  CommContext& context = here.context_of(call, ctx);
  if (bytes == 0) return;
  const Place place = here.place(call, context, dest, bytes, pe, false);
  if (place.here != nullptr) {
    copy_bytes(place.here, source, bytes);
    return;
  }
  here.check_local(call, source, bytes);
  if (rma::InjectionQueue* const queue = queue_for_put(here, context, bytes)) {
    return queue->put(place.pe, place.offset, bytes_at(source), bytes);
  }
  const Turn turn(here);
  put_implicitly(call, here, context, place, source, bytes);
}

void get(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe) {
  World& here = world(call);
  CommContext& context = here.context_of(call, ctx);
  if (bytes == 0) return;
  const Place place = here.place(call, context, source, bytes, pe, true);
  if (place.here != nullptr) {
    copy_bytes(dest, place.here, bytes);
  } else {
    get_away(call, here, context, place, dest, bytes);
  }
  here.note_read(place, dest, bytes);
}

void get_nbi(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
             int pe) {
  World& here = world(call);
  CommContext& context = here.context_of(call, ctx);
  if (bytes == 0) return;
  const Place place = here.place(call, context, source, bytes, pe, true);
  if (place.here != nullptr) {
    copy_bytes(dest, place.here, bytes);
    return;
  }
  here.check_local(call, dest, bytes);
  here.complete_written(place, bytes);
  if (rma::InjectionQueue* const queue = queue_for_get_nbi(here, context, place, bytes)) {
    return queue->get(bytes_at(dest), place.pe, place.offset, bytes);
  }
  const Turn turn(here);
  context.pending.store(true, std::memory_order_relaxed);
  if (here.observed()) {
    here.context().rget_nbi(place.global(), bytes_at(dest), bytes, site_of(call));
    return;
  }
  const auto inside = here.state().exclusive();
  here.state().operations.start_get_implicit(bytes_at(dest), place.pe, place.offset, bytes,
                                             context.implicit);
}

void iput(const char* call, shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dest_stride,
          ptrdiff_t source_stride, size_t element_bytes, size_t block, size_t count, int pe) {
  if (block == 0 || count == 0) return;
  const size_t block_bytes = bytes_of(call, block, element_bytes);
  transfer(call, ctx,
           {.symmetric = bytes_at(dest),
            .symmetric_side = side_of(call, dest_stride, element_bytes, block_bytes, count),
            .local = const_cast<std::byte*>(bytes_at(source)),
            .local_side = side_of(call, source_stride, element_bytes, block_bytes, count),
            .block_bytes = block_bytes,
            .count = count},
           true, pe);
}

void iget(const char* call, shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dest_stride,
          ptrdiff_t source_stride, size_t element_bytes, size_t block, size_t count, int pe) {
  if (block == 0 || count == 0) return;
  const size_t block_bytes = bytes_of(call, block, element_bytes);
  transfer(call, ctx,
           {.symmetric = const_cast<std::byte*>(bytes_at(source)),
            .symmetric_side = side_of(call, source_stride, element_bytes, block_bytes, count),
            .local = bytes_at(dest),
            .local_side = side_of(call, dest_stride, element_bytes, block_bytes, count),
            .block_bytes = block_bytes,
            .count = count},
           false, pe);
}

}  // namespace stripline::shmem
