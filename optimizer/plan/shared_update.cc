#include "optimizer/plan/shared_update.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "optimizer/plan/strip_costs.h"

namespace stripline::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Su's points moved so slowly that "a few hundred" epochs would have done (section 6.6.2); an
// order is taken to serve this many until it has been seen how many it does.
constexpr uint64_t kFirstInterval = 100;
// What sorting is to take, as a share of the epochs, until then.
constexpr double kSortShare = 0.01;
constexpr double kMostInterval = 1e9;

// The part of `counts`' total in each bin, and what replicating the bin gains in an epoch.
class Bins {
 public:
  Bins(const RangeRequest& request, const SharedCosts& costs)
      : request_(request),
        costs_(costs),
        total_(std::accumulate(request.density.counts.begin(), request.density.counts.end(), 0.0)) {
  }

  size_t size() const { return request_.density.counts.size(); }
  bool known() const { return total_ > 0; }
  uint64_t first(size_t bin) const { return bin * request_.density.bin_cells; }
  uint64_t end(size_t bin) const {
    return std::min(first(bin) + request_.density.bin_cells, request_.density.cells);
  }
  double updates(size_t bin) const {
    return known() ? request_.updates * request_.density.counts[bin] / total_ : 0;
  }
  // Updates of a bin are taken to be spread evenly over its lines.
  double shared_s(size_t bin) const {
    const double cells = static_cast<double>(end(bin) - first(bin));
    const double lines = std::max(1.0, cells / static_cast<double>(request_.line_cells));
    const double share = known() ? request_.density.counts[bin] / total_ / lines : 0;
    return updates(bin) * shared_update_s(costs_, request_.workers, share);
  }
  double replica_s(size_t bin) const {
    return updates(bin) * costs_.plain_s +
           static_cast<double>(end(bin) - first(bin)) * costs_.fold_s;
  }

 private:
  const RangeRequest& request_;
  const SharedCosts& costs_;
  double total_;
};

// A worker's first and last number among those of slab `slab` of `slabs`.
uint32_t first_worker(uint32_t workers, uint32_t slabs, uint32_t slab) {
  return static_cast<uint32_t>(uint64_t{workers} * slab / slabs);
}

// Where to cut a line of cells so that part i gets about weights[i] of the sum of `counts`: the
// ends of the parts. Each has at least one cell where there are enough.
std::vector<uint64_t> balanced_ends(std::span<const uint64_t> counts,
                                    std::span<const uint32_t> weights) {
  const uint64_t cells = counts.size();
  const double total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
  const double all_weights = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<uint64_t> ends;
  uint64_t end = 0;
  double before = 0;
  double weight = 0;
  for (size_t part = 0; part < weights.size(); ++part) {
    weight += weights[part];
    const double target = total * weight / all_weights;
    const uint64_t parts_after = weights.size() - 1 - part;
    const uint64_t least = std::min(cells, end + 1);
    const uint64_t most = std::max(least, cells - std::min(cells, parts_after));
    const auto take = [&] { before += static_cast<double>(counts[end++]); };
    while (end < least) take();
    // A cell belongs to the part in which more of it lies.
    while (end < most && before + static_cast<double>(counts[end]) / 2 <= target) take();
    if (parts_after == 0) end = cells;
    ends.push_back(end);
  }
  return ends;
}

std::vector<Slab> cut_slabs(uint32_t workers, uint32_t slabs, uint64_t rows,
                            std::span<const uint64_t> of_planes,
                            std::span<const uint32_t> points_at) {
  std::vector<uint32_t> weights(slabs);
  for (uint32_t i = 0; i < slabs; ++i) {
    weights[i] = first_worker(workers, slabs, i + 1) - first_worker(workers, slabs, i);
  }
  const std::vector<uint64_t> x_ends = balanced_ends(of_planes, weights);
  std::vector<Slab> cut;
  uint64_t x_first = 0;
  for (uint32_t i = 0; i < slabs; ++i) {
    std::vector<uint64_t> y_ends = {rows};
    if (weights[i] > 1) {
      std::vector<uint64_t> of_rows(rows);
      for (uint64_t x = x_first; x < x_ends[i]; ++x) {
        for (uint64_t y = 0; y < rows; ++y) of_rows[y] += points_at[x * rows + y];
      }
      y_ends = balanced_ends(of_rows, std::vector<uint32_t>(weights[i], 1));
    }
    uint64_t y_first = 0;
    for (const uint64_t y_end : y_ends) {
      cut.push_back({x_first, x_ends[i], y_first, y_end});
      y_first = y_end;
    }
    x_first = x_ends[i];
  }
  return cut;
}

uint64_t most_points(const std::vector<Slab>& slabs, uint64_t rows,
                     std::span<const uint32_t> points_at) {
  uint64_t most = 0;
  for (const Slab& slab : slabs) {
    uint64_t points = 0;
    for (uint64_t x = slab.x_first; x < slab.x_end; ++x) {
      for (uint64_t y = slab.y_first; y < slab.y_end; ++y) points += points_at[x * rows + y];
    }
    most = std::max(most, points);
  }
  return most;
}

std::optional<SharedCosts> costs_of_type(const model::SharedUpdateModel& section,
                                         const SharedTeam& team, cost::Corner corner) {
  const model::SharedUpdatePoint* best = nullptr;
  for (const model::SharedUpdatePoint& point : section.points) {
    if (point.type != team.type || point.placement != team.placement ||
        point.workers < team.workers) {
      continue;
    }
    if (best != nullptr &&
        (point.workers > best->workers || point.footprint_bytes > team.footprint_bytes)) {
      break;
    }
    best = &point;
  }
  if (best == nullptr) return std::nullopt;
  SharedCosts costs;
  for (const SharedPartMembers& part : kSharedParts) {
    costs.*part.cost = cost::at_corner(best->*part.parameter, corner);
  }
  return costs;
}

// What an update that competes waits for its line, as shared_update_s() says.
double line_s(const SharedCosts& costs, uint32_t workers, double share) {
  const double others = static_cast<double>(workers - 1) / workers;
  return others * costs.transfer_s * std::max(1.0, workers * share);
}

double lines_of(const SpreadRequest& request, uint64_t cells) {
  const auto of_line = static_cast<double>(cells_of_line(request.cell_bytes));
  return std::max(1.0, static_cast<double>(cells) / of_line);
}

}  // namespace

SharedPart shared_part(std::string_view name) {
  return static_cast<SharedPart>(std::ranges::find(kSharedParts, name, &SharedPartMembers::name) -
                                 kSharedParts.begin());
}

std::optional<SharedCosts> team_costs(const model::SharedUpdateModel& section,
                                      const SharedTeam& team, cost::Corner corner) {
  if (const auto same = costs_of_type(section, team, corner)) return same;
  SharedTeam wider = team;
  if (team.type == model::CellType::integer4) wider.type = model::CellType::integer8;
  if (team.type == model::CellType::float4) wider.type = model::CellType::float8;
  return wider.type == team.type ? std::nullopt : costs_of_type(section, wider, corner);
}

double shared_update_s(const SharedCosts& costs, uint32_t workers, double share) {
  return std::min(costs.atomic_s, costs.lock_s) + line_s(costs, workers, share);
}

double range_s(const RangeRequest& request, const SharedCosts& costs, const CellRange& range) {
  const Bins bins(request, costs);
  double seconds = 0;
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    const bool replicated =
        bins.first(bin) >= range.first && bins.end(bin) <= range.first + range.count;
    seconds += replicated ? bins.replica_s(bin) : bins.shared_s(bin);
  }
  return seconds;
}

double share_of_range(const UpdateDensity& density, const CellRange& range) {
  double within = 0;
  double all = 0;
  for (size_t bin = 0; bin < density.counts.size(); ++bin) {
    const uint64_t first = bin * density.bin_cells;
    all += density.counts[bin];
    if (first - range.first < range.count) within += density.counts[bin];
  }
  return all > 0 ? within / all : 0;
}

RangeChoice choose_range(const RangeRequest& request, const SharedCosts& costs) {
  const Bins bins(request, costs);
  RangeChoice choice;
  // The largest sum of consecutive gains over at most `window` bins: a candidate ends at each bin,
  // and begins where the sum of all gains before is smallest (a queue of ever larger ones).
  const uint64_t window = request.most_cells / std::max<uint64_t>(request.density.bin_cells, 1);
  const bool all_fit = request.most_cells >= request.density.cells;
  std::vector<double> before(bins.size() + 1);
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    const double shared_s = bins.shared_s(bin);
    const double replica_s = bins.replica_s(bin);
    choice.none_s += shared_s;
    choice.all_s += replica_s;
    before[bin + 1] = before[bin] + shared_s - replica_s;
  }
  std::vector<size_t> queue;
  size_t head = 0;
  double best_gain = 0;
  for (size_t end = 1; end <= bins.size(); ++end) {
    const size_t begin = end - 1;
    while (queue.size() > head && before[queue.back()] >= before[begin]) queue.pop_back();
    queue.push_back(begin);
    while (head < queue.size() && !all_fit && end - queue[head] > window) ++head;
    if (head == queue.size()) continue;
    const double gain = before[end] - before[queue[head]];
    if (gain <= best_gain) continue;
    best_gain = gain;
    choice.range.first = bins.first(queue[head]);
    choice.range.count = bins.end(end - 1) - choice.range.first;
  }
  choice.predicted_s = choice.none_s - best_gain;
  if (choice.range == request.in_use) return choice;
  const double now_s = range_s(request, costs, request.in_use);
  const double change_s =
      static_cast<double>(request.in_use.count) * shared_update_s(costs, request.workers, 0) +
      static_cast<double>(choice.range.count) * costs.fold_s;
  choice.changes = now_s - choice.predicted_s > std::max(kDefaultMinimumGain * now_s, change_s);
  return choice;
}

double spread_s(const SpreadRequest& request, const SharedCosts& costs, SharedStrategy strategy) {
  const auto cells = static_cast<double>(request.cells);
  const bool in_order = !request.unordered;
  // Workers whose points are sorted meet where their slabs do.
  SharedCosts apart = costs;
  if (in_order) apart.transfer_s *= 1 - request.own_share;
  const uint64_t hot_cells = std::min(request.hot_cells, request.cells);
  const double hot = hot_cells > 0 ? request.hot_share : 0;
  // An update that competes, of cells that get this part of all updates.
  const auto competing_s = [&](double alone_s, double share, uint64_t of_cells) {
    return alone_s + line_s(apart, request.workers, share / lines_of(request, of_cells));
  };
  const auto cold_s = [&](double alone_s) {
    return competing_s(alone_s, 1 - hot, request.cells - hot_cells);
  };
  const auto all_compete_s = [&](double alone_s) {
    const double hot_s = hot > 0 ? hot * competing_s(alone_s, hot, hot_cells) : 0;
    return request.updates * (hot_s + (1 - hot) * cold_s(alone_s));
  };
  const double alone_s = request.competing == Competing::atomic ? costs.atomic_s
                         : request.competing == Competing::locked
                             ? costs.lock_s
                             : std::min(costs.atomic_s, costs.lock_s);
  // The rest competes.
  const auto mixed_s = [&](double plain_share, double other_s) {
    return request.updates * (plain_share * costs.plain_s + (1 - plain_share) * other_s);
  };
  const auto within = [&](double replica_cells, double seconds) {
    const double bytes = replica_cells * static_cast<double>(request.cell_bytes);
    return bytes <= static_cast<double>(request.budget_bytes)
               ? seconds + replica_cells * costs.fold_s + costs.barrier_s
               : kNever;
  };
  switch (strategy) {
    case SharedStrategy::locked:
      return request.competing == Competing::atomic ? kNever : all_compete_s(costs.lock_s);
    case SharedStrategy::atomic:
      return request.competing == Competing::locked ? kNever : all_compete_s(costs.atomic_s);
    case SharedStrategy::replicate:
      return within(cells, mixed_s(1, 0));
    case SharedStrategy::hybrid:
      if (hot_cells == 0 || hot_cells == request.cells) break;
      return within(static_cast<double>(hot_cells), mixed_s(hot, cold_s(alone_s)));
    case SharedStrategy::mirror:
      if (!in_order) break;
      return within(cells / request.workers, mixed_s(request.mirror_share, cold_s(alone_s)));
    case SharedStrategy::boxes: {
      if (!in_order) break;
      const uint64_t epochs = request.sort_every > 0 ? request.sort_every : kFirstInterval;
      return within(static_cast<double>(request.box_cells),
                    mixed_s(request.own_share, costs.box_s)) +
             request.sort_s / static_cast<double>(epochs);
    }
  }
  return kNever;
}

uint64_t sort_interval(double sort_s, double growth_s) {
  // After k epochs, sort_s / k + growth_s (k - 1) / 2 an epoch.
  if (!(growth_s > 0)) return 0;
  const double interval = std::sqrt(2 * sort_s / growth_s);
  return static_cast<uint64_t>(std::clamp(interval, 1.0, kMostInterval));
}

uint64_t first_sort_interval(double sort_s, double epoch_s) {
  if (!(epoch_s > 0)) return 0;
  return static_cast<uint64_t>(std::ceil(std::min(kMostInterval, sort_s / (kSortShare * epoch_s))));
}

std::vector<Slab> equal_slabs(uint32_t workers, uint64_t planes, uint64_t rows) {
  const auto slabs = static_cast<uint32_t>(std::clamp<uint64_t>(planes, 1, workers));
  std::vector<Slab> cut;
  for (uint32_t i = 0; i < slabs; ++i) {
    const uint32_t first = first_worker(workers, slabs, i);
    const uint32_t in_slab = first_worker(workers, slabs, i + 1) - first;
    for (uint32_t j = 0; j < in_slab; ++j) {
      cut.push_back({planes * i / slabs, planes * (i + 1) / slabs, rows * j / in_slab,
                     rows * (j + 1) / in_slab});
    }
  }
  return cut;
}

std::vector<Slab> balanced_slabs(uint32_t workers, std::span<const uint32_t> points_at,
                                 uint64_t planes, uint64_t rows, double tolerance) {
  std::vector<uint64_t> of_planes(planes);
  for (uint64_t x = 0; x < planes; ++x) {
    for (uint64_t y = 0; y < rows; ++y) of_planes[x] += points_at[x * rows + y];
  }
  const double mean =
      static_cast<double>(std::accumulate(of_planes.begin(), of_planes.end(), uint64_t{0})) /
      workers;
  std::vector<Slab> best;
  uint64_t fewest = 0;
  for (uint32_t slabs = static_cast<uint32_t>(std::clamp<uint64_t>(planes, 1, workers)); slabs > 0;
       --slabs) {
    std::vector<Slab> cut = cut_slabs(workers, slabs, rows, of_planes, points_at);
    const uint64_t most = most_points(cut, rows, points_at);
    if (best.empty() || most < fewest) {
      fewest = most;
      best = std::move(cut);
    }
    if (static_cast<double>(fewest) <= mean * (1 + tolerance)) break;
  }
  return best;
}

}  // namespace stripline::plan
