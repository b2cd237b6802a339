#include "optimizer/fit/service.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/samples.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

using experiment::number_param;
using experiment::SampleSeries;
using experiment::text_param;
using model::DistanceScale;
using model::ServiceLevel;

constexpr double kMaxCount = 9007199254740992.0;  // 2^53: integers up to here are exact

// Nodes, distance, bytes: as levels ascend.
using Place = std::tuple<uint32_t, uint32_t, uint64_t>;

struct Served {
  std::map<uint32_t, std::vector<double>> best;  // by run
  std::map<uint32_t, std::vector<double>> worst;
};
using Levels = std::map<Place, Served>;

struct Group {
  Levels get;
  Levels put;
};

// A whole number of at least `minimum` and below `limit`.
std::optional<uint64_t> whole(const SampleSeries& series, const char* factor, double minimum,
                              double limit) {
  const std::optional<double> value = number_param(series.point, factor);
  if (!value || !(*value >= minimum) || !(*value < limit) || std::floor(*value) != *value) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(*value);
}

// Adds a series to its place. Says why not, if not.
std::string add(const SampleSeries& series, std::map<DistanceScale, Group>& groups) {
  const auto scale = model::distance_scale_from(text_param(series.point, "scale").value_or(""));
  const std::string served = text_param(series.point, "served").value_or("");
  const auto nodes = whole(series, experiment::kNodesFactor, 2, 1 << 20);
  const auto distance = whole(series, "distance", 0, model::kDistances);
  const auto bytes = whole(series, "bytes", 1, kMaxCount);
  const std::string& variant = series.point.variant;
  if (variant != "get" && variant != "put") return "the variant is unknown to the fitter";
  if (!scale || (served != "worst" && served != "best") || !nodes || !distance || !bytes) {
    return "a factor is missing or out of range";
  }
  if (series.values.empty()) return "it holds no samples";
  if (!series.verified) return "its result was not verified";
  if (!std::ranges::all_of(series.values, [](double v) { return std::isfinite(v) && v > 0; })) {
    return "a sample is not a time";
  }
  Group& group = groups[*scale];
  Served& place =
      (variant == "get"
           ? group.get
           : group.put)[{static_cast<uint32_t>(*nodes), static_cast<uint32_t>(*distance), *bytes}];
  auto& values = (served == "best" ? place.best : place.worst)[series.run];
  values.insert(values.end(), series.values.begin(), series.values.end());
  return {};
}

// In each run that has both, the median over that of the base.
std::optional<model::Parameter> ratio(const std::map<uint32_t, std::vector<double>>& of,
                                      const std::map<uint32_t, std::vector<double>>& base,
                                      double confidence) {
  std::vector<double> per_run;
  uint32_t samples = 0;
  for (const auto& [run, values] : of) {
    const auto alone = base.find(run);
    if (alone == base.end()) continue;
    per_run.push_back(stats::median(values) / stats::median(alone->second));
    samples += static_cast<uint32_t>(values.size());
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

ServiceFit fit_service(std::span<const SampleSeries> series, double confidence,
                       std::vector<std::string>& notes) {
  ServiceFit fit;
  std::map<DistanceScale, Group> groups;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i].point.experiment != "micro.load") continue;
    const std::string why = add(series[i], groups);
    if (why.empty()) {
      fit.used.push_back(i);
    } else {
      fit.rejected.push_back(experiment::point_key(series[i].point) + ", run " +
                             std::to_string(series[i].run) + ": left out, " + why);
    }
  }
  if (groups.empty()) return fit;
  const auto& [scale, group] = *groups.begin();  // switches come first
  model::ServiceModel model{scale, fit_levels("get", group.get, confidence, notes),
                            fit_levels("put", group.put, confidence, notes)};
  if (!model.get.empty() || !model.put.empty()) fit.model = std::move(model);
  return fit;
}

}  // namespace stripline::fit
