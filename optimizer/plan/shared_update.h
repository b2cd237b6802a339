// How the workers of a node, which all reach the same cells by loads and stores, update them
// together: J. Z. Su, Optimizing Irregular Data Accesses for Cluster and Multicore Architectures,
// 2010, chapter 6. Pure functions of what was seen of the updates and of what the machine takes;
// the engine (runtime/update) asks them on every worker and carries out what they say.
//
// What the methods cost a worker in an epoch of u updates, with the costs below:
//
//   locked, atomic   u shared                          every update competes for its cell
//   replicate        u plain + cells fold              cells of its own, combined at the end
//   hybrid           replicate for one range of cells, shared for the others
//   mirror           replicate for an equal slab of its own, shared for the others
//   boxes            plain for the slab that it owns, whose points it has, boxes for the others
//
// where a worker's part of combining T replicas of a cell range is a T-th of the range, T times.
// Mirrors and boxes are for points in order. Of updates in no order, workers count where some go:
// choose_range() finds the range of cells whose replicas gain most, and the planner
// (shared_mechanism.h) decides by that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "optimizer/cost/corner.h"
#include "optimizer/model/sections/shared_update.h"

namespace stripline::plan {

enum class SharedStrategy : uint8_t { locked, atomic, replicate, hybrid, mirror, boxes };
inline constexpr std::array<std::string_view, 6> kSharedStrategyNames = {
    "locked", "atomic", "replicate", "hybrid", "mirror", "boxes"};
inline std::string_view to_string(SharedStrategy strategy) {
  return kSharedStrategyNames[static_cast<size_t>(strategy)];
}

/// What a machine takes, in seconds; measured when updates are set up, or known from the model.
struct SharedCosts {
  double plain_s = 0;     ///< an update of a cell in this worker's cache
  double atomic_s = 0;    ///< the same as an atomic operation; infinite where the type has none
  double lock_s = 0;      ///< the same under a lock that no one else wants
  double transfer_s = 0;  ///< a cache line that another worker has changed
  double box_s = 0;       ///< an update of a cell in a box, which is found by a table
  double fold_s = 0;      ///< combining a cell of a replica with its target, and clearing it
  double barrier_s = 0;   ///< a barrier of the workers
  bool operator==(const SharedCosts&) const = default;
};

/// A member of SharedCosts, which is one of the model's points, too, and what the variant of
/// micro.shared_update of this name measures.
enum class SharedPart : uint8_t { plain, atomic, lock, transfer, box, fold, barrier };
struct SharedPartMembers {
  std::string_view name;
  double SharedCosts::*cost;
  model::Parameter model::SharedUpdatePoint::*parameter;
};
/// By part.
inline constexpr std::array<SharedPartMembers, 7> kSharedParts = {
    {{"plain", &SharedCosts::plain_s, &model::SharedUpdatePoint::plain_s},
     {"atomic", &SharedCosts::atomic_s, &model::SharedUpdatePoint::atomic_s},
     {"lock", &SharedCosts::lock_s, &model::SharedUpdatePoint::lock_s},
     {"transfer", &SharedCosts::transfer_s, &model::SharedUpdatePoint::transfer_s},
     {"box", &SharedCosts::box_s, &model::SharedUpdatePoint::box_s},
     {"fold", &SharedCosts::fold_s, &model::SharedUpdatePoint::fold_s},
     {"barrier", &SharedCosts::barrier_s, &model::SharedUpdatePoint::barrier_s}}};
/// The part of this name, which there is.
SharedPart shared_part(std::string_view name);

/// The workers that make updates, and their cells.
struct SharedTeam {
  uint32_t workers = 1;
  model::SharedPlacement placement = model::SharedPlacement::package;
  model::CellType type = model::CellType::integer8;
  uint64_t footprint_bytes = 0;  ///< of a worker's replica, as far as it may have one
};

/// What was measured of the next larger team of the type and placement, with the next smaller
/// footprint, or the smallest. Cells of four bytes cost what those of eight do, where only these
/// were measured. None: there is no such team, and its program measures. The section is valid
/// (model/validate.h).
std::optional<SharedCosts> team_costs(const model::SharedUpdateModel& section,
                                      const SharedTeam& team,
                                      cost::Corner corner = cost::Corner::nominal);

/// Cells of a cache line, at least one.
constexpr uint64_t cells_of_line(uint64_t cell_bytes) {
  constexpr uint64_t kLineBytes = 64;
  return cell_bytes < kLineBytes ? kLineBytes / cell_bytes : 1;
}

/// How updates are spread over the cells: as many bins as there are counts, each of `bin_cells`
/// cells but for the last one, which may be shorter.
struct UpdateDensity {
  std::span<const uint32_t> counts;  ///< updates that were seen
  uint64_t bin_cells = 1;
  uint64_t cells = 0;
};

/// The cells [first, first + count).
struct CellRange {
  uint64_t first = 0;
  uint64_t count = 0;
  friend bool operator==(const CellRange&, const CellRange&) = default;
};

/// What an update that competes takes where `share` of all updates are of its cache line. The line
/// was last changed by any of `workers`; where updates go to one line so frequently that it is
/// always in transit, all wait for it in turn.
double shared_update_s(const SharedCosts& costs, uint32_t workers, double share);

/// The range of cells of which each worker is to have a replica.
struct RangeRequest {
  uint32_t workers = 1;
  double updates = 0;       ///< of this worker in an epoch
  uint64_t line_cells = 1;  ///< cells of a cache line
  uint64_t most_cells = 0;  ///< of a replica, as the budget of memory permits
  CellRange in_use;         ///< of which there are replicas now
  UpdateDensity density;
};
struct RangeChoice {
  CellRange range;         ///< empty: none
  double predicted_s = 0;  ///< of the epoch
  double none_s = 0;       ///< without replicas
  double all_s = 0;        ///< with all cells replicated, whether memory permits or not
  bool changes = false;    ///< it is worth giving up the one in use for it, by more than the margin
};
/// The range that gains most. A cell's gain is what its updates save less what combining it takes,
/// so the best range is the one with the largest sum of gains: found in one pass over the bins, as
/// fine as they are.
RangeChoice choose_range(const RangeRequest& request, const SharedCosts& costs);
/// What an epoch takes with `range` replicated.
double range_s(const RangeRequest& request, const SharedCosts& costs, const CellRange& range);
/// The part of the updates that are of cells in `range`, which consists of whole bins.
double share_of_range(const UpdateDensity& density, const CellRange& range);

/// By what updates that compete for their cells can be made: the type of the cells may have no
/// atomic operations, and locks take memory, which is there or not.
enum class Competing : uint8_t { either, atomic, locked };
inline constexpr std::array<std::string_view, 3> kCompetingNames = {"either", "atomic", "locked"};
constexpr std::span<const std::string_view> names_of(Competing) { return kCompetingNames; }
inline std::string_view to_string(Competing competing) {
  return kCompetingNames[static_cast<size_t>(competing)];
}

/// Updates of an epoch: of points that spread over cells around them, in order of their places, by
/// the workers' slabs; or in no order. Numbers are of the worker that has most.
struct SpreadRequest {
  uint32_t workers = 1;
  double updates = 0;  ///< of cells, in an epoch
  uint64_t cells = 0;  ///< of the grid
  uint64_t cell_bytes = 8;
  uint64_t budget_bytes = 0;  ///< for replicas, of a worker
  Competing competing = Competing::either;
  bool unordered = false;  ///< any worker may update any cell: there are no slabs
  /// The cells that get most updates for their number (choose_range()); 0: none are known.
  uint64_t hot_cells = 0;
  double hot_share = 0;  ///< of the updates, theirs
  // The members that describe points in order:
  double own_share = 0;     ///< of the updates, those of cells that the worker owns
  double mirror_share = 0;  ///< those of cells in its slab if all slabs were equal
  uint64_t box_cells = 0;   ///< of the boxes that a worker needs for the others
  double sort_s = 0;        ///< what sorting the points takes
  uint64_t sort_every = 0;  ///< epochs that an order of the points serves; 0: not known
  bool operator==(const SpreadRequest&) const = default;
};
/// What an epoch takes by a strategy; infinite where the request does not allow it, or there is no
/// memory for it.
double spread_s(const SpreadRequest& request, const SharedCosts& costs, SharedStrategy strategy);

/// After how many epochs points are sorted again, where sorting takes `sort_s` and each epoch since
/// takes `growth_s` longer than the one before: the interval at which their sum is least. 0: never.
uint64_t sort_interval(double sort_s, double growth_s);
/// The same while nothing says how long an order will do, of epochs that take `epoch_s`: sorting is
/// to take a hundredth.
uint64_t first_sort_interval(double sort_s, double epoch_s);

/// One worker's part of the grid: planes [x_first, x_end), and of those the rows [y_first, y_end).
struct Slab {
  uint64_t x_first = 0;
  uint64_t x_end = 0;
  uint64_t y_first = 0;
  uint64_t y_end = 0;
  friend bool operator==(const Slab&, const Slab&) = default;
};
/// Slabs of (nearly) equal size, by X; where there are more workers than planes, also by Y.
std::vector<Slab> equal_slabs(uint32_t workers, uint64_t planes, uint64_t rows);
/// The same with (nearly) equal numbers of points: `points_at[x * rows + y]` of them. Cut by X
/// alone as long as that leaves the worker that has most at most `tolerance` above the mean; else
/// by X into slabs and those by Y, in such numbers that the worker that has most has fewest.
std::vector<Slab> balanced_slabs(uint32_t workers, std::span<const uint32_t> points_at,
                                 uint64_t planes, uint64_t rows, double tolerance);

}  // namespace stripline::plan
