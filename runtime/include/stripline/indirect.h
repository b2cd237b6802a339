// Loops that read elements of distributed arrays through an index, a[b[i]], each of them once or a
// few times:
//
//   stripline::for_each_indirect(ctx, stripline::range(0, n),
//                                [&](int64_t i, double x) { sum += weight[i] * x; },
//                                stripline::read(a, b));              // x is a[b[i]]
//
// is the loop `for (i...) sum += weight[i] * a.read(b[i])`, but that the elements of a block of
// iterations are fetched together, each once, while the block before is computed. How long blocks
// are, or whether the loop goes one by one, is decided by the tuned model (docs/indirect.md). Where
// the same elements are read in every iteration of a solver, a GatherPlan (<stripline/gather.h>)
// finds out once who needs what.
//
// A read is read(array, index), where `index` is a span, vector or array with an entry for each
// iteration, or a function of the iteration that has no side effects; it may be called more than
// once for an iteration. There may be several reads, of several arrays; their values are handed to
// the body in their order. Of elements that are structs, the members that the body uses can be
// named: read(bodies, b, &Body::x, &Body::mass), which hands over each of them, and fetches no more
// of an element than what lies around them. modify(array, index) hands over a T&, which is written
// back.
//
// What the loop may read: elements do not change while it runs, neither by other ranks nor by this
// one, but through modify() of the loop itself, which later iterations see. So there is a barrier,
// or what else orders, between storing to elements of other ranks and the loop. Two reads of one
// iteration may name the same element; where one of them modifies it, what the other one sees is
// not specified.
//
// No call is collective: each rank goes through its own range, or through none. Packed transfers
// are served by the owner, wherever it makes progress.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <stripline/call_site.h>
#include <stripline/context.h>
#include <stripline/forall.h>
#include <stripline/gather.h>
#include <stripline/shared_array.h>

namespace stripline {

/// How a loop through an index is carried out.
struct IndirectOptions {
  /// Iterations may be gone through in any order: ranks begin at different ones, so that not all
  /// read the elements of the same rank at the same time. False: in order.
  bool any_order = false;
  bool use_model = true;  ///< false: as if there were no model
  /// For measurements: iterations of a block; 0: one by one.
  std::optional<uint64_t> block;
  /// True if what the model decides is now and then compared with what is done without one, and
  /// given up where that is faster (Options::guard). False for measurements of plans.
  bool self_check = true;
};

/// What a loop goes through, and where it stands in the program.
struct IndirectRange {
  index_range loop;  ///< the iterations
  CallSite site;     ///< the place of the call
  // Implicit, so that a range can be passed and the place of the call is known.
  /// From range(), at the place of the call.
  IndirectRange(const index_range& range, CallSite place = CallSite::current())  // NOLINT
      : loop(range), site(place) {}
};

namespace detail {

/// An array that a loop reads, without its type.
struct IndirectArray {
  uint64_t offset = 0;      ///< of everybody's part, in the segment
  uint64_t unit_bytes = 0;  ///< what is fetched at a time, of which elements are a multiple
  uint64_t part_bytes = 0;  ///< of the rank that has most
  friend bool operator==(const IndirectArray&, const IndirectArray&) = default;
};

/// What a block reads of other ranks' elements of an array.
struct IndirectReads {
  std::vector<GatherPlace> places;  // in units
  std::vector<uint32_t> positions;  // beside them: which pointer of the block
};

/// A loop that is being carried out: collect(), add() and fetch() are one block ahead of arrive()
/// and leave().
class IndirectLoop {
 public:
  struct Shape {
    std::span<const IndirectArray> arrays;
    std::span<const bool> modified;  ///< beside them
    uint64_t iterations = 0;
    uint32_t reads = 0;  ///< of an iteration
  };
  IndirectLoop(Context& context, const Shape& shape, const IndirectOptions& options, CallSite site);
  ~IndirectLoop();
  IndirectLoop(const IndirectLoop&) = delete;
  IndirectLoop& operator=(const IndirectLoop&) = delete;

  /// True if the plan depends on what the loop reads: some iterations are to be added, and
  /// plan_by_sample() called with how many reads they were.
  bool wants_sample() const { return wants_sample_; }
  void plan_by_sample(uint64_t reads);
  /// Iterations; 0: one by one.
  uint64_t block() const { return block_; }

  /// Begins a block of `pointers` pointers, to be set: to this rank's own elements by the caller,
  /// to others by add().
  std::byte** collect(size_t pointers);
  void add(size_t array, const GatherPlace& unit, size_t position) {
    IndirectReads& reads = (*filling_)[array];
    reads.places.push_back(unit);
    reads.positions.push_back(static_cast<uint32_t>(position));
  }
  void fetch();
  /// The pointers of the oldest block that was fetched, once its elements are here.
  std::byte* const* arrive();
  /// The block has been computed.
  void leave();
  /// Now and then while a block is computed.
  void look();

  /// One element, blocking.
  void read(size_t array, const GatherPlace& unit, std::byte* to);
  void write(size_t array, const GatherPlace& unit, const std::byte* from);

  /// All of it has been carried out.
  void finish();

  /// Ends the job: an iteration names no element.
  [[noreturn]] void fail(int64_t iteration, uint64_t element, uint64_t elements) const;
  /// Ends the job: the index has no entry for an iteration.
  [[noreturn]] static void fail_entry(Context& context, int64_t iteration, size_t entries,
                                      CallSite site);
  /// Ends the job: an index of this number of entries is at a null pointer.
  [[noreturn]] static void fail_index(Context& context, size_t entries, CallSite site);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
  std::vector<IndirectReads>* filling_ = nullptr;
  uint64_t block_ = 0;
  bool wants_sample_ = false;
};

template <typename T, typename Layout, typename Ranks, typename Index, bool kModifies,
          typename... Members>
class IndirectAccess {
 public:
  using Element = std::conditional_t<kModifies, T, const T>;
  static constexpr bool kIsModifying = kModifies;
  static constexpr size_t kAlignment = alignof(T);
  static constexpr size_t kMostBytes = sizeof(T);

  IndirectAccess(const shared_array<T, Layout, Ranks>& array, Index index, Members T::*... members)
      : array_(array), index_(std::move(index)), members_{members...} {
    if constexpr (sizeof...(Members) > 0) {
      alignas(T) const std::array<std::byte, sizeof(T)> memory{};
      const T& element = *reinterpret_cast<const T*>(memory.data());
      size_t end = 0;
      begin_ = sizeof(T);
      const auto cover = [&](const auto& member) {
        const auto at =
            static_cast<size_t>(reinterpret_cast<const std::byte*>(&member) - memory.data());
        begin_ = std::min(begin_, at);
        end = std::max(end, at + sizeof member);
      };
      (cover(element.*members), ...);
      // The smallest part of an element that holds all of them, of parts of equal size.
      for (size_t unit = kAlignment; unit < sizeof(T); unit += kAlignment) {
        if (sizeof(T) % unit != 0 || begin_ / unit != (end - 1) / unit) continue;
        unit_ = unit;
        break;
      }
      begin_ = begin_ / unit_ * unit_;
    }
  }

  IndirectArray array(CallSite site) const {
    array_.check_made("for_each_indirect", site);
    if constexpr (std::is_invocable_v<const Index&, int64_t>) {
      check_callable(index_, "for_each_indirect", site);
    } else if (index_.data() == nullptr && !index_.empty()) {
      IndirectLoop::fail_index(array_.context(), index_.size(), site);
    }
    uint64_t most = 0;
    for (rank_t rank = 0; rank < array_.context().rank_n(); ++rank) {
      most = std::max(most, array_.local_size(rank));
    }
    return {array_.size() == 0 ? 0 : array_.global(0).offset(), unit_, most * sizeof(T)};
  }

  /// Where the element of an iteration lies: this rank's own memory, or a unit of another rank's.
  struct Place {
    std::byte* own = nullptr;
    GatherPlace unit;
  };
  Place locate(int64_t iteration, rank_t me, const IndirectLoop& loop, CallSite site) const {
    const auto element = entry(iteration, site);
    if (element >= array_.size()) [[unlikely]]
      loop.fail(iteration, element, array_.size());
    const place at = array_.distribution().locate(element);
    if (at.rank == me) {
      T* const own = array_.local_span().data() + at.index;
      return {reinterpret_cast<std::byte*>(own) + begin_, {}};
    }
    const uint64_t unit = at.index * (sizeof(T) / unit_) + begin_ / unit_;
    return {nullptr, {at.rank, static_cast<uint32_t>(unit)}};
  }

  /// What the body gets, of a unit.
  auto values(std::byte* unit) const {
    if constexpr (sizeof...(Members) == 0) {
      return std::tuple<Element&>(*reinterpret_cast<T*>(unit));
    } else {
      // An element of which nothing but the unit is there, or used.
      T* const element = reinterpret_cast<T*>(unit - begin_);
      return std::apply(
          [element](auto... member) {
            return std::tuple<std::conditional_t<kModifies, Members, const Members>&...>(
                element->*member...);
          },
          members_);
    }
  }

 private:
  uint64_t entry(int64_t iteration, CallSite site) const {
    if constexpr (std::is_invocable_v<const Index&, int64_t>) {
      return static_cast<uint64_t>(index_(iteration));
    } else {
      if (static_cast<uint64_t>(iteration) >= index_.size()) [[unlikely]] {
        IndirectLoop::fail_entry(array_.context(), iteration, index_.size(), site);
      }
      return static_cast<uint64_t>(index_[static_cast<size_t>(iteration)]);
    }
  }

  shared_array<T, Layout, Ranks> array_;
  Index index_;
  std::tuple<Members T::*...> members_;
  size_t begin_ = 0;
  size_t unit_ = sizeof(T);
};

// Functions as they are, lists by reference.
template <typename Index>
auto kept_index(Index&& index) {
  if constexpr (std::is_invocable_v<const std::decay_t<Index>&, int64_t>) {
    return std::decay_t<Index>(std::forward<Index>(index));
  } else {
    static_assert(std::ranges::borrowed_range<Index>,
                  "the list of an index outlives the loop: it cannot be a temporary");
    return std::span<const std::remove_cvref_t<decltype(index[0])>>(index);
  }
}

template <bool kModifies, typename T, typename Layout, typename Ranks, typename Index,
          typename... Members>
auto indirect_access(const shared_array<T, Layout, Ranks>& array, Index&& index,
                     Members T::*... members) {
  auto kept = kept_index(std::forward<Index>(index));
  return IndirectAccess<T, Layout, Ranks, decltype(kept), kModifies, Members...>(
      array, std::move(kept), members...);
}

// The arrays of a loop, each once.
template <size_t kReads>
struct IndirectArrays {
  std::array<IndirectArray, kReads> arrays;
  std::array<bool, kReads> modified{};
  std::array<size_t, kReads> of_read{};
  size_t count = 0;

  void add(const IndirectArray& array, bool modifies, size_t read) {
    const auto known = std::find(arrays.begin(), arrays.begin() + count, array);
    const auto number = static_cast<size_t>(known - arrays.begin());
    if (number == count) arrays[count++] = array;
    modified[number] |= modifies;
    of_read[read] = number;
  }
};

template <typename Body, typename... Accesses>
class IndirectRun {
 public:
  IndirectRun(Context& context, const IndirectRange& range, const IndirectOptions& options,
              Body& body, const Accesses&... accesses)
      : range_(range),
        count_(range.loop.count()),
        me_(context.rank_me()),
        body_(body),
        accesses_(accesses...),
        arrays_(arrays_of(range.site, accesses...)),
        loop_(context,
              {std::span(arrays_.arrays).first(arrays_.count),
               std::span(arrays_.modified).first(arrays_.count), count_,
               static_cast<uint32_t>(kReads)},
              options, range.site) {
    if (options.any_order) first_ = count_ / context.rank_n() * me_;
  }

  void run() {
    if (loop_.wants_sample()) take_sample();
    if (loop_.block() == 0) {
      for (uint64_t number = 0; number < count_; ++number) one_by_one(iteration(number));
    } else {
      go_in_blocks(loop_.block());
    }
    loop_.finish();
  }

 private:
  static constexpr size_t kReads = sizeof...(Accesses);
  // kPieces pieces of kOfPiece iterations, evenly spread: how dense reads lie shows within a piece,
  // whose they are over all of them.
  static constexpr uint64_t kPieces = 8;
  static constexpr uint64_t kOfPiece = 32;
  static constexpr uint64_t kLooks = 8;  // at what others ask, while a block is computed
  using Numbers = std::index_sequence_for<Accesses...>;

  static IndirectArrays<kReads> arrays_of(CallSite site, const Accesses&... accesses) {
    IndirectArrays<kReads> arrays;
    size_t read = 0;
    (arrays.add(accesses.array(site), Accesses::kIsModifying, read++), ...);
    return arrays;
  }

  int64_t iteration(uint64_t number) const {
    number += first_;
    if (number >= count_) number -= count_;
    return wrapping_add(range_.loop.lower,
                        wrapping_multiply(static_cast<int64_t>(number), range_.loop.step));
  }

  void take_sample() {
    const uint64_t pieces = std::min(kPieces, (count_ + kOfPiece - 1) / kOfPiece);
    uint64_t reads = 0;
    std::array<std::byte*, kReads> pointers;
    loop_.collect(0);
    for (uint64_t piece = 0; piece < pieces; ++piece) {
      const uint64_t begin = count_ * piece / pieces;
      const uint64_t end = std::min(begin + kOfPiece, count_);
      for (uint64_t number = begin; number < end; ++number) {
        add(iteration(number), pointers.data(), reads, Numbers{});
        reads += kReads;
      }
    }
    loop_.plan_by_sample(reads);
  }

  // `pointers` of one iteration; the first of them is number `position` of the block.
  template <size_t... kNumber>
  void add(int64_t i, std::byte** pointers, size_t position, std::index_sequence<kNumber...>) {
    const auto one = [&](const auto& access, size_t number) {
      const auto at = access.locate(i, me_, loop_, range_.site);
      if (at.own != nullptr) {
        pointers[number] = at.own;
      } else {
        loop_.add(arrays_.of_read[number], at.unit, position + number);
      }
    };
    (one(std::get<kNumber>(accesses_), kNumber), ...);
  }

  template <size_t... kNumber>
  void call(int64_t i, std::byte* const* pointers, std::index_sequence<kNumber...>) {
    std::apply([&](auto&... values) { body_(i, values...); },
               std::tuple_cat(std::get<kNumber>(accesses_).values(pointers[kNumber])...));
  }

  void collect(uint64_t begin, uint64_t end) {
    std::byte** const pointers = loop_.collect((end - begin) * kReads);
    for (uint64_t number = begin; number < end; ++number) {
      const size_t position = (number - begin) * kReads;
      add(iteration(number), pointers + position, position, Numbers{});
    }
    loop_.fetch();
  }

  void go_in_blocks(uint64_t block) {
    if (count_ == 0) return;
    const auto end_of = [&](uint64_t begin) { return begin + std::min(block, count_ - begin); };
    collect(0, end_of(0));
    const uint64_t step = std::max<uint64_t>(1, block / kLooks);
    for (uint64_t begin = 0; begin < count_; begin = end_of(begin)) {
      std::byte* const* pointers = loop_.arrive();
      const uint64_t end = end_of(begin);
      if (end < count_) collect(end, end_of(end));
      for (uint64_t number = begin; number < end;) {
        const uint64_t until = std::min(end, number + step);
        for (; number < until; ++number, pointers += kReads) {
          call(iteration(number), pointers, Numbers{});
        }
        if (number < end) loop_.look();
      }
      loop_.leave();
    }
  }

  void one_by_one(int64_t i) { one_by_one(i, Numbers{}); }
  template <size_t... kNumber>
  void one_by_one(int64_t i, std::index_sequence<kNumber...>) {
    std::tuple<Copy<Accesses>...> copies;
    std::array<std::byte*, kReads> pointers;
    std::array<GatherPlace, kReads> units;
    const auto read = [&](const auto& access, auto& copy, size_t number) {
      const auto at = access.locate(i, me_, loop_, range_.site);
      pointers[number] = at.own;
      if (at.own != nullptr) return;
      units[number] = at.unit;
      pointers[number] = copy.memory.data();
      loop_.read(arrays_.of_read[number], at.unit, pointers[number]);
    };
    (read(std::get<kNumber>(accesses_), std::get<kNumber>(copies), kNumber), ...);
    call(i, pointers.data(), Numbers{});
    const auto write_back = [&](const auto& access, const auto& copy, size_t number) {
      if (!std::decay_t<decltype(access)>::kIsModifying) return;
      if (pointers[number] != copy.memory.data()) return;
      loop_.write(arrays_.of_read[number], units[number], pointers[number]);
    };
    (write_back(std::get<kNumber>(accesses_), std::get<kNumber>(copies), kNumber), ...);
  }
  template <typename Access>
  struct Copy {
    alignas(Access::kAlignment) std::array<std::byte, Access::kMostBytes> memory;
  };

  const IndirectRange range_;
  const uint64_t count_;
  const rank_t me_;
  uint64_t first_ = 0;
  Body& body_;
  std::tuple<const Accesses&...> accesses_;
  IndirectArrays<kReads> arrays_;
  IndirectLoop loop_;
};

}  // namespace detail

/// array[index of the iteration] for a loop: its body gets a const T&, or a const reference to each
/// of the members. The array and a list stay until the loop has returned.
template <typename T, typename Layout, typename Ranks, typename Index, typename... Members>
auto read(const shared_array<T, Layout, Ranks>& array, Index&& index, Members T::*... members) {
  return detail::indirect_access<false>(array, std::forward<Index>(index), members...);
}
/// The same, which the body may change: it gets T&, or a reference to each member. Each element is
/// changed by one rank's loop at a time, and all reads of the array in this loop name the same
/// members, or none. The changes are visible to others after a barrier.
template <typename T, typename Layout, typename Ranks, typename Index, typename... Members>
auto modify(const shared_array<T, Layout, Ranks>& array, Index&& index, Members T::*... members) {
  return detail::indirect_access<true>(array, std::forward<Index>(index), members...);
}

/// Calls body(i, values...) for each i of `range`, in order unless `options` say otherwise, with
/// the values of the reads in their order. References are valid until the body returns; it may
/// communicate. If it throws, what is in flight is waited for, and the exception goes on; of what
/// it has modified some may have been stored. Ends the job if an entry of an index names no
/// element, or a list has none for an iteration. Not collective; one thread at a time, as all calls
/// of a Context.
template <typename Body, typename... Accesses>
void for_each_indirect(Context& context, const IndirectRange& range, const IndirectOptions& options,
                       Body&& body, const Accesses&... reads) {
  static_assert(sizeof...(Accesses) > 0, "a loop that reads nothing is a plain one");
  detail::check_loop(context, range.loop, body, "for_each_indirect", range.site);
  detail::IndirectRun<std::remove_reference_t<Body>, Accesses...>(context, range, options, body,
                                                                  reads...)
      .run();
}
template <typename Body, typename... Accesses>
requires(!std::is_convertible_v<Body, IndirectOptions>) void for_each_indirect(
    Context& context, const IndirectRange& range, Body&& body, const Accesses&... reads) {
  for_each_indirect(context, range, IndirectOptions{}, std::forward<Body>(body), reads...);
}

}  // namespace stripline
