#include "suites/results/robust.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "optimizer/model/validate.h"
#include "suites/bench/measure.h"
#include "suites/harness/table.h"
#include "suites/harness/verdicts.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"
#include "suites/results/cell_result.h"
#include "suites/results/fabrics.h"
#include "suites/results/kept_records.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;

constexpr uint32_t kRanks = 4;
constexpr uint32_t kCorruptions = 4;
constexpr double kMostFactor = 10;
// A plan that loses has been given up in the first half: checks may take 1 % of the time.
constexpr uint32_t kExecutions = 160;
constexpr uint32_t kQuickExecutions = 40;
constexpr uint32_t kLeastRepetitions = 4;

// The kernels with small problems, as programs have them.
std::vector<Point> problems() {
  std::vector<Point> points;
  for (const Benchmark& benchmark : benchmarks()) {
    const experiment::Experiment& declaration = benchmark.declaration;
    const auto has = [&](const char* variant) {
      return std::ranges::find(declaration.variants, variant) != declaration.variants.end();
    };
    if (!declaration.name.starts_with(experiment::kKernelPrefix) || !has("guarded")) continue;
    Point point{declaration.name, "guarded", {}};
    if (declaration.name == kernels::kMatvec) point.params["active"] = std::string("all");
    if (!experiment::complete_point(declaration, point)) points.push_back(std::move(point));
  }
  return points;
}

struct Record {
  std::string network;
  std::string model;
  std::string kernel;
  double ratio = 1;  // of times: with the model, over without one

  std::string key() const { return network + ", " + model + ", " + kernel; }
};

Json to_json(const Record& record) {
  return {{"network", record.network},
          {"model", record.model},
          {"kernel", record.kernel},
          {"ratio", record.ratio}};
}

Result<Record> record_from_json(const Json& json) {
  Record record;
  STRIPLINE_ASSIGN_OR_RETURN(record.network, get_string(json, "network", "robust"));
  STRIPLINE_ASSIGN_OR_RETURN(record.model, get_string(json, "model", "robust"));
  STRIPLINE_ASSIGN_OR_RETURN(record.kernel, get_string(json, "kernel", "robust"));
  STRIPLINE_ASSIGN_OR_RETURN(record.ratio, get_number(json, "ratio", "robust"));
  return record;
}

// What guards judge of one repetition, with the smallest problem: loops, or iterations.
uint32_t executions_of(const Point& problem) {
  const std::map<std::string_view, uint32_t> executions = {
      {kernels::kNasCg.name, 300},    {kernels::kNasFt.name, 6},
      {kernels::kNasIs.name, 10},     {kernels::kPrkTranspose.name, 4},
      {kernels::kPrkSparse.name, 4},  {kernels::kNasMg.name, 4},
      {kernels::kNasBt.name, 60},     {kernels::kNasSp.name, 100},
      {kernels::kPrkStencil.name, 10}};
  const auto found = executions.find(problem.experiment);
  return found == executions.end() ? 1 : found->second;
}

uint32_t repetitions_of(const Options& options, const Point& problem) {
  const uint32_t executions = options.quick ? kQuickExecutions : kExecutions;
  return std::max(kLeastRepetitions, executions / executions_of(problem));
}

Result<Record> measure(const Options& options, const Network& network, const std::string& name,
                       const std::string& model, const Point& problem) {
  const bench::Target target = target_of(options, network, kRanks, model);
  Point without = problem;
  without.variant = "untuned";
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto series,
      bench::measure_run(target, 1, exactly(repetitions_of(options, problem)), {problem, without}));
  STRIPLINE_RETURN_IF_ERROR(check_verified(series));
  std::map<std::string, double> steady;
  for (const experiment::SampleSeries& one : series) {
    if (one.values.empty()) return Error(ErrorCode::failed_precondition, one.note);
    steady[one.point.variant] = steady_time(one);
  }
  return Record{network.fabric, name, problem.experiment,
                steady.at(problem.variant) / steady.at("untuned")};
}

// The models that a network is to be measured with, by what is wrong with them.
Result<std::map<std::string, std::string>> wrong_models(const Options& options,
                                                        const Network& network,
                                                        const std::vector<Network>& all) {
  const std::filesystem::path folder = options.path("models") / "robust";
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(folder, ignored);
  STRIPLINE_ASSIGN_OR_RETURN(const std::string own_file, model_file(options, network));
  STRIPLINE_ASSIGN_OR_RETURN(const Json own, read_json_file(own_file));
  std::map<std::string, std::string> models = {{"its own", own_file}};
  const auto add = [&](const std::string& name, const Json& document) -> Status {
    const std::string file =
        (folder / (file_name(network.fabric + " " + name) + ".stripline.json")).string();
    models[name] = file;
    return write_json_file(file, document);
  };
  for (const Network& other : all) {
    if (other.fabric == network.fabric) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const std::string other_file, model_file(options, other));
    STRIPLINE_ASSIGN_OR_RETURN(const Json theirs, read_json_file(other_file));
    STRIPLINE_ASSIGN_OR_RETURN(const Json disguised, disguised_model(theirs, own));
    STRIPLINE_RETURN_IF_ERROR(add("that of " + other.fabric, disguised));
  }
  for (uint32_t seed = 1; seed <= kCorruptions; ++seed) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json corrupted, corrupted_model(own, seed, kMostFactor));
    STRIPLINE_RETURN_IF_ERROR(add("corrupted, seed " + std::to_string(seed), corrupted));
  }
  return models;
}

std::string tables_of(const std::vector<Record>& records) {
  struct Group {
    Ratios ratios;
    size_t above = 0;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const Record& record : records) {
    Group& group = groups[{record.network, record.model}];
    group.ratios.add(record.ratio, record.kernel);
    if (record.ratio > 1 + kMargin) ++group.above;
  }
  Table table({"network", "model", ">kernels", ">geometric mean", ">worst", "worst kernel",
               ">slower by more than 2 %"});
  for (const auto& [key, group] : groups) {
    table.add({key.first, key.second, std::to_string(group.ratios.count),
               number(group.ratios.mean()), number(group.ratios.worst), group.ratios.worst_name,
               std::to_string(group.above)});
  }
  return table.text();
}

// What a model may say of a parameter.
const model::ParameterRule& rule_of(const std::string& name) {
  if (name.ends_with("gain") || name.ends_with("doubt")) return model::kGainRule;
  if (name == "queue_depth") return model::kQueueDepthRule;
  return model::kSecondsRule;  // all others are far from where their rules end
}

// What is a parameter has a value and an interval.
void multiply(const std::string& name, Json& json, std::mt19937_64& random, double most) {
  if (json.is_object() && json.contains("value") && json.contains("ci")) {
    std::uniform_real_distribution<> logs(-std::log(most), std::log(most));
    double factor = std::exp(logs(random));
    const double right = json["value"].get<double>();
    if (right == 0) return;
    const model::ParameterRule& rule = rule_of(name);
    const double value = std::clamp(right * factor, rule.minimum, rule.maximum);
    factor = value / right;
    json["value"] = value;
    Json& interval = json["ci"];
    interval[0] = std::min(interval[0].get<double>() * factor, value);
    interval[1] = std::max(interval[1].get<double>() * factor, value);
    return;
  }
  if (!json.is_structured()) return;
  for (auto& [key, element] : json.items()) multiply(key, element, random, most);
}

Result<Json> sealed(Json document) {
  document.erase("sha256");
  STRIPLINE_ASSIGN_OR_RETURN(const std::string canonical, canonical_json(document));
  document["sha256"] = sha256_hex(canonical);
  return document;
}

}  // namespace

Result<Json> corrupted_model(const Json& document, uint64_t seed, double most) {
  Json corrupted = document;
  std::mt19937_64 random(seed);
  multiply({}, corrupted, random, most);
  return sealed(std::move(corrupted));
}

Result<Json> disguised_model(const Json& document, const Json& fits) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* fingerprint, get_object(fits, "fingerprint", "model"));
  Json disguised = document;
  disguised["fingerprint"] = *fingerprint;
  return sealed(std::move(disguised));
}

Status print_robust(const Options& options) {
  // The models of all others, whatever is asked for; quickly, those of its own.
  Options any = options;
  if (!options.quick) any.only.clear();
  std::vector<Network> others;
  std::vector<Network> chosen;
  using Asked = std::pair<const Options*, std::vector<Network>*>;
  for (const auto& [asked, kept] : {Asked(&any, &others), Asked(&options, &chosen)}) {
    STRIPLINE_ASSIGN_OR_RETURN(*kept, networks(*asked, true));
    std::erase_if(*kept, [](const Network& network) { return !network.emulated(); });
    for (Network& network : *kept) network = declared(network);
  }
  if (chosen.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "wrong models are tried on emulated networks, and none of their names contains '" +
                     options.only + "'");
  }

  using Kept = KeptRecords<Record, &Record::key>;
  STRIPLINE_ASSIGN_OR_RETURN(Kept kept, Kept::open(options.path("robust.jsonl"), record_from_json));
  std::vector<Record> records;
  for (const Network& network : chosen) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto models, wrong_models(options, network, others));
    for (const auto& [name, model] : models) {
      std::fprintf(stderr, "robust: %s, model: %s\n", network.fabric.c_str(), name.c_str());
      for (const Point& problem : problems()) {
        const auto measure_it = [&, &named = name, &file = model] {
          return measure(options, network, named, file, problem);
        };
        const Record wanted{network.fabric, name, problem.experiment};
        STRIPLINE_ASSIGN_OR_RETURN(Record record, kept.get(wanted.key(), measure_it));
        records.push_back(std::move(record));
      }
    }
  }
  std::printf(
      "Times with a model over times without one, after warm-up (the second half of %u executions "
      "of each loop, or more), %u ranks.\n\n%s",
      options.quick ? kQuickExecutions : kExecutions, kRanks, tables_of(records).c_str());
  return {};
}

}  // namespace stripline::suites::results
