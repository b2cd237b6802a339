#include "optimizer/fit/sample_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "optimizer/fit/section_fits.h"
#include "optimizer/model/collective.h"
#include "optimizer/plan/vis.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
namespace micro = experiment::micro;
namespace variant = experiment::variant;
using experiment::SampleSeries;

struct Kind {
  std::vector<std::string> variants;
  std::vector<FactorRule> factors;
  SampleValues values = SampleValues::times;
};

using Kinds = std::map<std::string, Kind, std::less<>>;

void add(Kinds& kinds, SampleRule rule) {
  kinds[rule.known->name] = {rule.known->variants(), std::move(rule.factors), rule.values};
}

void add_operations(Kinds& kinds) {
  const FactorRule bytes{factor::kBytes};
  const FactorRule burst{factor::kBurst, 1};
  const FactorRule count{factor::kCount, 1};
  const FactorRule same_node{factor::kSameNode, 0, 0, {"mapped", "cma", "network"}};
  const auto read = [&kinds](const experiment::Known& known, std::vector<FactorRule> factors,
                             SampleValues values = SampleValues::times) {
    add(kinds, {&known, std::move(factors), values});
  };
  read(micro::kLatency, {bytes});
  read(micro::kIssue, {bytes, burst});
  read(micro::kFlood, {bytes, count});
  read(micro::kOverlap, {bytes}, SampleValues::differences);
  read(micro::kServe, {bytes}, SampleValues::differences);
  read(micro::kNodeLatency, {bytes, same_node});
  read(micro::kNodeIssue, {bytes, burst, same_node});
  read(micro::kNodeFlood, {bytes, count, same_node});
  read(micro::kNodeOverlap, {bytes, same_node}, SampleValues::differences);
  read(micro::kCompute, {bytes});
  read(micro::kStripOverhead, {bytes, {factor::kStrips, 1}});
  read(micro::kReceive, {bytes, {factor::kBufferBytes, 1}});
}

void add_many_regions(Kinds& kinds) {
  const FactorRule region{factor::kRegionBytes, 1};
  const FactorRule bytes{factor::kBytes, 1};
  const FactorRule stride{factor::kStride, 1};
  const FactorRule chunk{factor::kChunkBytes};
  const FactorRule window{factor::kWindow};
  const auto read = [&kinds](const experiment::Known& known, std::vector<FactorRule> factors) {
    add(kinds, {&known, std::move(factors)});
  };
  read(micro::kPack, {{factor::kSpanBytes, 1}, region});
  read(micro::kVis,
       {region,
        bytes,
        stride,
        {factor::kDirection, 0, 0, enumerator_names<plan::Direction>(2)},
        {factor::kClass, 0, 0, enumerator_names<plan::ComputeClass>(plan::kComputeClasses)},
        chunk,
        window,
        {factor::kIovLimit, 1, kLargestCount, {}, variant::kNativeIov}});
  read(micro::kVisChunk, {region, bytes, stride, chunk, window});
  read(micro::kVisWindow, {region, bytes, stride, {factor::kWindow, 1}});
}

void add_collectives(Kinds& kinds) {
  for (size_t i = 0; i < model::kCollectiveOperations; ++i) {
    const auto operation = static_cast<model::CollectiveOperation>(i);
    Kind kind{{}, {{factor::kBytes}}};
    for (const auto algorithm : model::algorithms_of(operation)) {
      kind.variants.emplace_back(to_string(algorithm));
    }
    kinds[std::string(experiment::kCollectivePrefix) + std::string(to_string(operation))] =
        std::move(kind);
  }
}

const Kinds& kinds() {
  static const Kinds all = [] {
    Kinds made;
    add_operations(made);
    add_many_regions(made);
    add_collectives(made);
    for (const SectionFit& section : kSectionFits) {
      for (SampleRule& rule : section.samples()) add(made, std::move(rule));
    }
    return made;
  }();
  return all;
}

// Puts the factor into the row. Says why not, if not.
std::optional<std::string> read_factor(const FactorRule& rule, const SampleSeries& series,
                                       SampleRow& row) {
  if (rule.only_variant != nullptr && series.point.variant != rule.only_variant) return {};
  const std::string what = std::string("the factor ") + rule.name;
  if (!rule.names.empty()) {
    std::string name = experiment::text_param(series.point, rule.name).value_or("");
    if (std::ranges::find(rule.names, name) == rule.names.end()) {
      return what + " is missing or unknown to the fitter";
    }
    row.names[rule.name] = std::move(name);
    return {};
  }
  const auto value = experiment::number_param(series.point, rule.name);
  if (!value || !(*value >= rule.least) || !(*value <= rule.most) || std::floor(*value) != *value) {
    const auto text = [](double count) { return std::to_string(static_cast<uint64_t>(count)); };
    return what + " is missing or not a whole number " +
           (rule.most < kLargestCount ? "from " + text(rule.least) + " to " + text(rule.most)
                                      : "of at least " + text(rule.least));
  }
  row.numbers[rule.name] = static_cast<uint64_t>(*value);
  return {};
}

bool is_good(double value, SampleValues values) {
  if (!std::isfinite(value)) return false;
  if (values == SampleValues::differences) return true;
  return values == SampleValues::times ? value >= 0 : value > 0;
}

// Reads variant and factors into the row. Says why the series cannot be used, if so.
std::optional<std::string> problem_of(const Kind& kind, const SampleSeries& series,
                                      SampleRow& row) {
  if (std::ranges::find(kind.variants, series.point.variant) == kind.variants.end()) {
    return "the variant is unknown to the fitter";
  }
  if (!series.verified) return "its result was not verified";
  if (series.values.empty()) return "it holds no samples";
  if (!std::ranges::all_of(series.values,
                           [&](double value) { return is_good(value, kind.values); })) {
    return "a sample is not a time";
  }
  row.variant = series.point.variant;
  for (const FactorRule& rule : kind.factors) {
    if (auto why = read_factor(rule, series, row)) return why;
  }
  const auto region = row.numbers.find(factor::kRegionBytes);
  const auto bytes = row.numbers.find(factor::kBytes);
  if (region != row.numbers.end() && bytes != row.numbers.end() && bytes->second < region->second) {
    return "its transfer is smaller than a region";
  }
  return {};
}

// Where a row stands: its variant and its factors in the order of the kind.
using Place = std::pair<std::string, std::vector<std::pair<uint64_t, std::string>>>;

Place place_of(const Kind& kind, const SampleRow& row) {
  Place place{row.variant, {}};
  for (const FactorRule& rule : kind.factors) {
    const auto number = row.numbers.find(rule.name);
    const auto name = row.names.find(rule.name);
    place.second.emplace_back(number == row.numbers.end() ? 0 : number->second,
                              name == row.names.end() ? std::string() : name->second);
  }
  return place;
}

// See SampleRow::scatter.
double scatter_of(const std::map<uint32_t, std::vector<double>>& values_by_run) {
  constexpr double kOneDeviation = 0.8413;  // the share of a normal distribution below it
  double sum = 0.0;
  for (const auto& [run, values] : values_by_run) {
    const double median = stats::median(values);
    if (!(median > 0.0)) return 0.0;
    sum += std::log(std::max(1.0, stats::quantile(values, kOneDeviation) / median));
  }
  return sum / static_cast<double>(values_by_run.size());
}

}  // namespace

double across_runs(const RunMedians& medians) {
  std::vector<double> values;
  values.reserve(medians.size());
  for (const auto& [run, value] : medians) values.push_back(value);
  return stats::median(values);
}

uint32_t SampleRow::raw_samples() const {
  return std::accumulate(repetitions.begin(), repetitions.end(), 0U,
                         [](uint32_t sum, const auto& run) { return sum + run.second; });
}

SampleTable::SampleTable(std::span<const SampleSeries> series) {
  struct Pooled {
    SampleRow row;
    std::map<uint32_t, std::vector<double>> values;  // by run
  };
  std::map<std::string, std::map<Place, Pooled>> experiments;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const SampleSeries& one = series[i];
    const auto kind = kinds().find(one.point.experiment);
    if (kind == kinds().end()) continue;
    SampleRow row;
    if (const auto why = problem_of(kind->second, one, row)) {
      rejected_.push_back(experiment::point_key(one.point) + ", run " + std::to_string(one.run) +
                          ": left out, " + *why);
      continue;
    }
    Pooled& pooled = experiments[kind->first][place_of(kind->second, row)];
    pooled.row = std::move(row);
    std::vector<double>& values = pooled.values[one.run];
    values.insert(values.end(), one.values.begin(), one.values.end());
    used_.push_back(i);
  }
  for (auto& [name, places] : experiments) {
    std::vector<SampleRow>& rows = rows_[name];
    for (auto& [place, pooled] : places) {
      for (const auto& [run, values] : pooled.values) {
        pooled.row.medians[run] = stats::median(values);
        pooled.row.repetitions[run] = static_cast<uint32_t>(values.size());
      }
      pooled.row.scatter = scatter_of(pooled.values);
      rows.push_back(std::move(pooled.row));
    }
  }
}

const std::vector<SampleRow>& SampleTable::rows(std::string_view experiment) const {
  static const std::vector<SampleRow> none;
  const auto found = rows_.find(experiment);
  return found == rows_.end() ? none : found->second;
}

uint32_t SampleTable::raw_samples(const experiment::Known& experiment) const {
  uint32_t sum = 0;
  for (const SampleRow& row : rows(experiment)) sum += row.raw_samples();
  return sum;
}

}  // namespace stripline::fit
