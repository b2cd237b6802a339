// Atomic operations on symmetric variables. All are atomic with each other, whichever PE and type
// of the same size they are of: integers are added and compared by their bits, floating-point
// numbers are only fetched, set and swapped.
//
// Where the runtime carries them out by the owner's processor (AtomicPath::message), those on
// memory that loads and stores reach are instructions of this one. Then those without a result
// travel together, by contexts that coalesce.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <stripline/atomic.h>

#include "runtime/fabric/atomic_apply.h"
#include "shmem/world.h"

namespace stripline::shmem {

using stripline::detail::AtomicOp;
using stripline::detail::AtomicType;

/// How variables of each size are operated on.
class Atomics {
 public:
  explicit Atomics(World& world);

  /// Carries the operation out, or starts it: what was there before comes to `previous`, which may
  /// be null, at once, or when `awaited` is ready. Null: the context completes the operation.
  void start(const char* call, CommContext& context, const fabric::AtomicRequest& request,
             const Place& place, void* previous, future* awaited) {
    if (place.here != nullptr && by_processor(request.type)) [[likely]] {
      fabric::apply_atomic(request, place.here, previous);
    } else if (context.combines && previous == nullptr) {
      start_together(context, request, place, call);
    } else {
      start_away(call, context, request, place, previous, awaited);
    }
  }

  /// True if those without a result may travel together: all are carried out by their owners'
  /// processors, and no rule asks for a message for each.
  bool may_travel_together() const {
    return by_processor(AtomicType::uint32) && by_processor(AtomicType::uint64) &&
           !words_.alone() && !double_words_.alone();
  }

 private:
  bool by_processor(AtomicType type) const {
    return (type == AtomicType::uint32 ? words_ : double_words_).path() == AtomicPath::message;
  }
  void start_together(CommContext& context, const fabric::AtomicRequest& request,
                      const Place& place, const char* call);
  void start_away(const char* call, CommContext& context, const fabric::AtomicRequest& request,
                  const Place& place, void* previous, future* awaited);

  World& world_;
  stripline::detail::AtomicDomain words_;
  stripline::detail::AtomicDomain double_words_;
};

template <typename T>
fabric::AtomicRequest atomic_request(AtomicOp op, T value, T expected = T{}) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  fabric::AtomicRequest request{.op = op,
                                .type = sizeof(T) == 4 ? AtomicType::uint32 : AtomicType::uint64};
  std::memcpy(&request.operand, &value, sizeof(T));
  std::memcpy(&request.expected, &expected, sizeof(T));
  return request;
}

/// Ends the program for a variable that is not aligned to its size.
[[noreturn]] void fail_alignment(const char* call, const void* address, size_t bytes);

template <typename T>
Place atomic_place(World& here, const char* call, CommContext& context, const T* variable, int pe,
                   bool reads) {
  if (reinterpret_cast<uintptr_t>(variable) % sizeof(T) != 0) [[unlikely]]
    fail_alignment(call, variable, sizeof(T));
  return here.place(call, context, variable, sizeof(T), pe, reads);
}

template <typename T>
T atomic_fetching(const char* call, shmem_ctx_t ctx, const fabric::AtomicRequest& request,
                  const T* variable, int pe) {
  World& here = world(call);
  CommContext& context = here.context_of(call, ctx);
  T previous;
  future started;
  here.atomics().start(call, context, request,
                       atomic_place(here, call, context, variable, pe, true), &previous, &started);
  here.await(call, started);
  here.learn();
  return previous;
}

template <typename T>
void atomic_starting(const char* call, shmem_ctx_t ctx, const fabric::AtomicRequest& request,
                     const T* variable, T* previous, int pe) {
  World& here = world(call);
  CommContext& context = here.context_of(call, ctx);
  here.atomics().start(call, context, request,
                       atomic_place(here, call, context, variable, pe, previous != nullptr),
                       previous, nullptr);
}

template <typename T>
T atomic_fetch(const char* call, shmem_ctx_t ctx, const T* source, int pe) {
  return atomic_fetching(call, ctx, atomic_request(AtomicOp::load, T{}), source, pe);
}
template <typename T>
void atomic_set(const char* call, shmem_ctx_t ctx, T* dest, std::type_identity_t<T> value, int pe) {
  atomic_starting<T>(call, ctx, atomic_request(AtomicOp::store, value), dest, nullptr, pe);
}
template <typename T>
T atomic_fetch_op(const char* call, shmem_ctx_t ctx, AtomicOp op, T* dest,
                  std::type_identity_t<T> value, int pe) {
  return atomic_fetching<T>(call, ctx, atomic_request(op, value), dest, pe);
}
template <typename T>
void atomic_op(const char* call, shmem_ctx_t ctx, AtomicOp op, T* dest,
               std::type_identity_t<T> value, int pe) {
  atomic_starting<T>(call, ctx, atomic_request(op, value), dest, nullptr, pe);
}
template <typename T>
T atomic_compare_swap(const char* call, shmem_ctx_t ctx, T* dest, std::type_identity_t<T> expected,
                      std::type_identity_t<T> value, int pe) {
  return atomic_fetching<T>(call, ctx, atomic_request<T>(AtomicOp::compare_swap, value, expected),
                            dest, pe);
}

template <typename T>
void atomic_fetch_nbi(const char* call, shmem_ctx_t ctx, T* fetch, const T* source, int pe) {
  atomic_starting(call, ctx, atomic_request(AtomicOp::load, T{}), source, fetch, pe);
}
template <typename T>
void atomic_fetch_op_nbi(const char* call, shmem_ctx_t ctx, AtomicOp op, T* fetch, T* dest,
                         std::type_identity_t<T> value, int pe) {
  atomic_starting<T>(call, ctx, atomic_request(op, value), dest, fetch, pe);
}
template <typename T>
void atomic_compare_swap_nbi(const char* call, shmem_ctx_t ctx, T* fetch, T* dest,
                             std::type_identity_t<T> expected, std::type_identity_t<T> value,
                             int pe) {
  atomic_starting<T>(call, ctx, atomic_request<T>(AtomicOp::compare_swap, value, expected), dest,
                     fetch, pe);
}

}  // namespace stripline::shmem
