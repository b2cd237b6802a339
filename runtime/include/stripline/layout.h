// How the elements of a shared array are spread over the ranks: index to rank and place, and back.
//
//   block_cyclic<B>   blocks of B elements go to ranks 0, 1, ..., T-1, 0, ... in turn
//   block_cyclic<>    the same with a block size that is known at run time only
//   cyclic            blocks of one element
//   blocked(n, T)     block_cyclic<> with one block per rank, ceil(n / T) elements
//   indefinite        all elements on one rank
//
// These are UPC's layouts (Chen, Optimizing PGAS Programs for Cluster Architectures, 2007, chapter
// 2). The number of ranks T is a value (dynamic_ranks), or a part of the type (static_ranks<N>):
// divisions then become shifts and masks where N is a power of two, and multiplications elsewhere
// (Chen, section 4.2). Everything here is plain arithmetic: constexpr, O(1), thread-safe. It checks
// nothing: there is at least one rank, and a block has at least one element; with 0 of either it
// divides by 0. shared_array::create() refuses such layouts.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <stripline/global_ptr.h>

namespace stripline {

/// The number of ranks, known when the program runs.
struct dynamic_ranks {
  rank_t ranks = 1;                                 ///< known at run time
  static constexpr rank_t kStatic = 0;              ///< what is known when it is compiled
  constexpr rank_t count() const { return ranks; }  ///< the number of ranks
  /// Equal in all members.
  friend constexpr bool operator==(dynamic_ranks, dynamic_ranks) = default;
};

/// The number of ranks, known when the program is compiled. Creating an array for static_ranks<N>
/// in a job of another size is an error.
template <rank_t N>
struct static_ranks {
  static_assert(N > 0 && N <= kMaxRanks);
  static constexpr rank_t kStatic = N;           ///< what is known when it is compiled
  static constexpr rank_t count() { return N; }  ///< the number of ranks
  friend constexpr bool operator==(static_ranks, static_ranks) = default;  ///< equal in all members
};

/// Stands for a block size that is known at run time only.
inline constexpr uint64_t kRunTimeBlock = 0;

/// Blocks of B elements, dealt out to the ranks in turn; B is known when the program is
/// compiled.
template <uint64_t B = kRunTimeBlock>
struct block_cyclic {
  static constexpr uint64_t kStatic = B;           ///< what is known when it is compiled
  static constexpr uint64_t block() { return B; }  ///< elements of a block
  friend constexpr bool operator==(block_cyclic, block_cyclic) = default;  ///< equal in all members
};
/// The same with a block size that is known at run time.
template <>
struct block_cyclic<kRunTimeBlock> {
  uint64_t elements = 1;                                 ///< per block; at least 1
  static constexpr uint64_t kStatic = kRunTimeBlock;     ///< what is known when it is compiled
  constexpr uint64_t block() const { return elements; }  ///< elements of a block
  friend constexpr bool operator==(block_cyclic, block_cyclic) = default;  ///< equal in all members
};

using cyclic = block_cyclic<1>;

/// One block per rank, of equal size but for the last ones. `ranks` is not 0, which is not checked.
constexpr block_cyclic<> blocked(uint64_t elements, rank_t ranks) {
  return {std::max<uint64_t>(1, elements / ranks + (elements % ranks != 0 ? 1 : 0))};
}

/// All elements on one rank.
struct indefinite {
  rank_t owner = 0;  ///< the rank that has all of it
  friend constexpr bool operator==(indefinite, indefinite) = default;  ///< equal in all members
};

/// A place in a shared array: a rank, and the position among the elements that this rank has.
struct place {
  rank_t rank = 0;                                           ///< that has the element
  uint64_t index = 0;                                        ///< among the rank's own elements
  friend constexpr bool operator==(place, place) = default;  ///< equal in all members
};

namespace detail {

struct Floored {
  int64_t quotient;
  uint64_t remainder;
};

/// Division that rounds down, of numbers of either sign. Static: the divisor if it is known when
/// compiling, else 0.
template <uint64_t Static>
constexpr Floored floor_divide(int64_t value, uint64_t divisor) {
  if constexpr (Static != 0 && std::has_single_bit(Static)) {
    return {value >> std::countr_zero(Static), static_cast<uint64_t>(value) & (Static - 1)};
  } else {
    const auto by = static_cast<int64_t>(Static != 0 ? Static : divisor);
    const int64_t quotient = value / by;
    const int64_t remainder = value % by;
    const int64_t below = remainder >> 63;  // all ones when it must be rounded down
    return {quotient + below, static_cast<uint64_t>(remainder + (below & by))};
  }
}

}  // namespace detail

/// A layout over a number of ranks. Indices are those of elements in the whole array.
template <typename Layout, typename Ranks = dynamic_ranks>
struct distribution;

/// The distribution of blocks that are dealt out in turn.
template <uint64_t B, typename Ranks>
struct distribution<block_cyclic<B>, Ranks> {
  [[no_unique_address]] block_cyclic<B> layout;  ///< how elements are dealt out
  [[no_unique_address]] Ranks ranks;             ///< over how many ranks

  /// The rank of element `index`.
  constexpr rank_t affinity(uint64_t index) const {
    return static_cast<rank_t>(index / layout.block() % ranks.count());
  }
  /// Where element `index` is.
  constexpr place locate(uint64_t index) const {
    const uint64_t block = index / layout.block();
    return {static_cast<rank_t>(block % ranks.count()),
            block / ranks.count() * layout.block() + index % layout.block()};
  }
  /// How many of the elements before `index` are on `rank`. What a rank has of a range of indices
  /// is therefore a range of its places: from count_below(first) to count_below(last).
  constexpr uint64_t count_below(uint64_t index, rank_t rank) const {
    const uint64_t block = index / layout.block();
    const auto last = static_cast<rank_t>(block % ranks.count());
    const uint64_t in_round =
        rank < last ? layout.block() : (rank == last ? index % layout.block() : 0);
    return block / ranks.count() * layout.block() + in_round;
  }
  /// The inverse of locate().
  constexpr uint64_t index_of(place where) const {
    const uint64_t round = where.index / layout.block();
    return (round * ranks.count() + where.rank) * layout.block() + where.index % layout.block();
  }
  /// Equal in all members.
  friend constexpr bool operator==(const distribution&, const distribution&) = default;
};

/// The distribution of an array that one rank has all of.
template <typename Ranks>
struct distribution<indefinite, Ranks> {
  indefinite layout;                  ///< how elements are dealt out
  [[no_unique_address]] Ranks ranks;  ///< over how many ranks

  /// The rank of the element.
  constexpr rank_t affinity(uint64_t /*index*/) const { return layout.owner; }
  /// Where element `index` is.
  constexpr place locate(uint64_t index) const { return {layout.owner, index}; }
  /// How many elements before `index` are on `rank`.
  constexpr uint64_t count_below(uint64_t index, rank_t rank) const {
    return rank == layout.owner ? index : 0;
  }
  /// The inverse of locate().
  constexpr uint64_t index_of(place where) const { return where.index; }
  /// Equal in all members.
  friend constexpr bool operator==(const distribution&, const distribution&) = default;
};

}  // namespace stripline
