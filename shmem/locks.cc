// Queue-based (Mellor-Crummey and Scott 1991, section 2.4), in one long of each PE: a PE that comes
// swaps itself into the tail, tells who was there before, and waits for its own word to change; who
// leaves changes the word of the next. A PE that waits causes no traffic.
//
// The upper half of the long of one PE, the lock's home, is the tail: the PE that came last, plus
// one; zero: the lock is free. The lower half of each PE's own long says who comes next, plus one,
// and, by a bit, that the lock has been handed to this PE. Both halves are zero where neither is
// in use, as they were at first. Threads of a PE take turns before that, as they are one in the
// queue.
#include "shmem/locks.h"

#include "shmem/atomics.h"
#include "shmem/order.h"
#include "shmem/wait.h"

namespace stripline::shmem {
namespace {

static_assert(sizeof(long) == 8);

constexpr uint32_t kGranted = uint32_t{1} << 31;

struct Lock {
  const char* call;
  uint32_t* own;   // lower half
  uint32_t* tail;  // upper half
  int home;
  int me;

  uint32_t name() const { return static_cast<uint32_t>(me) + 1; }
  uint32_t swap_tail() const {
    return atomic_fetch_op(call, SHMEM_CTX_DEFAULT, AtomicOp::store, tail, name(), home);
  }
  // Returns true if the tail was `from`, which it replaces by `to` then.
  bool replace_tail(uint32_t from, uint32_t to) const {
    return atomic_compare_swap(call, SHMEM_CTX_DEFAULT, tail, from, to, home) == from;
  }
  // Into the word of another PE, or this one.
  void add_bits(uint32_t bits, int pe) const {
    atomic_fetch_op(call, SHMEM_CTX_DEFAULT, AtomicOp::bit_or, own, bits, pe);
  }
  // Out of this PE's word; others may add their bits meanwhile.
  void take_bits(uint32_t bits) const {
    atomic_fetch_op(call, SHMEM_CTX_DEFAULT, AtomicOp::bit_and, own, ~bits, me);
  }
};

// Locks have their homes on all PEs in turn.
Lock lock_of(const char* call, long* lock) {
  World& here = world(call);
  const auto me = static_cast<int>(here.me());
  const Place place = atomic_place(here, call, here.default_context(), lock, me, true);
  auto* const halves = reinterpret_cast<uint32_t*>(lock);
  return {.call = call,
          .own = halves,
          .tail = halves + 1,
          .home = static_cast<int>(place.offset / Heap::kAlignment % here.pes()),
          .me = me};
}

}  // namespace

void set_lock(const char* call, long* variable) {
  const Lock lock = lock_of(call, variable);
  if (world(call).multiple()) {
    world(call).wait(call, [variable] { return world("").take_for_thread(variable); });
  }
  const uint32_t before = lock.swap_tail();
  if (before == 0) return;
  lock.add_bits(lock.name(), static_cast<int>(before - 1));
  const uint32_t* const own = lock.own;
  if ((value_now(own) & kGranted) == 0) {
    world(call).wait(call, [own] { return (value_now(own) & kGranted) != 0; });
  }
}

void clear_lock(const char* call, long* variable) {
  const Lock lock = lock_of(call, variable);
  World& here = world(call);
  here.complete(here.default_context());  // who comes next sees what this PE has done
  const uint32_t* const own = lock.own;
  if ((value_now(own) & ~kGranted) == 0) {
    if (value_now(own) != 0) lock.take_bits(kGranted);
    if (lock.replace_tail(lock.name(), 0)) return here.give_back_of_thread(variable);
    // Somebody has come meanwhile, and is about to say so.
    here.wait(call, [own] { return (value_now(own) & ~kGranted) != 0; });
  }
  const uint32_t next = value_now(own) & ~kGranted;
  lock.take_bits(next | kGranted);
  lock.add_bits(kGranted, static_cast<int>(next - 1));
  here.give_back_of_thread(variable);
}

int test_lock(const char* call, long* variable) {
  const Lock lock = lock_of(call, variable);
  World& here = world(call);
  if (!here.multiple() || here.take_for_thread(variable)) {
    if (lock.replace_tail(0, lock.name())) return 0;
    here.give_back_of_thread(variable);
  }
  here.progress();
  return 1;
}

}  // namespace stripline::shmem
