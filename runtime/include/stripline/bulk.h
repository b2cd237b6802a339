// Blocking copies between private and shared memory, and a scope in which they do not wait (Chen,
// Optimizing PGAS Programs for Cluster Architectures, 2007, chapter 7).
//
//   {
//     stripline::bulk_region region(ctx);
//     stripline::memput(ctx, there, row, n);      // returns at once
//     for (size_t i = 0; i < n; ++i) row[i] = 0;  // its source may change
//     ctx.barrier();                              // it is complete
//     stripline::memget(ctx, row, there, n);      // made ahead, from the second time on
//   }
//
// Outside of a region a call returns when it is complete. Inside of one (or in a whole run, with
// `stripline run --bulk`) it is in effect at once for the program itself, but the network may not
// have finished:
//
//   * a put is complete at the next synchronisation, which is everything that communicates but
//     memput(), memget(), memcpy(), gets, progress() and stores into memory in reach; an operation
//     that reads what a put stores waits for that put alone;
//   * a get whose like was made after the same barrier the last time may have been made when that
//     barrier ended, and returns what the memory held then, unless this rank has stored there
//     since, or has made an acquire (docs/memory-model.md).
//
// So a program may not signal by a put that is not waited for that another one has come, nor learn
// by a get or an atomic operation that what another get returns has changed; nor may a handler, or
// a thread by an injection_context, tell of a put before a fence. docs/bulk.md says more, and when
// a region pays. In debug mode (Options::debug) every call waits. Memory that loads
// and stores reach is copied at once, in a region or not.
#pragma once

#include <cstddef>
#include <type_traits>

#include <stripline/context.h>

namespace stripline {

/// How calls inside of a bulk_region may be carried out.
struct BulkOptions {
  /// The program promises that the source of a put does not change before the next synchronisation.
  /// Puts are not copied then, and large ones are not waited for either.
  bool stable_sources = false;
  /// Memory for copies, of this rank: half of it of what is put, half of what is fetched ahead.
  /// Taken when it is needed, and kept. Puts of more than half of it are waited for.
  size_t buffer_bytes = size_t{8} << 20;
  bool use_model = true;  ///< false: as if there were no model
  /// True if what is not waited for is now and then compared with waiting for each call, and given
  /// up where that is faster (Options::guard). False for measurements of methods.
  bool self_check = true;
};

/// While it lives, blocking copies of this rank do not wait, but where waiting is found to be
/// faster (docs/bulk.md). Not collective; regions may be nested, and the options of the innermost
/// one count. Its end completes all puts. The Context outlives it. Not thread-safe, as the Context.
class bulk_region {
 public:
  /// Begins it.
  explicit bulk_region(Context& context, const BulkOptions& options = {},
                       CallSite site = CallSite::current());
  ~bulk_region();
  bulk_region(const bulk_region&) = delete;
  bulk_region& operator=(const bulk_region&) = delete;

  /// A burst of calls, until it ends: see aggregate().
  class burst {
   public:
    ~burst();
    burst(const burst&) = delete;
    burst& operator=(const burst&) = delete;

   private:
    friend class bulk_region;
    explicit burst(Context& context, CallSite site);
    Context& context_;
  };
  /// While what it returns lives, calls are collected, and made at its end by one transfer of many
  /// regions for each rank (<stripline/vis.h>). What is fetched is there at the end; neither that
  /// nor what is put may be used in between, but by other calls of the burst. A call that depends
  /// on an earlier one of the burst, and everything else that communicates, ends it before; later
  /// calls are carried out as without it.
  [[nodiscard]] burst aggregate(CallSite site = CallSite::current()) {
    return burst(context_, site);
  }

 private:
  Context& context_;
};

namespace detail {
void bulk_put(Context& context, const std::byte* source, global_ptr<std::byte> destination,
              size_t bytes, CallSite site);
void bulk_get(Context& context, std::byte* destination, global_ptr<const std::byte> source,
              size_t bytes, CallSite site);
void bulk_copy(Context& context, global_ptr<std::byte> destination,
               global_ptr<const std::byte> source, size_t bytes, CallSite site);
}  // namespace detail

/// Stores `count` elements from `source` into shared memory. `source` may change when it returns.
template <typename T>
void memput(Context& context, global_ptr<T> destination, const T* source, size_t count,
            CallSite site = CallSite::current()) {
  detail::bulk_put(context, reinterpret_cast<const std::byte*>(source),
                   global_ptr<std::byte>::from_word(destination.word()),
                   detail::byte_count<T>(count), site);
}

/// Fetches `count` elements into `destination`, where they are when it returns.
template <typename T>
void memget(Context& context, std::remove_const_t<T>* destination, global_ptr<T> source,
            size_t count, CallSite site = CallSite::current()) {
  detail::bulk_get(context, reinterpret_cast<std::byte*>(destination),
                   global_ptr<const std::byte>::from_word(source.word()),
                   detail::byte_count<T>(count), site);
}

/// Copies `count` elements from shared memory to shared memory, of whatever ranks: a put where
/// loads and stores reach the source, a get where they reach the destination, else one after the
/// other. Source and destination do not overlap unless they are of this rank.
template <typename T>
void memcpy(Context& context, global_ptr<std::remove_const_t<T>> destination, global_ptr<T> source,
            size_t count, CallSite site = CallSite::current()) {
  detail::bulk_copy(context, global_ptr<std::byte>::from_word(destination.word()),
                    global_ptr<const std::byte>::from_word(source.word()),
                    detail::byte_count<T>(count), site);
}

}  // namespace stripline
