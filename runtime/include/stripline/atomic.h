// Atomic operations on global memory, in domains as in UPC++: all operations on a variable go
// through one domain, which picks one method to carry them out, so that they are atomic with each
// other.
//
//   stripline::atomic_domain<int64_t> counters(ctx);          // collective
//   int64_t ticket = counters.fetch_add(next, 1);             // blocking
//   counters.add(histogram + bin, 1);                         // a future; may be dropped
//   counters.fetch_add_async(next, 1).then([](int64_t ticket) { ... });   // <stripline/future.h>
//
// Operations on variables that are Context::is_local() complete at once and make no progress: a
// loop that waits for another rank's doing calls Context::progress().
//
// Each call has a last argument that need not be given: where it stands, for messages and --trace.
//
// Not atomic with puts, gets, loads and stores of the same variable: separate those by a barrier.
// Operations of one rank on one variable take effect in any order unless it waits between them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <stripline/atomic_operation.h>
#include <stripline/context.h>
#include <stripline/future.h>

#include "optimizer/model/atomic_path.h"

namespace stripline {

namespace fabric {
struct AtomicRequest;
}

/// How a domain's operations are carried out.
using AtomicPath = model::AtomicPath;

namespace detail {
template <typename T>
constexpr AtomicType atomic_type() {
  if constexpr (std::is_same_v<T, double>) return AtomicType::float64;
  if constexpr (sizeof(T) == 4) {
    return std::is_signed_v<T> ? AtomicType::int32 : AtomicType::uint32;
  } else {
    return std::is_signed_v<T> ? AtomicType::int64 : AtomicType::uint64;
  }
}

/// The bits of a value, in the low bytes.
template <typename T>
uint64_t atomic_bits(T value) {
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(T));
  return word;
}

/// What domains of all types share. Copyable; the context must outlive it.
class AtomicDomain {
 public:
  /// `together`: the program lets operations without a result wait for each other. An automatic
  /// path is then the message's where they may (start_together()).
  AtomicDomain(Context& context, AtomicType type, AtomicPath path, bool together = false);
  static bool provider_has_all(Context& context, AtomicType type);
  AtomicPath path() const { return path_; }
  /// True if a rule asks for a message for each operation: start_together() is not for them.
  bool alone() const { return alone_; }
  AtomicType type() const { return type_; }
  Context& context() const { return *context_; }
  future start(AtomicOp op, global_ptr<std::byte> variable, uint64_t operand, uint64_t expected,
               void* previous, CallSite site) const;
  /// One whose result no one wants, by message: it travels with others, and with small puts without
  /// handles, and is complete as those are.
  void start_together(AtomicOp op, global_ptr<std::byte> variable, uint64_t operand,
                      CallSite site) const;

 private:
  future start(const fabric::AtomicRequest& request, global_ptr<std::byte> variable, void* previous,
               CallSite site) const;

  Context* context_;
  AtomicType type_;
  AtomicPath path_;
  bool alone_ = false;
};
}  // namespace detail

/// T: a 32- or 64-bit integer, or double. Operations that return a future are complete when it is
/// ready: the variable has changed, and `previous`, where there is one, holds what it held before;
/// `previous` must stay until then. Variables are aligned to their size. A misaligned pointer, one
/// outside of the segment, or one to a rank that does not exist ends the job.
template <typename T>
class atomic_domain {
  static_assert((std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) ||
                    std::is_same_v<T, double>,
                "atomic operations exist for 32- and 64-bit integers and for double");
  static constexpr bool kInteger = std::is_integral_v<T>;

 public:
  /// Collective in that every rank must ask for the same path; does not communicate. Ends the job
  /// if `path` is provider and the provider lacks an operation on T.
  explicit atomic_domain(Context& context, AtomicPath path = AtomicPath::automatic)
      : domain_(context, detail::atomic_type<T>(), path) {}

  /// True if `path` may be provider.
  static bool provider_has_all(Context& context) {
    return detail::AtomicDomain::provider_has_all(context, detail::atomic_type<T>());
  }

  /// provider or message.
  AtomicPath path() const { return domain_.path(); }

  /// For the runtime's own mechanisms; not part of the public API.
  const detail::AtomicDomain& shared() const { return domain_; }

  // --- nonblocking ----------------------------------------------------------------------------

  /// Reads the variable.
  future load(global_ptr<const T> variable, T* value, CallSite site = CallSite::current()) const {
    return start(site, Op::load, variable, T{}, value);
  }
  /// Writes the variable.
  future store(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const {
    return start(site, Op::store, variable, value);
  }
  /// Writes the variable; `previous` becomes what it held before.
  future swap(global_ptr<T> variable, T value, T* previous,
              CallSite site = CallSite::current()) const {
    return start(site, Op::store, variable, value, previous);
  }
  /// Stores `value` if the variable holds `expected`; whether it did, `previous` tells.
  future compare_swap(global_ptr<T> variable, T expected, T value, T* previous,
                      CallSite site = CallSite::current()) const requires(kInteger) {
    return start(site, Op::compare_swap, variable, value, previous, expected);
  }
  /// Adds `value`.
  future add(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const {
    return start(site, Op::add, variable, value);
  }
  /// Keeps the smaller of the variable and `value`.
  future min(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const {
    return start(site, Op::min, variable, value);
  }
  /// Keeps the larger of the variable and `value`.
  future max(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const {
    return start(site, Op::max, variable, value);
  }
  /// Bitwise and with `value`.
  future bit_and(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const
      requires(kInteger) {
    return start(site, Op::bit_and, variable, value);
  }
  /// Bitwise or with `value`.
  future bit_or(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const
      requires(kInteger) {
    return start(site, Op::bit_or, variable, value);
  }
  /// Bitwise exclusive or with `value`.
  future bit_xor(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const
      requires(kInteger) {
    return start(site, Op::bit_xor, variable, value);
  }
  /// Adds `value`, and gets what was there before.
  future fetch_add(global_ptr<T> variable, T value, T* previous,
                   CallSite site = CallSite::current()) const {
    return start(site, Op::add, variable, value, previous);
  }
  /// Keeps the smaller one, and gets what was there before.
  future fetch_min(global_ptr<T> variable, T value, T* previous,
                   CallSite site = CallSite::current()) const {
    return start(site, Op::min, variable, value, previous);
  }
  /// Keeps the larger one, and gets what was there before.
  future fetch_max(global_ptr<T> variable, T value, T* previous,
                   CallSite site = CallSite::current()) const {
    return start(site, Op::max, variable, value, previous);
  }
  /// Bitwise and, and gets what was there before.
  future fetch_and(global_ptr<T> variable, T value, T* previous,
                   CallSite site = CallSite::current()) const requires(kInteger) {
    return start(site, Op::bit_and, variable, value, previous);
  }
  /// Bitwise or, and gets what was there before.
  future fetch_or(global_ptr<T> variable, T value, T* previous,
                  CallSite site = CallSite::current()) const requires(kInteger) {
    return start(site, Op::bit_or, variable, value, previous);
  }
  /// Bitwise exclusive or, and gets what was there before.
  future fetch_xor(global_ptr<T> variable, T value, T* previous,
                   CallSite site = CallSite::current()) const requires(kInteger) {
    return start(site, Op::bit_xor, variable, value, previous);
  }

  // --- nonblocking, with a value: what the variable held before ---------------------------------

  /// Reads the variable, as the value of the future.
  future_of<T> load_async(global_ptr<const T> variable, CallSite site = CallSite::current()) const {
    return fetch(site, Op::load, variable, T{});
  }
  /// Writes the variable, and gets what it held before, as the value of the
  /// future.
  future_of<T> swap_async(global_ptr<T> variable, T value,
                          CallSite site = CallSite::current()) const {
    return fetch(site, Op::store, variable, value);
  }
  /// Stores `value` if the variable holds `expected`; returns what it held, as the value of the
  /// future.
  future_of<T> compare_swap_async(global_ptr<T> variable, T expected, T value,
                                  CallSite site = CallSite::current()) const requires(kInteger) {
    return fetch(site, Op::compare_swap, variable, value, expected);
  }
  /// Adds `value`, and gets what was there before, as the value of the future.
  future_of<T> fetch_add_async(global_ptr<T> variable, T value,
                               CallSite site = CallSite::current()) const {
    return fetch(site, Op::add, variable, value);
  }

  // --- blocking: return what the variable held before -------------------------------------------

  /// Reads the variable.
  T load(global_ptr<const T> variable, CallSite site = CallSite::current()) const {
    T value;
    load(variable, &value, site).wait(site);
    return value;
  }
  /// Writes the variable; returns what it held before.
  T swap(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const {
    T previous;
    swap(variable, value, &previous, site).wait(site);
    return previous;
  }
  /// Stores `value` if the variable holds `expected`; returns what it held.
  T compare_swap(global_ptr<T> variable, T expected, T value,
                 CallSite site = CallSite::current()) const requires(kInteger) {
    T previous;
    compare_swap(variable, expected, value, &previous, site).wait(site);
    return previous;
  }
  /// Adds `value`; returns what was there before.
  T fetch_add(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const {
    T previous;
    fetch_add(variable, value, &previous, site).wait(site);
    return previous;
  }
  /// Keeps the smaller one; returns what was there before.
  T fetch_min(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const {
    T previous;
    fetch_min(variable, value, &previous, site).wait(site);
    return previous;
  }
  /// Keeps the larger one; returns what was there before.
  T fetch_max(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const {
    T previous;
    fetch_max(variable, value, &previous, site).wait(site);
    return previous;
  }
  /// Bitwise and; returns what was there before.
  T fetch_and(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const
      requires(kInteger) {
    T previous;
    fetch_and(variable, value, &previous, site).wait(site);
    return previous;
  }
  /// Bitwise or; returns what was there before.
  T fetch_or(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const
      requires(kInteger) {
    T previous;
    fetch_or(variable, value, &previous, site).wait(site);
    return previous;
  }
  /// Bitwise exclusive or; returns what was there before.
  T fetch_xor(global_ptr<T> variable, T value, CallSite site = CallSite::current()) const
      requires(kInteger) {
    T previous;
    fetch_xor(variable, value, &previous, site).wait(site);
    return previous;
  }

 private:
  using Op = detail::AtomicOp;

  template <typename Pointed>
  future start(CallSite site, Op op, global_ptr<Pointed> variable, T operand, T* previous = nullptr,
               T expected = T{}) const {
    return domain_.start(op, global_ptr<std::byte>::from_word(variable.word()),
                         detail::atomic_bits(operand), detail::atomic_bits(expected), previous,
                         site);
  }

  template <typename Pointed>
  future_of<T> fetch(CallSite site, Op op, global_ptr<Pointed> variable, T operand,
                     T expected = T{}) const {
    if (path() == AtomicPath::message && domain_.context().is_local(variable)) {
      T previous;
      start(site, op, variable, operand, &previous, expected).wait(site);
      return future_of<T>(previous);
    }
    auto state = detail::FutureState::make_for_operation<detail::ValueState<T>>(domain_.context());
    state->settle_by(start(site, op, variable, operand, &state->value.emplace(), expected));
    return detail::FutureAccess::make(std::move(state));
  }

  detail::AtomicDomain domain_;
};

}  // namespace stripline
