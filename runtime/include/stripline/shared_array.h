// Arrays whose elements are spread over the segments of all ranks (UPC's shared arrays).
//
//   auto made = stripline::shared_array<double>::create(ctx, n);               // cyclic
//   if (!made.ok()) return stripline::report(made.error());
//   stripline::shared_array<double>& a = *made;
//   for (double& mine : a.local_span()) mine = 1.0;                            // plain memory
//   ctx.barrier();
//   double x = a.read(i);                                                      // wherever it is
//   a.read_range(first, count, buffer);                         // one transfer for each owner
//
// Other layouts (layout.h), and a number of ranks that is known when compiling:
//
//   shared_array<float, block_cyclic<64>> tiles;
//   auto parts = shared_array<float, block_cyclic<>>::create(ctx, n, blocked(n, ctx.rank_n()));
//   shared_array<int, cyclic, static_ranks<4>> quarters;
//
// An array is a handle: a value that refers to the memory and to the Context. Accesses are relaxed
// (docs/memory-model.md): a barrier, or what else orders, must lie between a rank's write and
// another's read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <stripline/context.h>
#include <stripline/layout.h>
#include <stripline/pointer_to_shared.h>

#include "base/result.h"

namespace stripline {

namespace detail {

/// A shared array without its element type.
struct ArrayShape {
  uint64_t elements = 0;
  uint64_t element_bytes = 0;
  uint64_t block = 0;       ///< elements; not if indefinite
  rank_t owner = 0;         ///< if indefinite
  rank_t static_ranks = 0;  ///< 0: any number
  uint64_t indefinite = 0;  ///< a word, so that the struct has no padding
  friend bool operator==(const ArrayShape&, const ArrayShape&) = default;
};

/// Collective. The offset of the parts.
Result<uint64_t> create_shared_array(Context& context, const ArrayShape& shape, CallSite site);

/// True if pointers with a phase fit into one word for an array of parts of `shape` at `offset`.
bool packed_phase_fits(const ArrayShape& shape, uint64_t offset, rank_t ranks);

/// Moves elements [first, first + count) of the array at `offset`; blocking.
void read_elements(Context& context, const ArrayShape& shape, uint64_t offset, uint64_t first,
                   uint64_t count, std::byte* destination, CallSite site);
void write_elements(Context& context, const ArrayShape& shape, uint64_t offset, uint64_t first,
                    uint64_t count, const std::byte* source, CallSite site);

/// Ends the job: the call `name` is about an element that an array of `size` elements has not.
/// `context` is null for a handle that refers to no array.
[[noreturn]] void fail_element(Context* context, const char* name, uint64_t index, uint64_t size,
                               CallSite site);

/// Ends the job: the call `name` is about a position in a rank's part of `local_size` elements that
/// it does not have. `context` as for fail_element().
[[noreturn]] void fail_position(Context* context, const char* name, uint64_t position,
                                uint64_t local_size, CallSite site);

/// Ends the job: the call `name` is about elements [first, last) of an array of `size` elements,
/// which does not have them. `context` as for fail_element().
[[noreturn]] void fail_elements(Context* context, const char* name, uint64_t first, uint64_t last,
                                uint64_t size, CallSite site);

/// Ends the job: the call `name` is about a rank that the job does not have. `context` as for
/// fail_element().
[[noreturn]] void fail_rank(Context* context, const char* name, rank_t rank, CallSite site);

/// Ends the process: the call `name` is about a handle that refers to no array.
[[noreturn]] void fail_no_array(const char* name, CallSite site);

[[noreturn]] void fail_packed_pointer(Context& context);

}  // namespace detail

/// An array whose elements are distributed over all ranks; a handle, which is copied freely.
template <typename T, typename Layout = cyclic, typename Ranks = dynamic_ranks>
class shared_array {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "shared arrays hold trivially copyable types");
  static constexpr bool kIndefinite = std::is_same_v<Layout, indefinite>;

 public:
  using element_type = T;                                            ///< of its elements
  using layout_type = Layout;                                        ///< how elements are dealt out
  using distribution_type = stripline::distribution<Layout, Ranks>;  ///< the layout over the ranks
  template <pointer_form Form = pointer_form::packed>
  using pointer = pointer_to_shared<T, Layout, Ranks, Form>;  ///< to its elements

  /// Collective, with the same size and layout on every rank: an array of `size` elements. The
  /// parts are symmetric: every rank gives as much memory as the rank that has most (for an
  /// indefinite array the whole). Contents are undefined. Errors: resource_exhausted as for
  /// Context::new_symmetric_array; invalid_argument for a block of 0 elements, an owner that does
  /// not exist, or static_ranks of another number than the job's; the same on every rank. Ranks
  /// that disagree end the job.
  static Result<shared_array> create(Context& context, uint64_t size, Layout layout = {},
                                     CallSite site = CallSite::current()) {
    shared_array array;
    array.context_ = &context;
    array.size_ = size;
    array.me_ = context.rank_me();
    array.distribution_.layout = layout;
    if constexpr (Ranks::kStatic == 0) array.distribution_.ranks.ranks = context.rank_n();
    STRIPLINE_ASSIGN_OR_RETURN(array.offset_,
                               detail::create_shared_array(context, array.shape(), site));
    array.local_ = context.local(global_ptr<T>(context.rank_me(), array.offset_));
    array.packed_fits_ = !detail::kHasPhase<Layout> ||
                         detail::packed_phase_fits(array.shape(), array.offset_, context.rank_n());
    return array;
  }
  /// Refers to no array.
  shared_array() = default;

  /// Collective: gives the memory back. No handle or pointer may be used after it.
  void destroy(CallSite site = CallSite::current()) {
    check_made("shared_array::destroy", site);
    context_->delete_symmetric_array(global_ptr<T>(me_, offset_), site);
    *this = {};
  }

  uint64_t size() const { return size_; }  ///< the number of elements
  /// The layout over the ranks.
  const distribution_type& distribution() const { return distribution_; }
  /// False for a handle that refers to no array.
  explicit operator bool() const { return context_ != nullptr; }
  /// Ends the process for a handle that refers to no array, as all calls that need one do.
  Context& context(CallSite site = CallSite::current()) const {
    check_made("shared_array::context", site);
    return *context_;
  }
  /// The same for a call that is given the array: `name`, which stands at `site`.
  void check_made(const char* name, CallSite site) const {
    if (context_ == nullptr) [[unlikely]]
      detail::fail_no_array(name, site);
  }

  // --- where elements are ---

  /// The rank of element `index`. Ends the job if there is no such element; distribution(), which
  /// knows no size, tells where further ones would be.
  rank_t affinity(uint64_t index, CallSite site = CallSite::current()) const {
    check_element("shared_array::affinity", index, site);
    return distribution_.affinity(index);
  }
  /// True for elements of this rank. Ends the job if there is no such element.
  bool is_local(uint64_t index, CallSite site = CallSite::current()) const {
    check_element("shared_array::is_local", index, site);
    return distribution_.affinity(index) == me_;
  }
  /// Element `index` for Context's operations; `index` may be size(), of which only the address is
  /// used. Ends the job if it is more.
  global_ptr<T> global(uint64_t index, CallSite site = CallSite::current()) const {
    check_place("shared_array::global", index, site);
    return address(distribution_.locate(index));
  }
  /// A pointer that walks through the array, to element `index` or to the end. Ends the job if
  /// there is no such element, or packed pointers do not suffice; ptr<pointer_form::wide> always
  /// does.
  template <pointer_form Form = pointer_form::packed>
  pointer<Form> ptr(uint64_t index, CallSite site = CallSite::current()) const {
    check_place("shared_array::ptr", index, site);
    if (Form == pointer_form::packed && !packed_fits_) [[unlikely]] {
      detail::fail_packed_pointer(*context_);
    }
    return {distribution_, offset_, distribution_.locate(index)};
  }
  /// True if packed pointers suffice for this array (pointer_to_shared.h says when).
  bool packed_fits() const { return packed_fits_; }

  // --- this rank's own elements ---

  /// All of this rank's elements, in the order of the array; contiguous for every layout.
  std::span<T> local_span() const {
    return {local_, static_cast<size_t>(distribution_.count_below(size_, me_))};
  }
  /// The part of it that lies within elements [first, last). Ends the job if the array does not
  /// have all of these, or `last` is below `first`.
  std::span<T> local_span(uint64_t first, uint64_t last,
                          CallSite site = CallSite::current()) const {
    if (first > last || last > size_) [[unlikely]]
      detail::fail_elements(context_, "shared_array::local_span", first, last, size_, site);
    const uint64_t begin = distribution_.count_below(first, me_);
    return {local_ + begin, static_cast<size_t>(distribution_.count_below(last, me_) - begin)};
  }
  /// How many elements a rank has. Ends the job if there is no such rank.
  uint64_t local_size(rank_t rank, CallSite site = CallSite::current()) const {
    if (rank >= distribution_.ranks.count()) [[unlikely]]
      detail::fail_rank(context_, "shared_array::local_size", rank, site);
    return distribution_.count_below(size_, rank);
  }
  /// The index in the array of local_span()[position]. Ends the job if there is none.
  uint64_t index_of(uint64_t position, CallSite site = CallSite::current()) const {
    // The index grows with the position, so that it is that of an element exactly for those that
    // there are; the product of a position beyond all elements may overflow.
    const uint64_t index = distribution_.index_of({me_, position});
    if (position >= size_ || index >= size_ || is_elsewhere()) [[unlikely]]
      detail::fail_position(context_, "shared_array::index_of", position,
                            distribution_.count_below(size_, me_), site);
    return index;
  }

  // --- single elements ---

  // All of them end the job if there is no element `index`.

  /// A load if the element is this rank's own, a blocking get otherwise.
  T read(uint64_t index, CallSite site = CallSite::current()) const {
    check_element("shared_array::read", index, site);
    const place at = distribution_.locate(index);
    if (at.rank == me_) return local_[at.index];
    return context_->rget(address(at), site);
  }
  /// A store if the element is this rank's own, a blocking put otherwise.
  void write(uint64_t index, const T& value, CallSite site = CallSite::current()) const {
    check_element("shared_array::write", index, site);
    const place at = distribution_.locate(index);
    if (at.rank == me_) {
      local_[at.index] = value;
    } else {
      context_->rput(value, address(at), site);
    }
  }
  /// Nonblocking, as Context's: `destination` and `source` stay until the future is ready.
  future rget(uint64_t index, T* destination, CallSite site = CallSite::current()) const {
    check_element("shared_array::rget", index, site);
    return context_->rget(address(distribution_.locate(index)), destination, 1, site);
  }
  /// The same to the array, from `source`.
  future rput(const T* source, uint64_t index, CallSite site = CallSite::current()) const {
    check_element("shared_array::rput", index, site);
    return context_->rput(source, address(distribution_.locate(index)), 1, site);
  }

  // --- ranges ---

  /// Elements [first, first + count) to or from contiguous memory; blocking. One transfer per rank
  /// that has some of them, through a buffer where they are several blocks of it; blocks of 16 KiB
  /// and more are transferred one by one, straight to their place. Ends the job for a range that is
  /// not within the array.
  void read_range(uint64_t first, uint64_t count, T* destination,
                  CallSite site = CallSite::current()) const {
    check_made("shared_array::read_range", site);
    detail::read_elements(*context_, shape(), offset_, first, count,
                          reinterpret_cast<std::byte*>(destination), site);
  }
  /// The same to the array, from `source`.
  void write_range(uint64_t first, uint64_t count, const T* source,
                   CallSite site = CallSite::current()) const {
    check_made("shared_array::write_range", site);
    detail::write_elements(*context_, shape(), offset_, first, count,
                           reinterpret_cast<const std::byte*>(source), site);
  }

 private:
  global_ptr<T> address(const place& at) const {
    return global_ptr<T>(at.rank, offset_ + at.index * sizeof(T));
  }
  // True if another rank has all elements.
  bool is_elsewhere() const {
    if constexpr (kIndefinite) {
      return distribution_.layout.owner != me_;
    } else {
      return false;
    }
  }
  // A comparison beside the division that finds the element: always there.
  void check_element(const char* name, uint64_t index, CallSite site) const {
    if (index >= size_) [[unlikely]]
      detail::fail_element(context_, name, index, size_, site);
  }
  // The same where the end will do.
  void check_place(const char* name, uint64_t index, CallSite site) const {
    if (index > size_ || context_ == nullptr) [[unlikely]]
      detail::fail_element(context_, name, index, size_, site);
  }
  detail::ArrayShape shape() const {
    detail::ArrayShape shape{
        .elements = size_, .element_bytes = sizeof(T), .static_ranks = Ranks::kStatic};
    if constexpr (kIndefinite) {
      shape.indefinite = 1;
      shape.owner = distribution_.layout.owner;
    } else {
      shape.block = distribution_.layout.block();
    }
    return shape;
  }

  Context* context_ = nullptr;
  T* local_ = nullptr;
  uint64_t offset_ = 0;
  uint64_t size_ = 0;
  rank_t me_ = 0;
  bool packed_fits_ = true;
  distribution_type distribution_;
};

}  // namespace stripline
