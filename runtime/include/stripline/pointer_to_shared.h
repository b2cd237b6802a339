// Pointers into shared arrays, which step through the array's elements from rank to rank (not
// owning ones: nothing to do with std::shared_ptr).
//
//   auto p = array.ptr(i);              // one 64-bit word
//   p += 5;                             // element i + 5, wherever it is
//   double x = p.get(ctx);              // a load where it is this rank's own, a get elsewhere
//
// Two forms (Chen, section 4.2):
//
//   packed   one word. Without a phase (cyclic, indefinite) it is the word of a global_ptr: 20 bits
//            of rank, 44 of offset. With a phase (block-cyclic): from the highest, 34 bits of the
//            block's offset, 12 bits of rank, 18 bits of phase; up to 4096 ranks, 16 GiB of segment
//            per rank and blocks of 262144 elements. shared_array::packed_fits() tells.
//   wide     a struct with 32 bits of rank, 64 of offset and 64 of phase, and with the number of
//            ranks and the block size where these are known at run time only: no limits, and more
//            to copy.
//
// A phase exists for block-cyclic layouts only. Arithmetic on an indefinite pointer is that of a
// plain pointer; on a cyclic one it divides by the number of ranks, on a block-cyclic one also by
// the block size, unless it stays within the block. A packed pointer does not know what is known at
// run time only, so it has operators where everything is static or nothing is needed (indefinite);
// otherwise advance() and distance() take the array's distribution.
//
// As for plain pointers: arithmetic stays within the array and its end; differences and order are
// those of pointers into one array. Values: copy, send, compare. Thread-safe.
#pragma once

#include <bit>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <stripline/context.h>
#include <stripline/layout.h>

namespace stripline {

enum class pointer_form : uint8_t { packed, wide };

inline constexpr int kPackedPhaseBits = 18;
inline constexpr int kPackedRankBits = 12;
inline constexpr int kPackedRowBits = 64 - kPackedPhaseBits - kPackedRankBits;

namespace detail {

// The representations. All hold a rank, a row and a phase: the row is the byte offset of the
// element's block, or of the element where there is no phase. Pointers into one array are in the
// order of row, rank, phase. Rows are kept plus one, so that all-zero is null. move() changes the
// row by a number of bytes and sets the rest.

/// The word of a global_ptr.
class PhaselessWord {
 public:
  constexpr PhaselessWord() = default;
  constexpr PhaselessWord(rank_t rank, uint64_t row, uint64_t /*phase*/)
      : word_((uint64_t{rank} << kOffsetBits) | (row + 1)) {}
  constexpr bool is_null() const { return word_ == 0; }
  constexpr rank_t rank() const { return static_cast<rank_t>(word_ >> kOffsetBits); }
  constexpr uint64_t row() const { return (word_ & kRowMask) - 1; }
  static constexpr uint64_t phase() { return 0; }
  constexpr void add_row(int64_t bytes) { move(rank(), bytes, 0); }
  // As a global_ptr moves: what leads out of the segment does not change the rank.
  constexpr void move(rank_t rank, int64_t bytes, uint64_t /*phase*/) {
    word_ = ((word_ + static_cast<uint64_t>(bytes)) & kRowMask) | (uint64_t{rank} << kOffsetBits);
  }
  friend constexpr bool operator==(PhaselessWord, PhaselessWord) = default;
  friend constexpr auto operator<=>(PhaselessWord a, PhaselessWord b) {
    return std::rotr(a.word_, kOffsetBits) <=> std::rotr(b.word_, kOffsetBits);
  }

 private:
  static constexpr uint64_t kRowMask = (uint64_t{1} << kOffsetBits) - 1;
  uint64_t word_ = 0;
};

/// Row, rank and phase, from the highest bit: in their order.
class PhasedWord {
 public:
  constexpr PhasedWord() = default;
  constexpr PhasedWord(rank_t rank, uint64_t row, uint64_t phase)
      : word_(((row + 1) << kRowShift) | (uint64_t{rank} << kPackedPhaseBits) | phase) {}
  constexpr bool is_null() const { return word_ == 0; }
  constexpr rank_t rank() const {
    return static_cast<rank_t>(word_ >> kPackedPhaseBits) & ((rank_t{1} << kPackedRankBits) - 1);
  }
  constexpr uint64_t row() const { return (word_ >> kRowShift) - 1; }
  constexpr uint64_t phase() const { return word_ & ((uint64_t{1} << kPackedPhaseBits) - 1); }
  constexpr void add_phase(int64_t elements) { word_ += static_cast<uint64_t>(elements); }
  constexpr void move(rank_t rank, int64_t bytes, uint64_t phase) {
    word_ = (((word_ >> kRowShift) + static_cast<uint64_t>(bytes)) << kRowShift) |
            (uint64_t{rank} << kPackedPhaseBits) | phase;
  }
  friend constexpr bool operator==(PhasedWord, PhasedWord) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): of the comparison that the compiler writes
  friend constexpr auto operator<=>(PhasedWord, PhasedWord) = default;

 private:
  static constexpr int kRowShift = kPackedPhaseBits + kPackedRankBits;
  uint64_t word_ = 0;
};

template <bool Phased>
class WideFields {
 public:
  constexpr WideFields() = default;
  constexpr WideFields(rank_t rank, uint64_t row, uint64_t phase)
      : row_(row + 1), phase_{phase}, rank_(rank) {}
  constexpr bool is_null() const { return row_ == 0; }
  constexpr rank_t rank() const { return rank_; }
  constexpr uint64_t row() const { return row_ - 1; }
  constexpr uint64_t phase() const { return phase_.value(); }
  constexpr void add_row(int64_t bytes) { row_ += static_cast<uint64_t>(bytes); }
  constexpr void add_phase(int64_t elements) {
    phase_ = Phase{phase_.value() + static_cast<uint64_t>(elements)};
  }
  constexpr void move(rank_t rank, int64_t bytes, uint64_t phase) {
    row_ += static_cast<uint64_t>(bytes);
    phase_ = Phase{phase};
    rank_ = rank;
  }
  friend constexpr bool operator==(const WideFields& a, const WideFields& b) {
    return a.row_ == b.row_ && a.rank_ == b.rank_ && a.phase() == b.phase();
  }
  friend constexpr std::strong_ordering operator<=>(const WideFields& a, const WideFields& b) {
    if (const auto order = a.row_ <=> b.row_; std::is_neq(order)) return order;
    if (const auto order = a.rank_ <=> b.rank_; std::is_neq(order)) return order;
    return a.phase() <=> b.phase();
  }

 private:
  struct Kept {
    uint64_t phase = 0;
    constexpr uint64_t value() const { return phase; }
  };
  struct Absent {
    constexpr explicit Absent(uint64_t /*phase*/ = 0) {}
    static constexpr uint64_t value() { return 0; }
  };
  using Phase = std::conditional_t<Phased, Kept, Absent>;
  uint64_t row_ = 0;
  [[no_unique_address]] Phase phase_;
  rank_t rank_ = 0;
};

/// What an indefinite pointer has instead of a distribution: its arithmetic needs none.
struct NoDistribution {
  constexpr NoDistribution() = default;
  template <typename Distribution>
  constexpr explicit NoDistribution(const Distribution& /*unused*/) {}
};

template <typename Layout>
inline constexpr bool kHasPhase = false;
template <uint64_t B>
inline constexpr bool kHasPhase<block_cyclic<B>> = B != 1;

}  // namespace detail

template <typename T, typename Layout, typename Ranks = dynamic_ranks,
          pointer_form Form = pointer_form::packed>
/// A pointer to an element of a shared array, which goes from element to element over the ranks, as
/// in UPC.
class pointer_to_shared {
  static constexpr bool kIndefinite = std::is_same_v<Layout, indefinite>;
  static constexpr bool kPhased = detail::kHasPhase<Layout>;
  static constexpr int64_t kBytes = sizeof(T);
  using Fields =
      std::conditional_t<Form == pointer_form::wide, detail::WideFields<kPhased>,
                         std::conditional_t<kPhased, detail::PhasedWord, detail::PhaselessWord>>;
  // What arithmetic needs beside the fields.
  using Needed =
      std::conditional_t<kIndefinite, detail::NoDistribution, distribution<Layout, Ranks>>;
  static constexpr bool kHasOperators = Form == pointer_form::wide || std::is_empty_v<Needed>;
  using Known = std::conditional_t<kHasOperators, Needed, detail::NoDistribution>;

 public:
  using element_type = T;                                 ///< what it points to
  using distribution_type = distribution<Layout, Ranks>;  ///< how the array is dealt out

  /// Null, equal to no pointer to an element.
  constexpr pointer_to_shared() = default;
  /// The element at `where` of an array whose part begins at `base` bytes of every rank's segment.
  /// shared_array::ptr makes them.
  constexpr pointer_to_shared(const distribution_type& elements, uint64_t base, place where)
      : known_(elements) {
    uint64_t phase = 0;
    if constexpr (kPhased) phase = where.index % elements.layout.block();
    fields_ = Fields(where.rank, base + (where.index - phase) * sizeof(T), phase);
    assert(fields_.rank() == where.rank && fields_.phase() == phase);
  }

  constexpr bool is_null() const { return fields_.is_null(); }     ///< true for the null pointer
  constexpr explicit operator bool() const { return !is_null(); }  ///< false for the null pointer
  /// The rank that has the element, as upc_threadof. This, offset() and phase() are undefined for
  /// null.
  constexpr rank_t where() const { return fields_.rank(); }
  /// Bytes from the beginning of that rank's segment.
  constexpr uint64_t offset() const { return fields_.row() + fields_.phase() * sizeof(T); }
  /// The place within its block, as upc_phaseof; 0 where the layout has no phase.
  constexpr uint64_t phase() const { return fields_.phase(); }
  /// The same element for Context's operations.
  constexpr global_ptr<T> global() const { return global_ptr<T>(where(), offset()); }

  // --- access -------------------------------------------------------------------------------

  /// True if the element is in this rank's own segment.
  bool is_local(const Context& context) const { return where() == context.rank_me(); }
  /// The element in this rank's own segment; nullptr if it is not there.
  T* local(Context& context, CallSite site = CallSite::current()) const {
    return is_local(context) ? context.local(global(), site) : nullptr;
  }
  /// The element: a load if it is this rank's own, a blocking get otherwise.
  std::remove_const_t<T> get(Context& context, CallSite site = CallSite::current()) const {
    if (const T* own = local(context, site)) return *own;
    return context.rget(global(), site);
  }
  /// Stores it: a store if it is this rank's own, a blocking put otherwise.
  void put(Context& context, const T& value, CallSite site = CallSite::current()) const {
    if (T* own = local(context, site)) {
      *own = value;
    } else {
      context.rput(value, global(), site);
    }
  }

  // --- arithmetic with the array's distribution -----------------------------------------------

  /// The element `n` further on in the array; `n` may be negative.
  friend constexpr pointer_to_shared advance(pointer_to_shared p, std::ptrdiff_t n,
                                             const distribution_type& elements) {
    p.move(n, Needed(elements));
    return p;
  }
  /// How many elements `b` is before `a`.
  friend constexpr std::ptrdiff_t distance(pointer_to_shared b, pointer_to_shared a,
                                           const distribution_type& elements) {
    return a.difference(b, Needed(elements));
  }

  // --- arithmetic -------------------------------------------------------------------------------

  /// Goes on by n elements.
  constexpr pointer_to_shared& operator+=(std::ptrdiff_t n) requires kHasOperators {
    move(n, known_);
    return *this;
  }
  /// Goes back by n elements.
  constexpr pointer_to_shared& operator-=(std::ptrdiff_t n) requires kHasOperators {
    return *this += -n;
  }
  /// Goes to the next element.
  constexpr pointer_to_shared& operator++() requires kHasOperators { return *this += 1; }
  /// Goes to the one before.
  constexpr pointer_to_shared& operator--() requires kHasOperators { return *this += -1; }
  /// The pointer n elements further.
  friend constexpr pointer_to_shared operator+(pointer_to_shared p,
                                               std::ptrdiff_t n) requires kHasOperators {
    return p += n;
  }
  /// The pointer n elements back.
  friend constexpr pointer_to_shared operator-(pointer_to_shared p,
                                               std::ptrdiff_t n) requires kHasOperators {
    return p += -n;
  }
  /// Elements from b to a.
  friend constexpr std::ptrdiff_t operator-(pointer_to_shared a,
                                            pointer_to_shared b) requires kHasOperators {
    return a.difference(b, a.known_);
  }

  /// True for the same element.
  friend constexpr bool operator==(const pointer_to_shared& a, const pointer_to_shared& b) {
    return a.fields_ == b.fields_;
  }
  /// The order of the elements in the array.
  friend constexpr std::strong_ordering operator<=>(const pointer_to_shared& a,
                                                    const pointer_to_shared& b) {
    return a.fields_ <=> b.fields_;
  }

 private:
  constexpr void move(int64_t n, const Needed& elements) {
    if constexpr (kIndefinite) {
      fields_.add_row(n * kBytes);
    } else {
      int64_t blocks = n;
      uint64_t phase = 0;
      if constexpr (kPhased) {
        const int64_t position = static_cast<int64_t>(fields_.phase()) + n;
        if (static_cast<uint64_t>(position) < elements.layout.block()) {
          fields_.add_phase(n);
          return;
        }
        const auto divided =
            detail::floor_divide<Layout::kStatic>(position, elements.layout.block());
        blocks = divided.quotient;
        phase = divided.remainder;
      }
      const auto turned = detail::floor_divide<Ranks::kStatic>(
          static_cast<int64_t>(fields_.rank()) + blocks, elements.ranks.count());
      fields_.move(static_cast<rank_t>(turned.remainder),
                   turned.quotient * static_cast<int64_t>(elements.layout.block()) * kBytes, phase);
    }
  }

  constexpr std::ptrdiff_t difference(const pointer_to_shared& other,
                                      const Needed& elements) const {
    const auto bytes = static_cast<int64_t>(fields_.row() - other.fields_.row());
    if constexpr (kIndefinite) {
      return bytes / kBytes;
    } else {
      const auto block = static_cast<int64_t>(elements.layout.block());
      const int64_t rounds = bytes / kBytes / block;
      const int64_t ranks =
          static_cast<int64_t>(fields_.rank()) - static_cast<int64_t>(other.fields_.rank());
      const int64_t phases =
          static_cast<int64_t>(fields_.phase()) - static_cast<int64_t>(other.fields_.phase());
      return (rounds * static_cast<int64_t>(elements.ranks.count()) + ranks) * block + phases;
    }
  }

  Fields fields_;
  [[no_unique_address]] Known known_;
};

}  // namespace stripline
