#include "suites/results/bulk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

#include "optimizer/stats/compare.h"
#include "optimizer/stats/order.h"
#include "suites/bench/failure.h"
#include "suites/bench/measure.h"
#include "suites/bench/rows.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"
#include "suites/harness/verdicts.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"
#include "suites/results/choices.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;

// Runs differ by the profile's jitter only, and take minutes of the host with many ranks.
constexpr uint32_t kRuns = 2;
constexpr double kRunLimitS = 3600;
// With more ranks, only what is asked for is measured: the programs, those in regions with a model.
constexpr uint32_t kFewRanks = 16;
// Updates of all ranks: Chen, section 7.3.
constexpr int64_t kUpdates = int64_t{8} << 20;

// Beside those of the programs, where a kernel has them: regions whose sources stay, and bursts.
constexpr const char* kStable = "bulk_stable";
constexpr std::array<std::pair<const char*, const char*>, 2> kFurther = {
    {{kernels::kNasFt.name, kStable}, {kernels::kNasBt.name, "bulk_bursts"}}};

// A class with as many planes, or points, as such a number of ranks divides.
experiment::Params problem_of(std::string_view kernel, uint32_t ranks, bool quick) {
  if (kernel == kernels::kGups.name) return {{"updates", (quick ? 1 << 14 : kUpdates) / ranks}};
  const bool large = ranks > kFewRanks && kernel != kernels::kNasSp.name;
  return {{"class", std::string(quick ? "S" : large ? "A" : "W")}};
}

bool in_region(std::string_view variant) { return variant.find("bulk") != std::string_view::npos; }

std::vector<std::string> variants_of(std::string_view kernel, uint32_t ranks, bool uses_model) {
  std::vector<std::string> variants;
  for (const BulkProgram& program : bulk_programs()) {
    if (kernel != program.kernel) continue;
    variants.insert(variants.end(), {program.blocking, program.manual, program.automatic});
  }
  for (const auto& [name, variant] : kFurther) {
    if (kernel == name && (ranks <= kFewRanks || variant == std::string_view(kStable))) {
      variants.emplace_back(variant);
    }
  }
  std::erase_if(variants, [&](const std::string& variant) {
    return uses_model ? !in_region(variant) : in_region(variant) && ranks > kFewRanks;
  });
  return variants;
}

// Fresh ranks for each run, with a model and without.
Result<CellResult> measure(const Options& options, const Cell& cell) {
  CellResult result;
  result.key = cell.key();
  result.fabric = cell.network.fabric;
  result.ranks = cell.ranks;
  result.problem = cell.problem_text();
  STRIPLINE_ASSIGN_OR_RETURN(const std::string model, model_file(options, cell.network));
  experiment::StopRule rule = rule_without_host();
  rule.max_reps = 1;
  for (const bool uses_model : {false, true}) {
    bench::Target target =
        target_of(options, cell.network, cell.ranks, uses_model ? model : std::string());
    target.time_limit_s = kRunLimitS;
    std::vector<Point> points;
    for (const std::string& variant :
         variants_of(cell.problem.experiment, cell.ranks, uses_model)) {
      points.push_back(cell.problem);
      points.back().variant = variant;
    }
    bench::Samples samples(points);
    for (uint32_t run = 1; run <= kRuns; ++run) {
      STRIPLINE_ASSIGN_OR_RETURN(const auto series, bench::measure_run(target, run, rule, points));
      samples.add(series);
      if (const auto failure = samples.check()) return error_of(*failure);
    }
    for (const bench::PointSamples& measured : samples.points()) {
      const std::string& variant = measured.point().variant;
      const std::string row = uses_model ? with_model(variant) : variant;
      result.plans[row] = measured.plan();
      for (const auto& [run, median] : measured.medians()) result.times[row].push_back(median);
    }
  }
  return result;
}

// A program in a cell.
struct Measured {
  const CellResult* cell = nullptr;
  const BulkProgram* program = nullptr;
};

std::vector<Measured> measured_programs(const std::vector<CellResult>& cells) {
  std::vector<Measured> all;
  for (const CellResult& cell : cells) {
    const std::string_view kernel =
        std::string_view(cell.problem).substr(0, cell.problem.find(':'));
    for (const BulkProgram& program : bulk_programs()) {
      if (kernel == program.kernel) all.push_back({&cell, &program});
    }
  }
  return all;
}

Result<std::vector<double>> logs_of(const CellResult& cell, const std::string& row,
                                    const std::string& baseline) {
  for (const std::string& needed : {row, baseline}) {
    if (cell.times.contains(needed)) continue;
    return Error(ErrorCode::failed_precondition,
                 cell.key + " lacks '" + needed + "'; remove its line and measure it again");
  }
  return stats::paired_log_ratios(cell.times.at(row), cell.times.at(baseline));
}

Result<double> ratio_of(const CellResult& cell, const std::string& row,
                        const std::string& baseline) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<double> logs, logs_of(cell, row, baseline));
  double sum = 0;
  for (const double log : logs) sum += log;
  return std::exp(sum / static_cast<double>(logs.size()));
}

// The times of the rows that `row_of` says over those of the blocking programs.
template <typename RowOf>
Result<stats::GeometricMean> mean_over_blocking(const std::vector<Measured>& programs,
                                                const RowOf& row_of) {
  std::vector<std::vector<double>> logs;
  for (const Measured& one : programs) {
    STRIPLINE_ASSIGN_OR_RETURN(logs.emplace_back(),
                               logs_of(*one.cell, row_of(*one.program), one.program->blocking));
  }
  return stats::geometric_mean(logs);
}

std::string at_least(double bound, double value, int digits) {
  return "at least " + percent(bound, digits) + ": " + met(value >= bound);
}

// One network and number of ranks.
Status add_criteria(const std::vector<Measured>& programs, Table& table) {
  const CellResult& any = *programs.front().cell;
  const auto automatic = [](const BulkProgram& program) { return with_model(program.automatic); };
  STRIPLINE_ASSIGN_OR_RETURN(const auto by_hand, mean_over_blocking(programs, [](const auto& one) {
                               return std::string(one.manual);
                             }));
  STRIPLINE_ASSIGN_OR_RETURN(const auto by_itself, mean_over_blocking(programs, automatic));
  std::string unaided = "–";
  if (any.ranks <= kFewRanks) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto mean, mean_over_blocking(programs, [](const auto& one) {
                                 return std::string(one.automatic);
                               }));
    unaided = percent(1 - mean.value);
  }
  Ratios ratios;
  std::string stable = "–";
  for (const Measured& one : programs) {
    STRIPLINE_ASSIGN_OR_RETURN(const double ratio,
                               ratio_of(*one.cell, automatic(*one.program), one.program->blocking));
    ratios.add(ratio, one.program->name);
    if (!one.cell->times.contains(with_model(kStable)) ||
        std::string_view(one.program->manual) != "hand") {
      continue;
    }
    STRIPLINE_ASSIGN_OR_RETURN(const double over_hand,
                               ratio_of(*one.cell, with_model(kStable), one.program->manual));
    stable = number(over_hand) + ", " + at_most(asked::bulk::kStable, over_hand, 2);
  }
  const double fewer = 1 - by_itself.value;
  const double share = fewer / (1 - by_hand.value);
  const double asked_fewer =
      any.ranks > kFewRanks ? asked::bulk::kFewerOf64 : asked::bulk::kFewerOf16;
  table.add({any.fabric, std::to_string(any.ranks), std::to_string(by_itself.cells),
             percent(1 - by_hand.value), unaided,
             percent(fewer) + ", " + at_least(asked_fewer, fewer, 0),
             percent(share, 0) + ", " + at_least(asked::bulk::kShareOfManual, share, 0),
             number(ratios.worst) + " (" + ratios.worst_name + "), " +
                 at_most(asked::bulk::kWorst, ratios.worst, 2),
             stable});
  return {};
}

Result<std::string> programs_table(const std::vector<Measured>& programs) {
  Table table({"network", ">ranks", "program", "problem", ">blocking", ">manual", ">automatic",
               ">manual / blocking", ">automatic / blocking", ">without a model / blocking",
               ">automatic / manual"});
  const auto seconds = [](const CellResult& cell, const std::string& row) {
    return with_unit(stats::median(cell.times.at(row)), "s");
  };
  for (const auto& [cell, program] : programs) {
    const std::string automatic = with_model(program->automatic);
    STRIPLINE_ASSIGN_OR_RETURN(const double manual,
                               ratio_of(*cell, program->manual, program->blocking));
    STRIPLINE_ASSIGN_OR_RETURN(const double ratio, ratio_of(*cell, automatic, program->blocking));
    std::string unaided = "–";
    if (cell->ranks <= kFewRanks) {
      STRIPLINE_ASSIGN_OR_RETURN(const double without,
                                 ratio_of(*cell, program->automatic, program->blocking));
      unaided = number(without);
    }
    table.add({cell->fabric, std::to_string(cell->ranks), program->name,
               cell->problem.substr(cell->problem.find(':') + 2), seconds(*cell, program->blocking),
               seconds(*cell, program->manual), seconds(*cell, automatic), number(manual),
               number(ratio), unaided, number(ratio / manual)});
  }
  return table.text();
}

// Rows of kernels that are not a program's.
Result<std::string> further_table(const std::vector<CellResult>& cells) {
  Table table({"network", ">ranks", "problem", "variant", ">seconds", ">/ blocking in a region"});
  for (const CellResult& cell : cells) {
    for (const auto& [kernel, variant] : kFurther) {
      const std::string row = with_model(variant);
      const std::string plainly = with_model("bulk");
      if (!cell.problem.starts_with(std::string(kernel) + ":") || !cell.times.contains(row))
        continue;
      STRIPLINE_ASSIGN_OR_RETURN(const double ratio, ratio_of(cell, row, plainly));
      table.add({cell.fabric, std::to_string(cell.ranks), cell.problem, variant,
                 with_unit(stats::median(cell.times.at(row)), "s"), number(ratio)});
    }
  }
  return table.text();
}

}  // namespace

std::string with_model(const std::string& variant) { return variant + ", with a model"; }

const std::vector<BulkProgram>& bulk_programs() {
  static const std::vector<BulkProgram> programs = {
      {"BT", kernels::kNasBt.name, "plain", "plain_hand", "bulk"},
      {"CG", kernels::kNasCg.name, "plain", "plain_hand", "bulk"},
      {"FT", kernels::kNasFt.name, "blocking", "hand", "bulk"},
      {"FT-pencils", kernels::kNasFt.name, "pencils_blocking", "pencils", "pencils_bulk"},
      {"IS", kernels::kNasIs.name, "blocking", "hand", "bulk"},
      {"MG", kernels::kNasMg.name, "plain", "plain_hand", "bulk"},
      {"SP", kernels::kNasSp.name, "plain", "plain_hand", "bulk"},
      {"Gups-bulk", kernels::kGups.name, "plain", "plain_hand", "bulk"}};
  return programs;
}

Result<std::vector<Cell>> bulk_cells(const Options& options) {
  const std::string only = options.only.empty() && options.quick ? "opteron" : options.only;
  std::vector<std::string> all;
  std::vector<Cell> cells;
  for (const char* profile : {"opteron-vapi", "itanium-gm"}) {
    const Network network =
        declared({.fabric = std::string("emulated:") + profile, .clock = "virtual"});
    all.push_back(network.path());
    if (network.path().find(only) == std::string::npos) continue;
    const std::vector<uint32_t> several =
        options.quick ? std::vector<uint32_t>{4} : std::vector<uint32_t>{16, 64};
    for (const uint32_t ranks : several) {
      for (const BulkProgram& program : bulk_programs()) {
        Cell cell{network, ranks, {program.kernel, program.blocking, {}}};
        cell.problem.params = problem_of(program.kernel, ranks, options.quick);
        const experiment::Experiment& declaration = find_benchmark(program.kernel)->declaration;
        if (const auto refused = experiment::complete_point(declaration, cell.problem)) {
          return Error(ErrorCode::internal, cell.key() + ": " + *refused);
        }
        const bool known =
            std::ranges::any_of(cells, [&](const Cell& one) { return one.key() == cell.key(); });
        if (known || cell.key().find(options.cells) == std::string::npos) continue;
        cells.push_back(std::move(cell));
      }
    }
  }
  if (cells.empty()) return no_such_cell(options, all);
  return cells;
}

Result<std::string> bulk_tables(const std::vector<CellResult>& cells) {
  std::map<std::pair<std::string, uint32_t>, std::vector<CellResult>> groups;
  for (const CellResult& cell : cells) groups[{cell.fabric, cell.ranks}].push_back(cell);
  Table criteria({"network", ">ranks", ">programs", ">fewer seconds by hand",
                  ">automatic without a model", "automatic", "share of manual", "slowest",
                  "FT whose sources stay, over manual"});
  for (const auto& [place, group] : groups) {
    STRIPLINE_RETURN_IF_ERROR(add_criteria(measured_programs(group), criteria));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string programs, programs_table(measured_programs(cells)));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string further, further_table(cells));
  return "Seconds of an iteration, or of an update, in virtual time under declared computation. "
         "Automatic: the blocking program in a bulk region, with the network's model unless "
         "something else is said. Means are geometric ones of times over those of the blocking "
         "programs. Chen, section 7.3: 30 % and 34 % fewer seconds by hand, 26 % and 29 % "
         "automatically, with 16 and 64 ranks.\n\n" +
         criteria.text() + "\nEvery program:\n\n" + programs + "\nFurther variants:\n\n" + further;
}

Status print_bulk(const Options& options) {
  STRIPLINE_RETURN_IF_ERROR(check_models(options));
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Cell> cells, bulk_cells(options));
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::vector<CellResult> results,
      kept_or_measured(options, "bulk", cells, "bulk.jsonl", {},
                       [&](const Cell& cell) { return measure(options, cell); }));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, bulk_tables(results));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace stripline::suites::results
