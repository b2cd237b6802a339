#include "suites/results/campaign.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/requirements.h"
#include "optimizer/model/model_json.h"
#include "suites/bench/measure.h"
#include "suites/registry.h"

namespace stripline::suites::results {
namespace {

using experiment::Experiment;
using experiment::Factor;
using experiment::ParamValue;
using experiment::Point;
using experiment::SampleSeries;

constexpr int64_t kMostBytesPerRepetition = int64_t{128} << 20;
constexpr int64_t kMostVirtualBytes = int64_t{16} << 20;
constexpr size_t kQuickStride = 6;
constexpr uint64_t kCampaignSeed = 1;
constexpr double kRunLimitS = 900;

int64_t integer_of(const ParamValue& value) {
  const auto* integer = std::get_if<int64_t>(&value);
  return integer == nullptr ? 0 : *integer;
}

std::vector<ParamValue> thinned(const std::vector<ParamValue>& values, bool quick) {
  if (!quick || values.size() <= 2) return values;
  std::vector<ParamValue> kept;
  for (size_t i = 0; i < values.size(); i += kQuickStride) kept.push_back(values[i]);
  if (kept.back() != values.back()) kept.push_back(values.back());
  return kept;
}

void add_points(const Experiment& declaration, bool quick, int64_t most_bytes,
                std::vector<Point>& points) {
  int64_t operations = 1;  // of a repetition, at most
  for (const Factor& factor : declaration.factors) {
    if (factor.unit == "B") continue;
    int64_t largest = 1;
    for (const ParamValue& value : factor.values) largest = std::max(largest, integer_of(value));
    operations *= largest;
  }
  Experiment kept = declaration;
  for (Factor& factor : kept.factors) {
    factor.values = thinned(factor.values, quick);
    if (factor.unit != "B") continue;
    std::erase_if(factor.values, [&](const ParamValue& value) {
      return integer_of(value) * operations > most_bytes;
    });
  }
  append_points(kept, points);
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

Result<std::vector<SampleSeries>> read_run(const std::filesystem::path& path) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, read_json_file(path));
  if (!json.is_array()) {
    return Error(ErrorCode::data_loss, "'" + path.string() +
                                           "' does not hold a run's series; remove it and the "
                                           "run is measured again");
  }
  std::vector<SampleSeries> series;
  for (const Json& element : json) {
    STRIPLINE_ASSIGN_OR_RETURN(SampleSeries one, experiment::sample_series_from_json(element));
    series.push_back(std::move(one));
  }
  return series;
}

Status write_run(const std::filesystem::path& path, const std::vector<SampleSeries>& series) {
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(path.parent_path(), ignored);
  Json json = Json::array();
  for (const SampleSeries& one : series) json.push_back(experiment::to_json(one));
  return write_json_file(path, json);
}

}  // namespace

std::vector<Point> campaign_points(const Network& network, bool quick) {
  const int64_t most_bytes = network.emulated() ? kMostVirtualBytes : kMostBytesPerRepetition;
  std::vector<Point> points;
  for (const Benchmark& benchmark : benchmarks()) {
    const Experiment& declaration = benchmark.declaration;
    const experiment::Requirements required = experiment::requirements_of(declaration);
    if (declaration.feeds.empty() || required.same_node) continue;
    if (required.processors && network.emulated()) continue;
    if (declaration.min_ranks > kCampaignRanks) continue;
    const bool local = declaration.min_ranks == 1;
    if (!network.computes && local) continue;
    add_points(declaration, quick, most_bytes, points);
  }
  return points;
}

std::vector<Point> vis_campaign_points(const Network& network, bool quick) {
  constexpr int64_t kMostBytes = 1 << 20;
  constexpr int64_t kMostInBursts = 4 << 20;
  std::vector<Point> points = campaign_points(network, false);
  std::erase_if(points, [&](const Point& point) {
    if (point.experiment == micro::kPack || point.experiment == micro::kVisWindow) return false;
    if (point.experiment == micro::kVis || point.experiment == micro::kVisChunk) {
      return quick && experiment::number_param(point, "stride") != 2.0;
    }
    const std::set<std::string_view> operations = {micro::kLatency.name, micro::kIssue.name,
                                                   micro::kFlood.name, micro::kOverlap.name};
    if (!operations.contains(point.experiment)) return true;
    const auto integer = [&](const char* name) {
      return static_cast<int64_t>(experiment::number_param(point, name).value_or(1));
    };
    const int64_t bytes = integer("bytes");
    const int64_t burst = integer("burst") * integer("count");
    if (bytes > kMostBytes || bytes * burst > kMostInBursts) return true;
    if (!std::has_single_bit(static_cast<uint64_t>(bytes))) return true;
    // Bursts of 1, 4, 16 and so on, and one beyond most queues.
    return point.experiment == micro::kIssue &&
           std::countr_zero(static_cast<uint64_t>(burst)) % 2 != 0;
  });
  return points;
}

std::vector<Point> held_out_points(bool quick) {
  std::vector<Point> points;
  for (const char* variant : {"get", "put"}) {
    // The grid has the powers of two and one and a half times each.
    for (int64_t power = 8; power < int64_t{4} << 20; power *= quick ? 16 : 2) {
      for (const int64_t bytes : {power + power / 4, power + power / 2 + power / 4}) {
        points.push_back({micro::kLatency.name, variant, {{"bytes", bytes}}});
      }
    }
  }
  return points;
}

experiment::StopRule campaign_rule(const std::string& clock, bool quick) {
  experiment::StopRule rule;
  rule.min_runs = campaign_runs(quick);
  rule.min_reps = 8;
  // On a virtual clock repetitions differ by the profile's jitter only.
  rule.max_reps = clock == "virtual" ? 40 : 200;
  rule.time_budget_s = 0.012;
  if (quick) rule.max_reps = 10;
  return rule;
}

Status check_verified(const std::vector<SampleSeries>& series) {
  for (const SampleSeries& one : series) {
    if (one.verified || one.values.empty()) continue;
    return Error(ErrorCode::failed_precondition,
                 experiment::point_key(one.point) + ": " +
                     (one.note.empty() ? std::string("verification failed") : one.note));
  }
  return {};
}

Result<std::vector<SampleSeries>> load_or_measure_runs(const Options& options,
                                                       const Network& network, uint64_t seed,
                                                       const std::filesystem::path& folder,
                                                       const std::vector<Point>& points,
                                                       std::optional<uint32_t> asked,
                                                       uint32_t ranks) {
  bench::Target target;
  target.fabric = network.fabric;
  target.clock = network.clock;
  target.ranks = ranks;
  target.seed = seed;
  target.time_limit_s = kRunLimitS;
  target.worker = options.worker;
  target.cancel_fd = options.cancel_fd;
  experiment::StopRule rule = campaign_rule(network.clock, options.quick);
  if (ranks > kCampaignRanks) {
    // Their segments share this host's memory, and every operation is a turn of each.
    target.segment_bytes = "32M";
    rule.max_reps = rule.min_reps;
  }
  const uint32_t runs = asked.value_or(campaign_runs(options.quick));
  std::vector<SampleSeries> all;
  for (uint32_t run = 1; run <= runs; ++run) {
    const std::filesystem::path file = folder / ("run-" + std::to_string(run) + ".json");
    std::vector<SampleSeries> series;
    if (std::filesystem::exists(file)) {
      STRIPLINE_ASSIGN_OR_RETURN(series, read_run(file));
    } else {
      std::fprintf(stderr, "measuring %s: run %u of %u\n", network.fabric.c_str(), run, runs);
      STRIPLINE_ASSIGN_OR_RETURN(series, bench::measure_run(target, run, rule, points));
      STRIPLINE_RETURN_IF_ERROR(check_verified(series));
      STRIPLINE_RETURN_IF_ERROR(write_run(file, series));
    }
    std::move(series.begin(), series.end(), std::back_inserter(all));
  }
  return all;
}

Result<std::vector<SampleSeries>> load_or_measure(const Options& options, const Network& network) {
  std::vector<Point> points = campaign_points(network, options.quick);
  const std::vector<Point> held_out = held_out_points(options.quick);
  points.insert(points.end(), held_out.begin(), held_out.end());
  return load_or_measure_runs(options, network, kCampaignSeed,
                              options.path("campaigns") / file_name(network.fabric), points);
}

Result<fit::Fit> fit_network(const Network& network, const std::vector<SampleSeries>& series) {
  std::set<std::string> held_out;
  for (const Point& point : held_out_points(false)) held_out.insert(experiment::point_key(point));
  std::vector<SampleSeries> grid;
  for (const SampleSeries& one : series) {
    if (!held_out.contains(experiment::point_key(one.point))) grid.push_back(one);
  }
  fit::FitRequest request;
  request.name = file_name(network.fabric);
  request.campaigns = {"results/" + file_name(network.fabric)};
  request.fitted_at = now_text();
  request.fingerprint = {{"fabric", {network.fabric, model::MatchRule::hard}},
                         {"clock", {network.clock, model::MatchRule::hard}}};
  STRIPLINE_ASSIGN_OR_RETURN(fit::Fit fitted, fit::fit_model(grid, request));
  if (fitted.model.network.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "no operation on " + network.fabric +
                     " could be fitted; remove its measurements and measure again");
  }
  return fitted;
}

Result<std::string> model_file(const Options& options, const Network& network) {
  if (const auto given = options.models.find(network.fabric); given != options.models.end()) {
    return given->second;
  }
  const std::filesystem::path file =
      options.path("models") / (file_name(network.fabric) + ".stripline.json");
  if (std::filesystem::exists(file)) return file.string();
  STRIPLINE_ASSIGN_OR_RETURN(const auto series, load_or_measure(options, network));
  STRIPLINE_ASSIGN_OR_RETURN(const fit::Fit fitted, fit_network(network, series));
  std::error_code ignored;  // saving says what is wrong
  std::filesystem::create_directories(file.parent_path(), ignored);
  STRIPLINE_RETURN_IF_ERROR(model::save_model(fitted.model, file));
  return file.string();
}

}  // namespace stripline::suites::results
