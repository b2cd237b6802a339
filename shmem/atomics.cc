#include "shmem/atomics.h"

#include <string>

namespace stripline::shmem {

Atomics::Atomics(World& world)
    : world_(world),
      words_(world.context(), AtomicType::uint32, AtomicPath::automatic, world.coalesces()),
      double_words_(world.context(), AtomicType::uint64, AtomicPath::automatic, world.coalesces()) {
}

void Atomics::start_together(CommContext& context, const fabric::AtomicRequest& request,
                             const Place& place, const char* call) {
  const Turn turn(world_);
  context.pending.store(true, std::memory_order_relaxed);
  world_.note_written(place, fabric::bytes_of(request.type));
  if (world_.observed()) {
    const auto& domain = request.type == AtomicType::uint32 ? words_ : double_words_;
    return domain.start_together(request.op, place.global(), request.operand, site_of(call));
  }
  const auto inside = world_.state().exclusive();
  world_.state().operations.start_atomic_implicit(request, place.pe, place.offset,
                                                  context.implicit);
}

void Atomics::start_away(const char* call, CommContext& context,
                         const fabric::AtomicRequest& request, const Place& place, void* previous,
                         future* awaited) {
  const auto& domain = request.type == AtomicType::uint32 ? words_ : double_words_;
  if (previous != nullptr) {
    world_.check_local(call, previous, fabric::bytes_of(request.type));
    world_.complete_written(place, fabric::bytes_of(request.type));
  }
  if (context.queue != nullptr && domain.path() == AtomicPath::provider &&
      context.queue->has_atomics_on(place.pe)) {
    awaited != nullptr ? context.queue->atomic_now(request, place.pe, place.offset, previous)
                       : context.queue->atomic(request, place.pe, place.offset, previous);
    return;
  }
  const Turn turn(world_);
  if (awaited == nullptr) context.pending.store(true, std::memory_order_relaxed);
  if (previous == nullptr) world_.note_written(place, fabric::bytes_of(request.type));
  const future started = domain.start(request.op, place.global(), request.operand, request.expected,
                                      previous, site_of(call));
  if (awaited != nullptr) {
    *awaited = started;
  } else if (world_.state().job.observers().debug() != nullptr) {
    // A program may poll with gets what it counts with atomic operations. Debug mode would take
    // such a get for one that expects the operation to be complete.
    world_.send_held();
    started.wait(site_of(call));
  } else if (context.coalesces && place.here != nullptr) {
    started.wait(site_of(call));  // the PE's loads see what it has written
  } else {
    world_.keep(context, place.pe, started);
  }
}

void fail_alignment(const char* call, const void* address, size_t bytes) {
  world(call).fail(std::string(call) + " of a variable at an address (" +
                   std::to_string(reinterpret_cast<uintptr_t>(address)) +
                   ") that is not a multiple of its size, " + std::to_string(bytes));
}

}  // namespace stripline::shmem
