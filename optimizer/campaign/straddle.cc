#include "optimizer/campaign/straddle.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/search/gaussian_process.h"
#include "optimizer/stats/order.h"

namespace stripline::campaign {
namespace {

namespace factor = experiment::factor;

// Planes of fewer cells are measured whole: so few say too little of how smooth they are.
constexpr size_t kFewCells = 8;
// From this many runs on their own spread is believed; else this standard deviation of the
// logarithm of a median.
constexpr size_t kRunsThatTell = 4;
constexpr double kUsualNoise = 0.02;
// A choice need not be measured that loses no more on average.
constexpr double kRegret = 0.01;
// The share of a plane's choices not measured yet that a run takes: the next run knows more.
constexpr double kShareOfOpen = 0.34;

constexpr const char* kSizes[] = {factor::kBytes, factor::kRegionBytes};

bool was_measured(const PointTable& table, const Choice& choice) {
  return std::ranges::any_of(choice.places,
                             [&](uint32_t place) { return table.points()[place].runs() > 0; });
}

// The logarithm of what an alternative takes relative to another one, paired by runs.
std::optional<search::Observation> ratio_of(const PointStatus& one, const PointStatus& base) {
  std::vector<double> logs;
  for (const auto& [run, median] : one.medians) {
    const auto other = base.medians.find(run);
    if (other == base.medians.end() || !(median > 0) || !(other->second > 0)) continue;
    logs.push_back(std::log(median / other->second));
  }
  if (logs.empty()) return std::nullopt;
  search::Observation observation;
  observation.value = stats::median(logs);
  double variance = 2 * kUsualNoise * kUsualNoise;
  if (logs.size() >= kRunsThatTell) {
    double squares = 0;
    for (const double one_log : logs) {
      squares += (one_log - observation.value) * (one_log - observation.value);
    }
    variance = squares / static_cast<double>(logs.size() - 1);
  }
  observation.variance = variance / static_cast<double>(logs.size());
  return observation;
}

// What a plane's alternatives take relative to the first one.
class PlaneModel {
 public:
  static std::optional<PlaneModel> fit(const PointTable& table, const Plane& plane) {
    PlaneModel model;
    const size_t alternatives = plane.cells.front().choice.places.size();
    for (size_t which = 1; which < alternatives; ++which) {
      std::vector<search::Observation> seen;
      for (const Plane::Cell& cell : plane.cells) {
        const auto& base = table.points()[cell.choice.places[0]];
        auto observed = ratio_of(table.points()[cell.choice.places[which]], base);
        if (!observed || seen.size() == search::kMostObservations) continue;
        observed->at = cell.at;
        seen.push_back(*std::move(observed));
      }
      auto process = search::GaussianProcess::fit(seen);
      if (!process.ok()) return std::nullopt;
      model.processes_.push_back(*std::move(process));
    }
    return model;
  }

  struct Best {
    size_t which = 0;  // of the alternatives
    double gap = 0;    // to the second one, as a logarithm
    double deviation = 0;
  };
  Best at(const std::vector<double>& place) const {
    std::vector<search::Prediction> predicted = {{0, 0}};
    for (const auto& process : processes_) predicted.push_back(process.at(place));
    Best best;
    for (size_t which = 1; which < predicted.size(); ++which) {
      if (predicted[which].mean < predicted[best.which].mean) best.which = which;
    }
    // The rival that it may most likely lose to.
    double regret = -1;
    for (size_t which = 0; which < predicted.size(); ++which) {
      if (which == best.which) continue;
      const double gap = predicted[which].mean - predicted[best.which].mean;
      const double deviation =
          std::hypot(predicted[which].deviation, predicted[best.which].deviation);
      const double loss = search::expected_regret(gap, deviation);
      if (loss <= regret) continue;
      regret = loss;
      best.gap = gap;
      best.deviation = deviation;
    }
    return best;
  }

 private:
  std::vector<search::GaussianProcess> processes_;
};

// The time of all alternatives, from the measured choice whose sizes are the nearest.
double seconds_near(const PointTable& table, const Plane& plane, const Plane::Cell& cell) {
  double nearest = std::numeric_limits<double>::infinity();
  double seconds = 0;
  for (const Plane::Cell& other : plane.cells) {
    if (!was_measured(table, other.choice)) continue;
    double distance = 0;
    for (size_t d = 0; d < cell.at.size(); ++d) distance += std::abs(cell.at[d] - other.at[d]);
    if (distance >= nearest) continue;
    nearest = distance;
    seconds = 0;
    for (const uint32_t place : other.choice.places) seconds += table.points()[place].seconds;
  }
  return seconds;
}

}  // namespace

std::vector<Plane> planes_of(const PointTable& table) {
  std::map<std::vector<std::string>, Plane> planes;  // by its alternatives
  for (const Choice& choice : choices_of(table)) {
    Plane::Cell cell{choice, {}};
    std::vector<std::pair<std::string, uint32_t>> alternatives;
    for (const uint32_t place : choice.places) {
      experiment::Point key = table.points()[place].point;
      for (const char* size : kSizes) key.params.erase(size);
      alternatives.emplace_back(point_key(key), place);
    }
    const experiment::Point& first = table.points()[choice.places.front()].point;
    for (const char* size : kSizes) {
      const auto value = experiment::number_param(first, size);
      if (value && *value > 0) cell.at.push_back(std::log2(*value));
    }
    std::ranges::sort(alternatives);
    std::vector<std::string> keys;
    cell.choice.places.clear();
    for (const auto& [key, place] : alternatives) {
      keys.push_back(key);
      cell.choice.places.push_back(place);
    }
    keys.push_back(std::to_string(cell.at.size()));
    planes[keys].cells.push_back(std::move(cell));
  }
  std::vector<Plane> all;
  for (auto& [keys, plane] : planes) all.push_back(std::move(plane));
  std::ranges::sort(all, {}, [](const Plane& plane) { return plane.cells.front().choice.places; });
  return all;
}

std::vector<uint32_t> sparse_places(const PointTable& table) {
  std::set<uint32_t> left_out;
  for (const Plane& plane : planes_of(table)) {
    if (plane.cells.size() < kFewCells || plane.cells.front().at.empty()) continue;
    std::vector<std::set<double>> sizes(plane.cells.front().at.size());
    for (const Plane::Cell& cell : plane.cells) {
      for (size_t d = 0; d < sizes.size(); ++d) sizes[d].insert(cell.at[d]);
    }
    for (const Plane::Cell& cell : plane.cells) {
      bool is_kept = true;
      for (size_t d = 0; d < sizes.size(); ++d) {
        const auto number = std::distance(sizes[d].begin(), sizes[d].find(cell.at[d]));
        const bool is_end = cell.at[d] == *sizes[d].rbegin();
        is_kept = is_kept && (number % 2 == 0 || is_end);
      }
      if (!is_kept) left_out.insert(cell.choice.places.begin(), cell.choice.places.end());
    }
  }
  std::vector<uint32_t> places;
  for (uint32_t place = 0; place < table.points().size(); ++place) {
    if (!left_out.contains(place)) places.push_back(place);
  }
  return places;
}

std::vector<Uncertain> uncertain_choices(const PointTable& table) {
  struct Wanted {
    Uncertain what;
    double worth = 0;
  };
  std::vector<Wanted> all;
  for (const Plane& plane : planes_of(table)) {
    std::vector<const Plane::Cell*> open;
    for (const Plane::Cell& cell : plane.cells) {
      if (!was_measured(table, cell.choice)) open.push_back(&cell);
    }
    if (open.empty() || open.size() == plane.cells.size()) continue;
    const auto model = PlaneModel::fit(table, plane);
    std::vector<Wanted> of_plane;
    for (const Plane::Cell* cell : open) {
      double regret = std::numeric_limits<double>::infinity();
      if (model) {
        const auto best = model->at(cell->at);
        regret = search::expected_regret(best.gap, best.deviation);
      }
      if (regret <= kRegret) continue;
      const double seconds = seconds_near(table, plane, *cell);
      of_plane.push_back({{cell->choice, seconds}, seconds > 0 ? regret / seconds : regret});
    }
    std::ranges::stable_sort(of_plane, std::greater<>(), &Wanted::worth);
    const auto most =
        static_cast<size_t>(std::ceil(kShareOfOpen * static_cast<double>(open.size())));
    if (of_plane.size() > most) of_plane.resize(most);
    all.insert(all.end(), of_plane.begin(), of_plane.end());
  }
  std::ranges::stable_sort(all, std::greater<>(), &Wanted::worth);
  std::vector<Uncertain> choices;
  for (Wanted& one : all) choices.push_back(std::move(one.what));
  return choices;
}

std::optional<uint32_t> expected_leader(const PointTable& table, const Choice& choice) {
  if (auto leader = leader_of(table, choice)) return leader;
  const std::set<uint32_t> wanted(choice.places.begin(), choice.places.end());
  for (const Plane& plane : planes_of(table)) {
    for (const Plane::Cell& cell : plane.cells) {
      if (!wanted.contains(cell.choice.places.front())) continue;
      const auto model = PlaneModel::fit(table, plane);
      if (!model) return std::nullopt;
      return cell.choice.places[model->at(cell.at).which];
    }
  }
  return std::nullopt;
}

}  // namespace stripline::campaign
