// Irregular reads of a distributed array, a[b[i]], in one call:
//
//   for (int step = 0; step < steps; ++step) {
//     const auto values = stripline::gather(x, index);
//     for (size_t i = 0; i < index.size(); ++i) use(values[i]);      // x[index[i]]
//   }
//
// Each place in the program that calls it keeps what it has found out (who needs what, memory to
// land in) until the Context goes, so that later calls with the same index only move the elements;
// with another one it is found out again. A place is a line and a type of elements: calls on one
// line are one place, and the next of them takes the values of the one before. The same by steps
// and with errors as results: <stripline/gather_plan.h>, <stripline/cached_gather.h>. For what is
// read once, see <stripline/indirect.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <stripline/cached_gather.h>
#include <stripline/call_site.h>
#include <stripline/context.h>
#include <stripline/gather_plan.h>
#include <stripline/shared_array.h>

namespace stripline {

namespace detail {

/// What gather() keeps for a place.
class KeptGather {
 public:
  virtual ~KeptGather() = default;
  KeptGather(const KeptGather&) = delete;
  KeptGather& operator=(const KeptGather&) = delete;
  /// Comes before the end of each of them, on all of them first.
  virtual void release(CallSite site) = 0;

 protected:
  KeptGather() = default;
};

template <typename T>
class TypedKeptGather final : public KeptGather {
 public:
  void release(CallSite site) override { gather.release(site); }
  CachedGather<T> gather;

  /// Its address stands for the type.
  static constexpr char kType = 0;
};

/// What is kept for a place and a type of elements; null at first.
std::unique_ptr<KeptGather>& kept_gather(Context& context, CallSite site, const char* type);
[[noreturn]] void fail_gather(Context& context, const Error& error, CallSite site);
/// The context in debug mode, else null.
Context* checked_context(Context& context);
/// Values were read that a later gather of the same place has replaced.
[[noreturn]] void fail_replaced(Context& context, CallSite site);
/// A value was read of an entry that the index, which has `entries`, does not have.
[[noreturn]] void fail_gathered_entry(Context& context, size_t entry, size_t entries,
                                      CallSite site);

template <typename T>
CachedGather<T>& gather_of(Context& context, CallSite site) {
  using Kept = TypedKeptGather<T>;
  std::unique_ptr<KeptGather>& kept = kept_gather(context, site, &Kept::kType);
  if (kept == nullptr) kept = std::make_unique<Kept>();
  return static_cast<Kept&>(*kept).gather;
}

}  // namespace detail

/// What gather() has brought: values[i] is x[index[i]], as x was when its owner made the call.
/// Valid until the next gather of the same place in the program; debug mode ends the job if it is
/// read after that. A handle; this rank's own elements are read where they lie.
template <typename T>
class gathered {
 public:
  /// Made by gather().
  gathered(const CachedGather<T>& from, Context& context, CallSite site)
      : from_(&from),
        checked_(detail::checked_context(context)),
        gather_(from.gathers()),
        site_(site) {}
  /// The value for entry i of the index. Ends the job if there is none; in debug mode with the
  /// place of the gather.
  const T& operator[](size_t i) const {
    if (checked_ != nullptr) [[unlikely]]
      check(i);
    return (*from_)[i];
  }
  size_t size() const { return from_->size(); }  ///< the entries of the index
  /// What it has counted so far.
  const GatherStatistics& statistics() const { return from_->statistics(); }
  /// How often this place has found out who needs what.
  uint64_t inspections() const { return from_->inspections(); }

 private:
  void check(size_t i) const {
    if (from_->gathers() != gather_) detail::fail_replaced(*checked_, site_);
    if (i >= from_->size()) detail::fail_gathered_entry(*checked_, i, from_->size(), site_);
  }

  const CachedGather<T>* from_;
  Context* checked_;  // in debug mode
  uint64_t gather_;   // which one it was of those of its place
  CallSite site_;
};

/// Collective: what `index`, which may be another one on every rank, names of x. Elements of x do
/// not change while it runs. Each call compares the index with that of the place's last call and
/// agrees with the other ranks on whether it has changed on any of them. The options count where it
/// is found out again who needs what; GatherOptions::vectors is 1. An entry that names no element,
/// or a segment without room for what is received, ends the job with a message. Used by the rank's
/// thread that communicates.
template <typename T, typename Layout, typename Ranks>
gathered<T> gather(const shared_array<T, Layout, Ranks>& x, std::span<const uint64_t> index,
                   const GatherOptions& options = {}, CallSite site = CallSite::current()) {
  x.check_made("gather", site);
  CachedGather<T>& kept = detail::gather_of<T>(x.context(), site);
  if (const Status status = kept.gather(x, index, options, site); !status.ok()) {
    detail::fail_gather(x.context(), status.error(), site);
  }
  return gathered<T>(kept, x.context(), site);
}
/// The same of an index that has not changed since the place's last call with this version, which
/// is the same number on all ranks: neither a comparison nor an agreement.
template <typename T, typename Layout, typename Ranks>
gathered<T> gather(const shared_array<T, Layout, Ranks>& x, std::span<const uint64_t> index,
                   uint64_t version, const GatherOptions& options = {},
                   CallSite site = CallSite::current()) {
  x.check_made("gather", site);
  CachedGather<T>& kept = detail::gather_of<T>(x.context(), site);
  if (const Status status = kept.gather(x, index, version, options, site); !status.ok()) {
    detail::fail_gather(x.context(), status.error(), site);
  }
  return gathered<T>(kept, x.context(), site);
}

}  // namespace stripline
