#include "shmem/atomics.h"

#include <string>

namespace stripline::shmem {

Atomics::Atomics(World& world)
    : world_(world),
      words_(world.context(), AtomicType::uint32, AtomicPath::automatic),
      double_words_(world.context(), AtomicType::uint64, AtomicPath::automatic) {}

void Atomics::start_away(const char* call, CommContext& context,
                         const fabric::AtomicRequest& request, const Place& place, void* previous,
                         future* awaited) {
  const auto& domain = request.type == AtomicType::uint32 ? words_ : double_words_;
  if (context.queue != nullptr && domain.path() == AtomicPath::provider &&
      context.queue->has_atomics_on(place.pe)) {
    awaited != nullptr ? context.queue->atomic_now(request, place.pe, place.offset, previous)
                       : context.queue->atomic(request, place.pe, place.offset, previous);
    return;
  }
  const Turn turn(world_);
  if (awaited == nullptr) context.pending.store(true, std::memory_order_relaxed);
  const future started = domain.start(request.op, place.global(), request.operand, request.expected,
                                      previous, site_of(call));
  if (awaited != nullptr) {
    *awaited = started;
  } else if (world_.state().job.observers().debug() != nullptr) {
    // A program may poll with gets what it counts with atomic operations. Debug mode would take
    // such a get for one that expects the operation to be complete.
    world_.send_held();
    started.wait(site_of(call));
  } else {
    world_.keep(context, started);
  }
}

void fail_alignment(const char* call, const void* address, size_t bytes) {
  world(call).fail(std::string(call) + " of a variable at an address (" +
                   std::to_string(reinterpret_cast<uintptr_t>(address)) +
                   ") that is not a multiple of its size, " + std::to_string(bytes));
}

}  // namespace stripline::shmem
