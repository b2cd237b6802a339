// Global pointers: 20 bits of rank, 44 bits of offset into that rank's shared segment, in one word.
// A segment has less than 2^43 bytes.
//
//   const stripline::global_ptr<double> first = ctx.on_rank(area, neighbour);
//   for (int i = 0; i < 8; ++i) sum += ctx.rget(first + i);
//   if (first.where() == ctx.rank_me()) sum += ctx.local(first)[8];   // a plain load
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace stripline {

using rank_t = uint32_t;

inline constexpr int kOffsetBits = 44;
inline constexpr rank_t kMaxRanks = rank_t{1} << (64 - kOffsetBits);

/// Names an object of type T in some rank's shared segment. A value: copy it, send it, compare it.
/// Arithmetic moves within the same rank, as on a T*. Dereferencing is not offered: use
/// Context::rget, rput, or Context::local for one's own.
template <typename T>
class global_ptr {
  static_assert(std::is_trivially_copyable_v<T>, "global memory holds trivially copyable types");

 public:
  using element_type = T;  ///< what it points to

  /// The null pointer, equal to no pointer to an object.
  constexpr global_ptr() = default;
  /// The null pointer.
  constexpr global_ptr(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  /// A place in the segment of `rank`, `offset` bytes from its beginning. Ranks and offsets that 20
  /// and 44 bits do not hold become ones that no job has, so that the use of the pointer is out of
  /// bounds: rank kMaxRanks - 1, offset 2^43.
  constexpr global_ptr(rank_t rank, uint64_t offset)
      : word_((uint64_t{rank < kMaxRanks ? rank : kMaxRanks - 1} << kOffsetBits) |
              (offset + 1 <= kOffsetMask ? offset + 1 : kFarBytes + 1)) {}

  // NOLINTBEGIN(google-explicit-constructor)
  /// T* converts to const T*, and so does this.
  template <typename U>
  requires(std::is_same_v<const U, T> &&
           !std::is_const_v<U>) constexpr global_ptr(const global_ptr<U>& other)
      : word_(other.word()) {}
  // NOLINTEND(google-explicit-constructor)

  /// The rank whose segment holds the object. Undefined for null.
  constexpr rank_t where() const { return static_cast<rank_t>(word_ >> kOffsetBits); }
  /// Byte offset in that segment. Undefined for null.
  constexpr uint64_t offset() const { return (word_ & kOffsetMask) - 1; }
  constexpr bool is_null() const { return word_ == 0; }            ///< true for the null pointer
  constexpr explicit operator bool() const { return word_ != 0; }  ///< false for the null pointer
  constexpr uint64_t word() const { return word_; }  ///< all of it in a word, to be stored or sent
  /// The pointer of a word().
  static constexpr global_ptr from_word(uint64_t word) {
    global_ptr pointer;
    pointer.word_ = word;
    return pointer;
  }

  /// Goes on by n elements, and never to another rank. What leads below offset 0, or beyond the
  /// last one, wraps around: it names an offset that no segment has, so that its use is out of
  /// bounds there, and says how far. A step goes by 2^43 bytes at most, so that no value of n leads
  /// back into the segment. The null pointer stays null.
  constexpr global_ptr& operator+=(std::ptrdiff_t n) {
    if (word_ == 0) return *this;
    const uint64_t moved = word_ + static_cast<uint64_t>(step(n)) * sizeof(T);
    word_ = (word_ & ~kOffsetMask) | (moved & kOffsetMask);
    return *this;
  }
  /// Goes back by n elements, likewise.
  constexpr global_ptr& operator-=(std::ptrdiff_t n) { return *this += -step(n); }
  constexpr global_ptr& operator++() { return *this += 1; }   ///< goes to the next element
  constexpr global_ptr& operator--() { return *this += -1; }  ///< goes to the one before
  /// The pointer n elements further.
  friend constexpr global_ptr operator+(global_ptr p, std::ptrdiff_t n) { return p += n; }
  /// The pointer n elements back.
  friend constexpr global_ptr operator-(global_ptr p, std::ptrdiff_t n) { return p -= n; }
  /// Elements from b to a, rounded towards 0. Of pointers to two ranks: between their offsets, as
  /// if both were to one of them, which are those of symmetric memory.
  friend constexpr std::ptrdiff_t operator-(global_ptr a, global_ptr b) {
    // By the offsets alone, which may have wrapped around.
    constexpr int kRankBits = 64 - kOffsetBits;
    const auto bytes = static_cast<std::ptrdiff_t>((a.word_ - b.word_) << kRankBits) >> kRankBits;
    return bytes / static_cast<std::ptrdiff_t>(sizeof(T));
  }
  friend constexpr bool operator==(global_ptr, global_ptr) = default;  ///< the same rank and offset
  friend constexpr auto operator<=>(global_ptr, global_ptr) = default;  ///< by rank, then by offset

  /// The same place seen as another type.
  template <typename U>
  constexpr global_ptr<U> reinterpret() const {
    return is_null() ? global_ptr<U>() : global_ptr<U>(where(), offset());
  }

 private:
  static constexpr uint64_t kOffsetMask = (uint64_t{1} << kOffsetBits) - 1;
  static constexpr uint64_t kFarBytes = uint64_t{1} << (kOffsetBits - 1);  // beyond every segment

  static constexpr std::ptrdiff_t step(std::ptrdiff_t n) {
    constexpr auto kFar = static_cast<std::ptrdiff_t>(kFarBytes / sizeof(T));
    return n > kFar ? kFar : n < -kFar ? -kFar : n;
  }

  // Offset plus one, so that offset 0 of rank 0 differs from null.
  uint64_t word_ = 0;
};

}  // namespace stripline
