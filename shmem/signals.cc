#include "shmem/signals.h"

#include <string>

#include "shmem/atomics.h"
#include "shmem/rma.h"
#include "shmem/wait.h"

namespace stripline::shmem {
namespace {

AtomicOp operation_of(const char* call, int op) {
  if (op == SHMEM_SIGNAL_SET) return AtomicOp::store;
  if (op == SHMEM_SIGNAL_ADD) return AtomicOp::add;
  world(call).fail(std::string(call) + " with signal operator " + std::to_string(op) +
                   ", which is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD");
}

void start(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
           uint64_t* signal, uint64_t value, int op, int pe, bool source_stays) {
  World& here = world(call);
  CommContext& context = here.context_of(call, ctx);
  const AtomicOp update = operation_of(call, op);
  const Place flag = atomic_place(here, call, context, signal, pe, false);
  if (bytes == 0) {
    atomic_op(call, ctx, update, signal, value, pe);
    return;
  }
  const Place place = here.place(call, context, dest, bytes, pe, false);
  if (place.here != nullptr && flag.here != nullptr) {
    copy_bytes(place.here, source, bytes);
    std::atomic_thread_fence(std::memory_order_release);
    atomic_op(call, ctx, update, signal, value, pe);
    return;
  }
  here.check_local(call, source, bytes);
  const auto* const data = static_cast<const std::byte*>(source);
  if (update == AtomicOp::store) {
    const Turn turn(here);
    here.note_written(place, bytes);
    here.note_written(flag, sizeof(uint64_t));
    context.pending.store(true, std::memory_order_relaxed);
    const future moved = here.context().rput_signal(data, place.global(), bytes,
                                                    global_ptr<uint64_t>(flag.pe, flag.offset),
                                                    value, site_of(call));
    if (!source_stays) {
      here.send_held();
      moved.wait_source(site_of(call));
    }
    return here.keep(context, place.pe, moved);
  }
  // The network's signals store a value; one that is to be added follows the data when they have
  // arrived.
  future moved;
  {
    const Turn turn(here);
    moved = here.context().rput(data, place.global(), bytes, site_of(call));
  }
  here.await(call, moved);
  atomic_op(call, ctx, update, signal, value, pe);
}

}  // namespace

void put_signal(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
                uint64_t* signal, uint64_t value, int op, int pe) {
  start(call, ctx, dest, source, bytes, signal, value, op, pe, false);
}

void put_signal_nbi(const char* call, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
                    uint64_t* signal, uint64_t value, int op, int pe) {
  start(call, ctx, dest, source, bytes, signal, value, op, pe, true);
}

void signal_set(const char* call, shmem_ctx_t ctx, uint64_t* signal, uint64_t value, int pe) {
  atomic_op(call, ctx, AtomicOp::store, signal, value, pe);
}

void signal_add(const char* call, shmem_ctx_t ctx, uint64_t* signal, uint64_t value, int pe) {
  atomic_op(call, ctx, AtomicOp::add, signal, value, pe);
}

uint64_t signal_fetch(const char* call, const uint64_t* signal) {
  world(call).look_for_news();
  return value_now(signal);
}

uint64_t signal_wait_until(const char* call, uint64_t* signal, int comparison, uint64_t value) {
  return await_value(call, signal, comparison, value);
}

}  // namespace stripline::shmem
