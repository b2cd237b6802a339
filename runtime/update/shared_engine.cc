#include "runtime/update/shared_engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/quantity.h"
#include "runtime/update/shared_costs.h"

namespace stripline {
namespace update {
namespace {

using detail::CellOperations;
using plan::CellRange;
using plan::SharedStrategy;
using plan::Slab;

constexpr uint64_t kNoLook = std::numeric_limits<uint64_t>::max();

}  // namespace

Engine::Engine(worker_team& team, std::byte* cells, const grid_extent& shape,
               const SharedUpdatesOptions& options, const CellOperations& operations,
               const Machine& machine, TeamBlocks boards, std::optional<TeamBlocks> locks,
               CallSite site)
    : team_(team),
      options_(options),
      operations_(operations),
      machine_(machine),
      costs_(machine_.costs),
      boards_(std::move(boards)),
      locks_(std::move(locks)),
      shared_method_(locks_ ? SharedStrategy::locked : SharedStrategy::atomic),
      budget_bytes_(options.replica_bytes),
      equal_slab_(plan::equal_slabs(team.count(), shape.x, shape.y)[team.index()]),
      slabs_(plan::equal_slabs(team.count(), shape.x, shape.y)),
      density_(shape.cells(), plan::cells_of_line(operations.bytes)),
      box_shift_(options.box == grid_extent{0, 0, 0} ? box_shapes(shape).back()
                                                     : shift_of(options.box)),
      boxes_(team, operations, mine().chunks) {
  lane.cells = cells;
  lane.shape = shape;
  if (locks_) {
    lane.locks = reinterpret_cast<uint32_t*>(locks_->of(0));
    lane.lock_mask = kLocks - 1;
    lane.lock_cells = plan::cells_of_line(operations.bytes);
  }
  state_.costs = costs_;
  if (team.index() == 0 && team.context() != nullptr && !options.force) {
    site_ = std::make_unique<SharedSite>(*team.context(), site, machine_.known);
  }
  decide(options.force.value_or(SharedStrategy::hybrid));
}

Engine::~Engine() {
  team_.barrier();
  give_up_replica();
  boxes_.release();
}

// For the epochs that come, but for those that are carried out to compare.
void Engine::decide(SharedStrategy strategy) {
  decided_ = strategy;
  has_looked_ = false;
  take(strategy);
}

void Engine::take(SharedStrategy strategy) {
  if (strategy != strategy_) ++state_.changes;
  strategy_ = strategy;
  const grid_extent& shape = lane.shape;
  lane.method = shared_method_;
  lane.revoked = &never_revoked_;
  lane.y_first = 0;
  lane.y_count = shape.y;
  range_is_free_ =
      strategy == SharedStrategy::hybrid && !options_.force && operations_.has_replicas;
  lane.until_look = gap_ = range_is_free_ ? 1 : kNoLook;
  // Replicas and boxes share one budget.
  if (strategy == SharedStrategy::boxes) {
    set_range({});
    give_up_replica();
  } else {
    boxes_.release();
  }
  switch (strategy) {
    case SharedStrategy::locked:
    case SharedStrategy::atomic:
      return set_range({});
    case SharedStrategy::replicate:
      return set_range({0, shape.cells()});
    case SharedStrategy::hybrid:
      return set_range(options_.force ? options_.hot : free_range_);
    case SharedStrategy::mirror: {
      // Where slabs are cut by Y, too, they are of one plane each: whole rows that follow each
      // other.
      const Slab& slab = equal_slab_;
      const uint64_t first = (slab.x_first * shape.y + slab.y_first) * shape.z;
      const uint64_t end = ((slab.x_end - 1) * shape.y + slab.y_end) * shape.z;
      return set_range(slab.x_first == slab.x_end ? CellRange{} : CellRange{first, end - first});
    }
    case SharedStrategy::boxes:
      return use_boxes();
  }
}

void Engine::set_range(const CellRange& range) {
  range_ = range.count > 0 && replicate(range) ? range : CellRange{};
  lane.plain = range_.count > 0 ? team_.at(*replica_) : nullptr;
  lane.first = range_.first;
  lane.count = lane.list_count = range_.count;
}

// Memory for a replica of the range, clear. What lay in an earlier one has been combined.
bool Engine::replicate(const CellRange& range) {
  if (replica_ && range.count <= replica_cells_) return true;
  give_up_replica();
  if (range.count > budget_cells()) return false;
  const Result<uint64_t> block = team_.allocate(range.count * operations_.bytes);
  if (!block.ok()) return false;
  replica_ = *block;
  replica_cells_ = range.count;
  operations_.fill(team_.at(*block), range.count);
  return true;
}

void Engine::give_up_replica() {
  if (replica_) team_.deallocate(*replica_);
  replica_.reset();
  replica_cells_ = 0;
}

void Engine::use_boxes() {
  boxes_.use(lane, box_shift_, options_.replica_bytes);
  const Slab& slab = slabs_[team_.index()];
  lane.method = SharedStrategy::boxes;
  lane.plain = lane.cells + slab.x_first * plane_cells() * operations_.bytes;
  lane.first = slab.x_first * plane_cells();
  lane.count = (slab.x_end - slab.x_first) * plane_cells();
  lane.y_first = slab.y_first;
  lane.y_count = slab.y_end - slab.y_first;
  lane.list_count = 0;
  lane.revoked = &mine().revoked;
}

uint64_t Engine::look(uint64_t index, uint64_t updates) {
  if (!range_is_free_) return gap_ = kNoLook;
  calls_ += gap_;
  gap_ = 1;
  if (density_.add(index, updates)) {
    density_.end_look();
    gap_ = density_.next_gap(choose_range());
  }
  return gap_;
}

// This worker's own choice: what is not on replicas is updated so that others may, too. True if it
// has changed.
bool Engine::choose_range() {
  const double calls = static_cast<double>(calls_);
  // As many again as there have been, where there are more than expected.
  if (calls > expected_calls_) expected_calls_ = 2 * calls;
  std::vector<uint32_t> counts;
  plan::RangeRequest request;
  request.workers = team_.count();
  request.updates = expected_calls_ * density_.updates_per_call();
  request.line_cells = plan::cells_of_line(operations_.bytes);
  request.most_cells = budget_cells();
  request.in_use = range_;
  request.density = density_.of(counts);
  const plan::RangeChoice choice = plan::choose_range(request, costs_);
  if (has_looked_ && !choice.changes) return false;
  const CellRange found = choice.changes ? choice.range : range_;
  plan::SharedRequest seen = request_of(request.updates);
  seen.spread.budget_bytes = budget_bytes_;
  seen.spread.unordered = true;
  seen.spread.hot_cells = found.count;
  seen.spread.hot_share = plan::in_whole_percents(plan::share_of_range(request.density, found));
  const SharedStrategy strategy = plan::plan_shared(seen, machine_.known).strategy;
  const CellRange range = strategy == SharedStrategy::replicate ? CellRange{0, lane.shape.cells()}
                          : strategy == SharedStrategy::hybrid  ? found
                                                                : CellRange{};
  const bool changes = range != range_;
  if (has_looked_ && !changes) return false;
  if (changes) change_range(range);
  if (range_ != range) {  // there is no memory for it
    budget_bytes_ = 0;
    has_looked_ = false;
    return choose_range();
  }
  has_looked_ = true;
  if (site_) site_->decide(seen, expected_calls_, true);
  return changes;
}

// Within an epoch.
void Engine::change_range(const CellRange& range) {
  if (range_.count > 0) {
    operations_.fold_shared(lane, range_.first, lane.plain, range_.count);
    operations_.fill(lane.plain, range_.count);
  }
  set_range(range);
  free_range_ = range_;
  ++state_.changes;
}

// What is the same of all decisions.
plan::SharedRequest Engine::request_of(double updates) const {
  plan::SharedRequest request = plan::SharedMechanism::usual();
  request.placement = machine_.team.placement;
  request.type = machine_.team.type;
  if (machine_.known == nullptr) {
    // `competing` says that types which have none make none.
    const double no_atomic_s = request.costs.atomic_s;
    request.costs = costs_;
    if (std::isinf(costs_.atomic_s)) request.costs.atomic_s = no_atomic_s;
  }
  request.spread.workers = team_.count();
  request.spread.updates = std::floor(updates);
  request.spread.cells = lane.shape.cells();
  request.spread.cell_bytes = operations_.bytes;
  request.spread.budget_bytes = options_.replica_bytes;
  request.spread.competing = locks_ ? plan::Competing::locked : plan::Competing::atomic;
  return request;
}

std::byte* Engine::add_box(uint64_t number) {
  std::byte* const box = boxes_.add(number);
  if (box != nullptr) return box;
  no_room_for_boxes_ = true;
  for (uint32_t worker = 0; worker < team_.count(); ++worker) board(worker).revoked.store(1);
  heed();
  return nullptr;
}

void Engine::heed() {
  lane.method = shared_method_;
  lane.count = lane.list_count = 0;
  lane.revoked = &never_revoked_;
  mine().heeded.store(epoch_, std::memory_order_release);
  for (uint32_t worker = 0; worker < team_.count(); ++worker) {
    while (board(worker).heeded.load(std::memory_order_acquire) < epoch_) team_.relax();
  }
}

void Engine::finish() {
  const uint64_t made = calls_so_far();
  const bool announces = site_ && site_->is_over(made);
  mine().heeded.store(epoch_, std::memory_order_release);
  EpochReport& report = mine().epoch[epoch_ % 2];
  report = {replica_.value_or(0), range_, boxes_.used(), lane.away, no_room_for_boxes_ ? 1u : 0u,
            announces ? 1u : 0u};
  team_.barrier();
  const bool announced = board(0).epoch[epoch_ % 2].announces != 0;
  bool combine = false;
  bool no_room = false;
  uint64_t away = 0;
  for (uint32_t worker = 0; worker < team_.count(); ++worker) {
    const EpochReport& one = board(worker).epoch[epoch_ % 2];
    combine = combine || one.range.count > 0 || one.boxes > 0 || one.no_room > 0;
    no_room = no_room || one.no_room > 0;
    away = std::max(away, one.away);
  }
  if (combine) {
    fold_replicas();
    for (uint32_t worker = 0; worker < team_.count(); ++worker) {
      if (worker != team_.index()) fold_boxes(worker);
    }
    mine().revoked.store(0, std::memory_order_relaxed);
    team_.barrier();
    // By the worker that updates it next: whoever has combined it only had to read.
    if (range_.count > 0) operations_.fill(lane.plain, range_.count);
  }
  state_.away_updates = std::exchange(lane.away, 0);
  state_.boxes = boxes_.used();
  boxes_.clear();
  learn_growth(away);
  expected_calls_ = static_cast<double>(made);
  calls_ = 0;
  gap_ = lane.until_look;
  ++epoch_;
  if (site_) site_->end(made);
  if (no_room) {
    no_room_for_boxes_ = false;
    baselines_ = 0;
    if (site_) site_->drop();
    decide(options_.force.value_or(SharedStrategy::hybrid));
  } else {
    begin_epoch(announced);
  }
}

// The first worker says, for some epochs, in which of them all updates compete.
void Engine::begin_epoch(bool announced) {
  if (announced) {
    baselines_ = team_.allgather(site_ ? site_->announce() : 0).front();
    if (site_) site_->restart_clock();
  }
  const SharedStrategy strategy = (baselines_ & 1U) != 0 ? shared_method_ : decided_;
  baselines_ >>= 1U;
  if (strategy != strategy_) take(strategy);
}

// This worker's part of all replicas: as many of the cells that any worker has replicated.
void Engine::fold_replicas() {
  uint64_t begin = std::numeric_limits<uint64_t>::max();
  uint64_t end = 0;
  for (uint32_t worker = 0; worker < team_.count(); ++worker) {
    const CellRange& range = board(worker).epoch[epoch_ % 2].range;
    if (range.count == 0) continue;
    begin = std::min(begin, range.first);
    end = std::max(end, range.first + range.count);
  }
  if (begin >= end) return;
  const uint64_t my_begin = detail::share_begin(begin, end, team_.index(), team_.count());
  const uint64_t my_end = detail::share_begin(begin, end, team_.index() + 1, team_.count());
  constexpr uint64_t kCellsAtOnce = 1024;  // stay in a cache while all replicas are combined
  for (uint64_t from = my_begin; from < my_end; from += kCellsAtOnce) {
    const uint64_t to = std::min(my_end, from + kCellsAtOnce);
    for (uint32_t worker = 0; worker < team_.count(); ++worker) {
      const EpochReport& of = board(worker).epoch[epoch_ % 2];
      const uint64_t first = std::max(from, of.range.first);
      const uint64_t last = std::min(to, of.range.first + of.range.count);
      if (first >= last) continue;
      operations_.fold(lane.cells + first * operations_.bytes,
                       team_.at(of.replica) + (first - of.range.first) * operations_.bytes,
                       last - first);
    }
  }
}

// What this worker owns of the cells in another worker's boxes.
void Engine::fold_boxes(uint32_t worker) {
  const Slab& slab = slabs_[team_.index()];
  const BoxShift& shift = boxes_.shift();
  const grid_extent& shape = lane.shape;
  const BoxChunks& theirs = board(worker).chunks;
  for (uint64_t i = 0; i < board(worker).epoch[epoch_ % 2].boxes; ++i) {
    std::byte* const box = theirs.cells(team_, i);
    const grid_cell from = boxes_.corner(theirs.number(team_, i));
    const uint64_t x_end = std::min(slab.x_end, from.x + (uint64_t{1} << shift[0]));
    const uint64_t y_end = std::min(slab.y_end, from.y + (uint64_t{1} << shift[1]));
    const uint64_t z_count = std::min(shape.z - from.z, uint64_t{1} << shift[2]);
    for (uint64_t x = std::max(from.x, slab.x_first); x < x_end; ++x) {
      for (uint64_t y = std::max(from.y, slab.y_first); y < y_end; ++y) {
        const uint64_t row = ((x - from.x) << shift[1]) + (y - from.y);
        operations_.fold(lane.cells + ((x * shape.y + y) * shape.z + from.z) * operations_.bytes,
                         box + (row << shift[2]) * operations_.bytes, z_count);
      }
    }
  }
}

const SharedUpdatesState& Engine::state() {
  state_.strategy = strategy_;
  if (strategy_ == SharedStrategy::hybrid && !options_.force) {
    state_.strategy = range_.count == lane.shape.cells() ? SharedStrategy::replicate
                      : range_.count > 0                 ? SharedStrategy::hybrid
                                                         : shared_method_;
  }
  state_.replicated = range_;
  state_.replica_bytes = replica_cells_ * operations_.bytes + boxes_.bytes();
  state_.slab = slabs_[team_.index()];
  return state_;
}

void Engine::fail_cell(uint64_t index) {
  team_.fail(Error(ErrorCode::invalid_argument,
                   "an update of cell " + std::to_string(index) + ", but there are " +
                       std::to_string(lane.shape.cells()) + " cells, counted from 0"));
}

void Engine::fail_patch(const char* call, const grid_cell& corner, const grid_extent& patch) {
  team_.fail(Error(ErrorCode::invalid_argument,
                   call + (": " + detail::not_within_text(corner, patch, lane.shape))));
}

void Engine::fail_arrange(const char* of_what) {
  team_.fail(
      Error(ErrorCode::invalid_argument, "SharedUpdates::arrange of " + std::string(of_what)));
}

}  // namespace update
}  // namespace stripline
