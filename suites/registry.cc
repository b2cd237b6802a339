#include "suites/registry.h"

#include <algorithm>
#include <utility>

#include "base/suggest.h"
#include "optimizer/experiment/requirements.h"
#include "runtime/rma/context_state.h"
#include "suites/grids.h"
#include "suites/repeat.h"

namespace stripline::suites {

Benchmark declare(ExperimentRow row) {
  Benchmark benchmark;
  benchmark.run = row.run;
  experiment::Experiment& e = benchmark.declaration;
  e.name = row.known.name;
  e.version = row.version;
  e.title = std::move(row.title);
  e.description = std::move(row.description);
  e.factors = std::move(row.factors);
  e.variants = row.variants.empty() ? row.known.variants() : std::move(row.variants);
  e.metric = std::move(row.metric);
  e.min_ranks = row.min_ranks;
  e.max_ranks = kMostRanks;
  e.rank_count = row.rank_count;
  e.verification = std::move(row.verification);
  e.feeds = std::move(row.feeds);
  return benchmark;
}

std::vector<experiment::Factor> joined(std::vector<experiment::Factor> factors,
                                       std::vector<experiment::Factor> more,
                                       std::vector<experiment::Factor> last) {
  for (experiment::Factor& factor : more) factors.push_back(std::move(factor));
  for (experiment::Factor& factor : last) factors.push_back(std::move(factor));
  return factors;
}

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> table = [] {
    std::vector<Benchmark> all = micro_benchmarks();
    for (Benchmark& kernel : kernel_benchmarks()) all.push_back(std::move(kernel));
    return all;
  }();
  return table;
}

const Benchmark* find_benchmark(std::string_view name) {
  for (const Benchmark& benchmark : benchmarks()) {
    if (benchmark.declaration.name == name) return &benchmark;
  }
  return nullptr;
}

std::vector<std::string> nearest_benchmarks(std::string_view name, size_t count) {
  std::vector<std::pair<size_t, std::string>> order;
  for (const Benchmark& benchmark : benchmarks()) {
    const std::string& known = benchmark.declaration.name;
    // "latency" is near to micro::kLatency.name, whatever the prefix costs.
    const size_t dot = known.find('.');
    const size_t distance =
        std::min(edit_distance(name, known), edit_distance(name, known.substr(dot + 1)));
    order.emplace_back(distance, known);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), count));
  std::vector<std::string> names;
  names.reserve(order.size());
  for (auto& entry : order) names.push_back(std::move(entry.second));
  return names;
}

Result<experiment::SampleSeries> run_point(Session& session, experiment::Point point,
                                           const experiment::StopRule& rule) {
  const Benchmark* benchmark = find_benchmark(point.experiment);
  if (benchmark == nullptr) {
    std::string message = "unknown experiment '" + point.experiment + "'; nearest:";
    for (const std::string& name : nearest_benchmarks(point.experiment)) message += " " + name;
    return Error(ErrorCode::not_found, message);
  }
  const experiment::Experiment& declaration = benchmark->declaration;
  if (auto problem = experiment::complete_point(declaration, point)) {
    return Error(ErrorCode::invalid_argument, *problem);
  }
  STRIPLINE_RETURN_IF_ERROR(check_stop_rule(rule));
  Context& context = session.context();
  if (auto problem = experiment::unmet_requirement(
          declaration, {context.rank_n(), context.state().job.options().fabric})) {
    return Error(ErrorCode::invalid_argument, *problem);
  }
  auto series = benchmark->run(session, point, rule);
  if (series.ok()) {
    series->point = std::move(point);
    series->run = session.run();
  }
  return series;
}

experiment::SampleSeries as_series(Result<experiment::SampleSeries> result,
                                   const experiment::Point& point, uint32_t run) {
  experiment::SampleSeries series;
  if (result.ok()) {
    series = *std::move(result);
    if (!series.verified && series.note.empty()) {
      series.note = "verification failed: the data delivered are wrong";
    }
    return series;
  }
  series.point = point;
  series.run = run;
  series.note = "not measured: " + result.error().message();
  return series;
}

}  // namespace stripline::suites
