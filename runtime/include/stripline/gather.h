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
// of them once, and tells their owners. From then on nobody asks: with each start() owners send
// what others need, and a rank waits for what it needs itself. How an owner sends it (the elements,
// packed, or all that lies between the first and the last) is decided by the tuned model for each
// pair of ranks (docs/gathers.md).
//
// What is read are the values that x has when its owner calls start(): no barrier is needed between
// storing to one's own part of x and start(), nor after wait(). Between the two the elements of x
// must not be changed. Ranks may be one gather apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <stripline/call_site.h>
#include <stripline/context.h>
#include <stripline/shared_array.h>

namespace stripline {

/// How owners send what a rank needs.
enum class GatherMethod : uint8_t {
  best,   ///< by the tuned model, for each pair of ranks
  pack,   ///< the elements, packed
  bound,  ///< all from the first to the last element, unpacked
};

struct GatherOptions {
  GatherMethod method = GatherMethod::best;  ///< another one: for measurements
  bool use_model = true;                     ///< false: as if there were no model
};

/// What a plan does, of this rank.
struct GatherStatistics {
  uint64_t reads = 0;           ///< entries of the index
  uint64_t own_reads = 0;       ///< of this rank's own elements
  uint64_t elements = 0;        ///< different ones of other ranks
  uint64_t owners = 0;          ///< other ranks whose elements it reads
  uint64_t bound_owners = 0;    ///< those that send all between the first and the last
  uint64_t bytes_received = 0;  ///< in each gather
  uint64_t bytes_sent = 0;      ///< likewise
  uint64_t readers = 0;         ///< other ranks that it sends to
  double inspection_s = 0;      ///< what create() took
};

namespace detail {

/// Where an element lies.
struct GatherPlace {
  rank_t rank = 0;
  uint32_t place = 0;  ///< among the elements of the rank
};

/// What is asked of an array, without types.
struct GatherRequest {
  size_t element_bytes = 0;
  std::span<const GatherPlace> reads;
  /// The first entry of the index that names no element, and what it says; then `reads` is not
  /// complete.
  std::optional<size_t> outside;
  uint64_t outside_element = 0;
  uint64_t elements = 0;       ///< of the array
  uint64_t own_elements = 0;   ///< of this rank
  uint64_t most_elements = 0;  ///< of the rank that has most
};

/// Reads by the rank that owns what they read.
struct GatherGroup {
  size_t number = 0;                ///< 0: of this rank's own elements
  std::span<const uint32_t> reads;  ///< their numbers
  std::span<const uint32_t> slots;  ///< beside them: which element behind `values`
  const std::byte* values = nullptr;
};

class GatherCore {
 public:
  static Result<std::unique_ptr<GatherCore>> create(Context& context, const GatherRequest& request,
                                                    const GatherOptions& options, CallSite site);
  virtual ~GatherCore() = default;
  GatherCore(const GatherCore&) = delete;
  GatherCore& operator=(const GatherCore&) = delete;

  /// `own`: this rank's elements of an array of so many.
  virtual void start(const std::byte* own, uint64_t elements, CallSite site) = 0;
  /// Groups of reads, by number: one for this rank's own elements, and one for each owner whose
  /// elements are read.
  virtual size_t groups() const = 0;
  /// The values are those of the gather under way; of an owner's, once they are here.
  virtual GatherGroup group(size_t number) const = 0;
  /// The reads of an owner whose elements are here, of each once; waits for one. None: that was
  /// the last.
  virtual std::optional<GatherGroup> next(CallSite site) = 0;
  virtual void wait(CallSite site) = 0;
  /// Of every read: its number among this rank's own elements, or theirs and what was received.
  virtual std::span<const uint32_t> numbers() const = 0;
  virtual uint64_t own_elements() const = 0;
  /// What is received in the gather under way, or was in the last one.
  virtual const std::byte* received() const = 0;
  virtual const GatherStatistics& statistics() const = 0;

 protected:
  GatherCore() = default;
};

}  // namespace detail

/// Which elements this rank reads of arrays of one shape, to be gathered again and again. Moves;
/// used by the rank's thread that communicates.
template <typename T>
class GatherPlan {
  static_assert(std::is_trivially_copyable_v<T>, "what is gathered is trivially copyable");

 public:
  /// Collective: `index` may be another one on every rank, in any order, with an element any number
  /// of times, or empty. Takes twice the size of what is received from the segment. Errors, the
  /// same kind on every rank: invalid_argument if an entry names no element of `x`, or there are
  /// 2^32 of entries or of elements on a rank; resource_exhausted if a segment has no room.
  template <typename Layout, typename Ranks>
  static Result<GatherPlan> create(const shared_array<T, Layout, Ranks>& x,
                                   std::span<const uint64_t> index,
                                   const GatherOptions& options = {},
                                   CallSite site = CallSite::current()) {
    detail::GatherRequest request;
    request.element_bytes = sizeof(T);
    request.elements = x.size();
    request.own_elements = x.local_span().size();
    for (rank_t rank = 0; rank < x.context().rank_n(); ++rank) {
      request.most_elements = std::max(request.most_elements, x.local_size(rank));
    }
    std::vector<detail::GatherPlace> reads(index.size());
    for (size_t i = 0; i < index.size(); ++i) {
      if (index[i] >= x.size()) [[unlikely]] {
        request.outside = i;
        request.outside_element = index[i];
        break;
      }
      const place at = x.distribution().locate(index[i]);
      reads[i] = {at.rank, static_cast<uint32_t>(at.index)};
    }
    request.reads = reads;
    auto core = detail::GatherCore::create(x.context(), request, options, site);
    if (!core.ok()) return core.error();
    return GatherPlan(request, std::move(*core));
  }

  // --- all at once ------------------------------------------------------------------------------

  /// Collective: gathers, and calls body(i, value of x[index[i]]) for every entry of the index,
  /// once each: this rank's own elements first, while the others are on their way, then those of
  /// each owner as they arrive. `body` may communicate, but not use this plan.
  template <typename Layout, typename Ranks, typename Body>
  void for_each(const shared_array<T, Layout, Ranks>& x, Body&& body,
                CallSite site = CallSite::current()) {
    start(x, site);
    visit(core_->group(0), body);
    while (const auto group = core_->next(site)) visit(*group, body);
    wait(site);
  }

  // --- step by step -----------------------------------------------------------------------------

  /// Collective, in the same order as other gathers of this plan: sends what others need of `x`,
  /// which has the shape of the array that the plan was made for. Ends the job if a gather of this
  /// plan is under way.
  template <typename Layout, typename Ranks>
  void start(const shared_array<T, Layout, Ranks>& x, CallSite site = CallSite::current()) {
    own_ = x.local_span().data();
    core_->start(reinterpret_cast<const std::byte*>(own_), x.size(), site);
    received_ = reinterpret_cast<const T*>(core_->received());
  }
  /// Waits until all is here, and what was sent may be changed. At once without a gather.
  void wait(CallSite site = CallSite::current()) { core_->wait(site); }
  /// x[index[i]], between wait() and the next start(); this rank's own elements are read where they
  /// lie.
  const T& operator[](size_t i) const {
    const uint32_t number = core_->numbers()[i];
    return number < own_elements_ ? own_[number] : received_[number - own_elements_];
  }
  /// The entries of the index.
  size_t size() const { return core_->numbers().size(); }

  const GatherStatistics& statistics() const { return core_->statistics(); }

  /// For what is built upon gathers.
  detail::GatherCore& core() { return *core_; }

 private:
  GatherPlan(const detail::GatherRequest& request, std::unique_ptr<detail::GatherCore> core)
      : own_elements_(request.own_elements), core_(std::move(core)) {}

  template <typename Body>
  static void visit(const detail::GatherGroup& group, Body& body) {
    const T* const values = reinterpret_cast<const T*>(group.values);
    for (size_t k = 0; k < group.reads.size(); ++k) {
      body(static_cast<size_t>(group.reads[k]), values[group.slots[k]]);
    }
  }

  uint64_t own_elements_ = 0;
  const T* own_ = nullptr;
  const T* received_ = nullptr;
  std::unique_ptr<detail::GatherCore> core_;
};

}  // namespace stripline
