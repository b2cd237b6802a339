// Updates `cell = op(cell, value)` of cells that all workers of a node reach, by all of them at
// once: counts of a histogram, forces that particles spread over a grid.
//
//   auto counts = stripline::SharedUpdates<uint64_t, stripline::op_add>::create(team, cells);
//   if (!counts.ok()) return stripline::report(counts.error());
//   for (uint32_t key : my_keys) counts->update(key, 1);
//   counts->finish();                                         // collective: all are in the cells
//
//   auto force = stripline::SharedUpdates<double, stripline::op_add>::create(team, grid, shape);
//   for (const Point& p : force->arrange(points, corner_of, {4, 4, 4})) {   // sorts now and then
//     force->spread<4, 4, 4>(corner_of(p), patch_of(p).data());
//   }
//   force->finish();
//
// Each worker makes an object of its own for the same cells, and the calls named collective in the
// same order. Between finish() and finish() is an epoch: its updates are in the cells when finish()
// returns, and meanwhile no worker reads or writes them otherwise. Within an epoch a worker may
// not wait for another one, other than by the calls here. Updates take place in any order, and sums
// of floating-point numbers are rounded accordingly.
//
// How updates are made is decided by where they go and by what the machine takes, which the tuned
// model of worker_team::context() says, or is measured when the object is made where there is none
// that knows the team (optimizer/plan/shared_update.h): by atomic operations or locks on the
// cells themselves; on replicas of all cells, or of the range of them that is hot, which finish()
// combines; on mirrors of equal slabs; or, for points in order, directly on the slab whose points a
// worker has, and in boxes beside it. A look at some updates now and then notices when another
// method has become better.
//
// The operator has to be commutative. Of one that is not associative, or has no identity
// (<stripline/update_operator.h>), there are no replicas: its updates are locked or atomic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <stripline/call_site.h>
#include <stripline/point_order.h>
#include <stripline/shared_cells.h>
#include <stripline/update_operator.h>
#include <stripline/worker_team.h>

#include "base/result.h"
#include "optimizer/plan/shared_update.h"

namespace stripline {

/// How updates of shared cells are carried out.
struct SharedUpdatesOptions {
  /// Takes this strategy, whatever it costs. `hybrid`: with replicas of the cells `hot`.
  std::optional<plan::SharedStrategy> force;
  plan::CellRange hot;  ///< the cells that hybrid replicates
  /// What replicas, mirrors and boxes of this worker take at most, in bytes.
  size_t replica_bytes = size_t{64} << 20;
  /// Extents of a box, powers of two; with 0 what is best for the points.
  grid_extent box = {0, 0, 0};
  /// Epochs from one sort by arrange() to the next; 0: when that is predicted to pay.
  uint64_t sort_interval = 0;
  /// Instead of the tuned model's, or of measuring them, which takes some milliseconds. None is
  /// negative; infinite is what cannot be done.
  std::optional<plan::SharedCosts> costs;
};

/// What has become of the updates, for programs that are interested.
struct SharedUpdatesState {
  plan::SharedStrategy strategy = plan::SharedStrategy::atomic;  ///< of this worker, now
  plan::CellRange replicated;                                    ///< by this worker, now
  size_t replica_bytes = 0;    ///< that this worker has for replicas, mirrors and boxes
  uint64_t changes = 0;        ///< of strategy or range, by this worker
  uint64_t sorts = 0;          ///< by arrange()
  double sort_s = 0;           ///< what the last one took, with all that belongs to it
  uint64_t sort_interval = 0;  ///< epochs until the next one, as now predicted; 0: never
  uint64_t away_updates = 0;   ///< of cells that others own, in boxes, in the last epoch
  uint64_t boxes = 0;          ///< in use in the last epoch
  plan::Slab slab;             ///< the cells that this worker owns
  plan::SharedCosts costs;     ///< by which it was decided
};

namespace detail {

/// What is the same for all types of cells.
class SharedEngine {
 public:
  /// Collective. `cells` is where they are in this process. Errors: the same on all workers.
  static Result<std::unique_ptr<SharedEngine>> create(worker_team& team, std::byte* cells,
                                                      const grid_extent& shape,
                                                      const SharedUpdatesOptions& options,
                                                      const CellOperations& operations,
                                                      CallSite site);
  virtual ~SharedEngine() = default;

  SharedLane lane;
  virtual worker_team& team() = 0;
  /// The updates that this worker expects to make until the next finish().
  virtual void expect(uint64_t calls) = 0;
  /// Looks at a call that updates `updates` cells, the first of them at `index`. How many to make
  /// before the next look.
  virtual uint64_t look(uint64_t index, uint64_t updates) = 0;
  /// A box for the cells whose box has this number; null if there is no room for it: then no cell
  /// is updated plainly any more.
  virtual std::byte* add_box(uint64_t number) = 0;
  /// Somebody has no room for a box: waits until all know.
  virtual void heed() = 0;
  virtual void finish() = 0;
  virtual const SharedUpdatesState& state() = 0;

  // What arrange() consists of.
  virtual bool sorts_now(size_t points) = 0;
  /// Counters of this worker for all columns of cells, all 0; set before the next call.
  virtual std::span<uint32_t> begin_sort() = 0;
  /// Collective, when all have counted: cuts the slabs. Whose point one is, by column.
  virtual std::span<const uint32_t> cut(const grid_extent& patch) = 0;
  virtual std::span<const size_t> point_ends() const = 0;  ///< by worker
  /// The columns of this worker's points, y by y within each x, and their numbers of points.
  virtual const plan::Slab& point_slab() const = 0;
  virtual std::vector<size_t> own_columns() const = 0;
  /// Looks at all points of one of these columns; true if each of them is to be surveyed, too.
  virtual bool survey_column(size_t column) = 0;
  virtual void survey(const grid_cell& corner) = 0;
  /// Collective: chooses.
  virtual void end_sort() = 0;

  [[noreturn]] virtual void fail_cell(uint64_t index) = 0;
  [[noreturn]] virtual void fail_patch(const char* call, const grid_cell& corner,
                                       const grid_extent& patch) = 0;
  /// What arrange() was given cannot be: "SharedUpdates::arrange of" begins the message.
  [[noreturn]] virtual void fail_arrange(const char* of_what) = 0;
};

}  // namespace detail

/// A worker's handle; does not copy. Moves: calls of the other one end the process. Not
/// thread-safe: each worker has its own. Destroying it is collective; the team and the cells must
/// outlive it.
template <typename T, typename Op>
requires(update_operator<Op, T>) class SharedUpdates {
  using Updates = detail::CellUpdates<T, Op>;
  using Method = plan::SharedStrategy;
  static_assert(operator_algebra<Op, T>::commutative(),
                "workers update in any order: the operator has to be commutative");

 public:
  /// Collective, with the same shape and options. `cells` is where this worker reaches them: the
  /// same memory for all, aligned as T is. Errors: invalid_argument for options that are not valid
  /// or contradict the operator, a null pointer, or a shape without cells or with more than memory
  /// has; resource_exhausted; the same on all workers.
  static Result<SharedUpdates> create(worker_team& team, T* cells, const grid_extent& shape,
                                      const SharedUpdatesOptions& options = {},
                                      CallSite site = CallSite::current()) {
    STRIPLINE_ASSIGN_OR_RETURN(
        auto engine, detail::SharedEngine::create(team, reinterpret_cast<std::byte*>(cells), shape,
                                                  options, Updates::operations(), site));
    return SharedUpdates(std::move(engine));
  }
  /// The same of a list of cells.
  static Result<SharedUpdates> create(worker_team& team, std::span<T> cells,
                                      const SharedUpdatesOptions& options = {},
                                      CallSite site = CallSite::current()) {
    return create(team, cells.data(), {cells.size(), 1, 1}, options, site);
  }

  /// Collective: sets all cells, each worker those that it owns. Memory that no one has touched
  /// before is then near the worker that updates it. Not within an epoch.
  void fill(T value) {
    check_whole("SharedUpdates::fill");
    const plan::Slab slab = state().slab;
    const grid_extent& shape = lane().shape;
    for (uint64_t x = slab.x_first; x < slab.x_end; ++x) {
      T* const row = Updates::cell(lane(), (x * shape.y + slab.y_first) * shape.z);
      std::fill_n(row, (slab.y_end - slab.y_first) * shape.z, value);
    }
    engine_->team().barrier();
  }

  /// One update. An index beyond the cells ends the job with a message.
  void update(uint64_t index, T value) {
    check_whole("SharedUpdates::update");
    detail::SharedLane& lane = engine_->lane;
    if (--lane.until_look == 0) [[unlikely]]
      look(index, 1);
    const uint64_t at = index - lane.first;
    if (at < lane.list_count) [[likely]] {
      Updates::plain(reinterpret_cast<T*>(lane.plain)[at], value);
    } else {
      update_elsewhere(index, value);
    }
  }

  /// Updates number 0 to count - 1, of which item(k) says which cell and what, as a pair: as fast
  /// as a loop by hand.
  template <typename Item>
  void update_all(uint64_t count, const Item& item) {
    check_whole("SharedUpdates::update_all");
    detail::check_callable(item, "SharedUpdates::update_all", {});
    engine_->expect(count);
    for (uint64_t k = 0; k < count;) {
      detail::SharedLane& lane = engine_->lane;
      if (lane.until_look <= 1) {
        const auto [index, value] = item(k++);
        update(static_cast<uint64_t>(index), static_cast<T>(value));
        continue;
      }
      const uint64_t end = k + std::min(count - k, lane.until_look - 1);
      lane.until_look -= end - k;
      T* const plain = reinterpret_cast<T*>(lane.plain);
      const uint64_t first = lane.first;
      const uint64_t within = lane.list_count;
      for (; k < end; ++k) {
        const auto [index, value] = item(k);
        const uint64_t at = static_cast<uint64_t>(index) - first;
        if (at < within) [[likely]] {
          Updates::plain(plain[at], static_cast<T>(value));
        } else {
          update_elsewhere(static_cast<uint64_t>(index), static_cast<T>(value));
        }
      }
    }
  }

  /// Updates the X x Y x Z cells from `corner` on with as many values, z running fastest. A patch
  /// that is not within the grid ends the job with a message; the pointer is not checked.
  template <uint64_t X, uint64_t Y, uint64_t Z>
  void spread(const grid_cell& corner, const T* patch) {
    static_assert(X > 0 && Y > 0 && Z > 0);
    spread_rows({X, Y, Z}, corner, patch, [](T* __restrict cells, const T* __restrict values) {
      for (uint64_t k = 0; k < Z; ++k) Updates::plain(cells[k], values[k]);
    });
  }
  /// The same for extents that are not known before.
  void spread(const grid_extent& extent, const grid_cell& corner, const T* patch) {
    if (extent.is_empty()) return;
    spread_rows(extent, corner, patch, [&extent](T* __restrict cells, const T* __restrict values) {
      for (uint64_t k = 0; k < extent.z; ++k) Updates::plain(cells[k], values[k]);
    });
  }

  /// Collective, before the updates of an epoch: the points of this worker, of an array that all
  /// reach, each at its own address. They cover patches of the extents `patch` whose first cell
  /// corner_of(point) says, by the point alone. In some epochs it sorts the array, cuts the grid
  /// into slabs with as many points each, and decides how to update; in others the parts are those
  /// of the last time, and points may move meanwhile. All workers give the same number of points,
  /// which may be 0. Ends the job with a message if points are at a null pointer or their patches
  /// have no cells, and, where it sorts, if numbers of points differ or a patch is not within the
  /// grid.
  template <typename P, typename Corner>
  std::span<P> arrange(std::span<P> points, const Corner& corner_of, const grid_extent& patch) {
    check_whole("SharedUpdates::arrange");
    detail::check_callable(corner_of, "SharedUpdates::arrange", {});
    detail::SharedEngine& engine = *engine_;
    worker_team& team = engine.team();
    const uint32_t me = team.index();
    if (patch.is_empty()) engine.fail_arrange("patches without cells; give those of spread()");
    if (points.data() == nullptr && !points.empty())
      engine.fail_arrange("points at a null pointer");
    if (engine.sorts_now(points.size())) {
      const uint64_t rows = lane().shape.y;
      const std::span<uint32_t> columns = engine.begin_sort();
      const size_t end = detail::share_begin(0, points.size(), me + 1, team.count());
      for (size_t i = detail::share_begin(0, points.size(), me, team.count()); i < end; ++i) {
        const grid_cell corner = corner_of(points[i]);
        check("SharedUpdates::arrange", corner, patch);
        ++columns[corner.x * rows + corner.y];
      }
      const std::span<const uint32_t> owners = engine.cut(patch);
      detail::bring_to_owners(team, points.data(), engine.point_ends(), [&](const P& point) {
        const grid_cell corner = corner_of(point);
        return owners[corner.x * rows + corner.y];
      });
      const std::span<P> own = own_part(points);
      const plan::Slab slab = engine.point_slab();
      std::vector<size_t> ends = engine.own_columns();
      detail::sort_by_counts(own, std::span(ends), [&](const P& point) {
        const grid_cell corner = corner_of(point);
        return (corner.x - slab.x_first) * (slab.y_end - slab.y_first) + corner.y - slab.y_first;
      });
      size_t next = 0;
      for (size_t column = 0; column < ends.size(); next = ends[column++]) {
        if (!engine.survey_column(column)) continue;
        for (size_t i = next; i < ends[column]; ++i) engine.survey(corner_of(own[i]));
      }
      engine.end_sort();
    }
    return own_part(points);
  }

  /// Collective: ends the epoch. All updates of all workers are in the cells.
  void finish() {
    check_whole("SharedUpdates::finish");
    engine_->finish();
  }

  /// What was decided for this worker, and what it took.
  const SharedUpdatesState& state() const {
    check_whole("SharedUpdates::state");
    return engine_->state();
  }

 private:
  explicit SharedUpdates(std::unique_ptr<detail::SharedEngine> engine)
      : engine_(std::move(engine)) {}

  void check_whole(const char* call) const {
    if (engine_ == nullptr) [[unlikely]]
      detail::fail_moved_from(call);
  }

  detail::SharedLane& lane() { return engine_->lane; }

  [[gnu::noinline]] void look(uint64_t index, uint64_t updates) {
    if (index < lane().shape.cells()) lane().until_look = engine_->look(index, updates);
  }

  template <typename P>
  std::span<P> own_part(std::span<P> points) {
    const std::span<const size_t> ends = engine_->point_ends();
    const uint32_t me = engine_->team().index();
    const size_t begin = me == 0 ? 0 : ends[me - 1];
    return points.subspan(begin, ends[me] - begin);
  }

  void check(const char* call, const grid_cell& corner, const grid_extent& extent) {
    if (!detail::is_within(corner, extent, lane().shape)) [[unlikely]]
      engine_->fail_patch(call, corner, extent);
  }

  // A cell that is not known to be this worker's alone.
  [[gnu::noinline]] void update_elsewhere(uint64_t index, T value) {
    detail::SharedLane& lane = engine_->lane;
    const grid_extent& shape = lane.shape;
    if (index >= shape.cells()) engine_->fail_cell(index);
    if (lane.method != Method::boxes) return Updates::shared(lane, index, value);
    heed();
    const uint64_t z = index % shape.z;
    const uint64_t row = index / shape.z;
    if (owns_row(lane, row / shape.y, row % shape.y)) {
      Updates::plain(*Updates::cell(lane, index), value);
    } else {
      row_elsewhere({row / shape.y, row % shape.y, z}, 1, &value);
    }
  }

  static bool owns_row(const detail::SharedLane& lane, uint64_t x, uint64_t y) {
    return x * lane.shape.y * lane.shape.z - lane.first < lane.count &&
           y - lane.y_first < lane.y_count;
  }

  void heed() {
    if (lane().revoked->load(std::memory_order_relaxed) != 0) [[unlikely]]
      engine_->heed();
  }

  template <typename Row>
  void spread_rows(const grid_extent& extent, const grid_cell& corner, const T* __restrict patch,
                   const Row& plain_row) {
    check_whole("SharedUpdates::spread");
    detail::SharedLane& lane = engine_->lane;
    const grid_extent& shape = lane.shape;
    check("SharedUpdates::spread", corner, extent);
    const uint64_t first = (corner.x * shape.y + corner.y) * shape.z + corner.z;
    if (--lane.until_look == 0) [[unlikely]]
      look(first, extent.cells());
    heed();
    const uint64_t last =
        first + ((extent.x - 1) * shape.y + extent.y - 1) * shape.z + extent.z - 1;
    if (first - lane.first < lane.count && last - lane.first < lane.count &&
        corner.y - lane.y_first < lane.y_count &&
        corner.y + extent.y - lane.y_first <= lane.y_count) [[likely]] {
      T* __restrict plane = reinterpret_cast<T*>(lane.plain) + (first - lane.first);
      for (uint64_t i = 0; i < extent.x; ++i, plane += shape.y * shape.z) {
        T* row = plane;
        for (uint64_t j = 0; j < extent.y; ++j, row += shape.z, patch += extent.z) {
          plain_row(row, patch);
        }
      }
    } else {
      spread_elsewhere(extent, corner, patch);
    }
  }

  // A patch some of whose cells are not this worker's alone.
  [[gnu::noinline]] void spread_elsewhere(const grid_extent& extent, const grid_cell& corner,
                                          const T* patch) {
    detail::SharedLane& lane = engine_->lane;
    const grid_extent& shape = lane.shape;
    for (uint64_t i = 0; i < extent.x; ++i) {
      for (uint64_t j = 0; j < extent.y; ++j, patch += extent.z) {
        const grid_cell row{corner.x + i, corner.y + j, corner.z};
        const uint64_t index = (row.x * shape.y + row.y) * shape.z + row.z;
        if (lane.method != Method::boxes) {
          for (uint64_t k = 0; k < extent.z; ++k) {
            const uint64_t at = index + k - lane.first;
            if (at < lane.count) {
              Updates::plain(reinterpret_cast<T*>(lane.plain)[at], patch[k]);
            } else {
              Updates::shared(lane, index + k, patch[k]);
            }
          }
        } else if (owns_row(lane, row.x, row.y)) {
          T* const cells = Updates::cell(lane, index);
          for (uint64_t k = 0; k < extent.z; ++k) Updates::plain(cells[k], patch[k]);
        } else {
          row_elsewhere(row, extent.z, patch);
        }
      }
    }
  }

  // Cells of a row that another worker owns, box by box.
  void row_elsewhere(grid_cell from, uint64_t count, const T* values) {
    detail::SharedLane& lane = engine_->lane;
    const auto& [x_shift, y_shift, z_shift] = lane.box_shift;
    const auto within = [](uint64_t at, uint32_t shift) {
      return at & ((uint64_t{1} << shift) - 1);
    };
    while (count > 0) {
      const uint64_t z_within = within(from.z, z_shift);
      const uint64_t here = std::min(count, (uint64_t{1} << z_shift) - z_within);
      std::byte* box = nullptr;
      if (lane.method == Method::boxes) {
        const uint64_t number =
            ((from.x >> x_shift) * lane.boxes_y + (from.y >> y_shift)) * lane.boxes_z +
            (from.z >> z_shift);
        box = lane.boxes[number];
        if (box == nullptr) box = engine_->add_box(number);
      }
      if (box != nullptr) {
        const uint64_t row = (within(from.x, x_shift) << y_shift) + within(from.y, y_shift);
        T* const cells = reinterpret_cast<T*>(box) + (row << z_shift) + z_within;
        for (uint64_t k = 0; k < here; ++k) Updates::plain(cells[k], values[k]);
        lane.away += here;
      } else {
        const uint64_t index = (from.x * lane.shape.y + from.y) * lane.shape.z + from.z;
        for (uint64_t k = 0; k < here; ++k) Updates::shared(lane, index + k, values[k]);
      }
      from.z += here;
      values += here;
      count -= here;
    }
  }

  std::unique_ptr<detail::SharedEngine> engine_;
};

}  // namespace stripline
