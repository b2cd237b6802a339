// stripline-bench: lists and runs the experiments. `stripline bench` is this program.
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>

#include "base/atomic_file.h"
#include "base/cancel_signals.h"
#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/standard_output.h"
#include "optimizer/experiment/catalogue.h"
#include "suites/bench/command_line.h"
#include "suites/bench/commands.h"
#include "suites/bench/failure.h"
#include "suites/bench/reference.h"

namespace {

using namespace stripline;                 // NOLINT(google-build-using-namespace)
using namespace stripline::suites::bench;  // NOLINT(google-build-using-namespace)

constexpr const char* kDescription =
    "Lists and runs experiments: micro.* measure what tuned models are fitted from, kernel.* what\n"
    "programs do with them.\n\n"
    "  stripline-bench list\n"
    "  stripline-bench run micro.latency --param bytes=8,64,4096 --variant get\n"
    "  stripline-bench run kernel.matvec --param rows=512 --fabric emulated:opteron-vapi\n"
    "  stripline-bench table --kernel kernel.transpose --param n=512 --model m.stripline.json\n";

constexpr const char* kFooter =
    "Exit codes:\n"
    "  0  measured\n"
    "  1  a model lost (verdict)\n"
    "  2  wrong usage: unknown experiment, factor, variant, fabric or profile; a point that\n"
    "     cannot be measured here\n"
    "  3  the model file is malformed or of another machine; the host cannot reproduce a profile\n"
    "  4  the provider cannot be used, resources are exhausted, or output cannot be written\n"
    "  5  a rank was killed, or lost a peer\n"
    "  6  a time limit passed\n"
    "  7  cancelled by SIGINT or SIGTERM\n"
    "  8  a result was wrong";

void add_common(CLI::App& app, CommonOptions& options) {
  app.add_option("--param", options.params,
                 "A factor's value, NAME=VALUE; several values NAME=V1,V2 or NAME=all. Factors "
                 "left out take their first value")
      ->type_name("K=V")
      ->allow_extra_args(false);
  app.add_option("-n,--ranks", options.target.ranks, "Ranks to start")
      ->type_name("N")
      ->transform(whole_number(1, 1024))
      ->capture_default_str();
  app.add_option("--fabric", options.target.fabric,
                 "Network: a libfabric provider (tcp, shm, ...) or "
                 "emulated:PROFILE[,key=value...]")
      ->type_name("F")
      ->envname("STRIPLINE_FABRIC")
      ->capture_default_str();
  app.add_option("--clock", options.target.clock, "real, or virtual (emulated fabrics only)")
      ->type_name("C")
      ->envname("STRIPLINE_CLOCK")
      ->check(one_of({"real", "virtual"}))
      ->capture_default_str();
  app.add_option(
         "--same-node", options.target.same_node,
         "How ranks of one node reach each other: network, mapped (loads and stores) or cma")
      ->type_name("PATH")
      ->envname("STRIPLINE_SAME_NODE")
      ->check(one_of({"network", "mapped", "cma"}))
      ->capture_default_str();
  app.add_option("--model", options.target.model_path, "Tuned model file; default: none")
      ->type_name("FILE")
      ->envname("STRIPLINE_MODEL");
  app.add_option("--matrix", options.target.matrix_path,
                 "Matrix Market file that kernels on sparse matrices take; sets matrix=file")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.add_option("--runs", options.runs,
                 "Runs: fresh ranks each, the unit over which intervals are taken")
      ->type_name("R")
      ->transform(whole_number(1, 1000))
      ->capture_default_str();
  app.add_option("--reps", options.reps, "Most repetitions of a point within a run")
      ->type_name("N")
      ->transform(whole_number(1, 1000000))
      ->capture_default_str();
  app.add_option("--time-budget", options.time_budget_s,
                 "Time that the whole command should take at most, e.g. 90, 1:30 (a target, not a "
                 "limit)")
      ->type_name("TIME")
      ->transform(time_within(kMeasuringTimes));
  app.add_option("--timeout", options.target.time_limit_s, "End a run that lasts longer")
      ->type_name("TIME")
      ->transform(time_within(kMeasuringTimes))
      ->capture_default_str();
  app.add_option("--seed", options.target.seed,
                 "Seed of the order of points and of emulated jitter")
      ->type_name("N")
      ->transform(whole_number_from<uint64_t>(0))
      ->capture_default_str();
}

// A result that did not reach its reader is none.
int finish(int exit_code) {
  const Status flushed = flush_standard_output();
  return exit_code != kExitOk || flushed.ok() ? exit_code : report(flushed.error());
}

int write_pages(const std::filesystem::path& folder) {
  for (const ReferencePage& page : reference_pages()) {
    const std::filesystem::path file = folder / page.file;
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    if (failed) {
      return report(
          Error(ErrorCode::unavailable,
                "cannot create folder '" + file.parent_path().string() + "': " + failed.message()));
    }
    if (const Status written = write_atomically(file, page.text); !written.ok()) {
      return report(written.error());
    }
  }
  return kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  prepare_descriptors();
  CLI::App app(kDescription, "stripline-bench");
  app.footer(kFooter);
  app.require_subcommand(1);

  CLI::App* list = app.add_subcommand("list", "Show all experiments with factors and variants");
  bool list_json = false;
  std::string list_markdown;
  list->add_flag("--json", list_json, "As a JSON array of declarations");
  list->add_option("--markdown", list_markdown,
                   "Write experiments.md, and pages of details in experiments, into this folder")
      ->type_name("FOLDER")
      ->excludes("--json");

  RunOptions run_options;
  CLI::App* run = app.add_subcommand("run", "Run an experiment and print medians and intervals");
  run->add_option("experiment", run_options.common.experiment, "Its name, see 'list'")
      ->type_name("NAME")
      ->required();
  run->add_option("--variant", run_options.variants,
                  "Only this one; several are measured interleaved, and compared with the first. "
                  "Default: all that can be measured here, but fine of NAS kernels")
      ->type_name("V")
      ->allow_extra_args(false);
  run->add_flag("--json", run_options.json, "One JSON object per line instead of a table");
  add_common(*run, run_options.common);

  TableOptions table_options;
  table_options.common.experiment = experiment::kernels::kMatvec.name;
  CLI::App* table = app.add_subcommand(
      "table", "Compare all variants of a kernel with each other and with the best decomposition");
  table->add_option("--kernel", table_options.common.experiment, "Its name")
      ->type_name("NAME")
      ->capture_default_str();
  table->add_option("--json", table_options.json_file, "Also write the rows as JSON lines")
      ->type_name("FILE");
  add_common(*table, table_options.common);

  VerdictOptions verdict_options;
  CLI::App* verdict = app.add_subcommand(
      "verdict", "Say what models were worth in tables, all together; fails if one lost");
  verdict
      ->add_option("rows", verdict_options.files,
                   "Rows that 'table --model FILE --json FILE' wrote")
      ->type_name("FILE")
      ->required();

  PlanOptions plan_options;
  CLI::App* plan = app.add_subcommand(
      "run-plan", "Measure a campaign's plan without a server ('stripline campaign run-plan')");
  plan->add_option("plan", plan_options.plan_file, "What 'stripline campaign export-plan' wrote")
      ->type_name("BUNDLE")
      ->required();
  plan->add_option("-o,--output", plan_options.results_file,
                   "File for the results; one that is there is gone on with")
      ->type_name("FILE")
      ->required();
  bootstrap::add_hosts_options(*plan, plan_options.hosts);

  if (const auto end = read_command_line(app, argc, argv)) return *end;

  if (*list) {
    if (!list_markdown.empty()) return write_pages(list_markdown);
    std::cout << (list_json ? reference_json().dump(2) + "\n" : reference_text());
    return finish(kExitOk);
  }
  if (*verdict) return finish(verdict_command(verdict_options));
  const UniqueFd signals = catch_cancel_signals();
  const std::string worker = executable_folder() + "/stripline-worker";
  if (*plan) {
    plan_options.cancel_fd = signals.get();
    plan_options.worker = worker;
    return finish(plan_command(plan_options));
  }
  CommonOptions& common = *run ? run_options.common : table_options.common;
  common.target.cancel_fd = signals.get();
  if (!common.target.matrix_path.empty()) common.params.emplace_back("matrix=file");
  const UniqueFd suspend = catch_suspend_signal();
  common.target.suspend_fd = suspend.get();
  common.target.worker = worker;
  return finish(*run ? run_command(run_options) : table_command(table_options));
}
