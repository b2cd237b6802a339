#include <map>
#include <tuple>
#include <utility>

#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/section_fits.h"

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
using model::DistanceScale;
using model::ServiceLevel;

// Nodes, distance, bytes: as levels ascend.
using Place = std::tuple<uint32_t, uint32_t, uint64_t>;

struct Served {
  const SampleRow* best = nullptr;
  const SampleRow* worst = nullptr;
};
using Levels = std::map<Place, Served>;

struct Group {
  Levels get;
  Levels put;
};

// By scale. The rows stay with the table.
std::map<DistanceScale, Group> groups_of(const SampleTable& table) {
  std::map<DistanceScale, Group> groups;
  for (const SampleRow& row : table.rows(experiment::micro::kLoad)) {
    Group& group = groups[*model::distance_scale_from(row.name(factor::kScale))];
    Levels& levels = row.variant == experiment::variant::kGet ? group.get : group.put;
    Served& served =
        levels[{static_cast<uint32_t>(row.number(factor::kNodes)),
                static_cast<uint32_t>(row.number(factor::kDistance)), row.number(factor::kBytes)}];
    (row.name(factor::kServed) == "best" ? served.best : served.worst) = &row;
  }
  return groups;
}

// In each run that has both, the median over that of the base.
std::optional<model::Parameter> ratio(const SampleRow* of, const SampleRow* base,
                                      double confidence) {
  if (of == nullptr || base == nullptr) return std::nullopt;
  std::vector<double> per_run;
  uint32_t samples = 0;
  for (const auto& [run, median] : of->medians) {
    const auto alone = base->medians.find(run);
    if (alone == base->medians.end()) continue;
    per_run.push_back(median / alone->second);
    samples += of->repetitions.at(run);
  }
  return over_runs(per_run, samples, "paired-run-medians+t", {.confidence = confidence});
}

std::vector<ServiceLevel> fit_levels(const char* operation, const Levels& levels, double confidence,
                                     std::vector<std::string>& notes) {
  std::map<uint64_t, const Served*> base;  // by bytes: the first, of the fewest and nearest nodes
  std::vector<ServiceLevel> fitted;
  bool loaded = false;
  for (const auto& [place, served] : levels) {
    const auto& [nodes, distance, bytes] = place;
    const Served& alone = *base.emplace(bytes, &served).first->second;
    auto best = ratio(served.best, alone.best, confidence);
    auto worst = ratio(served.worst, alone.worst, confidence);
    if (!best || !worst) {
      notes.push_back("the service level of " + std::string(operation) + " among " +
                      std::to_string(nodes) + " nodes at distance " + std::to_string(distance) +
                      " is absent: its best and worst were not both measured in two runs beside "
                      "the fewest and nearest nodes");
      continue;
    }
    loaded = loaded || nodes > 2;
    fitted.push_back({nodes, distance, bytes, *std::move(best), *std::move(worst)});
  }
  if (!loaded) fitted.clear();
  return fitted;
}

}  // namespace

std::vector<SampleRule> service_samples() {
  return {{&experiment::micro::kLoad,
           {{factor::kScale, 0, 0, enumerator_names<model::DistanceScale>(2)},
            {factor::kServed, 0, 0, {"best", "worst"}},
            {factor::kNodes, 2, model::kMaxRanks},
            {factor::kDistance, 0, model::kDistances - 1},
            {factor::kBytes, 1}},
           SampleValues::positive_times}};
}

std::optional<model::ServiceModel> fit_service(const SampleTable& table, double confidence,
                                               std::vector<std::string>& notes) {
  const auto groups = groups_of(table);
  if (groups.empty()) return std::nullopt;
  const auto& [scale, group] = *groups.begin();  // switches come first
  model::ServiceModel model{scale, fit_levels("get", group.get, confidence, notes),
                            fit_levels("put", group.put, confidence, notes)};
  if (model.get.empty() && model.put.empty()) return std::nullopt;
  return model;
}

}  // namespace stripline::fit
