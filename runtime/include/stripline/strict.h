// Strict accesses to global memory: with them alone a program is sequentially consistent, like with
// UPC's strict variables. docs/memory-model.md says what the other accesses guarantee.
//
//   ctx.rput_nbi(data, where, n);                    // relaxed
//   strict_write(ctx, uint64_t{1}, flag);            // after the data
//
//   while (strict_read(ctx, flag) == 0) {}           // makes progress
//   ctx.rget(where, buffer, n).wait();               // the data
//
// For single variables that ranks communicate through. A variable is not accessed by strict
// accesses and by an atomic_domain without a barrier in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include <stripline/context.h>

namespace stripline {

namespace detail {
/// What comes before a strict access of `bytes`: strict_fence(), and the check that the
/// variable is aligned to its size.
void before_strict(Context& context, rank_t target, uint64_t offset, size_t bytes, CallSite site);
}  // namespace detail

/// Completes this rank's earlier reads, writes and atomic operations, those whose futures are still
/// in use among them, and keeps the compiler and the CPU from moving own accesses across it. Makes
/// progress once. Not for handlers of active messages. A barrier_async() in flight is not waited
/// for: it says nothing about what comes after it.
void strict_fence(Context& context);

/// Reads a variable of 1, 2, 4 or 8 bytes after everything that this rank did before. Later
/// accesses of this rank come after it.
template <typename T>
std::remove_const_t<T> strict_read(Context& context, global_ptr<T> variable,
                                   CallSite site = CallSite::current()) {
  using Value = std::remove_const_t<T>;
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  detail::before_strict(context, variable.where(), variable.offset(), sizeof(T), site);
  if (!context.is_local(variable)) return context.rget(variable, site);
  return std::atomic_ref<Value>(const_cast<Value&>(*context.local(variable))).load();
}

/// Writes it after everything that this rank did before; visible to all when it returns.
template <typename T>
void strict_write(Context& context, const std::type_identity_t<T>& value, global_ptr<T> variable,
                  CallSite site = CallSite::current()) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  detail::before_strict(context, variable.where(), variable.offset(), sizeof(T), site);
  if (context.is_local(variable)) {
    std::atomic_ref<T>(*context.local(variable)).store(value);
  } else {
    context.rput(value, variable, site);
  }
}

}  // namespace stripline
