// Irregular reads of a distributed array, a[b[i]], where the same elements are read again and
// again: the vector of a sparse matrix, the neighbours of particles, the nodes of a mesh.
//
//   // columns[i]: the element of x that nonzero i of this rank's rows is multiplied with.
//   auto plan = stripline::GatherPlan<double>::create(x, columns);      // once: who needs what
//   if (!plan.ok()) return stripline::report(plan.error());
//   for (int step = 0; step < steps; ++step) {
//     plan->for_each(x, [&](size_t i, double value) { y[row[i]] += a[i] * value; });
//     ...
//   }
//
// Creating a plan is the inspector: it finds which elements this rank reads of each other one, each
// of them once, and tells their owners. From then on no rank asks: with each start() owners send
// what others need, and a rank waits for what it needs itself. How that is done (the elements
// packed, or all that lies between the first and the last; sent, fetched, passed on, or once for a
// node) is decided by the tuned model for each pair of ranks (docs/gathers.md).
//
// What is read are the values that x has when its owner calls start(): no barrier is needed between
// storing to one's own part of x and start(), nor after wait(). Between the two the elements of x
// must not be changed. Ranks of which one reads of the other may be one gather apart; others may be
// further, as nothing is between them.
//
// With a tuned model, what it says is compared with what is done without one while gathers are
// carried out, and the faster one stays in use. One rank decides for all, which change methods at
// the same gather: a rank that is several gathers ahead of that one waits for it at the end of
// wait(), as it does for ranks that are far behind, but never in start(). Both methods receive the
// same elements at the same places.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <stripline/call_site.h>
#include <stripline/context.h>
#include <stripline/shared_array.h>

#include "optimizer/plan/methods.h"

namespace stripline {

/// How what a rank needs of an owner gets to it. All but `best` are for measurements; where one is
/// not possible, elements are packed.
using GatherMethod = plan::GatherMethod;

/// In which order for_each() goes through the elements of other ranks, owner by owner.
enum class GatherOrder : uint8_t {
  arrival,  ///< as they arrive
  /// The rank before this one first, which sends to this one first, and so on around: sums are
  /// added up in the same order each time. Elements that are fetched or passed on come as they
  /// arrive.
  ring,
};

/// How a gather is carried out.
struct GatherOptions {
  GatherMethod method = GatherMethod::best;  ///< the same on every rank
  bool use_model = true;  ///< false: as if there were no model; the same on every rank
  /// Arrays that are gathered together, in one message for each pair of ranks; at least 1, and the
  /// same on every rank.
  uint32_t vectors = 1;
  GatherOrder order = GatherOrder::arrival;  ///< each rank may have its own
  /// Gathers that a plan is made for, as far as the program knows: what creating it takes is
  /// divided by them. 0: as many as the plan before it at this place was used for; for the first
  /// one, as many as it does not count. Each rank may have its own.
  uint64_t uses = 0;
};

/// What a plan does, of this rank.
struct GatherStatistics {
  uint64_t reads = 0;             ///< entries of the index
  uint64_t own_reads = 0;         ///< of this rank's own elements
  uint64_t elements = 0;          ///< different ones of other ranks
  uint64_t owners = 0;            ///< other ranks whose elements it reads
  uint64_t bound_owners = 0;      ///< those that send all between the first and the last
  uint64_t pulled_owners = 0;     ///< those whose elements this rank fetches
  uint64_t broadcast_owners = 0;  ///< those whose elements readers pass on
  uint64_t shared_owners = 0;     ///< those whose elements this rank copies from one of its node
  uint64_t bytes_received = 0;    ///< in each gather
  uint64_t bytes_sent = 0;        ///< likewise
  uint64_t readers = 0;           ///< other ranks that it sends to
  /// Elements that were named to owners singly, in create(); of owners that send all between the
  /// first and the last, none.
  uint64_t elements_told = 0;
  /// Gathers so far that went by the methods of no model, because the tuned ones are compared with
  /// them (Options::guard), or have been found to be slower.
  uint64_t as_without_model = 0;
  double inspection_s = 0;  ///< what create() took
  /// What a gather saves over getting each element when it is read, as the tuned model predicts;
  /// 0 without one.
  double saved_s = 0;
  /// The number of gathers after which create() has paid; 0: not known, or never.
  uint64_t pays_after() const {
    if (!(saved_s > 0)) return 0;
    const double gathers = std::ceil(inspection_s / saved_s);
    return gathers < 0x1p64 ? static_cast<uint64_t>(gathers) : 0;
  }
};

namespace detail {

/// The places of elements: what arrays that a plan is used with have in common.
struct GatherShape {
  uint64_t elements = 0;
  uint64_t block = 0;  ///< 0: all are of one rank
  rank_t owner = 0;    ///< that one
  bool operator==(const GatherShape&) const = default;
};

template <typename T, typename Layout, typename Ranks>
GatherShape gather_shape(const shared_array<T, Layout, Ranks>& x) {
  if constexpr (std::is_same_v<Layout, indefinite>) {
    return {.elements = x.size(), .owner = x.distribution().layout.owner};
  } else {
    return {.elements = x.size(), .block = x.distribution().layout.block()};
  }
}

/// Where an element lies.
struct GatherPlace {
  rank_t rank = 0;
  uint32_t place = 0;  ///< among the elements of the rank
};

/// What is asked of an array, without types.
struct GatherRequest {
  const char* name = "GatherPlan::create";  ///< the call that errors begin with
  /// What is wrong with the rest of what that call was given on this rank, so that there is no
  /// plan on any; empty: nothing.
  std::string mistake;
  size_t element_bytes = 0;
  std::span<const GatherPlace> reads;
  /// The first entry of the index that names no element, and what it says; then `reads` is not
  /// complete.
  std::optional<size_t> outside;
  uint64_t outside_element = 0;
  GatherShape shape;
  uint64_t own_elements = 0;   ///< of this rank
  uint64_t most_elements = 0;  ///< of the rank that has most
};

/// Reads by the rank that owns what they read. Element `slot` of vector v is at
/// values[v] + slot * step elements.
struct GatherGroup {
  size_t number = 0;                ///< 0: of this rank's own elements
  std::span<const uint32_t> reads;  ///< their numbers
  std::span<const uint32_t> slots;  ///< beside them
  std::span<const std::byte* const> values;
  size_t step = 1;
};

class GatherCore {
 public:
  static Result<std::unique_ptr<GatherCore>> create(Context& context, const GatherRequest& request,
                                                    const GatherOptions& options, CallSite site);
  virtual ~GatherCore() = default;
  GatherCore(const GatherCore&) = delete;
  GatherCore& operator=(const GatherCore&) = delete;

  /// Ends the job if an array of this shape is not one that the plan was made for.
  virtual void check(const GatherShape& shape, CallSite site) const = 0;
  /// Ends the job: `name` is the call that is wrong, and `why` ends a sentence that begins with it.
  [[noreturn]] virtual void refuse(const char* name, CallSite site,
                                   const std::string& why) const = 0;
  /// `own`: this rank's elements of each of the arrays.
  virtual void start(std::span<const std::byte* const> own, CallSite site) = 0;
  /// Groups of reads, by number: one for this rank's own elements, and one for each owner whose
  /// elements are read.
  virtual size_t groups() const = 0;
  /// The values are those of the gather in progress; of an owner's, once they are here.
  virtual GatherGroup group(size_t number) const = 0;
  /// The reads of an owner whose elements are here, of each once; waits for one. None: that was
  /// the last.
  virtual std::optional<GatherGroup> next(CallSite site) = 0;
  virtual void wait(CallSite site) = 0;
  /// Tells owners that this rank has read all that came: what the end of the plan begins with.
  virtual void release(CallSite site) = 0;
  /// For each read, its number among this rank's own elements, or among theirs and what was
  /// received.
  virtual std::span<const uint32_t> numbers() const = 0;
  virtual uint64_t own_elements() const = 0;
  virtual size_t vectors() const = 0;
  /// What is received in the gather in progress, or was in the last one: the same element of all
  /// vectors side by side.
  virtual const std::byte* received() const = 0;
  /// All owners are load/store reachable, so that nothing comes while this rank computes.
  virtual bool is_reachable() const = 0;
  /// A rank's reads are asked for in the same order each time.
  virtual bool is_ordered() const = 0;
  virtual const GatherStatistics& statistics() const = 0;

 protected:
  GatherCore() = default;
};

}  // namespace detail

/// Several arrays of one shape, as pointers: an array, a vector or a span of them.
template <typename Range>
concept array_pointers = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::is_pointer_v<std::ranges::range_value_t<Range>>;

/// The values that one entry of an index has in several arrays; numbers of arrays are not checked.
template <typename T>
class gathered_values {
 public:
  /// Made by GatherPlan::for_each().
  gathered_values(const std::byte* const* values, size_t element)
      : values_(values), element_(element) {}
  /// That of array number `vector`.
  const T& operator[](size_t vector) const {
    return reinterpret_cast<const T*>(values_[vector])[element_];
  }

 private:
  const std::byte* const* values_;
  size_t element_;
};

/// The elements that this rank reads of arrays of one shape, to be gathered again and again. Moves:
/// calls of the other one end the process. Used by the rank's thread that communicates. Goes before
/// the Context, on all ranks in the same order, and waits there for those that read this rank's
/// elements.
template <typename T>
class GatherPlan {
  static_assert(std::is_trivially_copyable_v<T>, "what is gathered is trivially copyable");

 public:
  /// Collective: `index` may be another one on every rank, in any order, with an element any number
  /// of times, or empty. Where it ascends it is inspected faster. Takes twice the size of what is
  /// received from the segment, and 16 bytes for each rank and each owner, all rounded up to 64;
  /// where methods are compared, 8 bytes more for each rank, and 4 for each element that is pulled.
  /// Errors, the same kind on every rank: invalid_argument if an entry names no element of `x`, the
  /// index is at a null pointer, there are 2^32 of entries or of elements on a rank, or
  /// `options.vectors` is 0 or differs; resource_exhausted if a segment has no room.
  template <typename Layout, typename Ranks>
  static Result<GatherPlan> create(const shared_array<T, Layout, Ranks>& x,
                                   std::span<const uint64_t> index,
                                   const GatherOptions& options = {},
                                   CallSite site = CallSite::current()) {
    return create(x, index, options, site, detail::GatherRequest());
  }

  /// For what is built upon gathers: `request` says the name of its call, and what is wrong with
  /// what it was given on this rank.
  template <typename Layout, typename Ranks>
  static Result<GatherPlan> create(const shared_array<T, Layout, Ranks>& x,
                                   std::span<const uint64_t> index, const GatherOptions& options,
                                   CallSite site, detail::GatherRequest request) {
    x.check_made(request.name, site);
    if (index.data() == nullptr && !index.empty()) [[unlikely]] {
      request.mistake =
          "the index of " + std::to_string(index.size()) + " entries is at a null pointer";
      index = {};
    }
    request.element_bytes = sizeof(T);
    request.shape = detail::gather_shape(x);
    request.own_elements = x.local_span().size();
    for (rank_t rank = 0; rank < x.context().rank_n(); ++rank) {
      request.most_elements = std::max(request.most_elements, x.local_size(rank));
    }
    // Entries that follow each other are mostly of one block: to locate one takes two divisions.
    const uint64_t block = request.shape.block == 0 ? x.size() : request.shape.block;
    std::vector<detail::GatherPlace> reads(index.size());
    uint64_t begin = x.size();  // of the block that was located last
    place first{};
    for (size_t i = 0; i < index.size(); ++i) {
      if (index[i] >= x.size()) [[unlikely]] {
        request.outside = i;
        request.outside_element = index[i];
        break;
      }
      if (index[i] < begin || index[i] - begin >= block) {
        begin = index[i] - index[i] % block;
        first = x.distribution().locate(begin);
      }
      reads[i] = {first.rank, static_cast<uint32_t>(first.index + (index[i] - begin))};
    }
    request.reads = reads;
    auto core = detail::GatherCore::create(x.context(), request, options, site);
    if (!core.ok()) return core.error();
    return GatherPlan(std::move(*core));
  }

  /// Moves: the other one is of no use any more.
  GatherPlan(GatherPlan&& other) noexcept
      : own_elements_(other.own_elements_),
        step_(other.step_),
        own_(std::move(other.own_)),
        first_(other.first_),
        received_(other.received_),
        numbers_(std::exchange(other.numbers_, {})),
        core_(std::move(other.core_)) {}
  /// Moves, likewise. The plan that was here ends.
  GatherPlan& operator=(GatherPlan&& other) noexcept {
    own_elements_ = other.own_elements_;
    step_ = other.step_;
    own_ = std::move(other.own_);
    first_ = other.first_;
    received_ = other.received_;
    numbers_ = std::exchange(other.numbers_, {});
    core_ = std::move(other.core_);
    return *this;
  }

  // --- all at once ------------------------------------------------------------------------------

  /// Collective: gathers, and calls body(i, value of x[index[i]]) for every entry of the index,
  /// once each: this rank's own elements first, while the others are in flight, then those of
  /// each owner as they arrive, or in the order of GatherOptions::order. `body` may communicate,
  /// but not use this plan. What it throws comes out when all is here: nothing is in flight then.
  template <typename Layout, typename Ranks, typename Body>
  void for_each(const shared_array<T, Layout, Ranks>& x, Body&& body,
                CallSite site = CallSite::current()) {
    detail::check_callable(body, "GatherPlan::for_each", site);
    start(x, site);
    each_group(
        [&](const detail::GatherGroup& group) {
          const T* const values = reinterpret_cast<const T*>(group.values.front());
          for (size_t k = 0; k < group.reads.size(); ++k) {
            body(static_cast<size_t>(group.reads[k]), values[group.slots[k]]);
          }
        },
        site);
  }
  /// The same of several arrays, GatherOptions::vectors of them: body(i, values) with values[v]
  /// that of xs[v], as gathered_values<T>.
  template <array_pointers Arrays, typename Body>
  void for_each(const Arrays& xs, Body&& body, CallSite site = CallSite::current()) {
    detail::check_callable(body, "GatherPlan::for_each", site);
    start(xs, site);
    each_group(
        [&](const detail::GatherGroup& group) {
          for (size_t k = 0; k < group.reads.size(); ++k) {
            body(static_cast<size_t>(group.reads[k]),
                 gathered_values<T>(group.values.data(), group.slots[k] * group.step));
          }
        },
        site);
  }

  // --- step by step -----------------------------------------------------------------------------

  /// Collective, in the same order as other collective calls: sends what others need of `x`, which
  /// has the shape of the array that the plan was made for. Ends the job if it has another one, if
  /// a gather of this plan is in flight, or if the plan was made for several arrays.
  template <typename Layout, typename Ranks>
  void start(const shared_array<T, Layout, Ranks>& x, CallSite site = CallSite::current()) {
    check_whole("GatherPlan::start", site);
    own_.resize(1);
    take(0, x, site);
    begin(site);
  }
  /// The same of as many arrays as the plan was made for, in one message for each pair of ranks.
  /// Ends the job if there are more or fewer, or if one of them, or where they are listed, is a
  /// null pointer.
  template <array_pointers Arrays>
  void start(const Arrays& xs, CallSite site = CallSite::current()) {
    check_whole("GatherPlan::start", site);
    if (std::ranges::data(xs) == nullptr && std::ranges::size(xs) > 0) [[unlikely]]
      core_->refuse("GatherPlan::start", site, "of arrays whose pointers are at a null pointer");
    own_.resize(std::ranges::size(xs));
    size_t vector = 0;
    for (const auto* x : xs) {
      if (x == nullptr) [[unlikely]] {
        core_->refuse("GatherPlan::start", site,
                      "of a null pointer as array " + std::to_string(vector));
      }
      take(vector++, *x, site);
    }
    begin(site);
  }
  /// Waits until all is here, and what was sent may be changed. At once without a gather.
  void wait(CallSite site = CallSite::current()) {
    check_whole("GatherPlan::wait", site);
    core_->wait(site);
  }
  /// x[index[i]], between wait() and the next start(); this rank's own elements are read where they
  /// lie. If there are several arrays, the first one's. Ends the job if the index has no entry `i`,
  /// or nothing has been gathered.
  const T& operator[](size_t i) const {
    if (i >= numbers_.size()) [[unlikely]]
      fail_value("GatherPlan::operator[]", 0, i);
    const uint32_t number = numbers_[i];
    return number < own_elements_ ? first_[number] : received_[(number - own_elements_) * step_];
  }
  /// xs[vector][index[i]], likewise. Ends the job if there is no such array, too.
  const T& value(size_t vector, size_t i) const {
    if (i >= numbers_.size() || vector >= step_) [[unlikely]]
      fail_value("GatherPlan::value", vector, i);
    const uint32_t number = numbers_[i];
    if (number < own_elements_) return reinterpret_cast<const T*>(own_[vector])[number];
    return received_[(number - own_elements_) * step_ + vector];
  }
  /// The entries of the index.
  size_t size(CallSite site = CallSite::current()) const {
    check_whole("GatherPlan::size", site);
    return core_->numbers().size();
  }

  /// What it has counted so far.
  const GatherStatistics& statistics(CallSite site = CallSite::current()) const {
    check_whole("GatherPlan::statistics", site);
    return core_->statistics();
  }

  /// For what is built upon gathers.
  detail::GatherCore& core() { return *core_; }

 private:
  explicit GatherPlan(std::unique_ptr<detail::GatherCore> core)
      : own_elements_(static_cast<uint32_t>(core->own_elements())),
        step_(core->vectors()),
        core_(std::move(core)) {}

  void check_whole(const char* call, CallSite site) const {
    if (core_ == nullptr) [[unlikely]]
      detail::fail_moved_from(call, site);
  }
  [[noreturn, gnu::cold]] void fail_value(const char* call, size_t vector, size_t i) const {
    check_whole(call, {});
    const size_t entries = core_->numbers().size();
    core_->refuse(call, {},
                  i >= entries ? "of entry " + std::to_string(i) + ", but the index has " +
                                     std::to_string(entries) + ", counted from 0"
                  : vector >= step_
                      ? "of array " + std::to_string(vector) + ", but the plan was made for " +
                            std::to_string(step_) + ", counted from 0"
                      : "before anything was gathered; start() and wait() come first");
    __builtin_unreachable();  // GCC takes a virtual call that it sees through for one that returns
  }
  template <typename Layout, typename Ranks>
  void take(size_t vector, const shared_array<T, Layout, Ranks>& x, CallSite site) {
    x.check_made("GatherPlan::start", site);
    core_->check(detail::gather_shape(x), site);
    own_[vector] = reinterpret_cast<const std::byte*>(x.local_span().data());
  }
  void begin(CallSite site) {
    core_->start(own_, site);
    first_ = reinterpret_cast<const T*>(own_.front());
    received_ = reinterpret_cast<const T*>(core_->received());
    numbers_ = core_->numbers();
  }

  template <typename Visit>
  void each_group(const Visit& visit, CallSite site) {
    // Also if a body throws: the plan can be used again then, and other ranks go on.
    struct Finish {
      GatherPlan& plan;
      CallSite site;
      ~Finish() { plan.wait(site); }
    };
    const Finish finish{*this, site};
    visit(core_->group(0));
    while (const auto group = core_->next(site)) visit(*group);
  }

  uint32_t own_elements_ = 0;
  size_t step_ = 1;                    // from an element that was received to the next one
  std::vector<const std::byte*> own_;  // this rank's elements of each array
  const T* first_ = nullptr;           // the first one's
  const T* received_ = nullptr;
  // For each entry of the index; none before the first gather.
  std::span<const uint32_t> numbers_;
  std::unique_ptr<detail::GatherCore> core_;
};

}  // namespace stripline
