// Loop nests over remote data, written as what they say: how far the loops go, which elements an
// iteration uses, and what it does with them.
//
//   // y[i] += a[i][j] * x[j], for all i and j; a and x belong to another rank.
//   const auto [i, j] = stripline::loop_indices<2>();
//   stripline::for_nest(ctx, {rows, columns},
//                       [](const double& a, const double& x, double& y) { y += a * x; },
//                       stripline::read(matrix, i * columns + j), stripline::read(x, j),
//                       stripline::update(y, i));
//
// The runtime finds out which bytes the nest needs, cuts it where the tuned model says that pays,
// moves what the parts need while others are computed on, and runs the body on buffers, or in place
// where loads and stores reach the data. What it decides is a NestPlan (optimizer/plan/nest.h).
//
// Meaning. As if the loops were written out, each iteration reading its elements, running the body
// and writing them, except that nothing is said about when remote memory is read or written in
// between: other ranks neither change what the nest reads, nor look at what it writes, until
// for_nest() has returned and they have synchronised with this rank. Where an iteration uses what
// an earlier one wrote, or it cannot be found out whether it does, the nest is carried out access
// by access, in order; the plan says why (NestPlan::obstacle).
//
// The body gets a reference for each access, in their order: `const T&` for read(), `T&` for
// write(), whose old value is not defined, and update(). If it can be called with the iteration
// numbers first, as std::array<size_t, Loops>, it gets these, too. It may communicate. It must not
// keep the references. Loops that do not begin at 0, or leave iterations out, are ranges:
// {{1, rows - 1}, {0, columns, 2}}. If the body throws, what is in flight is waited for, and the
// exception goes on; of what the iterations until then have written some may have been stored, and
// some not.
//
// Cost: no allocation once a nest was carried out with these counts and strides; the analysis of a
// nest is found again by its place and shape. Threads: as Context.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <stripline/call_site.h>
#include <stripline/context.h>
#include <stripline/global_ptr.h>
#include <stripline/loop_index.h>

#include "optimizer/access/nest.h"
#include "optimizer/access/saturate.h"
#include "optimizer/cost/compute_costs.h"
#include "optimizer/plan/nest.h"

namespace stripline {

/// What was decided for a nest.
using NestPlan = plan::NestPlan;

/// What is known of a nest beside what it says.
struct NestOptions {
  cost::LoopClass loop;    ///< operations of an iteration beside its first reference
  double compute_s = -1;   ///< computation of all iterations, if known, as that of LoopOptions
  size_t local_bytes = 0;  ///< footprint of the body's own references; 0: in cache
  bool alone = false;      ///< as that of LoopOptions
  /// Limit of the buffers of this nest, within what the pool of all has (Options).
  size_t max_buffer_bytes = size_t{64} << 20;
  uint64_t site = 0;       ///< tells nests apart; 0: the place of the call
  bool use_model = true;   ///< false: as if there were no model
  bool self_check = true;  ///< as that of LoopOptions
  /// As that of LoopOptions, for accesses that only read. What moves from step to step is kept
  /// where it is contiguous and steps do not share elements, else only by a nest of one step.
  std::optional<bool> data_cache{};
  /// Run this decomposition, for measurements; adjusted to what nest and buffers allow.
  std::optional<plan::NestCandidate> force;
};

/// An access of a nest: the elements that its iterations use of an array.
template <typename T, access::Mode kMode, typename Index>
struct NestAccess {
  static constexpr access::Mode mode = kMode;  ///< read, written or both
  using Element = T;                           ///< of the array
  using Expression = Index;                    ///< of the index
  /// What the body gets.
  using Reference = std::conditional_t<kMode == access::Mode::read, const T&, T&>;
  global_ptr<T> array;  ///< what is accessed
  Index index;          ///< which element, by iteration
  // The array is distributed, and its pieces stand for `array`.
  bool in_pieces = false;                   ///< the array lies in pieces, one chosen by a loop
  uint32_t piece_loop = 0;                  ///< the loop that chooses the piece
  std::span<const access::Piece> pieces{};  ///< the pieces
};

/// A piece of a distributed array, chosen by one of `Loops` loops.
template <typename T, size_t Loops>
struct ChosenPiece {
  uint32_t loop = 0;                      ///< the loop whose index chooses the piece
  std::span<const access::Piece> pieces;  ///< of iterations 0, 1, ...
};

/// An array in pieces, which belong to several ranks or lie apart. With the index of a loop in
/// brackets it stands where else a global_ptr does, and iteration k uses the k-th piece:
///
///   // Every rank's block of n elements, one after another.
///   const stripline::PieceArray<double> blocks(pointers);
///   const auto [r, i] = stripline::loop_indices<2>();
///   for_nest(ctx, {ranks, n}, body, stripline::read(blocks[r], i));
///
/// Steps of the nest are within a piece each, so that the loop which chooses pieces should be an
/// outer one. Must live until the nest is over.
template <typename T>
class PieceArray {
 public:
  /// Where the pieces begin. The span is not kept.
  explicit PieceArray(std::span<const global_ptr<T>> pieces, CallSite site = CallSite::current()) {
    if (pieces.data() == nullptr && !pieces.empty()) {
      detail::fail_null("PieceArray", pieces.size(), site);
    }
    pieces_.reserve(pieces.size());
    for (const global_ptr<T>& piece : pieces) {
      pieces_.push_back({piece.where(), static_cast<int64_t>(piece.offset())});
    }
  }

  /// The piece that the index of one loop chooses, plus a constant.
  template <Coefficient... Known>
  ChosenPiece<T, sizeof...(Known)> operator[](const IndexExpression<Known...>& index) const {
    static_assert(((Known == Coefficient::one ? 1 : 0) + ...) == 1 &&
                      ((Known == Coefficient::any ? 1 : 0) + ...) == 0,
                  "a piece is chosen by the index of one loop, and a constant");
    uint32_t loop = 0;
    while (index.kKnown[loop] != Coefficient::one) ++loop;
    const auto first = static_cast<uint64_t>(index.constant);
    if (first >= pieces_.size()) return {loop, {}};
    return {loop, std::span(pieces_).subspan(first)};
  }

 private:
  std::vector<access::Piece> pieces_;
};

/// Each iteration reads `array[index]`.
template <typename T, Coefficient... Known>
auto read(global_ptr<T> array, const IndexExpression<Known...>& index) {
  return NestAccess<std::remove_const_t<T>, access::Mode::read, IndexExpression<Known...>>{
      global_ptr<std::remove_const_t<T>>(array.where(), array.offset()), index};
}
/// Each iteration sets `array[index]`.
template <typename T, Coefficient... Known>
auto write(global_ptr<T> array, const IndexExpression<Known...>& index) {
  return NestAccess<T, access::Mode::write, IndexExpression<Known...>>{array, index};
}
/// Each iteration reads and sets `array[index]`.
template <typename T, Coefficient... Known>
auto update(global_ptr<T> array, const IndexExpression<Known...>& index) {
  return NestAccess<T, access::Mode::update, IndexExpression<Known...>>{array, index};
}

/// The same of the piece that the loop chooses.
template <typename T, Coefficient... Known>
auto read(const ChosenPiece<T, sizeof...(Known)>& piece, const IndexExpression<Known...>& index) {
  return NestAccess<std::remove_const_t<T>, access::Mode::read, IndexExpression<Known...>>{
      {}, index, true, piece.loop, piece.pieces};
}
template <typename T, Coefficient... Known>
auto write(const ChosenPiece<T, sizeof...(Known)>& piece, const IndexExpression<Known...>& index) {
  return NestAccess<T, access::Mode::write, IndexExpression<Known...>>{
      {}, index, true, piece.loop, piece.pieces};
}
template <typename T, Coefficient... Known>
auto update(const ChosenPiece<T, sizeof...(Known)>& piece, const IndexExpression<Known...>& index) {
  return NestAccess<T, access::Mode::update, IndexExpression<Known...>>{
      {}, index, true, piece.loop, piece.pieces};
}

/// The iterations of a loop: begin, begin + step, and so on, below end. `step` is not 0.
struct LoopRange {
  size_t begin = 0;  ///< the first iteration
  size_t end = 0;    ///< not reached
  size_t step = 1;   ///< not 0
  /// The number of iterations.
  constexpr size_t count() const { return end > begin ? (end - begin - 1) / step + 1 : 0; }
};

namespace detail {

class NestEngine;

/// Iterations to compute on next: `count` of the loop of the cut, all of those inside of it.
struct NestTile {
  uint32_t cut_loop = 0;
  uint64_t count = 0;
  /// Iteration numbers with which it begins; 0 for loops inside of the cut.
  std::array<uint64_t, access::kMaxDepth> first{};
  /// For each access, the element of the first iteration, and how far each loop moves it.
  std::array<std::byte*, access::kMaxReferences> element{};
  std::array<std::array<int64_t, access::kMaxDepth>, access::kMaxReferences> stride_bytes{};
};

/// One execution of a nest. Not inlined: what the compiler sees of a nest is the body alone.
class NestRun {
 public:
  NestRun(Context& context, const access::Nest& nest, const NestOptions& options, CallSite site);
  /// Waits for everything that is in flight.
  ~NestRun();
  NestRun(const NestRun&) = delete;
  NestRun& operator=(const NestRun&) = delete;

  /// The next tile, or null at the end, when all that was written is visible at its target.
  const NestTile* next();
  const NestPlan& plan() const;

 private:
  void declare_iteration(const access::Nest& nest, const cost::LoopClass& loop);

  Context& context_;
  NestEngine& engine_;
  Work iteration_;  // of the body, where somebody counts it
};

/// Runs the body over a tile.
template <size_t Loops, typename Body, typename... Accesses>
class TileLoop {
 public:
  static constexpr size_t kAccesses = sizeof...(Accesses);
  using Pointers = std::array<std::byte*, kAccesses>;

  TileLoop(const NestTile& tile, const std::array<uint64_t, access::kMaxDepth>& counts, Body& body)
      : tile_(tile), body_(body) {
    for (size_t loop = 0; loop < Loops; ++loop) {
      begin_[loop] = tile.first[loop];
      count_[loop] = loop < tile.cut_loop ? 1 : loop == tile.cut_loop ? tile.count : counts[loop];
    }
  }

  void run() {
    Pointers at;
    for (size_t a = 0; a < kAccesses; ++a) at[a] = tile_.element[a];
    if (strides_are_as_known(std::index_sequence_for<Accesses...>{})) {
      loop<0, true>(at);
    } else {
      loop<0, false>(at);
    }
  }

 private:
  static constexpr size_t kInner = Loops - 1;
  using Index = std::array<size_t, Loops>;

  template <size_t A>
  using Access = std::tuple_element_t<A, std::tuple<Accesses...>>;
  template <size_t A>
  static constexpr Coefficient kKnown = Access<A>::Expression::kKnown[kInner];

  // True if what the expressions say of the innermost loop holds of the tile, as it does but for
  // arrays that are merged with others of larger elements.
  template <size_t... A>
  bool strides_are_as_known(std::index_sequence<A...>) const {
    return ((kKnown<A> == Coefficient::any ||
             tile_.stride_bytes[A][kInner] ==
                 (kKnown<A> == Coefficient::one
                      ? static_cast<int64_t>(sizeof(typename Access<A>::Element))
                      : 0)) &&
            ...);
  }

  template <size_t Loop, bool Known>
  void loop(Pointers at) {
    if constexpr (Loop == kInner) {
      innermost<Known>(at, std::index_sequence_for<Accesses...>{});
    } else {
      for (uint64_t i = 0; i < count_[Loop]; ++i) {
        index_[Loop] = begin_[Loop] + i;
        loop<Loop + 1, Known>(at);
        for (size_t a = 0; a < kAccesses; ++a) at[a] += tile_.stride_bytes[a][Loop];
      }
    }
  }

  template <bool Known, size_t... A>
  void innermost(const Pointers& at, std::index_sequence<A...> all) {
    std::tuple<Cell<A, Known>...> cells{Cell<A, Known>(at[A], tile_.stride_bytes[A][kInner])...};
    const uint64_t count = count_[kInner];
    for (uint64_t i = 0; i < count; ++i) call(begin_[kInner] + i, i, cells, all);
    (std::get<A>(cells).finish(), ...);
  }

  template <typename Cells, size_t... A>
  void call(size_t number, uint64_t i, Cells& cells, std::index_sequence<A...>) {
    if constexpr (std::is_invocable_v<Body&, const Index&, typename Accesses::Reference...>) {
      index_[kInner] = number;
      body_(std::as_const(index_), std::get<A>(cells).at(i)...);
    } else {
      body_(std::get<A>(cells).at(i)...);
    }
    (std::get<A>(cells).set(i), ...);
  }

  // The elements of one access over the innermost loop. What stays the same is kept in a local
  // variable, which the compiler can hold in a register.
  template <size_t A, bool Known>
  class Cell {
    using T = typename Access<A>::Element;
    static constexpr bool kSame = Known && kKnown<A> == Coefficient::zero;
    static constexpr bool kNeighbours = Known && kKnown<A> == Coefficient::one;
    static constexpr bool kSets = Access<A>::mode == access::Mode::write;

   public:
    Cell(std::byte* first, int64_t stride_bytes)
        : first_(reinterpret_cast<T*>(first)), stride_bytes_(stride_bytes) {
      if constexpr (kSame && Access<A>::mode != access::Mode::write) value_ = *first_;
    }
    T& at(uint64_t i) {
      if constexpr (kSame || kSets) {
        return value_;
      } else {
        return element(i);
      }
    }
    // After the body: what it sets may be in the place of what it reads.
    void set(uint64_t i) {
      if constexpr (kSets && !kSame) element(i) = value_;
    }
    void finish() {
      if constexpr (kSame && Access<A>::mode != access::Mode::read) *first_ = value_;
    }

   private:
    T& element(uint64_t i) {
      if constexpr (kSame) {
        return *first_;
      } else if constexpr (kNeighbours) {
        return first_[i];
      } else {
        return *reinterpret_cast<T*>(reinterpret_cast<std::byte*>(first_) +
                                     static_cast<int64_t>(i) * stride_bytes_);
      }
    }

    T* first_;
    int64_t stride_bytes_;
    std::conditional_t<kSame || kSets, T, std::byte> value_{};
  };

  const NestTile& tile_;
  Body& body_;
  Index begin_{};
  Index count_{};
  Index index_{};
};

/// Ends the job: a nest that cannot be, of which `what` says what would have to hold.
[[noreturn]] void fail_nest(Context& context, CallSite site, const char* what);
/// Ends the job: a distributed array has fewer pieces than the loop that chooses them iterations.
[[noreturn]] void fail_for_pieces(Context& context, CallSite site, size_t pieces,
                                  size_t iterations);

template <typename Access>
access::Reference reference_of(Context& context, const access::Nest& nest, const Access& access,
                               CallSite site = {}) {
  using T = typename Access::Element;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  access::Reference reference{.mode = Access::mode, .element_bytes = static_cast<uint32_t>(kBytes)};
  reference.base = access::saturating_multiply(access.index.constant, kBytes);
  if (access.in_pieces) {
    const size_t iterations = nest.counts[access.piece_loop];
    if (access.pieces.size() < iterations) {
      fail_for_pieces(context, site, access.pieces.size(), iterations);
    }
    reference.pieces = access.pieces;
    reference.piece_loop = access.piece_loop;
  } else {
    // From where nothing is, an index may lead into the segment.
    if (access.array.is_null()) fail_nest(context, site, "an array is not at a null pointer");
    reference.owner = access.array.where();
    reference.base =
        access::saturating_add(reference.base, static_cast<int64_t>(access.array.offset()));
  }
  for (size_t loop = 0; loop < Access::Expression::kLoops; ++loop) {
    reference.stride_bytes[loop] =
        access::saturating_multiply(access.index.coefficients[loop], kBytes);
  }
  return reference;
}

/// The access of a nest whose loops count from 0, by ones.
template <size_t Loops, typename Access>
Access counted(Context& context, CallSite site,
               const LoopRange (&ranges)[Loops],  // NOLINT(*-c-arrays)
               Access access) {
  static_assert(Access::Expression::kLoops == Loops,
                "an index expression is of as many loops as the nest");
  if (access.in_pieces) {
    const LoopRange& range = ranges[access.piece_loop];
    if (range.step != 1) fail_nest(context, site, "a loop that chooses pieces goes by ones");
    access.pieces = range.begin < access.pieces.size() ? access.pieces.subspan(range.begin)
                                                       : std::span<const access::Piece>();
  }
  for (size_t loop = 0; loop < Loops; ++loop) {
    int64_t& coefficient = access.index.coefficients[loop];
    access.index.constant = access::saturating_add(
        access.index.constant,
        access::saturating_multiply(coefficient, static_cast<int64_t>(ranges[loop].begin)));
    coefficient = access::saturating_multiply(coefficient, static_cast<int64_t>(ranges[loop].step));
  }
  return access;
}

template <typename T>
struct IsNestAccess : std::false_type {};
template <typename T, access::Mode kMode, typename Index>
struct IsNestAccess<NestAccess<T, kMode, Index>> : std::true_type {};

}  // namespace detail

template <typename T>
concept NestArgument = detail::IsNestAccess<T>::value;

/// The context of a nest, and the place of the call.
struct NestPlace {
  Context& context;  ///< that runs the nest
  CallSite site;     ///< the place of the call
  /// Implicit, so that calls take a Context.
  NestPlace(Context& of, CallSite called = CallSite::current())  // NOLINT(*-explicit-*)
      : context(of), site(called) {}
};

/// Runs `body` for all iterations of loops of `counts` iterations each, the outermost first, on the
/// elements that `accesses` name. Returns what was decided. Ends the job for elements outside of
/// the owner's segment.
template <size_t Loops, typename Body, NestArgument... Accesses>
NestPlan for_nest(NestPlace place, const size_t (&counts)[Loops],  // NOLINT(*-c-arrays)
                  const NestOptions& options, Body&& body, const Accesses&... accesses) {
  static_assert(Loops >= 1 && Loops <= access::kMaxDepth, "1 to 6 loops");
  static_assert(sizeof...(Accesses) >= 1 && sizeof...(Accesses) <= access::kMaxReferences,
                "1 to 12 accesses");
  static_assert(((Accesses::Expression::kLoops == Loops) && ...),
                "an index expression is of as many loops as the nest");
  static_assert((std::is_trivially_copyable_v<typename Accesses::Element> && ...));
  detail::check_callable(body, "for_nest", place.site);
  access::Nest nest;
  for (const size_t count : counts) {
    if (count == 0) return {};
    nest.add_loop(count);
  }
  (nest.add(detail::reference_of(place.context, nest, accesses, place.site)), ...);
  detail::NestRun run(place.context, nest, options, place.site);
  while (const detail::NestTile* tile = run.next()) {
    detail::TileLoop<Loops, std::remove_reference_t<Body>, Accesses...>(*tile, nest.counts, body)
        .run();
  }
  return run.plan();
}
template <size_t Loops, typename Body, NestArgument... Accesses>
NestPlan for_nest(NestPlace place, const size_t (&counts)[Loops],  // NOLINT(*-c-arrays)
                  Body&& body, const Accesses&... accesses) {
  static constexpr NestOptions kNothingKnown;
  return for_nest(place, counts, kNothingKnown, std::forward<Body>(body), accesses...);
}

/// The same over ranges, as in for_nest(ctx, {{1, rows - 1}, {0, columns, 2}}, ...): the indices in
/// the accesses, and the iteration numbers that the body gets, are those of the ranges.
template <size_t Loops, typename Body, NestArgument... Accesses>
NestPlan for_nest(NestPlace place, const LoopRange (&ranges)[Loops],  // NOLINT(*-c-arrays)
                  const NestOptions& options, Body&& body, const Accesses&... accesses) {
  using Index = std::array<size_t, Loops>;
  size_t counts[Loops];  // NOLINT(*-c-arrays)
  detail::check_callable(body, "for_nest", place.site);
  for (size_t loop = 0; loop < Loops; ++loop) {
    if (ranges[loop].step == 0) {
      detail::fail_nest(place.context, place.site, "a loop's step is not 0");
    }
    counts[loop] = ranges[loop].count();
  }
  if constexpr (std::is_invocable_v<Body&, const Index&, typename Accesses::Reference...>) {
    const auto at_index = [&](const Index& iteration, typename Accesses::Reference... elements) {
      Index index;
      for (size_t loop = 0; loop < Loops; ++loop) {
        index[loop] = ranges[loop].begin + iteration[loop] * ranges[loop].step;
      }
      body(std::as_const(index), elements...);
    };
    return for_nest(place, counts, options, at_index,
                    detail::counted(place.context, place.site, ranges, accesses)...);
  } else {
    return for_nest(place, counts, options, std::forward<Body>(body),
                    detail::counted(place.context, place.site, ranges, accesses)...);
  }
}
template <size_t Loops, typename Body, NestArgument... Accesses>
NestPlan for_nest(NestPlace place, const LoopRange (&ranges)[Loops],  // NOLINT(*-c-arrays)
                  Body&& body, const Accesses&... accesses) {
  static constexpr NestOptions kNothingKnown;
  return for_nest(place, ranges, kNothingKnown, std::forward<Body>(body), accesses...);
}

}  // namespace stripline
