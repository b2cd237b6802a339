// Loops whose iterations are divided among the ranks by affinity (upc_forall of UPC).
//
//   forall(ctx, range(0, n), affinity(1, 0), [&](int64_t i) { ... });      // on rank i mod T
//   forall(ctx, range(0, n), owner_of(a), [&](int64_t i) { a.write(i, 0); });
//   forall(ctx, range(0, n / 2), owner_of(a, 2, 1), body);                 // where a[2 i + 1] is
//   forall(ctx, range(0, n), rank_by([&](int64_t i) { return table[i]; }), body);
//
//   forall(ctx, zip(a, b, c), [=](double& x, double y, double z) { x = y + alpha * z; });
//
// Each iteration is executed once, by the rank that the affinity names. All ranks call forall with
// the same arguments; it neither waits nor communicates, and has no barrier at its end. A rank
// executes its iterations in the order of the loop.
//
// Where the affinity is known to be linear no iteration is tested (Chen, Optimizing PGAS Programs
// for Cluster Architectures, 2007, section 4.3.1): a rank's iterations then have a constant
// distance, or, for block-cyclic arrays, a constant distance within each block; where all have one
// owner, the one test is before the loop. With zip() the body gets this rank's elements themselves,
// from a loop over plain pointers that compilers vectorise (section 4.3.2).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <stripline/context.h>
#include <stripline/layout.h>
#include <stripline/pointer_to_shared.h>
#include <stripline/shared_array.h>

namespace stripline {

/// for (i = lower; i < upper; i += step), or, for a negative step, while i > upper. A step of 0
/// ends the job when the loop is run.
struct index_range {
  int64_t lower = 0;  ///< the first iteration
  int64_t upper = 0;  ///< not reached
  int64_t step = 1;   ///< not 0

  /// The number of iterations; right for all bounds, though the last i + step may overflow.
  constexpr uint64_t count() const {
    const auto from = static_cast<uint64_t>(lower);
    const auto to = static_cast<uint64_t>(upper);
    if (step > 0) return lower < upper ? (to - from - 1) / static_cast<uint64_t>(step) + 1 : 0;
    if (step < 0)
      return lower > upper ? (from - to - 1) / (0 - static_cast<uint64_t>(step)) + 1 : 0;
    return 0;
  }
};
constexpr index_range range(int64_t lower, int64_t upper, int64_t step = 1) {
  return {lower, upper, step};
}

// --- affinities ----------------------------------------------------------------------------------

/// Iteration i belongs to rank (a i + b) mod T, for any integers, as if they could not overflow.
struct affine_affinity {
  int64_t a = 1;  ///< the factor of the iteration
  int64_t b = 0;  ///< what is added
};
constexpr affine_affinity affinity(int64_t a, int64_t b) { return {a, b}; }

/// Iteration i belongs to the owner of element a i + k of an array.
template <typename Distribution>
struct element_affinity {
  Distribution elements;  ///< the distribution of the array
  int64_t a = 1;          ///< the factor of the iteration
  int64_t k = 0;          ///< what is added
  int64_t bound = 0;      ///< elements in the array
};
/// For arrays an iteration of a non-existent element ends the job.
template <typename T, typename Layout, typename Ranks>
element_affinity<distribution<Layout, Ranks>> owner_of(const shared_array<T, Layout, Ranks>& array,
                                                       int64_t a = 1, int64_t k = 0) {
  return {array.distribution(), a, k, static_cast<int64_t>(array.size())};
}

/// Iteration i belongs to rank e(i) mod T, for an expression that only a call can tell.
template <typename Expression>
struct expression_affinity {
  Expression expression;  ///< called with the number of an iteration
};
template <std::invocable<int64_t> Expression>
expression_affinity<Expression> affinity_by(Expression expression) {
  return {std::move(expression)};
}

/// Iteration i belongs to rank r(i).
template <typename Expression>
struct rank_affinity {
  Expression expression;  ///< called with the number of an iteration, returns a rank
};
template <std::invocable<int64_t> Expression>
rank_affinity<Expression> rank_by(Expression expression) {
  return {std::move(expression)};
}

/// Every rank executes all iterations (`continue` as the affinity in UPC).
struct every_rank_t {};
inline constexpr every_rank_t every_rank;

/// A rank's iterations: first, first + stride, ...; `count` of them.
struct iterations {
  int64_t first = 0;   ///< the first one
  int64_t stride = 0;  ///< meaningful if count > 1
  uint64_t count = 0;  ///< how many there are
};

/// The iterations of rank `me` of `ranks`; O(log ranks). There is at least one rank, which is not
/// checked.
iterations iterations_of(const index_range& loop, const affine_affinity& affinity, rank_t ranks,
                         rank_t me);

namespace detail {

/// Ends the job for a loop of the call `name` that cannot be run.
void check_range(Context& context, const index_range& loop, const char* name, CallSite site);
/// The same for a loop with this body.
template <typename Body>
void check_loop(Context& context, const index_range& loop, const Body& body,
                const char* name = "forall", CallSite site = {}) {
  check_range(context, loop, name, site);
  check_callable(body, name, site);
}
/// The first element of a loop and the distance to the next; ends the job unless all elements are
/// within [0, bound).
struct ElementWalk {
  int64_t first = 0;
  int64_t step = 0;
};
ElementWalk walk_of(Context& context, const index_range& loop, int64_t a, int64_t k, int64_t bound);

/// Adds without caring about the overflow of sums that are not used.
constexpr int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t wrapping_multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// Consecutive iterations of one rank, counted from the loop's first as 0, 1, 2, ...
struct Run {
  uint64_t first = 0;
  uint64_t count = 0;
};

/// Calls visit(Run) for the runs of a walk's `count` elements that are on rank `me`, in their
/// order.
template <typename Distribution, typename Visit>
void for_each_run(const Distribution& elements, rank_t me, const ElementWalk& walk, uint64_t count,
                  Visit visit) {
  const auto element = [&walk](uint64_t j) {
    return static_cast<uint64_t>(walk.first + walk.step * static_cast<int64_t>(j));
  };
  const uint64_t block = elements.layout.block();
  const uint64_t ranks = elements.ranks.count();
  const auto stride = static_cast<uint64_t>(walk.step < 0 ? -walk.step : walk.step);
  if (stride == 0) {
    if (elements.affinity(element(0)) == me) visit(Run{0, count});
    return;
  }
  if (stride / ranks >= block) {  // in most rounds no element is visited
    for (uint64_t j = 0; j < count; ++j) {
      if (elements.affinity(element(j)) == me) visit(Run{j, 1});
    }
    return;
  }
  const uint64_t first_block = element(0) / block;
  const uint64_t last_block = element(count - 1) / block;
  // Blocks from this rank's first on, in the direction of the walk. Within a block of elements
  // [low, low + block) are the iterations [begin, end).
  if (walk.step > 0) {
    for (uint64_t b = first_block + (me + ranks - first_block % ranks) % ranks; b <= last_block;
         b += ranks) {
      const uint64_t low = b * block;
      const uint64_t begin = low <= element(0) ? 0 : (low - element(0) - 1) / stride + 1;
      const uint64_t left = low + block - 1 - element(0);
      const uint64_t end = std::min(count, left / stride + 1);
      if (begin < end) visit(Run{begin, end - begin});
    }
  } else {
    const uint64_t skipped = (first_block % ranks + ranks - me) % ranks;
    for (uint64_t done = skipped; done <= first_block - last_block; done += ranks) {
      const uint64_t low = (first_block - done) * block;
      const uint64_t high = low + block - 1;
      const uint64_t begin = high >= element(0) ? 0 : (element(0) - high - 1) / stride + 1;
      const uint64_t end = std::min(count, (element(0) - low) / stride + 1);
      if (begin < end) visit(Run{begin, end - begin});
    }
  }
}

template <typename Body>
void run_iterations(const iterations& mine, Body& body) {
  int64_t i = mine.first;
  for (uint64_t left = mine.count; left > 0; --left) {
    body(i);
    i = wrapping_add(i, mine.stride);
  }
}

template <typename Distribution>
inline constexpr bool kIsIndefinite = false;
template <typename Ranks>
inline constexpr bool kIsIndefinite<distribution<indefinite, Ranks>> = true;
template <typename Distribution>
inline constexpr bool kIsCyclic = false;
template <typename Ranks>
inline constexpr bool kIsCyclic<distribution<cyclic, Ranks>> = true;

}  // namespace detail

/// The owner of p[a i + k], for a pointer into an array of this distribution. An element that would
/// lie before the beginning of the segment ends the job, as any does of a null pointer.
template <typename T, typename Layout, typename Ranks, pointer_form Form>
element_affinity<distribution<Layout, Ranks>> owner_of(
    const pointer_to_shared<T, Layout, Ranks, Form>& p, const distribution<Layout, Ranks>& elements,
    int64_t a = 1, int64_t k = 0) {
  // Owners are those in an array that begins with the segment: it has as many whole rounds before
  // the pointer as there is room for, which changes no one's turn.
  element_affinity<distribution<Layout, Ranks>> affinity{
      elements, a, k, p.is_null() ? 0 : std::numeric_limits<int64_t>::max()};
  const uint64_t row = p.offset() / sizeof(T) - p.phase();
  uint64_t start = row;
  if constexpr (detail::kIsIndefinite<distribution<Layout, Ranks>>) {
    affinity.elements.layout.owner = p.where();
  } else {
    const uint64_t block = elements.layout.block();
    start = (row / block * elements.ranks.count() + p.where()) * block + p.phase();
  }
  affinity.k = detail::wrapping_add(k, static_cast<int64_t>(start));
  return affinity;
}

// --- loops by index ------------------------------------------------------------------------------

template <std::invocable<int64_t> Body>
void forall(Context& context, const index_range& loop, const affine_affinity& affinity, Body body) {
  detail::check_loop(context, loop, body);
  detail::run_iterations(iterations_of(loop, affinity, context.rank_n(), context.rank_me()), body);
}

template <typename Distribution, std::invocable<int64_t> Body>
void forall(Context& context, const index_range& loop,
            const element_affinity<Distribution>& affinity, Body body) {
  detail::check_loop(context, loop, body);
  if (loop.count() == 0) return;
  const detail::ElementWalk walk =
      detail::walk_of(context, loop, affinity.a, affinity.k, affinity.bound);
  const rank_t me = context.rank_me();
  if constexpr (detail::kIsIndefinite<Distribution>) {
    if (affinity.elements.layout.owner != me) return;
    detail::run_iterations({loop.lower, loop.step, loop.count()}, body);
  } else if constexpr (detail::kIsCyclic<Distribution>) {
    detail::run_iterations(iterations_of(loop, {affinity.a, affinity.k}, context.rank_n(), me),
                           body);
  } else {
    detail::for_each_run(affinity.elements, me, walk, loop.count(), [&](const detail::Run& run) {
      const int64_t skipped = detail::wrapping_multiply(static_cast<int64_t>(run.first), loop.step);
      detail::run_iterations({detail::wrapping_add(loop.lower, skipped), loop.step, run.count},
                             body);
    });
  }
}

template <typename Expression, std::invocable<int64_t> Body>
void forall(Context& context, const index_range& loop,
            const expression_affinity<Expression>& affinity, Body body) {
  detail::check_callable(affinity.expression, "affinity_by", {});
  const rank_t ranks = context.rank_n();
  forall(context, loop, rank_by([&affinity, ranks](int64_t i) {
           return detail::floor_divide<0>(affinity.expression(i), ranks).remainder;
         }),
         std::move(body));
}

template <typename Expression, std::invocable<int64_t> Body>
void forall(Context& context, const index_range& loop, const rank_affinity<Expression>& affinity,
            Body body) {
  detail::check_callable(affinity.expression, "rank_by", {});
  detail::check_loop(context, loop, body);
  const rank_t me = context.rank_me();
  const auto test_and_run = [&](int64_t i) {
    if (affinity.expression(i) == me) body(i);
  };
  detail::run_iterations({loop.lower, loop.step, loop.count()}, test_and_run);
}

template <std::invocable<int64_t> Body>
void forall(Context& context, const index_range& loop, every_rank_t /*affinity*/, Body body) {
  detail::check_loop(context, loop, body);
  detail::run_iterations({loop.lower, loop.step, loop.count()}, body);
}

// --- loops over the elements of arrays -----------------------------------------------------------

/// Arrays of one distribution, to be walked through together; zip() makes it.
template <typename Distribution, typename... T>
struct zipped {
  Distribution elements;    ///< the distribution of all of them
  int64_t size = 0;         ///< the elements of each
  std::tuple<T*...> local;  ///< this rank's parts
  bool agree = true;        ///< on distribution and size
};
template <typename T, typename Layout, typename Ranks, typename... More>
zipped<distribution<Layout, Ranks>, T, More...> zip(
    const shared_array<T, Layout, Ranks>& array, const shared_array<More, Layout, Ranks>&... more) {
  return {array.distribution(),
          static_cast<int64_t>(array.size()),
          {array.local_span().data(), more.local_span().data()...},
          ((more.distribution() == array.distribution() && more.size() == array.size()) && ...)};
}

namespace detail {

[[noreturn]] void fail_zipped(Context& context);

/// One loop over plain pointers. Iteration k is of index first + k index_step, and of the place
/// `place` + k step.
template <typename Body, typename... T>
void run_elements(const std::tuple<T*...>& local, uint64_t count, int64_t first, int64_t index_step,
                  int64_t position, int64_t step, Body& body) {
  const auto loop = [&](T*... p) {
    const auto call = [&body](int64_t index, T&... element) {
      if constexpr (std::is_invocable_v<Body&, T&...>) {
        body(element...);
      } else {
        body(index, element...);
      }
    };
    if (step == 1) {
      for (uint64_t k = 0; k < count; ++k) {
        call(wrapping_add(first, wrapping_multiply(static_cast<int64_t>(k), index_step)), p[k]...);
      }
    } else {
      for (int64_t k = 0; k < static_cast<int64_t>(count); ++k) {
        call(wrapping_add(first, wrapping_multiply(k, index_step)), p[k * step]...);
      }
    }
  };
  std::apply([&](T*... p) { loop(p + position...); }, local);
}

/// forall over the elements of any loop. Apart from the loop of unit step, which must have the
/// registers for itself.
template <typename Distribution, typename... T, typename Body>
[[gnu::noinline]] void forall_elements(Context& context, const index_range& loop,
                                       const zipped<Distribution, T...>& arrays, Body body) {
  check_range(context, loop, "forall", {});
  const uint64_t count = loop.count();
  if (count == 0) return;
  const ElementWalk walk = walk_of(context, loop, 1, 0, arrays.size);
  const rank_t me = context.rank_me();
  const Distribution& elements = arrays.elements;
  if constexpr (kIsIndefinite<Distribution>) {
    if (elements.layout.owner != me) return;
    run_elements(arrays.local, count, loop.lower, loop.step, loop.lower, loop.step, body);
  } else if constexpr (kIsCyclic<Distribution>) {
    const iterations mine = iterations_of(loop, {1, 0}, context.rank_n(), me);
    if (mine.count == 0) return;
    // The distance is a whole number of rounds.
    const int64_t step = mine.count > 1 ? mine.stride / static_cast<int64_t>(context.rank_n()) : 1;
    const auto position = elements.locate(static_cast<uint64_t>(mine.first)).index;
    run_elements(arrays.local, mine.count, mine.first, mine.stride, static_cast<int64_t>(position),
                 step, body);
  } else {
    for_each_run(elements, me, walk, count, [&](const Run& run) {
      const int64_t first = loop.lower + loop.step * static_cast<int64_t>(run.first);
      const auto position = elements.locate(static_cast<uint64_t>(first)).index;
      run_elements(arrays.local, run.count, first, loop.step, static_cast<int64_t>(position),
                   loop.step, body);
    });
  }
}

}  // namespace detail

/// The iterations whose elements are this rank's own: the body gets references to element i of
/// every array, or i and the references. An iteration of a non-existent element, or arrays of
/// different size, block or owner, end the job.
template <typename Distribution, typename... T, typename Body>
requires(std::is_invocable_v<Body&, T&...> ||
         std::is_invocable_v<Body&, int64_t, T&...>) void forall(Context& context,
                                                                 const index_range& loop,
                                                                 const zipped<Distribution, T...>&
                                                                     arrays,
                                                                 Body body) {
  detail::check_callable(body, "forall", {});
  if (!arrays.agree) detail::fail_zipped(context);
  if constexpr (std::is_invocable_v<Body&, T&...>) {
    if (loop.step == 1 && loop.lower >= 0 && loop.lower < loop.upper && loop.upper <= arrays.size) {
      // What a rank has of a range lies together, whatever the layout.
      const Distribution& elements = arrays.elements;
      const uint64_t begin =
          elements.count_below(static_cast<uint64_t>(loop.lower), context.rank_me());
      const uint64_t end =
          elements.count_below(static_cast<uint64_t>(loop.upper), context.rank_me());
      std::apply(
          [&body, begin, count = end - begin](T*... part) {
            const auto unit = [&body, count](T*... p) {
              for (uint64_t k = 0; k < count; ++k) body(p[k]...);
            };
            unit(part + begin...);
          },
          arrays.local);
      return;
    }
  }
  detail::forall_elements(context, loop, arrays, std::move(body));
}
/// All elements.
template <typename Distribution, typename... T, typename Body>
requires(std::is_invocable_v<Body&, T&...> ||
         std::is_invocable_v<Body&, int64_t, T&...>) void forall(Context& context,
                                                                 const zipped<Distribution, T...>&
                                                                     arrays,
                                                                 Body body) {
  forall(context, range(0, arrays.size), arrays, std::move(body));
}

}  // namespace stripline
