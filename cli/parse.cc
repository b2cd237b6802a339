#include "cli/parse.h"

#include <algorithm>
#include <map>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/command_line.h"
#include "base/exit_codes.h"
#include "base/host_and_port.h"
#include "base/manual.h"
#include "cli/campaign_grammar.h"
#include "cli/explain_grammar.h"
#include "cli/grammar_parts.h"
#include "cli/grammars.h"
#include "cli/names.h"

namespace stripline::cli {
namespace {

// The commands that other programs carry out.
const std::map<std::string, std::string>& helpers() {
  static const std::map<std::string, std::string> kHelpers = {
      {"run", "Run a program on several ranks, with or without a tuned model"},
      {"bench", "List and run the experiments of the suites on this machine"},
      {"doctor", "Say what this machine can do, what limits it, and what to fix"},
      {"tune",
       "Tune a runtime that is installed here (Open MPI, MPICH, UCX, OpenSHMEM, libfabric)"},
      {"export", "Verify, install, convert, report, write and check settings of other runtimes"}};
  return kHelpers;
}

// The program that carries a helper's command out, and the arguments that it gets before the
// user's.
std::pair<std::string, std::vector<std::string>> program_of(const std::string& helper) {
  if (helper == "export") return {"stripline-tune", {helper}};
  return {"stripline-" + helper, {}};
}

// The command of campaigns that is one of stripline-bench, too.
constexpr const char* kRunPlan = "run-plan";

Delegates delegates() {
  Delegates by_command = {
      {std::string("campaign ") + kRunPlan, std::string("stripline-bench ") + kRunPlan}};
  for (const auto& [name, description] : helpers()) {
    const auto [program, first] = program_of(name);
    by_command[name] = first.empty() ? program : program + " " + first.front();
  }
  return by_command;
}

Parsed helper_command(const std::string& program, std::vector<std::string> arguments) {
  Parsed parsed;
  parsed.command.emplace();
  parsed.command->action = ExecHelper{program, std::move(arguments)};
  return parsed;
}

// Where the first word is that is no option of the program itself.
std::optional<size_t> command_word(const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--server" || arguments[i] == "--timeout") {
      ++i;  // its value
    } else if (!arguments[i].starts_with('-')) {
      return i;
    }
  }
  return std::nullopt;
}

Parsed usage_error(const std::string& message) {
  Parsed parsed;
  parsed.err = "stripline: error: " + message + "\n";
  parsed.exit_code = kExitUsage;
  return parsed;
}

// Defines the grammar and remembers what was chosen.
class Grammar {
 public:
  Grammar() : app_("", "stripline") {
    app_.description(
        "Measures how a cluster communicates, fits models, and lets programs use them.\n\n"
        "  stripline doctor                          what this machine can do\n"
        "  stripline campaign run --fabric tcp       measure, fit, publish a model\n"
        "  stripline model fetch tcp                 get the model as a file\n"
        "  stripline run -n 2 --fabric tcp --model tcp.stripline.json -- ./program\n");
    app_.footer(
        "Environment:\n"
        "  STRIPLINE_SERVER  the server, unless --server is given; else that of the last "
        "'stripline login'\n\n"
        "Exit codes (docs/cli.md):\n"
        "  0 success                 5 a rank died\n"
        "  1 failure                 6 time limit passed\n"
        "  2 wrong command or name   7 stopped on request\n"
        "  3 bad or foreign file     8 a result was wrong\n"
        "  4 cannot be reached       9 conflict: the state forbids it\n");
    app_.require_subcommand(1);
    add_version(app_);
    add_value(app_, "--server", command_.global.server,
              "Address of the server; with commas, of those that take over from it, too",
              "HOST:PORT")
        ->envname("STRIPLINE_SERVER")
        ->capture_default_str();
    add_value(app_, "--timeout", command_.global.timeout_s,
              "Give up when the server has not answered for this time (e.g. 30, 500ms, 2min)",
              "TIME")
        ->transform(time_within(kTimeLimits))
        ->capture_default_str();
    app_.add_flag("--json", command_.global.json,
                  "Write JSON, one object per line; messages stay on standard error");
    for (const auto& [name, description] : helpers()) {
      app_.add_subcommand(name, description);
    }
    campaigns_.define(app_, command_.action);
    define_model();
    explain_.define(app_, command_.action);
    define_nodes(app_, command_.action);
    define_access(app_, command_.action);
    leaf_command<ShowVersion>(app_, "version", "Print the version", command_.action)
        .command->footer(
            "This is the version of the command. Agents report theirs in 'stripline nodes'.\n");
  }

  Parsed parse(const std::vector<std::string>& arguments) {
    Parsed parsed;
    if (const auto end = write_manual_if_asked(app_, arguments, delegates())) {
      parsed.exit_code = *end;
      return parsed;
    }
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
      app_.parse(reversed);
    } catch (const CLI::ParseError& error) {
      CommandLineEnd end = command_line_end(app_, error, stray_hint());
      parsed.out = std::move(end.out);
      parsed.err = std::move(end.err);
      parsed.exit_code = end.exit_code;
      return parsed;
    }
    finish();
    if (failure_) return usage_error(failure_->message());
    parsed.command = std::move(command_);
    return parsed;
  }

 private:
  // What is said of an argument where none is expected.
  std::string stray_hint() const {
    const CLI::App* campaign = app_.get_subcommand("campaign");
    return campaign->got_subcommand("run") ? "name the network by --fabric" : "";
  }

  void define_model() {
    CLI::App* model = app_.add_subcommand("model", "Look at tuned models and fetch them");
    model->require_subcommand(1);
    model->fallthrough();
    model->footer(
        "Examples:\n"
        "  stripline model list\n"
        "  stripline model fetch tcp\n");

    const auto list = leaf_command<ModelList>(*model, "list", "List models, or the versions of one",
                                              command_.action);
    add_value(*list.command, "model", list->model, "List the versions of this model, newest first",
              "NAME");
    end_help(list.command,
             "Without NAME each model with its fabric and latest version; with NAME its\n"
             "versions with their states, labels, campaigns, and what was found of them.\n\n"
             "Exit codes: 0, 2 no such model, 4 no server, 6 no answer in time.\n");

    const auto show = leaf_command<ModelShow>(
        *model, "show", "Show a model's parameters with their intervals", command_.action);
    add_required(show.command, "model", show->source, "A model file, or a name: tcp, tcp@2",
                 "FILE|NAME");
    end_help(show.command,
             "Intervals are at 95 % over runs. '>=' marks a lower bound. With --json the\n"
             "model file's content on one line.\n\n"
             "Exit codes: 0, 2 no such model, 3 malformed file, 4 no server.\n");

    const auto fetch =
        leaf_command<ModelFetch>(*model, "fetch", "Fetch a model as a file", command_.action);
    add_required(fetch.command, "model", fetch->name,
                 "Name, with a version or a label or without: tcp, tcp@2, tcp@stable",
                 "NAME[@VERSION|@LABEL]");
    add_value(*fetch.command, "-o,--output", fetch->output,
              "File to write, - for standard output (default: NAME.stripline.json)", "FILE");
    fetch.command->add_flag("--accept-failed", fetch->accept_failed,
                            "Take one that failed its validation, too");
    end_help(
        fetch.command,
        "The file is checked before it replaces an older one, and never half written. One\n"
        "that is current already is left alone. A file that is not a model is not replaced. A\n"
        "name alone gets the newest version that is neither withdrawn, provisional, stale nor\n"
        "unjudged, if there is one, and none that failed its validation; a version that is\n"
        "named is fetched as it is, with a warning.\n\n"
        "Exit codes: 0 fetched or current, 2 no such model, 3 what came is damaged, 4 no\n"
        "server, 9 the file exists and is something else, or the model failed its "
        "validation.\n");

    define_publishing(app_, *model, command_.action);
    define_operations(app_, *model, command_.action);
    define_feedback(app_, command_.action);
    define_reports(app_, *model, command_.action);
  }

  // What CLI11 cannot say: short names become resource names, optional values their members.
  void finish() {
    const auto resolve = [this](std::string& name, auto resource) {
      if (name.empty() || failure_) return;
      Result<std::string> full = resource(name);
      if (full.ok()) {
        name = *full;
      } else {
        failure_ = full.error();
      }
    };
    command_.global.server_named = app_.get_option("--server")->count() > 0;
    if (!std::holds_alternative<ShowVersion>(command_.action)) {
      const auto server = parse_servers(command_.global.server);
      if (!server.ok()) failure_ = server.error().with_context("--server (STRIPLINE_SERVER)");
    }
    std::visit(
        [&](auto& action) {
          using Chosen = std::decay_t<decltype(action)>;
          if constexpr (std::is_same_v<Chosen, CampaignRun> ||
                        std::is_same_v<Chosen, CampaignEstimate> ||
                        std::is_same_v<Chosen, CampaignExportPlan>) {
            if (const Status completed = campaigns_.complete(action); !completed.ok()) {
              failure_ = completed.error();
            }
            CampaignRun& asked = request_of(action);
            resolve(asked.model, model_resource);
            if (asked.prior != "nearest" && asked.prior != "none") {
              resolve(asked.prior, campaign_resource);
            }
            for (std::string& node : asked.only_nodes) resolve(node, node_resource);
          } else if constexpr (std::is_same_v<Chosen, CampaignWatch> ||
                               std::is_same_v<Chosen, CampaignShow> ||
                               std::is_same_v<Chosen, CampaignCancel> ||
                               std::is_same_v<Chosen, CampaignPause> ||
                               std::is_same_v<Chosen, CampaignResume> ||
                               std::is_same_v<Chosen, CampaignRetry> ||
                               std::is_same_v<Chosen, CampaignDelete> ||
                               std::is_same_v<Chosen, CampaignPoints> ||
                               std::is_same_v<Chosen, CampaignExport>) {
            resolve(action.name, campaign_resource);
          } else if constexpr (std::is_same_v<Chosen, CampaignCompare>) {
            resolve(action.baseline, campaign_resource);
            resolve(action.candidate, campaign_resource);
          } else if constexpr (std::is_same_v<Chosen, NodeCordon> ||
                               std::is_same_v<Chosen, NodeUncordon> ||
                               std::is_same_v<Chosen, NodeDrain> ||
                               std::is_same_v<Chosen, NodeRemove> ||
                               std::is_same_v<Chosen, NodeRevoke>) {
            resolve(action.name, node_resource);
          } else if constexpr (std::is_same_v<Chosen, ModelFetch> ||
                               std::is_same_v<Chosen, FeedbackList>) {
            resolve(action.name, model_resource);
          } else if constexpr (std::is_same_v<Chosen, ModelWithdraw> ||
                               std::is_same_v<Chosen, ModelPromote>) {
            resolve(action.name, model_resource);
            if constexpr (std::is_same_v<Chosen, ModelPromote>) {
              for (std::string& node : action.nodes) resolve(node, node_resource);
            }
            require_version(action.name, std::is_same_v<Chosen, ModelPromote>);
          } else if constexpr (std::is_same_v<Chosen, ModelValidate>) {
            resolve(action.name, model_resource);
            for (std::string& campaign : action.campaigns) resolve(campaign, campaign_resource);
          } else if constexpr (std::is_same_v<Chosen, ModelCheck>) {
            resolve(action.name, model_resource);
            resolve(action.campaign, campaign_resource);
          } else if constexpr (std::is_same_v<Chosen, ModelFit>) {
            resolve(action.model, model_resource);
            for (std::string& campaign : action.campaigns) resolve(campaign, campaign_resource);
            for (std::string& run : action.without) resolve(run, run_resource);
          } else if constexpr (std::is_same_v<Chosen, OperationShow> ||
                               std::is_same_v<Chosen, OperationCancel>) {
            resolve(action.name, operation_resource);
          } else if constexpr (std::is_same_v<Chosen, ModelRollback>) {
            resolve(action.name, model_resource);
          } else if constexpr (std::is_same_v<Chosen, ModelImport> ||
                               std::is_same_v<Chosen, ModelList> ||
                               std::is_same_v<Chosen, RolloutStatus>) {
            resolve(action.model, model_resource);
          }
        },
        command_.action);
  }

  void require_version(const std::string& name, bool or_label) {
    const bool named = name.find("/versions/") != std::string::npos ||
                       (or_label && name.find("/labels/") != std::string::npos);
    if (failure_ || named) return;
    failure_ = Error(ErrorCode::invalid_argument,
                     "'" + short_name(name) +
                         "' names no version; write NAME@VERSION, as 'stripline model list NAME' "
                         "lists them");
  }

  CLI::App app_;
  Command command_;
  std::optional<Error> failure_;
  CampaignGrammar campaigns_;
  ExplainGrammar explain_;
};

}  // namespace

namespace {

// Options that were called otherwise: commands that earlier versions wrote are still read.
std::string todays_name(const std::string& argument) {
  for (const char* const earlier :
       {"--served-between-strips", "--served-between-pieces", "--needs-target"}) {
    if (argument == earlier) return "--target-polls-only";
  }
  return argument;
}

}  // namespace

Parsed parse_command_line(const std::vector<std::string>& arguments) {
  const std::optional<size_t> word = command_word(arguments);
  if (word && *word + 1 < arguments.size() && arguments[*word] == "campaign" &&
      arguments[*word + 1] == kRunPlan) {
    return helper_command("stripline-bench",
                          {arguments.begin() + static_cast<ptrdiff_t>(*word) + 1, arguments.end()});
  }
  if (word && helpers().contains(arguments[*word])) {
    const std::string& name = arguments[*word];
    if (*word != 0) {
      return usage_error("options of '" + name + "' come after it; see 'stripline " + name +
                         " --help'");
    }
    auto [program, passed] = program_of(name);
    passed.insert(passed.end(), arguments.begin() + 1, arguments.end());
    return helper_command(program, std::move(passed));
  }
  std::vector<std::string> today = arguments;
  std::ranges::transform(today, today.begin(), todays_name);
  return Grammar().parse(today);
}

}  // namespace stripline::cli
