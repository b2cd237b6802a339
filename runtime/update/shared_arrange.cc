// Points in order: slabs with as many points each, and what is best for them.
#include <algorithm>
#include <bit>
#include <string>

#include "base/quantity.h"
#include "runtime/update/shared_engine.h"

namespace stripline::update {
namespace {

using plan::SharedStrategy;
using plan::Slab;

// How uneven parts may be before the grid is cut by Y, too.
constexpr double kUnevenness = 0.05;

uint32_t shift_that_covers(uint64_t cells) {
  return static_cast<uint32_t>(std::bit_width(cells - 1));
}

uint64_t overlap(uint64_t first, uint64_t end, uint64_t other_first, uint64_t other_end) {
  const uint64_t from = std::max(first, other_first);
  const uint64_t to = std::min(end, other_end);
  return from < to ? to - from : 0;
}

// The cells of a patch that a slab has, of those along z as many as there are.
uint64_t cells_within(const Slab& slab, const grid_cell& corner, const grid_extent& patch) {
  return overlap(slab.x_first, slab.x_end, corner.x, corner.x + patch.x) *
         overlap(slab.y_first, slab.y_end, corner.y, corner.y + patch.y) * patch.z;
}

}  // namespace

BoxShift shift_of(const grid_extent& box) {
  return {static_cast<uint32_t>(std::countr_zero(box.x)),
          static_cast<uint32_t>(std::countr_zero(box.y)),
          static_cast<uint32_t>(std::countr_zero(box.z))};
}

BoxShapes box_shapes(const grid_extent& shape) {
  BoxShapes shapes = {BoxShift{1, 1, 3}, BoxShift{2, 2, 3}, BoxShift{3, 3, 4}};
  for (BoxShift& box : shapes) {
    // What a flat grid has no room for along one axis goes along another.
    uint32_t left = box[0] + box[1] + box[2];
    box[2] = std::min(box[2], shift_that_covers(shape.z));
    box[1] = std::min(box[1], shift_that_covers(shape.y));
    left -= box[2] + box[1];
    box[0] = std::min(left, shift_that_covers(shape.x));
  }
  return shapes;
}

bool Engine::sorts_now(size_t points) {
  if (point_ends_.empty() || points != points_) {
    points_ = points;
    return true;
  }
  const uint64_t interval =
      options_.sort_interval > 0 ? options_.sort_interval : state_.sort_interval;
  return interval > 0 && epochs_since_sort_ >= interval;
}

std::span<uint32_t> Engine::begin_sort() {
  sort_start_s_ = team_.now_s();
  const uint64_t of_first = team_.allgather(points_).front();
  if (points_ != of_first) {
    const std::string differ = count_text(points_, "point") + " by worker " +
                               std::to_string(team_.index()) + ", and of " +
                               std::to_string(of_first) + " by worker 0; all give the same array";
    fail_arrange(differ.c_str());
  }
  const size_t columns = lane.shape.x * lane.shape.y;
  Result<TeamBlocks> blocks = TeamBlocks::create(team_, columns * sizeof(uint32_t));
  if (!blocks.ok()) team_.fail(blocks.error());
  columns_ = std::move(*blocks);
  const std::span<uint32_t> mine(reinterpret_cast<uint32_t*>(columns_->of(team_.index())), columns);
  std::ranges::fill(mine, 0);
  return mine;
}

std::span<const uint32_t> Engine::cut(const grid_extent& patch) {
  team_.barrier();
  const grid_extent& shape = lane.shape;
  column_points_.assign(shape.x * shape.y, 0);
  for (uint32_t worker = 0; worker < team_.count(); ++worker) {
    const auto* const theirs = reinterpret_cast<const uint32_t*>(columns_->of(worker));
    for (size_t i = 0; i < column_points_.size(); ++i) column_points_[i] += theirs[i];
  }
  point_slabs_ = plan::balanced_slabs(team_.count(), column_points_, shape.x, shape.y, kUnevenness);
  point_ends_.clear();
  column_owner_.resize(column_points_.size());
  size_t end = 0;
  for (uint32_t worker = 0; worker < team_.count(); ++worker) {
    const Slab& slab = point_slabs_[worker];
    for (uint64_t x = slab.x_first; x < slab.x_end; ++x) {
      for (uint64_t y = slab.y_first; y < slab.y_end; ++y) {
        end += column_points_[x * shape.y + y];
        column_owner_[x * shape.y + y] = worker;
      }
    }
    point_ends_.push_back(end);
  }
  // A point is known by the first cell of its patch; cells are cut where the middle of patches is.
  const auto moved = [](uint64_t cut, uint64_t by, uint64_t all) {
    return cut == 0 || cut == all ? cut : std::min(cut + by, all);
  };
  slabs_ = point_slabs_;
  for (Slab& slab : slabs_) {
    slab.x_first = moved(slab.x_first, patch.x / 2, shape.x);
    slab.x_end = moved(slab.x_end, patch.x / 2, shape.x);
    slab.y_first = moved(slab.y_first, patch.y / 2, shape.y);
    slab.y_end = moved(slab.y_end, patch.y / 2, shape.y);
  }
  patch_ = patch;
  surveyed_ = {};
  box_shapes_ = box_shapes(shape);
  if (options_.box != grid_extent{0, 0, 0}) box_shapes_.fill(shift_of(options_.box));
  for (size_t i = 0; i < box_shapes_.size(); ++i) {
    const BoxShift& box = box_shapes_[i];
    needed_boxes_[i].assign(
        boxes_along(shape.x, box[0]) * boxes_along(shape.y, box[1]) * boxes_along(shape.z, box[2]),
        false);
  }
  return column_owner_;
}

std::vector<size_t> Engine::own_columns() const {
  const Slab& slab = point_slab();
  std::vector<size_t> counts;
  counts.reserve((slab.x_end - slab.x_first) * (slab.y_end - slab.y_first));
  for (uint64_t x = slab.x_first; x < slab.x_end; ++x) {
    for (uint64_t y = slab.y_first; y < slab.y_end; ++y) {
      counts.push_back(column_points_[x * lane.shape.y + y]);
    }
  }
  return counts;
}

bool Engine::survey_column(size_t column) {
  const Slab& of_points = point_slab();
  const uint64_t rows = of_points.y_end - of_points.y_first;
  const grid_cell corner{of_points.x_first + column / rows, of_points.y_first + column % rows, 0};
  const uint64_t points = column_points_[corner.x * lane.shape.y + corner.y];
  if (points == 0) return false;
  const uint64_t own = cells_within(slabs_[team_.index()], corner, patch_);
  surveyed_.updates += points * patch_.cells();
  surveyed_.own += points * own;
  surveyed_.mirror += points * cells_within(equal_slab_, corner, patch_);
  return own < patch_.cells();
}

// The boxes that the patch of a point needs which reaches beyond the slab.
void Engine::survey(const grid_cell& corner) {
  const grid_extent& shape = lane.shape;
  const Slab& slab = slabs_[team_.index()];
  for (size_t i = 0; i < box_shapes_.size(); ++i) {
    const BoxShift& box = box_shapes_[i];
    const uint64_t along_y = boxes_along(shape.y, box[1]);
    const uint64_t along_z = boxes_along(shape.z, box[2]);
    // By rows: those that this worker owns need no box.
    for (uint64_t x = corner.x; x < corner.x + patch_.x; ++x) {
      for (uint64_t y = corner.y; y < corner.y + patch_.y; ++y) {
        if (x - slab.x_first < slab.x_end - slab.x_first &&
            y - slab.y_first < slab.y_end - slab.y_first) {
          continue;
        }
        const uint64_t row = ((x >> box[0]) * along_y + (y >> box[1])) * along_z;
        const uint64_t last = (corner.z + patch_.z - 1) >> box[2];
        for (uint64_t z = corner.z >> box[2]; z <= last; ++z) {
          if (!needed_boxes_[i][row + z]) {
            needed_boxes_[i][row + z] = true;
            ++surveyed_.boxes[i];
          }
        }
      }
    }
  }
}

void Engine::end_sort() {
  surveyed_.sort_s = team_.now_s() - sort_start_s_;
  mine().survey = surveyed_;
  team_.barrier();
  columns_.reset();
  SurveyReport most;
  double own_share = 1;
  double mirror_share = 1;
  for (uint32_t worker = 0; worker < team_.count(); ++worker) {
    const SurveyReport& one = board(worker).survey;
    most.updates = std::max(most.updates, one.updates);
    most.sort_s = std::max(most.sort_s, one.sort_s);
    for (size_t i = 0; i < most.boxes.size(); ++i) {
      most.boxes[i] = std::max(most.boxes[i], one.boxes[i]);
    }
    if (one.updates == 0) continue;
    const auto updates = static_cast<double>(one.updates);
    own_share = std::min(own_share, static_cast<double>(one.own) / updates);
    mirror_share = std::min(mirror_share, static_cast<double>(one.mirror) / updates);
  }
  sort_s_ = most.sort_s;
  epochs_since_sort_ = 0;
  ++state_.sorts;
  state_.sort_s = surveyed_.sort_s;
  const SharedStrategy strategy = choose_strategy(most, own_share, mirror_share);
  decide(options_.force.value_or(strategy));
  begin_epoch(true);
}

SharedStrategy Engine::choose_strategy(const SurveyReport& most, double own_share,
                                       double mirror_share) {
  const auto boxes_s = [&](size_t i) {
    return static_cast<double>(most.boxes[i]) *
           (static_cast<double>(box_cells(box_shapes_[i])) * costs_.fold_s + costs_.box_s);
  };
  size_t shape = 0;
  for (size_t i = 1; i < box_shapes_.size(); ++i) {
    if (boxes_s(i) < boxes_s(shape)) shape = i;
  }
  box_shift_ = box_shapes_[shape];
  plan::SharedRequest request = request_of(static_cast<double>(most.updates));
  request.spread.own_share = plan::in_whole_percents(own_share);
  request.spread.mirror_share = plan::in_whole_percents(mirror_share);
  request.spread.box_cells = most.boxes[shape] * box_cells(box_shift_);
  request.spread.sort_s = sort_s_;
  request.spread.sort_every = std::max(options_.sort_interval, state_.sort_interval);
  if (!operations_.has_replicas) {
    state_.sort_interval =
        plan::first_sort_interval(sort_s_, request.spread.updates * costs_.plain_s);
    return SharedStrategy::hybrid;
  }
  const plan::SharedPlan plan = plan::plan_shared(request, machine_.known);
  state_.sort_interval = plan.sort_interval;
  if (site_) {
    // It is the first worker's.
    site_->decide(request, static_cast<double>(point_ends_.front()), false);
  }
  // Where they compete, hot cells are looked for.
  return plan.reason == plan::Reason::tuned ? plan.strategy : SharedStrategy::hybrid;
}

// Points leave the slab whose worker has them: each epoch takes a little longer than the one
// before.
void Engine::learn_growth(uint64_t away) {
  if (point_ends_.empty()) return;
  if (epochs_since_sort_ == 0) first_away_ = away;
  const uint64_t epochs = epochs_since_sort_++;
  if (strategy_ != SharedStrategy::boxes || epochs == 0 || away <= first_away_) return;
  const double growth_s = static_cast<double>(away - first_away_) / static_cast<double>(epochs) *
                          std::max(0.0, costs_.box_s - costs_.plain_s);
  const uint64_t interval = plan::sort_interval(sort_s_, growth_s);
  if (interval > 0) state_.sort_interval = interval;
}

}  // namespace stripline::update
