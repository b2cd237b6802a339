// Making the engine of shared updates: what the options may be, and what the workers agree on.
#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "optimizer/access/saturate.h"
#include "optimizer/plan/score_map.h"
#include "optimizer/plan/shared_mechanism.h"
#include "runtime/rma/context_state.h"
#include "runtime/update/shared_costs.h"
#include "runtime/update/shared_engine.h"

namespace stripline {
namespace update {
namespace {

using detail::CellOperations;
using plan::SharedStrategy;

// The largest replica that a strategy needs, in cells.
uint64_t replica_cells(SharedStrategy strategy, const grid_extent& shape,
                       const SharedUpdatesOptions& options, uint32_t workers) {
  switch (strategy) {
    case SharedStrategy::replicate:
      return shape.cells();
    case SharedStrategy::hybrid:
      return options.hot.count;
    case SharedStrategy::mirror:
      return (shape.x + workers - 1) / workers * shape.y * shape.z;
    case SharedStrategy::locked:
    case SharedStrategy::atomic:
    case SharedStrategy::boxes:
      break;
  }
  return 0;
}

// Costs may be infinite: of atomic operations that a type does not have.
bool are_times(const plan::SharedCosts& costs) {
  const std::array all = {costs.plain_s, costs.atomic_s, costs.lock_s,   costs.transfer_s,
                          costs.box_s,   costs.fold_s,   costs.barrier_s};
  return std::ranges::all_of(all, [](double seconds) { return seconds >= 0; });
}

Status check(const std::byte* cells, const grid_extent& shape, const SharedUpdatesOptions& options,
             const CellOperations& operations, uint32_t workers) {
  const auto refuse = [](const std::string& why) {
    return Status(Error(ErrorCode::invalid_argument, "shared updates " + why));
  };
  if (cells == nullptr || shape.is_empty())
    return refuse("need at least one cell, at a pointer that is not null");
  const uint64_t count =
      access::saturating_multiply(shape.x, access::saturating_multiply(shape.y, shape.z));
  if (count >= (uint64_t{1} << 63) / operations.bytes)
    return refuse("need cells that memory can hold; those of this shape take 2^63 bytes or more");
  const grid_extent& box = options.box;
  if (box != grid_extent{0, 0, 0} &&
      !(std::has_single_bit(box.x) && std::has_single_bit(box.y) && std::has_single_bit(box.z))) {
    return refuse("take boxes whose extents are powers of two");
  }
  if (options.costs && !are_times(*options.costs)) {
    return refuse(
        "take costs of 0 or more; one of SharedUpdatesOptions::costs is negative, or not "
        "a number");
  }
  if (!options.force) return Status();
  const SharedStrategy strategy = *options.force;
  if (strategy > SharedStrategy::boxes) {
    return refuse(
        "with SharedUpdatesOptions::force = " + std::to_string(static_cast<int>(strategy)) +
        ", which is not a valid SharedStrategy");
  }
  const std::string name(plan::to_string(strategy));
  if (strategy == SharedStrategy::atomic && !operations.has_atomic) {
    return refuse("cannot be atomic: cells are of a type without atomic operations; take locked");
  }
  const bool has_replicas =
      strategy != SharedStrategy::atomic && strategy != SharedStrategy::locked;
  if (has_replicas && !operations.has_replicas) {
    return refuse("cannot be made by '" + name +
                  "': the operator is not associative, or has no identity; take atomic or locked");
  }
  const plan::CellRange& hot = options.hot;
  if (strategy == SharedStrategy::hybrid &&
      (hot.first > shape.cells() || hot.count > shape.cells() - hot.first)) {
    return refuse("cannot replicate cells beyond the last one: `hot` is not within the cells");
  }
  const uint64_t bytes = replica_cells(strategy, shape, options, workers) * operations.bytes;
  if (bytes > options.replica_bytes) {
    return refuse("by '" + name + "' take " + exact_bytes_text(bytes) +
                  " for replicas, but `replica_bytes` permits " +
                  exact_bytes_text(options.replica_bytes));
  }
  return Status();
}

// By a rule of a score map, if the cells allow it, which the first worker says for all of them.
std::optional<SharedStrategy> forced_strategy(worker_team& team, const std::byte* cells,
                                              const grid_extent& shape,
                                              const SharedUpdatesOptions& options,
                                              const CellOperations& operations) {
  Context* const context = team.context();
  if (context == nullptr || options.force) return options.force;
  constexpr uint64_t kNone = plan::kSharedStrategyNames.size();
  uint64_t mine = kNone;
  if (team.index() == 0) {
    const auto named = [](std::string_view name) {
      return plan::method_named<SharedStrategy>(name, plan::kSharedStrategyNames);
    };
    const std::string_view forced = context->state().job.tuning().forced.forced(
        plan::SharedMechanism::kWords.command, shape.cells() * operations.bytes, {},
        [&](std::string_view name) {
          SharedUpdatesOptions with = options;
          with.force = named(name);
          return check(cells, shape, with, operations, team.count()).ok();
        });
    if (!forced.empty()) {
      mine = static_cast<uint64_t>(named(forced).value_or(
          operations.has_atomic ? SharedStrategy::atomic : SharedStrategy::locked));
    }
  }
  const uint64_t first = team.allgather(mine).front();
  return first < kNone ? std::optional(static_cast<SharedStrategy>(first)) : std::nullopt;
}

// The section of the tuned model that knows this team, if all workers have one that does.
const model::SharedUpdateModel* section_of(worker_team& team, const plan::SharedTeam& asked) {
  const model::SharedUpdateModel* known = nullptr;
  if (Context* const context = team.context()) {
    const auto& section = context->state().job.compiled().tuned().shared_update;
    if (section && plan::team_costs(*section, asked)) known = &*section;
  }
  const std::vector<uint64_t> all = team.allgather(known != nullptr ? 1 : 0);
  return std::ranges::find(all, 0U) == all.end() ? known : nullptr;
}

// True if updates that compete are made under locks.
bool takes_locks(const Machine& machine, const SharedUpdatesOptions& options,
                 const CellOperations& operations) {
  if (!operations.has_atomic) return true;
  if (options.force == SharedStrategy::locked || options.force == SharedStrategy::atomic) {
    return options.force == SharedStrategy::locked;
  }
  plan::SharedRequest request = plan::SharedMechanism::usual();
  request.costs = machine.costs;
  request.spread.workers = machine.team.workers;
  request.spread.updates = 1;
  request.spread.cells = 1;
  request.spread.budget_bytes = 0;
  request.spread.unordered = true;
  return plan::plan_shared(request, machine.known).strategy == SharedStrategy::locked;
}

}  // namespace
}  // namespace update

Result<std::unique_ptr<detail::SharedEngine>> detail::SharedEngine::create(
    worker_team& team, std::byte* cells, const grid_extent& shape,
    const SharedUpdatesOptions& asked, const CellOperations& operations, CallSite site) {
  using update::TeamBlocks;
  STRIPLINE_RETURN_IF_ERROR(update::check(cells, shape, asked, operations, team.count()));
  SharedUpdatesOptions options = asked;
  options.force = update::forced_strategy(team, cells, shape, asked, operations);
  STRIPLINE_ASSIGN_OR_RETURN(TeamBlocks boards, TeamBlocks::create(team, sizeof(update::Board)));
  new (boards.of(team.index())) update::Board{};
  update::Machine machine{.team = {.workers = team.count(),
                                   .placement = update::placement_of(team),
                                   .type = operations.type,
                                   .footprint_bytes = std::min(shape.cells() * operations.bytes,
                                                               options.replica_bytes / 2)}};
  if (options.costs) {
    machine.costs = *options.costs;
  } else if (const auto* const known = update::section_of(team, machine.team)) {
    machine.costs = *plan::team_costs(*known, machine.team);
    machine.known = known;
  } else {
    STRIPLINE_ASSIGN_OR_RETURN(machine.costs, update::measure_shared_costs(
                                                  team, operations, machine.team.footprint_bytes));
  }
  team.barrier();  // all boards are there
  std::optional<TeamBlocks> locks;
  if (update::takes_locks(machine, options, operations)) {
    const size_t bytes = update::kLocks * kLockWords * sizeof(uint32_t);
    STRIPLINE_ASSIGN_OR_RETURN(locks, TeamBlocks::create(team, team.index() == 0 ? bytes : 1));
    if (team.index() == 0) std::fill_n(locks->of(0), bytes, std::byte{0});
    team.barrier();
  }
  std::unique_ptr<SharedEngine> engine = std::make_unique<update::Engine>(
      team, cells, shape, options, operations, machine, std::move(boards), std::move(locks), site);
  return engine;
}

}  // namespace stripline
