#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stripline/team.h>

#include "optimizer/access/saturate.h"
#include "runtime/rma/collective_calls.h"
#include "runtime/rma/compared_collective.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/debug_checks.h"

namespace stripline {
namespace {

using model::CollectiveAlgorithm;
using model::CollectiveOperation;
using rma::carry_out;

// What carries out `perform`, which calls a function of the program. No exception of that may end
// it, whatever the other ranks wait for.
template <typename Perform>
auto with_function(detail::ContextState& state, rma::Call call, Perform perform) {
  return [&state, call, perform](CollectiveAlgorithm by) {
    try {
      perform(by);
    } catch (...) {
      state.fail(sync::function_has_thrown(text(call)));
    }
  };
}

std::string name_of(const sync::Group& group) {
  return group.id == 0 ? "the job" : "team " + std::to_string(group.id);
}

// The Context of a team. Ends the process if the team refers to none: its job is unknown then.
Context& valid(Context* context, const sync::Group* group, rma::Call call) {
  if (context != nullptr && group != nullptr) [[likely]]
    return *context;
  rma::fail_without_job(text(call) +
                        " of a team object that refers to no team, being empty or moved from; "
                        "team::world() and split() make teams");
}

// Ends the job if a range that is not empty begins at a null pointer.
void check_memory(const detail::ContextState& state, rma::Call call,
                  std::initializer_list<std::span<const std::byte>> ranges) {
  for (const std::span<const std::byte> range : ranges) {
    if (range.data() != nullptr || range.empty()) continue;
    state.fail(Error(ErrorCode::invalid_argument,
                     text(call) + " of " + rma::byte_count_text(range.size()) +
                         " at a null pointer; the ranges of a collective call are in memory"));
  }
}

// What each rank says in a split.
struct Choice {
  int64_t key = 0;
  uint32_t colour = 0;
  uint32_t next_id = 0;
};

}  // namespace

team::team(Context* context, sync::Group* group, bool owns)
    : context_(context), group_(group), owns_(owns), rank_me_(group->me), rank_n_(group->size) {}

team team::world(Context& context) {
  return {&context, &context.state().mechanisms.groups().world(), false};
}

team::~team() { destroy(); }

team::team(team&& other) noexcept
    : context_(other.context_),
      group_(std::exchange(other.group_, nullptr)),
      owns_(other.owns_),
      rank_me_(other.rank_me_),
      rank_n_(other.rank_n_) {}

team& team::operator=(team&& other) noexcept {
  if (this == &other) return *this;
  destroy();
  context_ = other.context_;
  group_ = std::exchange(other.group_, nullptr);
  owns_ = other.owns_;
  rank_me_ = other.rank_me_;
  rank_n_ = other.rank_n_;
  return *this;
}

void team::destroy() noexcept {
  if (group_ == nullptr || !owns_ || context_->state().job.in_child()) return;
  const auto inside = context_->state().exclusive();
  detail::ContextState& state = enter("destruction of a team");
  const rma::CollectiveScope scope(state, "destruction of a team", {});
  // A message of an earlier barrier that a handler has kept would find no team.
  state.operations.messages().wait([&state, this] {
    return state.operations.messages().idle() &&
           !state.mechanisms.async_collectives().active(group_->id);
  });
  group_->barrier.wait(sync::Collective::barrier);
  if (state.mechanisms.run_guard() != nullptr) {
    state.mechanisms.of<rma::ComparedCollectives>(state).forget(group_->id);
  }
  state.mechanisms.groups().remove(group_->id);
  group_ = nullptr;
}

Context& team::context(const char* name, CallSite site) const {
  return valid(context_, group_, {name, site});
}

rank_t team::world_rank(rank_t rank) const {
  Context& context = valid(context_, group_, "world_rank");
  if (rank >= rank_n_) {
    context.state().fail(
        Error(ErrorCode::invalid_argument, "world_rank of rank " + std::to_string(rank) + " of " +
                                               name_of(*group_) + ", which has ranks 0 to " +
                                               std::to_string(rank_n_ - 1)));
  }
  return group_->world(rank);
}

std::optional<rank_t> team::from_world(rank_t world_rank) const {
  valid(context_, group_, "from_world");
  return group_->from_world(world_rank);
}

uint32_t team::id() const {
  valid(context_, group_, "id");
  return group_->id;
}

detail::ContextState& team::enter(const char* name) const {
  detail::ContextState& state = context_->state();
  state.operations.enter(name);
  return state;
}

team team::split(uint32_t colour, int64_t key, CallSite site) const {
  const auto inside = valid(context_, group_, {"split", site}).state().exclusive();
  detail::ContextState& state = enter("split");
  const rma::CollectiveScope scope(state, "split", site);
  std::vector<Choice> choices(rank_n_);
  const Choice mine{.key = key, .colour = colour, .next_id = state.mechanisms.groups().next_id()};
  allgather(std::span(&mine, 1), choices, collective_algorithm::automatic, site);

  uint32_t first_id = 0;
  std::vector<uint32_t> colours;
  std::vector<rank_t> members;
  for (rank_t rank = 0; rank < rank_n_; ++rank) {
    const Choice& choice = choices[rank];
    first_id = std::max(first_id, choice.next_id);
    if (choice.colour != no_colour) colours.push_back(choice.colour);
    if (choice.colour == colour) members.push_back(rank);
  }
  std::sort(colours.begin(), colours.end());
  colours.erase(std::unique(colours.begin(), colours.end()), colours.end());
  // All ids that any of these ranks has seen are below, and each colour takes one.
  state.mechanisms.groups().reserve_ids(first_id + static_cast<uint32_t>(colours.size()));
  sync::Group* group = nullptr;
  if (colour != no_colour) {
    std::stable_sort(members.begin(), members.end(),
                     [&](rank_t a, rank_t b) { return choices[a].key < choices[b].key; });
    const auto me = std::find(members.begin(), members.end(), rank_me_) - members.begin();
    for (rank_t& rank : members) rank = group_->world(rank);
    const auto index = std::lower_bound(colours.begin(), colours.end(), colour) - colours.begin();
    group = &state.mechanisms.groups().add(first_id + static_cast<uint32_t>(index),
                                           static_cast<rank_t>(me), std::move(members));
  }
  // No one uses a team before all its members know it.
  group_->barrier.wait(sync::Collective::barrier);
  return group == nullptr ? team() : team(context_, group, true);
}

void team::barrier(CallSite site) const {
  const auto inside = valid(context_, group_, {"barrier", site}).state().exclusive();
  detail::ContextState& state = enter("barrier");
  state.operations.complete_puts();
  const rma::CollectiveScope scope(state, "barrier", site);
  state.job.activity() = "barrier";
  group_->barrier.wait(sync::Collective::barrier);
}

future team::barrier_async(CallSite site) const {
  return valid(context_, group_, {"barrier_async", site})
      .state()
      .start_barrier(*context_, *group_, site);
}

void team::check_root(const char* name, rank_t root) const {
  if (root < rank_n_) return;
  context_->state().fail(
      Error(ErrorCode::invalid_argument,
            std::string(name) +
                (std::string_view(name).starts_with("gather") || std::string_view(name) == "reduce"
                     ? " to rank "
                     : " from rank ") +
                std::to_string(root) + ", but " + name_of(*group_) + " has ranks 0 to " +
                std::to_string(rank_n_ - 1)));
}

void team::check_length(const char* name, size_t bytes, size_t expected) const {
  if (bytes == expected && bytes != detail::kTooManyBytes) return;
  context_->state().fail(
      Error(ErrorCode::invalid_argument, std::string(name) + " with an output of " +
                                             rma::byte_count_text(bytes) + " where " +
                                             rma::byte_count_text(expected) + " are needed"));
}

void team::check_blocks(const char* name, const char* of, std::span<const size_t> counts,
                        std::span<const size_t> offsets, size_t element_bytes, size_t bytes) const {
  const size_t elements = bytes / element_bytes;
  bool good = counts.size() == rank_n_ && offsets.size() == rank_n_ && counts.data() != nullptr &&
              offsets.data() != nullptr;
  for (size_t rank = 0; good && rank < rank_n_; ++rank) {
    good = counts[rank] <= elements && offsets[rank] <= elements - counts[rank];
  }
  if (good) return;
  context_->state().fail(
      Error(ErrorCode::invalid_argument, std::string(name) + ": counts and offsets of the " + of +
                                             " do not name " + std::to_string(rank_n_) +
                                             " blocks, one per rank, within its " +
                                             std::to_string(elements) + " elements"));
}

void team::check_own_block(const char* name, std::span<const size_t> counts, size_t element_bytes,
                           size_t bytes) const {
  if (bytes == counts[rank_me_] * element_bytes) return;
  context_->state().fail(
      Error(ErrorCode::invalid_argument,
            std::string(name) + ": this rank's part has " + std::to_string(bytes / element_bytes) +
                " elements, where its count says " + std::to_string(counts[rank_me_])));
}

void team::broadcast_bytes(Bytes data, rank_t root, collective_algorithm algorithm,
                           CallSite site) const {
  const auto inside = valid(context_, group_, {"broadcast", site}).state().exclusive();
  detail::ContextState& state = enter("broadcast");
  const rma::CollectiveScope scope(state, "broadcast", site);
  check_root("broadcast", root);
  check_length("broadcast", data.size(), data.size());
  check_memory(state, {"broadcast", site}, {data});
  carry_out(*group_, state, {CollectiveOperation::broadcast, data.size(), algorithm}, site,
            [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().broadcast(*group_, data, root, by);
            });
}

void team::reduce_bytes(ConstBytes in, Bytes out, const detail::Reduction& op, rank_t root,
                        collective_algorithm algorithm, CallSite site) const {
  const auto inside = valid(context_, group_, {"reduce", site}).state().exclusive();
  detail::ContextState& state = enter("reduce");
  const rma::CollectiveScope scope(state, "reduce", site, op.name);
  check_root("reduce", root);
  if (rank_me_ == root) check_length("reduce", out.size(), in.size());
  check_memory(state, {"reduce", site}, {in, rank_me_ == root ? out : Bytes()});
  carry_out(*group_, state, {CollectiveOperation::reduce, in.size(), algorithm}, site,
            with_function(state, {"reduce", site}, [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().reduce(*group_, in, out, op, root, by);
            }));
}

void team::allreduce_bytes(ConstBytes in, Bytes out, const detail::Reduction& op,
                           collective_algorithm algorithm, CallSite site) const {
  const auto inside = valid(context_, group_, {"allreduce", site}).state().exclusive();
  detail::ContextState& state = enter("allreduce");
  const rma::CollectiveScope scope(state, "allreduce", site, op.name);
  check_length("allreduce", out.size(), in.size());
  check_memory(state, {"allreduce", site}, {in, out});
  carry_out(*group_, state, {CollectiveOperation::allreduce, in.size(), algorithm}, site,
            with_function(state, {"allreduce", site}, [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().allreduce(*group_, in, out, op, by);
            }));
}

void team::gather_bytes(ConstBytes in, Bytes out, rank_t root, collective_algorithm algorithm,
                        CallSite site) const {
  const auto inside = valid(context_, group_, {"gather", site}).state().exclusive();
  detail::ContextState& state = enter("gather");
  const rma::CollectiveScope scope(state, "gather", site);
  check_root("gather", root);
  if (rank_me_ == root)
    check_length("gather", out.size(), access::saturating_multiply(in.size(), rank_n_));
  check_memory(state, {"gather", site}, {in, rank_me_ == root ? out : Bytes()});
  carry_out(*group_, state, {CollectiveOperation::gather, in.size(), algorithm}, site,
            [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().gather(*group_, in, out, root, by);
            });
}

void team::gather_v_bytes(ConstBytes in, Bytes out, std::span<const size_t> counts,
                          std::span<const size_t> offsets, size_t element_bytes, rank_t root,
                          CallSite site) const {
  const auto inside = valid(context_, group_, {"gather_v", site}).state().exclusive();
  detail::ContextState& state = enter("gather_v");
  const rma::CollectiveScope scope(state, "gather_v", site);
  check_root("gather_v", root);
  if (rank_me_ == root) {
    check_blocks("gather_v", "output", counts, offsets, element_bytes, out.size());
    check_own_block("gather_v", counts, element_bytes, in.size());
  }
  check_memory(state, {"gather_v", site}, {in, rank_me_ == root ? out : Bytes()});
  state.mechanisms.collectives().gatherv(*group_, in, out, {counts, offsets, element_bytes}, root);
}

void team::scatter_bytes(ConstBytes in, Bytes out, rank_t root, collective_algorithm algorithm,
                         CallSite site) const {
  const auto inside = valid(context_, group_, {"scatter", site}).state().exclusive();
  detail::ContextState& state = enter("scatter");
  const rma::CollectiveScope scope(state, "scatter", site);
  check_root("scatter", root);
  if (rank_me_ == root && in.size() != out.size() * rank_n_) {
    state.fail(Error(ErrorCode::invalid_argument,
                     "scatter of an input of " + std::to_string(in.size()) + " bytes where " +
                         std::to_string(out.size() * rank_n_) + " are needed"));
  }
  check_memory(state, {"scatter", site}, {rank_me_ == root ? in : ConstBytes(), out});
  // The same tree as gather's, in the other direction.
  carry_out(*group_, state, {CollectiveOperation::gather, out.size(), algorithm, "scatter"}, site,
            [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().scatter(*group_, in, out, root, by);
            });
}

void team::scatter_v_bytes(ConstBytes in, std::span<const size_t> counts,
                           std::span<const size_t> offsets, Bytes out, size_t element_bytes,
                           rank_t root, CallSite site) const {
  const auto inside = valid(context_, group_, {"scatter_v", site}).state().exclusive();
  detail::ContextState& state = enter("scatter_v");
  const rma::CollectiveScope scope(state, "scatter_v", site);
  check_root("scatter_v", root);
  if (rank_me_ == root) {
    check_blocks("scatter_v", "input", counts, offsets, element_bytes, in.size());
    check_own_block("scatter_v", counts, element_bytes, out.size());
  }
  check_memory(state, {"scatter_v", site}, {rank_me_ == root ? in : ConstBytes(), out});
  state.mechanisms.collectives().scatterv(*group_, in, {counts, offsets, element_bytes}, out, root);
}

void team::allgather_v_bytes(ConstBytes in, Bytes out, std::span<const size_t> counts,
                             std::span<const size_t> offsets, size_t element_bytes,
                             collective_algorithm algorithm, CallSite site) const {
  const auto inside = valid(context_, group_, {"allgather_v", site}).state().exclusive();
  detail::ContextState& state = enter("allgather_v");
  const rma::CollectiveScope scope(state, "allgather_v", site);
  check_blocks("allgather_v", "output", counts, offsets, element_bytes, out.size());
  check_own_block("allgather_v", counts, element_bytes, in.size());
  check_memory(state, {"allgather_v", site}, {in, out});
  uint64_t elements = 0;
  for (const size_t count : counts) elements += count;
  carry_out(*group_, state,
            {CollectiveOperation::allgatherv, elements * element_bytes / rank_n_, algorithm,
             "allgather_v"},
            site, [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().allgatherv(*group_, in, out,
                                                        {counts, offsets, element_bytes}, by);
            });
}

void team::reduce_scatter_bytes(ConstBytes in, Bytes out, const detail::Reduction& op,
                                collective_algorithm algorithm, CallSite site) const {
  const auto inside = valid(context_, group_, {"reduce_scatter", site}).state().exclusive();
  detail::ContextState& state = enter("reduce_scatter");
  const rma::CollectiveScope scope(state, "reduce_scatter", site, op.name);
  if (in.size() % rank_n_ != 0) {
    state.fail(Error(ErrorCode::invalid_argument,
                     "reduce_scatter of " + std::to_string(in.size() / op.element_bytes) +
                         " elements, which are not " + std::to_string(rank_n_) +
                         " blocks of the same length"));
  }
  check_length("reduce_scatter", out.size(), in.size() / rank_n_);
  check_memory(state, {"reduce_scatter", site}, {in, out});
  carry_out(*group_, state, {CollectiveOperation::reduce_scatter, out.size(), algorithm}, site,
            with_function(state, {"reduce_scatter", site}, [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().reduce_scatter(*group_, in, out, op, by);
            }));
}

future team::start_broadcast(Bytes data, rank_t root, CallSite site) const {
  const auto inside = valid(context_, group_, {"broadcast_async", site}).state().exclusive();
  detail::ContextState& state = enter("broadcast_async");
  rma::CollectiveScope scope(state, "broadcast_async", site);
  scope.returns_early();
  check_root("broadcast_async", root);
  check_memory(state, {"broadcast_async", site}, {data});
  const uint32_t slot = state.operations.acquire_slot(rma::CompletionSlots::Kind::collective);
  const rma::SlotUse use = state.operations.use_of(slot);
  state.mechanisms.async_collectives().broadcast(*group_, data, root,
                                                 state.operations.counter(slot));
  return future({context_, use.slot, use.generation});
}

future team::start_allreduce(ConstBytes in, Bytes out, const detail::Reduction& op,
                             std::shared_ptr<const void> function, CallSite site) const {
  const auto inside = valid(context_, group_, {"allreduce_async", site}).state().exclusive();
  detail::ContextState& state = enter("allreduce_async");
  rma::CollectiveScope scope(state, "allreduce_async", site, op.name);
  scope.returns_early();
  check_length("allreduce_async", out.size(), in.size());
  check_memory(state, {"allreduce_async", site}, {in, out});
  const uint32_t slot = state.operations.acquire_slot(rma::CompletionSlots::Kind::collective);
  const rma::SlotUse use = state.operations.use_of(slot);
  state.mechanisms.async_collectives().allreduce(*group_, in, out, op, std::move(function),
                                                 state.operations.counter(slot));
  return future({context_, use.slot, use.generation});
}

void team::allgather_bytes(ConstBytes in, Bytes out, collective_algorithm algorithm,
                           CallSite site) const {
  const auto inside = valid(context_, group_, {"allgather", site}).state().exclusive();
  detail::ContextState& state = enter("allgather");
  const rma::CollectiveScope scope(state, "allgather", site);
  check_length("allgather", out.size(), access::saturating_multiply(in.size(), rank_n_));
  check_memory(state, {"allgather", site}, {in, out});
  carry_out(*group_, state, {CollectiveOperation::allgather, in.size(), algorithm}, site,
            [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().allgather(*group_, in, out, by);
            });
}

void team::all_to_all_bytes(ConstBytes in, Bytes out, size_t element_bytes,
                            collective_algorithm algorithm, CallSite site) const {
  const auto inside = valid(context_, group_, {"all_to_all", site}).state().exclusive();
  detail::ContextState& state = enter("all_to_all");
  const rma::CollectiveScope scope(state, "all_to_all", site);
  check_length("all_to_all", out.size(), in.size());
  if (in.size() / element_bytes % rank_n_ != 0) {
    state.fail(Error(ErrorCode::invalid_argument,
                     "all_to_all of " + std::to_string(in.size() / element_bytes) +
                         " elements, which are not " + std::to_string(rank_n_) +
                         " blocks of the same length"));
  }
  check_memory(state, {"all_to_all", site}, {in, out});
  carry_out(*group_, state, {CollectiveOperation::all_to_all, in.size() / rank_n_, algorithm}, site,
            [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().all_to_all(*group_, in, out, by);
            });
}

void team::all_to_all_v_bytes(ConstBytes in, std::span<const size_t> in_counts,
                              std::span<const size_t> in_offsets, Bytes out,
                              std::span<const size_t> out_counts,
                              std::span<const size_t> out_offsets, size_t element_bytes,
                              collective_algorithm algorithm, CallSite site) const {
  const auto inside = valid(context_, group_, {"all_to_all_v", site}).state().exclusive();
  detail::ContextState& state = enter("all_to_all_v");
  const rma::CollectiveScope scope(state, "all_to_all_v", site);
  check_blocks("all_to_all_v", "input", in_counts, in_offsets, element_bytes, in.size());
  check_blocks("all_to_all_v", "output", out_counts, out_offsets, element_bytes, out.size());
  check_memory(state, {"all_to_all_v", site}, {in, out});
  size_t elements = 0;
  for (const size_t count : in_counts) elements += count;
  const size_t mean_bytes = access::saturating_multiply(elements, element_bytes) / rank_n_;
  carry_out(*group_, state, {CollectiveOperation::all_to_allv, mean_bytes, algorithm}, site,
            [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().all_to_allv(
                  *group_, in, {in_counts, in_offsets, element_bytes}, out,
                  {out_counts, out_offsets, element_bytes}, by);
            });
}

void team::scan_bytes(ConstBytes in, Bytes out, const detail::Reduction& op, bool exclusive,
                      collective_algorithm algorithm, CallSite site) const {
  const char* const name = exclusive ? "exclusive_scan" : "inclusive_scan";
  const auto inside = valid(context_, group_, {name, site}).state().exclusive();
  detail::ContextState& state = enter(name);
  const rma::CollectiveScope scope(state, name, site, op.name);
  check_length(name, out.size(), in.size());
  check_memory(state, {name, site}, {in, out});
  carry_out(*group_, state, {CollectiveOperation::scan, in.size(), algorithm}, site,
            with_function(state, {name, site}, [&](CollectiveAlgorithm by) {
              state.mechanisms.collectives().scan(*group_, in, out, op, exclusive, by);
            }));
}

}  // namespace stripline
