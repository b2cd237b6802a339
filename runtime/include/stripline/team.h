// Teams of ranks, and the collective operations on them.
//
//   stripline::team all = stripline::team::world(ctx);
//   double norm2 = all.allreduce(mine, stripline::op_add{});
//   stripline::team row = all.split(all.rank_me() / columns, all.rank_me());   // collective
//   row.broadcast(pivot, root);                                                // of the row only
//
// Every call below is collective over the team unless it says otherwise: all its ranks make it, in
// the same order, with the same root, lengths, operator and algorithm. Ranks that disagree end the
// job with a message that names the team and both calls. Teams are independent of each other: their
// operations are numbered apart, and a rank may be busy in one while others use another. A rank
// that is in two teams makes its calls in an order that all who share both teams follow.
//
// A call returns when this rank's part is done: its output is complete and its input may be
// changed. Collectives other than barriers order nothing else: puts and gets that others are to
// rely on are completed, or followed by a barrier. Those whose names end in _async return a future
// that is ready then, and go on when this rank makes progress; other calls, and other collectives,
// may come between. They count in the order of calls where they begin, and end before their team.
//
// Data are contiguous ranges (vector, span, array) of trivially copyable elements, or single
// values. Small messages are sent at once; a rank that comes late to a collective keeps at most 64
// KiB of each peer's for it. Larger ones wait for it; where it receives into its shared segment,
// they are put there without a copy. Each rank has 3 MiB for collectives behind its segment. An
// operation that needs more than 1 MiB of scratch memory, at most about twice the data of the call
// (stated for each algorithm in runtime/sync/collectives.h), allocates it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <stripline/context.h>
#include <stripline/future.h>
#include <stripline/reduction.h>

#include "optimizer/model/collective.h"

namespace stripline {

namespace sync {
struct Group;
}

/// How a collective is carried out. `automatic` takes what the tuned model found fastest for the
/// operation, the number of ranks and the size, or a default without a model. What the model found
/// for operations that do not reduce is compared with the default now and then (Options::guard),
/// for which all ranks are to give the same. The others are for measurements; an operation that
/// lacks the one asked for ends the job. What they cost: runtime/sync/collectives.h.
using collective_algorithm = model::CollectiveAlgorithm;

namespace detail {
struct TeamAccess;

template <typename R>
concept collective_range = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;
template <typename T>
concept collective_value =
    std::is_trivially_copyable_v<T> && !std::ranges::range<T> && !std::is_pointer_v<T>;
template <typename In, typename Out>
concept collective_pair = collective_range<In> && collective_range<Out> &&
    std::same_as<std::ranges::range_value_t<In>, std::ranges::range_value_t<Out>>;
}  // namespace detail

/// A handle; moves, does not copy. Calls have a last argument that need not be given: the place
/// where they stand, which debug mode names (docs/debugging.md). Not valid after the Context has
/// gone.
class team {
 public:
  /// The colour of ranks that are to be in none of the new teams.
  static constexpr uint32_t no_colour = ~uint32_t{0};

  /// No team: only conversion to bool, assignment and destruction are allowed. Every call ends the
  /// process with a message.
  team() = default;
  /// All ranks of the job. Not collective; any number of handles may exist.
  static team world(Context& context);
  /// Collective for a team that split() made: waits for all its ranks.
  ~team();
  team(team&& other) noexcept;  ///< moves: the other one is no team any more
  /// Destroys the team that was held before.
  team& operator=(team&& other) noexcept;
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  explicit operator bool() const { return group_ != nullptr; }  ///< false for no team

  // --- not collective -------------------------------------------------------------------------

  /// This rank's number, from 0.
  rank_t rank_me(CallSite site = CallSite::current()) const {
    if (group_ == nullptr) [[unlikely]]
      context("rank_me", site);
    return rank_me_;
  }
  /// The number of ranks.
  rank_t rank_n(CallSite site = CallSite::current()) const {
    if (group_ == nullptr) [[unlikely]]
      context("rank_n", site);
    return rank_n_;
  }
  /// The rank in the job of a rank of this team, which must exist.
  rank_t world_rank(rank_t rank) const;
  /// The rank in this team of a rank of the job; none: it is no member.
  std::optional<rank_t> from_world(rank_t world_rank) const;
  /// The number of the team, 0 for all ranks: the same on all members, as error messages show it.
  uint32_t id() const;

  // --- teams and synchronisation --------------------------------------------------------------

  /// One new team per colour, of the ranks that give it, ordered by key and then by their rank
  /// here. Ranks that give no_colour take part and get no team.
  team split(uint32_t colour, int64_t key, CallSite site = CallSite::current()) const;

  /// All ranks of the team have arrived, and all their puts issued before it are visible.
  void barrier(CallSite site = CallSite::current()) const;
  /// The same in two phases, as Context::barrier_async().
  future barrier_async(CallSite site = CallSite::current()) const;

  // --- one to all, all to one -----------------------------------------------------------------

  /// `data` becomes root's on every rank.
  template <detail::collective_range R>
  void broadcast(R&& data, rank_t root,
                 collective_algorithm algorithm = collective_algorithm::automatic,
                 CallSite site = CallSite::current()) const {
    broadcast_bytes(writable(data), root, algorithm, site);
  }
  /// The same of one value, which is returned.
  template <detail::collective_value T>
  T broadcast(T value, rank_t root,
              collective_algorithm algorithm = collective_algorithm::automatic,
              CallSite site = CallSite::current()) const {
    broadcast(std::span(&value, 1), root, algorithm, site);
    return value;
  }

  /// The same in the background: down a tree, in messages. `data` stays until the future is ready;
  /// the root's is not changed before.
  template <detail::collective_range R>
  future broadcast_async(R&& data, rank_t root, CallSite site = CallSite::current()) const {
    return start_broadcast(writable(data), root, site);
  }
  /// The same of one value, which is that of the future.
  template <detail::collective_value T>
  future_of<T> broadcast_async(T value, rank_t root, CallSite site = CallSite::current()) const {
    auto state = detail::FutureState::make_for_operation<detail::ValueState<T>>(
        context("broadcast_async", site));
    state->settle_by(broadcast_async(std::span(&state->value.emplace(value), 1), root, site));
    return detail::FutureAccess::make(std::move(state));
  }

  /// Element by element, out[i] = op over all ranks' in[i]; `out` is used on the root only, where
  /// it may be `in` and has its length. `op` (reduction.h) must be associative and commutative, up
  /// to rounding. With the same algorithm, ranks and length the result has the same bits every
  /// time.
  template <typename In, typename Out, typename Op>
  requires detail::collective_pair<In, Out>
  void reduce(const In& in, Out&& out, const Op& op, rank_t root,
              collective_algorithm algorithm = collective_algorithm::automatic,
              CallSite site = CallSite::current()) const {
    reduce_bytes(readable(in), writable(out), reduction<In>(op, "reduce", site), root, algorithm,
                 site);
  }
  /// The result on the root; elsewhere `value` itself.
  template <detail::collective_value T, typename Op>
  T reduce(T value, const Op& op, rank_t root,
           collective_algorithm algorithm = collective_algorithm::automatic,
           CallSite site = CallSite::current()) const {
    reduce(std::span(&value, 1), std::span(&value, 1), op, root, algorithm, site);
    return value;
  }

  /// Rank r's `in` becomes block r of root's `out`, which is used on the root only.
  template <typename In, typename Out>
  requires detail::collective_pair<In, Out>
  void gather(const In& in, Out&& out, rank_t root,
              collective_algorithm algorithm = collective_algorithm::automatic,
              CallSite site = CallSite::current()) const {
    gather_bytes(readable(in), writable(out), root, algorithm, site);
  }

  /// The same with blocks of any length: rank r's `in` becomes the counts[r] elements at
  /// out + offsets[r] of root, where counts, offsets and `out` are used. They have rank_n()
  /// entries.
  template <typename In, typename Out>
  requires detail::collective_pair<In, Out>
  void gather_v(const In& in, Out&& out, std::span<const size_t> counts,
                std::span<const size_t> offsets, rank_t root,
                CallSite site = CallSite::current()) const {
    gather_v_bytes(readable(in), writable(out), counts, offsets,
                   sizeof(std::ranges::range_value_t<In>), root, site);
  }

  /// Block r of root's `in`, which is used on the root only, becomes rank r's `out`. The root's own
  /// may lie there already.
  template <typename In, typename Out>
  requires detail::collective_pair<In, Out>
  void scatter(const In& in, Out&& out, rank_t root,
               collective_algorithm algorithm = collective_algorithm::automatic,
               CallSite site = CallSite::current()) const {
    scatter_bytes(readable(in), writable(out), root, algorithm, site);
  }
  /// The same with blocks of any length: the counts[r] elements at in + offsets[r] of root, where
  /// counts, offsets and `in` are used, become rank r's `out`.
  template <typename In, typename Out>
  requires detail::collective_pair<In, Out>
  void scatter_v(const In& in, std::span<const size_t> counts, std::span<const size_t> offsets,
                 Out&& out, rank_t root, CallSite site = CallSite::current()) const {
    scatter_v_bytes(readable(in), counts, offsets, writable(out),
                    sizeof(std::ranges::range_value_t<In>), root, site);
  }

  // --- all to all -----------------------------------------------------------------------------

  /// As reduce(), with the result on every rank: the same bits on all of them. `out` may be `in`.
  template <typename In, typename Out, typename Op>
  requires detail::collective_pair<In, Out>
  void allreduce(const In& in, Out&& out, const Op& op,
                 collective_algorithm algorithm = collective_algorithm::automatic,
                 CallSite site = CallSite::current()) const {
    allreduce_bytes(readable(in), writable(out), reduction<In>(op, "allreduce", site), algorithm,
                    site);
  }
  /// The same of one value, which is returned.
  template <detail::collective_value T, typename Op>
  T allreduce(T value, const Op& op,
              collective_algorithm algorithm = collective_algorithm::automatic,
              CallSite site = CallSite::current()) const {
    allreduce(std::span(&value, 1), std::span(&value, 1), op, algorithm, site);
    return value;
  }

  /// The same in the background, by recursive doubling. `in` may be changed when it returns, and is
  /// copied to `out` first; `out` stays until the future is ready. `op` is copied; it may be called
  /// in any call that makes progress.
  template <typename In, typename Out, typename Op>
  requires detail::collective_pair<In, Out> future
  allreduce_async(const In& in, Out&& out, const Op& op, CallSite site = CallSite::current())
  const {
    auto kept = std::make_shared<const Op>(op);
    const detail::Reduction reduces = reduction<In>(*kept, "allreduce_async", site);
    return start_allreduce(readable(in), writable(out), reduces, std::move(kept), site);
  }
  /// The same of one value, which is that of the future.
  template <detail::collective_value T, typename Op>
  future_of<T> allreduce_async(T value, const Op& op, CallSite site = CallSite::current()) const {
    auto state = detail::FutureState::make_for_operation<detail::ValueState<T>>(
        context("allreduce_async", site));
    const std::span<T> place(&state->value.emplace(value), 1);
    state->settle_by(allreduce_async(place, place, op, site));
    return detail::FutureAccess::make(std::move(state));
  }

  /// `in` has rank_n() blocks as long as `out`: block r, combined over all ranks as by reduce(),
  /// becomes rank r's `out`, which may be its block of `in`.
  template <typename In, typename Out, typename Op>
  requires detail::collective_pair<In, Out>
  void reduce_scatter(const In& in, Out&& out, const Op& op,
                      collective_algorithm algorithm = collective_algorithm::automatic,
                      CallSite site = CallSite::current()) const {
    reduce_scatter_bytes(readable(in), writable(out), reduction<In>(op, "reduce_scatter", site),
                         algorithm, site);
  }

  /// Rank r's `in` becomes block r of everybody's `out`; it may lie there already.
  template <typename In, typename Out>
  requires detail::collective_pair<In, Out>
  void allgather(const In& in, Out&& out,
                 collective_algorithm algorithm = collective_algorithm::automatic,
                 CallSite site = CallSite::current()) const {
    allgather_bytes(readable(in), writable(out), algorithm, site);
  }

  /// The same with blocks of any length: the counts[r] elements at out + offsets[r]. All ranks give
  /// the same counts; `in` has as many elements as this rank's says, and may lie there already.
  template <typename In, typename Out>
  requires detail::collective_pair<In, Out>
  void allgather_v(const In& in, Out&& out, std::span<const size_t> counts,
                   std::span<const size_t> offsets,
                   collective_algorithm algorithm = collective_algorithm::automatic,
                   CallSite site = CallSite::current()) const {
    allgather_v_bytes(readable(in), writable(out), counts, offsets,
                      sizeof(std::ranges::range_value_t<In>), algorithm, site);
  }

  /// Block r of rank s's `in` becomes block s of rank r's `out`. Both have rank_n() blocks of the
  /// same length and do not overlap.
  template <typename In, typename Out>
  requires detail::collective_pair<In, Out>
  void all_to_all(const In& in, Out&& out,
                  collective_algorithm algorithm = collective_algorithm::automatic,
                  CallSite site = CallSite::current()) const {
    all_to_all_bytes(readable(in), writable(out), sizeof(std::ranges::range_value_t<In>), algorithm,
                     site);
  }

  /// The same with blocks of any length: in_counts[r] elements at in + in_offsets[r] go to rank r,
  /// which expects as many from this one. Counts and offsets have rank_n() entries.
  template <typename In, typename Out>
  requires detail::collective_pair<In, Out>
  void all_to_all_v(const In& in, std::span<const size_t> in_counts,
                    std::span<const size_t> in_offsets, Out&& out,
                    std::span<const size_t> out_counts, std::span<const size_t> out_offsets,
                    collective_algorithm algorithm = collective_algorithm::automatic,
                    CallSite site = CallSite::current()) const {
    all_to_all_v_bytes(readable(in), in_counts, in_offsets, writable(out), out_counts, out_offsets,
                       sizeof(std::ranges::range_value_t<In>), algorithm, site);
  }

  // --- prefixes -------------------------------------------------------------------------------

  /// out[i] = op over in[i] of the ranks up to this one, in the order of ranks: `op` need not be
  /// commutative. `out` may be `in`.
  template <typename In, typename Out, typename Op>
  requires detail::collective_pair<In, Out>
  void inclusive_scan(const In& in, Out&& out, const Op& op,
                      collective_algorithm algorithm = collective_algorithm::automatic,
                      CallSite site = CallSite::current()) const {
    scan_bytes(readable(in), writable(out), reduction<In>(op, "inclusive_scan", site), false,
               algorithm, site);
  }
  /// The same of one value, which is returned.
  template <detail::collective_value T, typename Op>
  T inclusive_scan(T value, const Op& op,
                   collective_algorithm algorithm = collective_algorithm::automatic,
                   CallSite site = CallSite::current()) const {
    inclusive_scan(std::span(&value, 1), std::span(&value, 1), op, algorithm, site);
    return value;
  }
  /// The same without this rank's own; rank 0's `out` is not touched.
  template <typename In, typename Out, typename Op>
  requires detail::collective_pair<In, Out>
  void exclusive_scan(const In& in, Out&& out, const Op& op,
                      collective_algorithm algorithm = collective_algorithm::automatic,
                      CallSite site = CallSite::current()) const {
    scan_bytes(readable(in), writable(out), reduction<In>(op, "exclusive_scan", site), true,
               algorithm, site);
  }
  /// `first` is the result on rank 0.
  template <detail::collective_value T, typename Op>
  T exclusive_scan(T value, T first, const Op& op,
                   collective_algorithm algorithm = collective_algorithm::automatic,
                   CallSite site = CallSite::current()) const {
    exclusive_scan(std::span(&value, 1), std::span(&first, 1), op, algorithm, site);
    return first;
  }

 private:
  friend struct detail::TeamAccess;
  using Bytes = std::span<std::byte>;
  using ConstBytes = std::span<const std::byte>;

  team(Context* context, sync::Group* group, bool owns);

  template <typename R>
  static Bytes writable(R&& range) {
    return detail::writable_bytes_of(std::span(std::ranges::data(range), std::ranges::size(range)));
  }
  template <typename R>
  static ConstBytes readable(const R& range) {
    return detail::bytes_of(std::span<const std::ranges::range_value_t<R>>(
        std::ranges::data(range), std::ranges::size(range)));
  }
  template <typename R, typename Op>
  static detail::Reduction reduction(const Op& op, const char* name, CallSite site) {
    detail::check_callable(op, name, site);
    return detail::reduction_of<std::ranges::range_value_t<R>>(op);
  }

  void destroy() noexcept;
  // The Context. Ends the process for no team; the call `name` stands at `site`.
  Context& context(const char* name, CallSite site) const;
  detail::ContextState& enter(const char* name) const;
  void check_root(const char* name, rank_t root) const;
  void check_length(const char* name, size_t bytes, size_t expected) const;
  void check_blocks(const char* name, const char* of, std::span<const size_t> counts,
                    std::span<const size_t> offsets, size_t element_bytes, size_t bytes) const;
  void check_own_block(const char* name, std::span<const size_t> counts, size_t element_bytes,
                       size_t bytes) const;
  future start_broadcast(Bytes data, rank_t root, CallSite site) const;
  future start_allreduce(ConstBytes in, Bytes out, const detail::Reduction& op,
                         std::shared_ptr<const void> function, CallSite site) const;
  void gather_v_bytes(ConstBytes in, Bytes out, std::span<const size_t> counts,
                      std::span<const size_t> offsets, size_t element_bytes, rank_t root,
                      CallSite site) const;
  void scatter_bytes(ConstBytes in, Bytes out, rank_t root, collective_algorithm algorithm,
                     CallSite site) const;
  void scatter_v_bytes(ConstBytes in, std::span<const size_t> counts,
                       std::span<const size_t> offsets, Bytes out, size_t element_bytes,
                       rank_t root, CallSite site) const;
  void allgather_v_bytes(ConstBytes in, Bytes out, std::span<const size_t> counts,
                         std::span<const size_t> offsets, size_t element_bytes,
                         collective_algorithm algorithm, CallSite site) const;
  void reduce_scatter_bytes(ConstBytes in, Bytes out, const detail::Reduction& op,
                            collective_algorithm algorithm, CallSite site) const;
  void broadcast_bytes(Bytes data, rank_t root, collective_algorithm algorithm,
                       CallSite site) const;
  void reduce_bytes(ConstBytes in, Bytes out, const detail::Reduction& op, rank_t root,
                    collective_algorithm algorithm, CallSite site) const;
  void allreduce_bytes(ConstBytes in, Bytes out, const detail::Reduction& op,
                       collective_algorithm algorithm, CallSite site) const;
  void gather_bytes(ConstBytes in, Bytes out, rank_t root, collective_algorithm algorithm,
                    CallSite site) const;
  void allgather_bytes(ConstBytes in, Bytes out, collective_algorithm algorithm,
                       CallSite site) const;
  void all_to_all_bytes(ConstBytes in, Bytes out, size_t element_bytes,
                        collective_algorithm algorithm, CallSite site) const;
  void all_to_all_v_bytes(ConstBytes in, std::span<const size_t> in_counts,
                          std::span<const size_t> in_offsets, Bytes out,
                          std::span<const size_t> out_counts, std::span<const size_t> out_offsets,
                          size_t element_bytes, collective_algorithm algorithm,
                          CallSite site) const;
  void scan_bytes(ConstBytes in, Bytes out, const detail::Reduction& op, bool exclusive,
                  collective_algorithm algorithm, CallSite site) const;

  Context* context_ = nullptr;
  sync::Group* group_ = nullptr;
  bool owns_ = false;
  rank_t rank_me_ = 0;
  rank_t rank_n_ = 0;
};

}  // namespace stripline
