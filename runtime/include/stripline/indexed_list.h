// Lists of elements by their numbers, for transfers that are repeated: a gather of the elements of
// a vector that a matrix needs, in every iteration of a solver.
//
//   const indexed_list columns(needed);  // numbers of elements at the peer: checked once, and kept
//   const auto all = indexed_list::in_order(needed.size());
//   for (...) rget_indexed(ctx, x_there, columns, ghosts, all).wait();  // in the order of needed
//
// A list is of no array: it is used with any base, of any element type. It takes 4 bytes for each
// element, where lists of pointers take 24 bytes in each call, and is neither copied nor walked
// through before a transfer begins.
//
// One transfer is as those of <stripline/vis.h>: one future, the same methods and options, the same
// rules for the memory of the data. The lists stay until the future is ready, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stripline/vis.h>

namespace stripline {

/// Constant, and so used by several transfers and threads at a time.
class indexed_list {
 public:
  /// Elements of these numbers, in this order; a number may come several times.
  explicit indexed_list(std::vector<uint32_t> numbers);
  /// The same, copied from memory of the program. Ends the process if that is a null pointer.
  explicit indexed_list(std::span<const uint32_t> numbers, CallSite site = CallSite::current());
  indexed_list(const indexed_list&) = default;             ///< copies the numbers
  indexed_list& operator=(const indexed_list&) = default;  ///< copies the numbers
  indexed_list(indexed_list&& other) noexcept;             ///< moves: the other one is empty then
  indexed_list& operator=(indexed_list&& other) noexcept;  ///< likewise
  /// Elements 0 to count - 1, which takes no memory.
  static indexed_list in_order(size_t count);

  size_t size() const { return size_; }      ///< the number of elements
  bool empty() const { return size_ == 0; }  ///< true if there are no elements
  /// The numbers; none of a list that is in_order().
  std::span<const uint32_t> numbers() const { return numbers_; }
  /// Not of an empty list.
  uint64_t smallest() const { return smallest_; }
  uint64_t largest() const { return largest_; }  ///< not of an empty list
  /// How many pieces of consecutive numbers there are.
  size_t runs() const { return runs_; }

 private:
  indexed_list() = default;

  std::vector<uint32_t> numbers_;
  size_t size_ = 0;
  uint64_t smallest_ = 0;
  uint64_t largest_ = 0;
  size_t runs_ = 0;
};

namespace detail {

/// A transfer between elements of both sides; the bases are those of element 0.
struct VisIndexed {
  std::byte* local = nullptr;
  const indexed_list* local_list = nullptr;
  rank_t target = 0;
  uint64_t offset = 0;
  const indexed_list* remote_list = nullptr;
  size_t element_bytes = 0;
};
future start_indexed(Context& context, const char* name, VisDirection direction,
                     const VisIndexed& transfer, const VisOptions& options, CallSite call,
                     const VisSignal* signal = nullptr);

template <typename T>
VisIndexed indexed(const T* local, const indexed_list& local_list, global_ptr<T> remote,
                   const indexed_list& remote_list) {
  return {const_cast<std::byte*>(reinterpret_cast<const std::byte*>(local)),
          &local_list,
          remote.where(),
          remote.offset(),
          &remote_list,
          sizeof(T)};
}

}  // namespace detail

/// destination[to[i]] = source[from[i]] for every i; both lists have the same size.
template <typename T>
future rget_indexed(Context& context, global_ptr<T> source, const indexed_list& from,
                    std::remove_const_t<T>* destination, const indexed_list& to,
                    const VisOptions& options = {}, CallSite call = CallSite::current()) {
  return detail::start_indexed(context, "rget_indexed", detail::VisDirection::get,
                               detail::indexed<T>(destination, to, source, from), options, call);
}
/// destination[to[i]] = source[from[i]]. Where `to` holds a number several times, any of them.
template <typename T>
future rput_indexed(Context& context, const T* source, const indexed_list& from,
                    global_ptr<T> destination, const indexed_list& to,
                    const VisOptions& options = {}, CallSite call = CallSite::current()) {
  return detail::start_indexed(context, "rput_indexed", detail::VisDirection::put,
                               detail::indexed<T>(source, from, destination, to), options, call);
}
/// The same, and the flag, as puts of <stripline/vis.h> whose names end in _signal.
template <typename T>
future rput_indexed_signal(Context& context, const T* source, const indexed_list& from,
                           global_ptr<T> destination, const indexed_list& to,
                           global_ptr<uint64_t> flag, uint64_t value,
                           const VisOptions& options = {}, CallSite call = CallSite::current()) {
  const detail::VisSignal signal{"flag of rput_indexed_signal", flag, value};
  return detail::start_indexed(context, "rput_indexed_signal", detail::VisDirection::put,
                               detail::indexed<T>(source, from, destination, to), options, call,
                               &signal);
}

}  // namespace stripline
