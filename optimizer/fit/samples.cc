#include "optimizer/fit/samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>

#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

using experiment::number_param;
using experiment::SampleSeries;

constexpr double kMaxCount = 9007199254740992.0;  // 2^53: integers up to here are exact.

// Experiment, variant, size, second factor (burst, count, strips or buffer), run.
using Key = std::tuple<std::string, std::string, uint64_t, uint64_t, uint32_t>;

struct Kind {
  const char* name;
  const char* second_factor;  // nullptr: none
  bool may_be_negative;       // A difference of two times.
};

constexpr Kind kKinds[] = {
    {"micro.latency", nullptr, false},
    {"micro.issue", "burst", false},
    {"micro.flood", "count", false},
    {"micro.overlap", nullptr, true},
    {"micro.serve", nullptr, true},
    {"micro.compute", nullptr, false},
    {"micro.strip_overhead", "strips", false},
    {"micro.receive", "buffer_bytes", false},
};

constexpr Kind kCollective = {"micro.collective_", nullptr, false};

std::optional<model::CollectiveOperation> collective_of(const std::string& experiment) {
  const std::string_view prefix = kCollective.name;
  if (!experiment.starts_with(prefix)) return std::nullopt;
  return model::collective_operation_from(std::string_view(experiment).substr(prefix.size()));
}

const Kind* kind_of(const std::string& name) {
  if (collective_of(name)) return &kCollective;
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

std::optional<uint64_t> whole(const SampleSeries& series, const char* factor, double minimum) {
  const std::optional<double> value = number_param(series.point, factor);
  if (!value || !(*value >= minimum) || !(*value <= kMaxCount) || std::floor(*value) != *value) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(*value);
}

bool known_variant(const Kind& kind, const experiment::Point& point) {
  const std::string& variant = point.variant;
  if (&kind == &kCollective) {
    const auto algorithm = model::collective_algorithm_from(variant);
    return algorithm && model::has_algorithm(*collective_of(point.experiment), *algorithm);
  }
  const auto one_of = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* n) { return variant == n; });
  };
  if (std::string(kind.name) == "micro.compute") {
    return one_of({"red_in", "red_out", "vec_in", "vec_out", "alu"});
  }
  if (std::string(kind.name) == "micro.receive") return one_of({"get", "read"});
  if (std::string(kind.name) == "micro.strip_overhead") return one_of({"engine", "by_hand"});
  return one_of({"get", "put", "am"});
}

// Why the series cannot be used, or its key.
std::optional<Key> key_of(const Kind& kind, const SampleSeries& series, std::string& why) {
  const auto bytes = whole(series, "bytes", 0.0);
  const auto second =
      kind.second_factor ? whole(series, kind.second_factor, 1.0) : std::optional<uint64_t>(0);
  const auto bad_value = [&](double v) {
    return !std::isfinite(v) || (!kind.may_be_negative && v < 0.0);
  };
  if (!known_variant(kind, series.point)) {
    why = "the variant is unknown to the fitter";
  } else if (!series.verified) {
    why = "its result was not verified";
  } else if (series.values.empty()) {
    why = "it holds no samples";
  } else if (!bytes) {
    why = "the factor bytes is missing or not a whole number";
  } else if (!second) {
    why = std::string("the factor ") + kind.second_factor + " is missing or not a whole number";
  } else if (std::any_of(series.values.begin(), series.values.end(), bad_value)) {
    why = "a sample is not a time";
  } else {
    return Key{series.point.experiment, series.point.variant, *bytes, *second, series.run};
  }
  return std::nullopt;
}

}  // namespace

double across_runs(const RunMedians& medians) {
  std::vector<double> values;
  values.reserve(medians.size());
  for (const auto& [run, value] : medians) values.push_back(value);
  return stats::median(values);
}

namespace {

// `indices`: where the series stand in what the caller was given.
SortedSamples sort_those(std::span<const SampleSeries> series,
                         std::span<const std::size_t> indices) {
  SortedSamples sorted;
  std::map<Key, std::vector<double>> pooled;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const SampleSeries& one = series[i];
    const Kind* kind = kind_of(one.point.experiment);
    if (kind == nullptr) continue;
    std::string why;
    const std::optional<Key> key = key_of(*kind, one, why);
    if (!key) {
      sorted.rejected.push_back(experiment::point_key(one.point) + ", run " +
                                std::to_string(one.run) + ": left out, " + why);
      continue;
    }
    std::vector<double>& values = pooled[*key];
    values.insert(values.end(), one.values.begin(), one.values.end());
    sorted.used.push_back(indices[i]);
  }
  for (const auto& [key, values] : pooled) {
    const auto& [name, variant, bytes, second, run] = key;
    const double middle = stats::median(values);
    const auto raw = static_cast<uint32_t>(values.size());
    if (name == "micro.compute") {
      sorted.compute[variant][bytes][run] = middle;
      sorted.compute_raw[variant][bytes] += raw;
      continue;
    }
    if (name == "micro.strip_overhead") {
      StripLoopSamples& loops = sorted.strip_loops[bytes][second];
      (variant == "engine" ? loops.engine : loops.by_hand)[run] = middle;
      sorted.strip_loops_raw += raw;
      continue;
    }
    if (name == "micro.receive") {
      ReceiveSamples& receive = sorted.receive[bytes];
      (variant == "get" ? receive.get : receive.read)[second][run] = middle;
      receive.raw_samples += raw;
      continue;
    }
    if (const auto collective = collective_of(name)) {
      const auto algorithm = *model::collective_algorithm_from(variant);
      CollectiveSamples& samples = sorted.collectives[*collective][bytes];
      samples.times[algorithm][run] = middle;
      samples.raw_samples[algorithm] += raw;
      continue;
    }
    OperationSamples& operation = sorted.operations[variant];
    operation.raw_samples += raw;
    if (name == "micro.latency") operation.latency[bytes][run] = middle;
    if (name == "micro.issue") operation.issue[bytes][second][run] = middle;
    if (name == "micro.flood") operation.flood[bytes][second][run] = middle;
    if (name == "micro.overlap") operation.overlap[bytes][run] = middle;
    if (name == "micro.serve") operation.serve[bytes][run] = middle;
  }
  return sorted;
}

}  // namespace

SortedSamples sort_samples(std::span<const SampleSeries> series) {
  std::vector<std::size_t> indices(series.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return sort_those(series, indices);
}

std::map<std::string, SortedSamples> sort_node_samples(std::span<const SampleSeries> series) {
  constexpr std::string_view kNode = "micro.node_";
  struct Way {
    std::vector<SampleSeries> series;
    std::vector<std::size_t> indices;
  };
  std::map<std::string, Way> ways;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!series[i].point.experiment.starts_with(kNode)) continue;
    SampleSeries one = series[i];
    one.point.experiment.replace(0, kNode.size(), "micro.");
    Way& way = ways[experiment::text_param(one.point, experiment::kSameNodeFactor).value_or("")];
    way.series.push_back(std::move(one));
    way.indices.push_back(i);
  }
  std::map<std::string, SortedSamples> sorted;
  for (const auto& [name, way] : ways) sorted[name] = sort_those(way.series, way.indices);
  return sorted;
}

}  // namespace stripline::fit
