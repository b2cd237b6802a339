// Threads that inject: each gets, puts and makes atomic operations by an injection_context of its
// own, while the others do so by theirs and one uses the Context.
//
//   // For threads of a program that joined by Context::init(thread_mode::injecting).
//   inline stripline::Status deliver(stripline::Context& ctx, const std::vector<double>& values,
//                                    stripline::global_ptr<double> there) {
//     auto opened = stripline::injection_context::open(ctx);
//     if (!opened.ok()) return opened.error();
//     opened->rput(values.data(), there, values.size());
//     opened->fence();                                 // now they are visible there
//     return {};
//   }
//
// An injection_context has an endpoint of its own where the network offers that (docs/fabrics.md):
// then its calls take no lock, and wait for no call of another thread. What loads and stores reach,
// and the kernel copies, needs none. Elsewhere (has_own_queue() is false), and for atomic
// operations of a domain whose path is message on ranks that are not Context::is_local(), or of a
// domain whose path is provider on this rank's own variables, calls wait until no other thread is
// inside of the Context. A thread that waits inside of the Context for what such a call is to do
// waits forever.
//
// Nothing but fence() of the same context completes its operations: no fence, barrier or future of
// the Context does, and no other injection_context's. Operations of two contexts are in no order,
// and in none with those of the Context that are not complete, puts of a bulk_region and writes of
// a fine_region among them: a fence of the Context completes these.
// Copies of other ranks' memory that this rank keeps (caches of loops, gathers, bulk regions) are
// not updated: they see what was put as they see what other ranks put, at the next acquire of the
// Context after fence() (docs/memory-model.md).
//
// While a thread waits in a call, it serves the rank's peers if no other thread is inside of the
// Context. Handlers may run on it then, as on a progress thread (<stripline/progress.h>).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include <stripline/atomic.h>
#include <stripline/context.h>

namespace stripline {

namespace detail {
class Injection;
}

/// The operations of one thread at a time; the program sees to it that there is one. Move-only; a
/// call of one that has been moved from ends the process with a message. Calls in handlers end the
/// job, and so does fence() in what follows a future. Not for conditions of waits.
class injection_context {
  // Only the domain says which type an operation is of.
  template <typename T>
  using Value = std::type_identity_t<T>;
  template <typename T>
  using Variable = global_ptr<std::type_identity_t<T>>;

 public:
  /// Not collective; on any thread. The Context must outlive it. Where there is no endpoint for it
  /// it is opened all the same: why_shared(). Errors: failed_precondition unless the rank has
  /// joined with thread_mode::injecting; unimplemented on the virtual clock, where a rank is one
  /// thread.
  static Result<injection_context> open(Context& context, CallSite site = CallSite::current());
  /// Completes what it has started, as fence().
  ~injection_context();
  injection_context(injection_context&& other) noexcept;             ///< the other one is gone
  injection_context& operator=(injection_context&& other) noexcept;  ///< completes its own first

  /// True if its operations go by a queue of its own.
  bool has_own_queue() const;
  /// Why they do not: no such queues on this fabric, no more of them, debug mode. Empty if they do.
  const std::string& why_shared() const;

  // Each call is of a place of the program, for messages to name; it need not be given. Mistakes
  // end the job, as those of Context's calls do.

  /// Starts fetching `count` elements; `destination` may be any memory, and has them after fence().
  template <typename T>
  void rget(global_ptr<T> source, std::remove_const_t<T>* destination, size_t count,
            CallSite site = CallSite::current()) {
    get_bytes(bytes_at(source), reinterpret_cast<std::byte*>(destination),
              detail::byte_count<T>(count), site);
  }
  /// Starts storing; visible at the target after fence(). `source` stays unchanged until then.
  template <typename T>
  void rput(const T* source, global_ptr<T> destination, size_t count,
            CallSite site = CallSite::current()) {
    put_bytes(reinterpret_cast<const std::byte*>(source), bytes_at(destination),
              detail::byte_count<T>(count), site);
  }

  // Atomic operations, atomic with all others of the same domain, on whichever thread and rank.
  // Each takes effect before fence() returns, and what the variable held before is in `previous`
  // then.

  /// Reads the variable into `value`. Ends the job if that is null.
  template <typename T>
  void load(const atomic_domain<T>& domain, Variable<const T> variable, Value<T>* value,
            CallSite site = CallSite::current()) {
    start(domain, Op::load, variable, T{}, value, site);
  }
  /// Writes the variable.
  template <typename T>
  void store(const atomic_domain<T>& domain, Variable<T> variable, Value<T> value,
             CallSite site = CallSite::current()) {
    start(domain, Op::store, variable, value, nullptr, site);
  }
  /// Writes the variable, and gets what it held before.
  template <typename T>
  void swap(const atomic_domain<T>& domain, Variable<T> variable, Value<T> value,
            Value<T>* previous, CallSite site = CallSite::current()) {
    start(domain, Op::store, variable, value, previous, site);
  }
  /// Stores `value` if the variable holds `expected`; `previous` tells if it did. Ends the job if
  /// that is null.
  template <std::integral T>
  void compare_swap(const atomic_domain<T>& domain, Variable<T> variable, Value<T> expected,
                    Value<T> value, Value<T>* previous, CallSite site = CallSite::current()) {
    start(domain, Op::compare_swap, variable, value, previous, site, expected);
  }
  /// Adds `value`.
  template <typename T>
  void add(const atomic_domain<T>& domain, Variable<T> variable, Value<T> value,
           CallSite site = CallSite::current()) {
    start(domain, Op::add, variable, value, nullptr, site);
  }
  /// Adds `value`, and gets what was there before.
  template <typename T>
  void fetch_add(const atomic_domain<T>& domain, Variable<T> variable, Value<T> value,
                 Value<T>* previous, CallSite site = CallSite::current()) {
    start(domain, Op::add, variable, value, previous, site);
  }
  /// Keeps the smaller of the variable and `value`.
  template <typename T>
  void min(const atomic_domain<T>& domain, Variable<T> variable, Value<T> value,
           CallSite site = CallSite::current()) {
    start(domain, Op::min, variable, value, nullptr, site);
  }
  /// Keeps the larger of the variable and `value`.
  template <typename T>
  void max(const atomic_domain<T>& domain, Variable<T> variable, Value<T> value,
           CallSite site = CallSite::current()) {
    start(domain, Op::max, variable, value, nullptr, site);
  }
  /// Bitwise exclusive or with `value`.
  template <std::integral T>
  void bit_xor(const atomic_domain<T>& domain, Variable<T> variable, Value<T> value,
               CallSite site = CallSite::current()) {
    start(domain, Op::bit_xor, variable, value, nullptr, site);
  }

  /// Returns when all that this context has started is complete: what was fetched is here, what was
  /// stored is visible at its target, and what was counted is counted.
  void fence(CallSite site = CallSite::current());

 private:
  using Op = detail::AtomicOp;

  explicit injection_context(std::unique_ptr<detail::Injection> injection);

  template <typename T>
  static global_ptr<std::byte> bytes_at(global_ptr<T> place) {
    return global_ptr<std::byte>::from_word(place.word());
  }
  template <typename T, typename Pointed>
  void start(const atomic_domain<T>& domain, Op op, global_ptr<Pointed> variable, Value<T> operand,
             Value<T>* previous, CallSite site, Value<T> expected = T{}) {
    start_atomic(domain.shared(), op, bytes_at(variable), detail::atomic_bits(operand),
                 detail::atomic_bits(expected), previous, site);
  }
  void get_bytes(global_ptr<const std::byte> source, std::byte* destination, size_t bytes,
                 CallSite site);
  void put_bytes(const std::byte* source, global_ptr<std::byte> destination, size_t bytes,
                 CallSite site);
  void start_atomic(const detail::AtomicDomain& domain, Op op, global_ptr<std::byte> variable,
                    uint64_t operand, uint64_t expected, void* previous, CallSite site);

  std::unique_ptr<detail::Injection> injection_;
};

}  // namespace stripline
