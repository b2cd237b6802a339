// Gathers through an index that changes now and then: neighbour lists, adaptive meshes.
//
//   stripline::CachedGather<double> values;
//   for (int step = 0; step < steps; ++step) {
//     if (step % 20 == 0) find_neighbours(index);
//     if (const auto status = values.gather(x, index); !status.ok()) ...
//     for (size_t i = 0; i < index.size(); ++i) use(values[i]);      // x[index[i]]
//   }
//
// It is found out who needs what when the index, or the array's shape, is another one than the last
// time, and kept until then: each gather costs what a GatherPlan's (<stripline/gather_plan.h>)
// does, and a comparison of the index. Where the program knows when its index changes, it says so
// by a version, which saves the comparison and the ranks' agreement on it. Where one place in the
// program gathers, gather() (<stripline/gather.h>) keeps the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <stripline/call_site.h>
#include <stripline/gather_plan.h>
#include <stripline/shared_array.h>
#include <stripline/team.h>

namespace stripline {

namespace detail {
/// Tells indices apart by their entries and the places of these.
uint64_t hash_of_index(std::span<const uint64_t> index);
/// Ends the process: `call` is about what a CachedGather has gathered, which is nothing.
[[noreturn]] void fail_nothing_gathered(const char* call, CallSite site = {});
}  // namespace detail

/// Moves; used by the rank's thread that communicates. Goes before the Context, on all ranks in the
/// same order, and waits there for those that read this rank's elements.
template <typename T>
class CachedGather {
 public:
  CachedGather() = default;  ///< keeps nothing
  /// Moves: the other one keeps nothing any more, and can be used again.
  CachedGather(CachedGather&& other) noexcept { *this = std::move(other); }
  /// Moves, likewise.
  CachedGather& operator=(CachedGather&& other) noexcept {
    plan_ = std::exchange(other.plan_, std::nullopt);
    version_ = other.version_;
    shape_ = other.shape_;
    inspections_ = other.inspections_;
    gathers_ = other.gathers_;
    return *this;
  }

  /// Collective: operator[] gives the values of x[index[i]] from now on, until the next gather;
  /// they are those that x has when its owner calls this. The index may be another one on every
  /// rank; one rank's change makes all find out again who needs what, as does another shape
  /// of x. Elements of x do not change while it runs. The options count when it is found out, and
  /// not while that is kept; GatherOptions::vectors is 1, as it gathers one array, else that ends
  /// the job. Errors: as GatherPlan::create(), which leave nothing to be read.
  template <typename Layout, typename Ranks>
  Status gather(const shared_array<T, Layout, Ranks>& x, std::span<const uint64_t> index,
                const GatherOptions& options = {}, CallSite site = CallSite::current()) {
    x.check_made("CachedGather::gather", site);
    const uint64_t now = detail::hash_of_index(index);
    const bool same = keeps(x, now) && index.size() == plan_->size();
    const bool changes =
        team::world(x.context())
            .allreduce(int32_t{same ? 0 : 1}, op_max{}, collective_algorithm::automatic, site) != 0;
    return gather(x, index, now, changes, options, site);
  }
  /// The same of an index that has not changed since the gather of this version, which is the same
  /// number on all ranks.
  template <typename Layout, typename Ranks>
  Status gather(const shared_array<T, Layout, Ranks>& x, std::span<const uint64_t> index,
                uint64_t version, const GatherOptions& options = {},
                CallSite site = CallSite::current()) {
    x.check_made("CachedGather::gather", site);
    return gather(x, index, version, !keeps(x, version), options, site);
  }

  /// After a gather: ends the process before it, and the job if the index has no entry `i`.
  const T& operator[](size_t i) const {
    if (!plan_) [[unlikely]]
      detail::fail_nothing_gathered("CachedGather::operator[]");
    return (*plan_)[i];
  }
  /// The entries of the index; 0 before the first gather.
  size_t size() const { return plan_ ? plan_->size() : 0; }
  /// What it has counted so far. Ends the process before a gather.
  const GatherStatistics& statistics(CallSite site = CallSite::current()) const {
    if (!plan_) [[unlikely]]
      detail::fail_nothing_gathered("CachedGather::statistics", site);
    return plan_->statistics(site);
  }
  /// How often it was found out who needs what.
  uint64_t inspections() const { return inspections_; }
  /// How often values were gathered.
  uint64_t gathers() const { return gathers_; }

  /// Tells owners that this rank has read all that came. Several of these may go in any order after
  /// all ranks have released all of them.
  void release(CallSite site = CallSite::current()) {
    if (plan_) plan_->core().release(site);
  }

 private:
  template <typename Layout, typename Ranks>
  bool keeps(const shared_array<T, Layout, Ranks>& x, uint64_t version) const {
    return plan_ && version_ == version && shape_ == detail::gather_shape(x);
  }
  template <typename Layout, typename Ranks>
  Status gather(const shared_array<T, Layout, Ranks>& x, std::span<const uint64_t> index,
                uint64_t version, bool changes, const GatherOptions& options, CallSite site) {
    if (changes) {
      plan_.reset();  // its memory is there for the next one
      auto made = GatherPlan<T>::create(x, index, options, site);
      if (!made.ok()) return made.error();
      plan_.emplace(std::move(*made));
      ++inspections_;
      version_ = version;
      shape_ = detail::gather_shape(x);
    }
    plan_->start(x, site);
    plan_->wait(site);
    ++gathers_;
    return {};
  }

  std::optional<GatherPlan<T>> plan_;
  uint64_t version_ = 0;
  detail::GatherShape shape_;
  uint64_t inspections_ = 0;
  uint64_t gathers_ = 0;
};

}  // namespace stripline
