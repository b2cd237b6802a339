// Transfers of many regions by one call (VIS: vector, indexed, strided), between this rank's memory
// and another rank's segment. Names and order of parameters as in UPC++ (specification, "Non-
// contiguous one-sided communication"), after the Context.
//
//   // A column of 8 elements out of a row-major matrix of 100 columns at a peer:
//   rget_strided<1>(ctx, column, {100 * sizeof(double)}, buffer, {sizeof(double)}, {8}).wait();
//
// Each call starts one transfer and returns a future, which is ready when all data are in place.
// The lists, strides and extents may be changed when the call returns; the memory of the data stays
// until the future is ready, and is not written meanwhile (put) or read (get). What a put reads is
// free earlier, when wait_source() returns. Puts are visible after barrier(), as all puts. A future
// that is dropped completes all the same.
//
// Puts whose names end in _signal raise a flag, as Context::rput_signal does: when all data of the
// put are visible, the aligned 8-byte word `flag` of the same rank gets `value`. Who sees the flag
// sees the data; its owner waits with wait_signal(). The future is ready when data and flag are
// visible. A transfer of nothing raises its flag, too. That is faster than waiting for the put and
// raising the flag then: what is packed takes it along.
//
// Regions of the destination that overlap each other get the bytes of any of the regions written
// there; source and destination must not overlap (only possible within one rank).
//
// What is out of bounds ends the job with a message, before anything is sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include <stripline/call_site.h>
#include <stripline/context.h>

#include "optimizer/plan/methods.h"

namespace stripline {

/// What this rank does between the call and waiting for the future.
using VisCompute = plan::ComputeClass;

/// How a transfer is carried out.
using VisMethod = plan::VisMethod;

/// What a transfer of many regions may rely on.
struct VisOptions {
  VisCompute compute = VisCompute::communication_only;  ///< what the program does meanwhile
  /// Gets: the bytes between the regions may be read, too; no rank writes them meanwhile
  /// where a read would interfere with that.
  bool bounding_box = false;
  /// For measurements. A method that cannot carry out the transfer (native_iov where the network
  /// has none, bounding_box for a put or if it is not allowed) is replaced by `best`.
  VisMethod method = VisMethod::best;
  uint32_t window = 0;     ///< operations or messages in flight, with a method; 0: the planner's
  size_t chunk_bytes = 0;  ///< of a packed message, likewise
  bool use_model = true;   ///< false: as if there were no model
  /// True if what the model says is now and then compared with doing without it, and given up where
  /// that is faster (Options::guard). False for measurements of plans.
  bool self_check = true;
};

namespace detail {

/// A strided transfer; strides in bytes, extents in elements, one of each per dimension.
struct VisStrided {
  std::byte* local = nullptr;
  std::span<const std::ptrdiff_t> local_strides;
  rank_t target = 0;
  uint64_t offset = 0;
  std::span<const std::ptrdiff_t> remote_strides;
  std::span<const size_t> extents;
  size_t element_bytes = 0;
};

/// The pieces of a transfer of lists.
struct VisPieces {
  struct Local {
    std::byte* memory = nullptr;
    size_t bytes = 0;
  };
  struct Remote {
    rank_t target = 0;
    uint64_t offset = 0;
    size_t bytes = 0;
  };
  std::vector<Local> local;
  std::vector<Remote> remote;

  template <typename T>
  void add(T* memory, size_t count) {
    // Puts only read it.
    local.push_back(
        {const_cast<std::byte*>(reinterpret_cast<const std::byte*>(memory)), byte_count<T>(count)});
  }
  template <typename T>
  void add(global_ptr<T> place, size_t count) {
    remote.push_back({place.where(), place.offset(), byte_count<T>(count)});
  }
};

/// What a put raises when its data are visible.
struct VisSignal {
  const char* name = nullptr;  ///< of the flag, for messages
  global_ptr<uint64_t> flag;
  uint64_t value = 0;
};

using VisDirection = plan::Direction;
/// `name` is the call's, for messages; `call` its place. `signal`: of puts; null: none.
future start_strided(Context& context, const char* name, VisDirection direction,
                     const VisStrided& transfer, const VisOptions& options, CallSite call,
                     const VisSignal* signal = nullptr);
future start_list(Context& context, const char* name, VisDirection direction,
                  const VisPieces& pieces, const VisOptions& options, CallSite call,
                  const VisSignal* signal = nullptr);

template <typename T>
VisStrided strided(const T* local, std::span<const std::ptrdiff_t> local_strides,
                   global_ptr<T> remote, std::span<const std::ptrdiff_t> remote_strides,
                   std::span<const size_t> extents) {
  return {const_cast<std::byte*>(reinterpret_cast<const std::byte*>(local)),
          local_strides,
          remote.where(),
          remote.offset(),
          remote_strides,
          extents,
          sizeof(T)};
}

/// Runs are pairs of a pointer and a count.
template <typename Runs>
void add_runs(VisPieces& pieces, Runs begin, Runs end) {
  for (; begin != end; ++begin) pieces.add(std::get<0>(*begin), std::get<1>(*begin));
}
template <typename Pointers>
void add_pointers(VisPieces& pieces, Pointers begin, Pointers end, size_t run_length) {
  for (; begin != end; ++begin) pieces.add(*begin, run_length);
}

}  // namespace detail

// --- strided -------------------------------------------------------------------------------------
// For every combination of indices i[d] < extents[d], the element at (char*)base + sum over d of
// i[d] * strides[d] is moved. Strides are in bytes: positive, negative, or zero (an element that is
// sent to several places). Extents are in elements; one of zero moves nothing.

/// With run-time dimensions: the three spans have the same length.
template <typename T>
future rput_strided(Context& context, const T* source,
                    std::span<const std::ptrdiff_t> source_strides, global_ptr<T> destination,
                    std::span<const std::ptrdiff_t> destination_strides,
                    std::span<const size_t> extents, const VisOptions& options = {},
                    CallSite call = CallSite::current()) {
  return detail::start_strided(
      context, "rput_strided", detail::VisDirection::put,
      detail::strided(source, source_strides, destination, destination_strides, extents), options,
      call);
}
template <typename T>
future rget_strided(Context& context, global_ptr<T> source,
                    std::span<const std::ptrdiff_t> source_strides,
                    std::remove_const_t<T>* destination,
                    std::span<const std::ptrdiff_t> destination_strides,
                    std::span<const size_t> extents, const VisOptions& options = {},
                    CallSite call = CallSite::current()) {
  return detail::start_strided(
      context, "rget_strided", detail::VisDirection::get,
      detail::strided<T>(destination, destination_strides, source, source_strides, extents),
      options, call);
}

template <typename T>
future rput_strided_signal(Context& context, const T* source,
                           std::span<const std::ptrdiff_t> source_strides,
                           global_ptr<T> destination,
                           std::span<const std::ptrdiff_t> destination_strides,
                           std::span<const size_t> extents, global_ptr<uint64_t> flag,
                           uint64_t value, const VisOptions& options = {},
                           CallSite call = CallSite::current()) {
  const detail::VisSignal signal{"flag of rput_strided_signal", flag, value};
  return detail::start_strided(
      context, "rput_strided_signal", detail::VisDirection::put,
      detail::strided(source, source_strides, destination, destination_strides, extents), options,
      call, &signal);
}

/// With `Dim` dimensions.
template <size_t Dim, typename T>
future rput_strided(Context& context, const T* source, const std::ptrdiff_t* source_strides,
                    global_ptr<T> destination, const std::ptrdiff_t* destination_strides,
                    const size_t* extents, const VisOptions& options = {},
                    CallSite call = CallSite::current()) {
  return rput_strided(context, source, std::span(source_strides, Dim), destination,
                      std::span(destination_strides, Dim), std::span(extents, Dim), options, call);
}
template <size_t Dim, typename T>
future rget_strided(Context& context, global_ptr<T> source, const std::ptrdiff_t* source_strides,
                    std::remove_const_t<T>* destination, const std::ptrdiff_t* destination_strides,
                    const size_t* extents, const VisOptions& options = {},
                    CallSite call = CallSite::current()) {
  return rget_strided(context, source, std::span(source_strides, Dim), destination,
                      std::span(destination_strides, Dim), std::span(extents, Dim), options, call);
}
template <size_t Dim, typename T>
future rput_strided_signal(Context& context, const T* source, const std::ptrdiff_t* source_strides,
                           global_ptr<T> destination, const std::ptrdiff_t* destination_strides,
                           const size_t* extents, global_ptr<uint64_t> flag, uint64_t value,
                           const VisOptions& options = {}, CallSite call = CallSite::current()) {
  return rput_strided_signal(context, source, std::span(source_strides, Dim), destination,
                             std::span(destination_strides, Dim), std::span(extents, Dim), flag,
                             value, options, call);
}
template <size_t Dim, typename T>
future rput_strided(Context& context, const T* source,
                    const std::array<std::ptrdiff_t, Dim>& source_strides,
                    global_ptr<T> destination,
                    const std::array<std::ptrdiff_t, Dim>& destination_strides,
                    const std::array<size_t, Dim>& extents, const VisOptions& options = {},
                    CallSite call = CallSite::current()) {
  return rput_strided<Dim>(context, source, source_strides.data(), destination,
                           destination_strides.data(), extents.data(), options, call);
}
template <size_t Dim, typename T>
future rget_strided(Context& context, global_ptr<T> source,
                    const std::array<std::ptrdiff_t, Dim>& source_strides,
                    std::remove_const_t<T>* destination,
                    const std::array<std::ptrdiff_t, Dim>& destination_strides,
                    const std::array<size_t, Dim>& extents, const VisOptions& options = {},
                    CallSite call = CallSite::current()) {
  return rget_strided<Dim>(context, source, source_strides.data(), destination,
                           destination_strides.data(), extents.data(), options, call);
}
template <size_t Dim, typename T>
future rput_strided_signal(Context& context, const T* source,
                           const std::array<std::ptrdiff_t, Dim>& source_strides,
                           global_ptr<T> destination,
                           const std::array<std::ptrdiff_t, Dim>& destination_strides,
                           const std::array<size_t, Dim>& extents, global_ptr<uint64_t> flag,
                           uint64_t value, const VisOptions& options = {},
                           CallSite call = CallSite::current()) {
  return rput_strided_signal<Dim>(context, source, source_strides.data(), destination,
                                  destination_strides.data(), extents.data(), flag, value, options,
                                  call);
}

// --- indexed (regular): pieces of the same size --------------------------------------------------

// Ranges of pointers; each points to a run of that many elements. Both sides have the same number
// of elements together, which are moved in order. Global pointers are all to one rank.

template <typename SourceIterator, typename DestinationIterator>
future rput_regular(Context& context, SourceIterator source_begin, SourceIterator source_end,
                    size_t source_run_length, DestinationIterator destination_begin,
                    DestinationIterator destination_end, size_t destination_run_length,
                    const VisOptions& options = {}, CallSite call = CallSite::current()) {
  detail::VisPieces pieces;
  detail::add_pointers(pieces, source_begin, source_end, source_run_length);
  detail::add_pointers(pieces, destination_begin, destination_end, destination_run_length);
  return detail::start_list(context, "rput_regular", detail::VisDirection::put, pieces, options,
                            call);
}
template <typename SourceIterator, typename DestinationIterator>
future rget_regular(Context& context, SourceIterator source_begin, SourceIterator source_end,
                    size_t source_run_length, DestinationIterator destination_begin,
                    DestinationIterator destination_end, size_t destination_run_length,
                    const VisOptions& options = {}, CallSite call = CallSite::current()) {
  detail::VisPieces pieces;
  detail::add_pointers(pieces, source_begin, source_end, source_run_length);
  detail::add_pointers(pieces, destination_begin, destination_end, destination_run_length);
  return detail::start_list(context, "rget_regular", detail::VisDirection::get, pieces, options,
                            call);
}
template <typename SourceIterator, typename DestinationIterator>
future rput_regular_signal(Context& context, SourceIterator source_begin, SourceIterator source_end,
                           size_t source_run_length, DestinationIterator destination_begin,
                           DestinationIterator destination_end, size_t destination_run_length,
                           global_ptr<uint64_t> flag, uint64_t value,
                           const VisOptions& options = {}, CallSite call = CallSite::current()) {
  detail::VisPieces pieces;
  detail::add_pointers(pieces, source_begin, source_end, source_run_length);
  detail::add_pointers(pieces, destination_begin, destination_end, destination_run_length);
  const detail::VisSignal signal{"flag of rput_regular_signal", flag, value};
  return detail::start_list(context, "rput_regular_signal", detail::VisDirection::put, pieces,
                            options, call, &signal);
}

// --- vector (irregular): pieces of any size ------------------------------------------------------

// Ranges of pairs (or tuples) of a pointer and a number of elements; otherwise as above.

template <typename SourceIterator, typename DestinationIterator>
future rput_irregular(Context& context, SourceIterator source_begin, SourceIterator source_end,
                      DestinationIterator destination_begin, DestinationIterator destination_end,
                      const VisOptions& options = {}, CallSite call = CallSite::current()) {
  detail::VisPieces pieces;
  detail::add_runs(pieces, source_begin, source_end);
  detail::add_runs(pieces, destination_begin, destination_end);
  return detail::start_list(context, "rput_irregular", detail::VisDirection::put, pieces, options,
                            call);
}
template <typename SourceIterator, typename DestinationIterator>
future rget_irregular(Context& context, SourceIterator source_begin, SourceIterator source_end,
                      DestinationIterator destination_begin, DestinationIterator destination_end,
                      const VisOptions& options = {}, CallSite call = CallSite::current()) {
  detail::VisPieces pieces;
  detail::add_runs(pieces, source_begin, source_end);
  detail::add_runs(pieces, destination_begin, destination_end);
  return detail::start_list(context, "rget_irregular", detail::VisDirection::get, pieces, options,
                            call);
}
template <typename SourceIterator, typename DestinationIterator>
future rput_irregular_signal(Context& context, SourceIterator source_begin,
                             SourceIterator source_end, DestinationIterator destination_begin,
                             DestinationIterator destination_end, global_ptr<uint64_t> flag,
                             uint64_t value, const VisOptions& options = {},
                             CallSite call = CallSite::current()) {
  detail::VisPieces pieces;
  detail::add_runs(pieces, source_begin, source_end);
  detail::add_runs(pieces, destination_begin, destination_end);
  const detail::VisSignal signal{"flag of rput_irregular_signal", flag, value};
  return detail::start_list(context, "rput_irregular_signal", detail::VisDirection::put, pieces,
                            options, call, &signal);
}

}  // namespace stripline
