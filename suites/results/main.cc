// stripline-results: measures and prints the tables of docs/results that are about measurements on
// networks. scripts/results.sh calls it.
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/cancel_signals.h"
#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/standard_output.h"
#include "suites/bench/command_line.h"
#include "suites/results/ablation.h"
#include "suites/results/analysis.h"
#include "suites/results/budgeted.h"
#include "suites/results/bulk.h"
#include "suites/results/gather_choices.h"
#include "suites/results/load.h"
#include "suites/results/networks.h"
#include "suites/results/options.h"
#include "suites/results/overlap.h"
#include "suites/results/prediction.h"
#include "suites/results/quality.h"
#include "suites/results/recovery.h"
#include "suites/results/robust.h"
#include "suites/results/strips.h"
#include "suites/results/untuned.h"
#include "suites/results/update_choices.h"
#include "suites/results/vis.h"

namespace {

using namespace stripline;                   // NOLINT(google-build-using-namespace)
using namespace stripline::suites::results;  // NOLINT(google-build-using-namespace)
namespace bench = stripline::suites::bench;

constexpr const char* kDescription =
    "Measures and prints, in Markdown, how good fits, predictions and decisions are. Measurements\n"
    "are kept in a folder: an interrupted command continues where it ended, and one that has\n"
    "everything only prints.";

struct Command {
  const char* name;
  const char* help;
  Status (*print)(const Options&);
};

constexpr Command kCommands[] = {
    {"recovery", "Whether fitted intervals contain the true values of emulated networks",
     print_recovery},
    {"prediction", "Errors of predicted times at sizes that were not fitted", print_prediction},
    {"overlap", "The share of a transfer's time that computation can hide, by size", print_overlap},
    {"quality", "Tuned plans against blocking, hand-written and exhaustively searched ones",
     print_quality},
    {"scale", "The same with 2 to 64 ranks on emulated networks, under declared computation",
     print_scale},
    {"strips", "Strip-mining by the model against exhaustive search, over bulk transfers",
     print_strips},
    {"untuned", "The runtime without a model beside vectorised blocking transfers", print_untuned},
    {"analysis", "The share of kernels' time that deciding how to communicate takes",
     print_analysis},
    {"load", "Loops of up to 64 ranks that share links, with and without load estimation",
     print_load},
    {"robust", "Kernels with models that are wrong, beside the same ones without a model",
     print_robust},
    {"ablation", "Rows of other tables with a model, without one, and with a wrong one",
     print_ablation},
    {"budgeted", "What decisions of models from budgeted campaigns lose, and how much models vary",
     print_budgeted},
    {"networks", "What decisions of models of random networks lose, on random problems",
     print_networks},
    {"update-choices", "Chosen methods of updates against the best ones of a sweep",
     print_update_choices},
    {"gather-choices", "Chosen methods of gathers against the best ones of a sweep",
     print_gather_choices},
    {"bulk", "Blocking programs in bulk regions beside themselves and the same by hand",
     print_bulk},
    {"vis", "Chosen methods of transfers of many regions against the best ones measured",
     print_vis},
};

int report(const Error& error, const Options& options) {
  std::fprintf(stderr, "stripline-results: %s\n", error.message().c_str());
  if (error.code() == ErrorCode::cancelled) {
    std::fprintf(stderr, "what was measured is in '%s'; the same command continues\n",
                 options.folder.string().c_str());
  }
  return exit_code_for(error.code());
}

}  // namespace

int main(int argc, char** argv) {
  prepare_descriptors();
  Options options;
  std::string folder = "build/results";
  std::vector<std::string> models;
  CLI::App app(kDescription, "stripline-results");
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--out", folder, "Folder of the measurements")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag("--quick", options.quick,
               "Few seeds, cells and sizes, kept apart: shows that all works, not how well");
  app.add_option("--only", options.only, "Only networks whose name contains TEXT")
      ->type_name("TEXT");
  app.add_option("--cells", options.cells,
                 "Only cells whose name contains TEXT (update-choices, gather-choices, bulk, "
                 "ablation)")
      ->type_name("TEXT");
  app.add_option("--model", models,
                 "Model to use on a network instead of measuring one (quality, update-choices, "
                 "gather-choices), or to judge (budgeted, networks)")
      ->type_name("FABRIC=FILE")
      ->allow_extra_args(false);
  app.add_option("--search-budget", options.search_budget_s,
                 "Time of the exhaustive search in each cell (quality)")
      ->type_name("TIME")
      ->transform(time_within(bench::kMeasuringTimes))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the problems that are drawn (networks)")
      ->capture_default_str();
  for (const Command& command : kCommands) app.add_subcommand(command.name, command.help);
  if (const auto end = read_command_line(app, argc, argv)) return *end;

  options.folder = folder;
  options.worker = executable_folder() + "/stripline-worker";
  for (const std::string& text : models) {
    // A fabric's name may hold '=' itself.
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos) {
      return report(
          Error(ErrorCode::invalid_argument, "'" + text + "' is not of the form FABRIC=FILE"),
          options);
    }
    options.models.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  std::error_code ignored;  // check_writable() says what is wrong
  std::filesystem::create_directories(options.path(""), ignored);
  const Status writable = bench::check_writable(options.path("measurements").string());
  if (!writable.ok()) return report(writable.error(), options);
  const UniqueFd signals = catch_cancel_signals();
  options.cancel_fd = signals.get();
  for (const Command& command : kCommands) {
    if (!app.got_subcommand(command.name)) continue;
    Status printed = command.print(options);
    if (printed.ok()) printed = flush_standard_output();
    return printed.ok() ? kExitOk : report(printed.error(), options);
  }
  return kExitUsage;
}
