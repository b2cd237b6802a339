#include "server/core/campaigns/grid.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "optimizer/experiment/catalogue.h"

namespace stripline::server {
namespace {

using experiment::Experiment;
using experiment::Factor;
using experiment::ParamValue;
using experiment::Point;

std::optional<double> as_number(const ParamValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

bool is_numeric(const Factor& factor) {
  return std::ranges::all_of(factor.values, [](const auto& v) { return as_number(v).has_value(); });
}

bool is_size(const Factor& factor) { return factor.unit == "B" && is_numeric(factor); }

// `keep` of `count` indices, evenly spaced, first and last included.
std::set<size_t> spread(size_t count, size_t keep) {
  std::set<size_t> indices;
  if (keep == 0 || count <= keep) {
    for (size_t i = 0; i < count; ++i) indices.insert(i);
    return indices;
  }
  if (keep == 1) return {count - 1};
  for (size_t i = 0; i < keep; ++i) {
    indices.insert((i * (count - 1) + (keep - 1) / 2) / (keep - 1));
  }
  return indices;
}

// The sizes that every experiment keeps: every k-th of the longest grid. (Not of the union of all
// grids: their ends fall between each other's sizes and would spoil the even spacing.)
std::set<double> size_lattice(const std::vector<Experiment>& experiments, size_t keep) {
  std::set<double> longest;
  for (const Experiment& experiment : experiments) {
    for (const Factor& factor : experiment.factors) {
      if (!is_size(factor) || factor.values.size() <= longest.size()) continue;
      longest.clear();
      for (const ParamValue& value : factor.values) longest.insert(*as_number(value));
    }
  }
  longest.erase(0);
  const size_t stride = keep == 0 ? 1 : std::max<size_t>(1, (longest.size() + keep - 1) / keep);
  std::set<double> lattice{0};  // "no memory" is a case of its own, never thinned out
  size_t index = 0;
  for (const double size : longest) {
    if (index++ % stride == 0) lattice.insert(size);
  }
  return lattice;
}

std::vector<ParamValue> spread_values(const Factor& factor, size_t keep) {
  std::vector<ParamValue> kept;
  for (const size_t index : spread(factor.values.size(), keep)) {
    kept.push_back(factor.values[index]);
  }
  return kept;
}

std::vector<ParamValue> thin_sizes(const Factor& factor, size_t keep,
                                   const std::set<double>& lattice) {
  if (keep == 0 || factor.values.size() <= keep) return factor.values;
  std::vector<ParamValue> kept;
  for (size_t i = 0; i < factor.values.size(); ++i) {
    const bool end = i == 0 || i + 1 == factor.values.size();
    if (end || lattice.contains(*as_number(factor.values[i]))) kept.push_back(factor.values[i]);
  }
  // A grid of other sizes than the longest one's is thinned by itself.
  return kept.size() < keep / 2 ? spread_values(factor, keep) : kept;
}

// Drops the sizes of each size factor with which a repetition may exceed the limit, all other
// factors at their largest.
void limit_volume(std::vector<Factor>& factors, double limit) {
  if (limit == 0) return;
  double counts = 1;
  for (const Factor& factor : factors) {
    if (is_size(factor) || factor.unit != "1" || !is_numeric(factor)) continue;
    double largest = 1;
    for (const ParamValue& value : factor.values) largest = std::max(largest, *as_number(value));
    counts *= largest;
  }
  for (Factor& factor : factors) {
    if (!is_size(factor)) continue;
    std::vector<ParamValue> kept;
    for (const ParamValue& value : factor.values) {
      if (*as_number(value) * counts <= limit) kept.push_back(value);
    }
    if (!kept.empty()) factor.values = std::move(kept);
  }
}

}  // namespace

std::vector<Experiment> prune(std::vector<Experiment> experiments, const GridLimits& limits) {
  const std::set<double> lattice = size_lattice(experiments, limits.sizes);
  for (Experiment& experiment : experiments) {
    limit_volume(experiment.factors, limits.max_bytes_per_repetition);
    for (Factor& factor : experiment.factors) {
      if (is_size(factor)) {
        factor.values = thin_sizes(factor, limits.sizes, lattice);
      } else if (is_numeric(factor)) {
        const bool bursts = factor.name == experiment::factor::kBurst && limits.counts > 0;
        factor.values =
            spread_values(factor, bursts ? std::max(limits.counts, kLeastBursts) : limits.counts);
      }
    }
  }
  return experiments;
}

double count_points(const Experiment& experiment) {
  auto points = static_cast<double>(experiment.variants.size());
  for (const Factor& factor : experiment.factors) {
    points *= static_cast<double>(factor.values.size());
  }
  return points;
}

double count_points(const std::vector<Experiment>& experiments) {
  double points = 0;
  for (const Experiment& experiment : experiments) points += count_points(experiment);
  return points;
}

std::vector<Point> grid_points(const std::vector<Experiment>& experiments) {
  std::vector<Point> points;
  for (const Experiment& experiment : experiments) experiment::append_points(experiment, points);
  return points;
}

}  // namespace stripline::server
