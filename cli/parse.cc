#include "cli/parse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/command_line.h"
#include "base/exit_codes.h"
#include "base/host_and_port.h"
#include "base/toml_settings.h"
#include "cli/access_grammar.h"
#include "cli/explain_grammar.h"
#include "cli/feedback_grammar.h"
#include "cli/grammar_parts.h"
#include "cli/names.h"
#include "cli/node_grammar.h"
#include "cli/publishing_grammar.h"
#include "cli/report_grammar.h"

namespace stripline::cli {
namespace {

// The commands that other programs carry out.
const std::map<std::string, std::string>& helpers() {
  static const std::map<std::string, std::string> kHelpers = {
      {"run", "Run a program on several ranks, with or without a tuned model"},
      {"bench", "List and run the experiments of the suites on this machine"},
      {"doctor", "Say what this machine can do, what limits it, and what to fix"}};
  return kHelpers;
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
    app_.add_option("--server", command_.global.server,
                    "Address of the server; with commas, of those that take over from it, too")
        ->type_name("HOST:PORT")
        ->envname("STRIPLINE_SERVER")
        ->capture_default_str();
    app_.add_option("--timeout", command_.global.timeout_s,
                    "Give up when the server has not answered for so long (e.g. 30, 500ms, 2min)")
        ->type_name("TIME")
        ->transform(time_within(kTimeLimits))
        ->capture_default_str();
    app_.add_flag("--json", command_.global.json,
                  "Write JSON, one object per line; messages stay on standard error");
    for (const auto& [name, description] : helpers()) {
      app_.add_subcommand(name, description);
    }
    define_campaign();
    define_model();
    explain_.define(app_, command_.action);
    nodes_grammar_.define(app_, command_.action);
    access_.define(app_, command_.action);
    CLI::App* version = leaf(app_, "version", "Print the version", version_);
    version->footer("Of this command. Agents tell theirs in 'stripline nodes'.\n");
  }

  Parsed parse(const std::vector<std::string>& arguments) {
    Parsed parsed;
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
      app_.parse(reversed);
    } catch (const CLI::ParseError& error) {
      CommandLineEnd end = command_line_end(app_, error);
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
  // leaf_command() whose result is this command's.
  template <typename Chosen>
  CLI::App* leaf(CLI::App& parent, const std::string& name, const std::string& description,
                 const Chosen& action) {
    return leaf_command(parent, name, description, action, command_.action);
  }
  void define_campaign() {
    CLI::App* campaign = app_.add_subcommand("campaign", "Measure a fabric and publish its model");
    campaign->require_subcommand(1);
    campaign->fallthrough();
    campaign->footer(
        "A campaign measures a fabric on a group of nodes in several runs of fresh processes, fits "
        "a\n"
        "model and publishes it as a new version.\n\n"
        "Example:\n"
        "  stripline campaign run --fabric tcp --effort full\n");

    CLI::App* run = leaf(*campaign, "run", "Start a campaign and watch it", run_);
    run_app_ = run;
    run->add_option("file", run_.file,
                    "TOML file with what options leave open; keys are their names without dashes")
        ->type_name("FILE");
    run->add_option("--fabric", run_.fabrics,
                    "The fabric to measure, e.g. tcp, shm, emulated:cloud-ethernet; may be "
                    "repeated: a campaign of each, one after the other")
        ->type_name("FABRIC")
        ->allow_extra_args(false);
    run->add_option("--clock", run_.clock, "Clock of an emulated fabric (default virtual)")
        ->type_name("CLOCK")
        ->check(one_of({"real", "virtual"}));
    run->add_option("--nodes", run_.nodes, "Nodes in the group (default 2)")
        ->type_name("N")
        ->transform(count());
    run->add_option("--ranks", run_.ranks, "Ranks in all, dealt to the nodes in turn (default 2)")
        ->type_name("N")
        ->transform(count());
    run->add_option("--effort", run_.effort,
                    "budgeted: pruned grids, about a minute; full: all of them, 12 runs")
        ->type_name("EFFORT")
        ->check(one_of({"budgeted", "full"}))
        ->capture_default_str();
    run->add_option("--runs", run_.runs,
                    "Runs of fresh processes, at least 6 (default: 8 budgeted, 12 full)")
        ->type_name("N")
        ->transform(count());
    run->add_option("--time-budget", run_.time_budget_s,
                    "Limit of the measuring, e.g. 90, 1:30 (default: 60 budgeted, 300 full)")
        ->type_name("TIME")
        ->transform(time_within(kTimeLimits));
    run->add_option("--node-budget", run_.node_budget_s,
                    "Limit of the measuring by the nodes of a group, e.g. 30m (default: none)")
        ->type_name("TIME")
        ->transform(time_within(kTimeLimits));
    run->add_option("--width", run_.width,
                    "Measure until medians are known within this, e.g. 2% (default: 5% budgeted, "
                    "2% full; with --runs or --experiment as many runs as they say)")
        ->type_name("SHARE")
        ->transform(share());
    run->add_option(
           "--experiment", run_.experiments,
           "Measure only this experiment; may be repeated (default: all that feed the model)")
        ->type_name("NAME")
        ->allow_extra_args(false);
    run->add_option("--same-node", run_.same_node,
                    "Measure this way between ranks of one node, too; may be repeated (default: "
                    "only the fabric)")
        ->type_name("WAY")
        ->allow_extra_args(false)
        ->check(one_of({"mapped", "cma"}));
    run->add_option("--cluster", run_.cluster,
                    "Of which nodes the groups are (default: that of the nodes there are)")
        ->type_name("NAME");
    run->add_option("--node", nodes_, "Use only this node; may be repeated (default: any)")
        ->type_name("NAME")
        ->allow_extra_args(false);
    run->add_option(
           "--model", model_name_,
           "The model to publish (default: named after the fabric; none with --experiment)")
        ->type_name("NAME");
    run->add_option("--seed", run_.seed, "Order of the points, and jitter of an emulated fabric")
        ->type_name("N")
        ->transform(whole_number_from<uint64_t>(0));
    run->add_flag("--detach", run_.detach, "Return once it is queued");
    run->add_flag("--validate-only", run_.validate_only, "Check the request; start nothing");
    run->footer(
        std::string(
            "Shows its progress until the model is published. Ctrl-C stops watching, not the\n"
            "campaign: 'campaign watch' continues, 'campaign cancel' ends it.\n\n"
            "Exit codes: 0 done, 1 failed, 2 wrong request, 4 no server or not enough nodes,\n"
            "6 server gone for longer than --timeout, 7 cancelled, or Ctrl-C.\n\n"
            "Examples:\n"
            "  stripline campaign run --fabric tcp\n"
            "  stripline campaign run --fabric emulated:opteron-vapi --effort full --model "
            "opteron\n"
            "  stripline campaign run --fabric tcp --experiment micro.latency --detach\n"
            "  stripline campaign run weekly.toml\n") +
        kServiceOptions);

    CLI::App* watch = leaf(*campaign, "watch", "Follow a campaign until it ends", watch_);
    watch->add_option("campaign", watch_.name, "Name, e.g. c3")->required()->type_name("NAME");
    watch->footer(
        std::string(
            "Starts with what has happened so far, and continues where it was when the server\n"
            "restarts. Ctrl-C stops the watching, not the campaign.\n\n"
            "Exit codes: 0 done, 1 failed, 2 no such campaign, 4 no server, 6 server gone\n"
            "for longer than --timeout, 7 cancelled, or Ctrl-C.\n") +
        kServiceOptions);

    CLI::App* list = leaf(*campaign, "list", "List campaigns, newest first", campaign_list_);
    list->add_option("--limit", campaign_list_.limit, "At most so many")
        ->type_name("N")
        ->transform(count())
        ->capture_default_str();
    list->footer(
        std::string("DONE is the share of the points measured, MODEL the version published.\n"
                    "States: QUEUED (waits for nodes), RUNNING, FITTING, SUCCEEDED, FAILED,\n"
                    "CANCELLED.\n\n"
                    "Exit codes: 0, 4 no server, 6 no answer in time.\n") +
        kServiceOptions);

    CLI::App* show = leaf(*campaign, "show", "Show one campaign", campaign_show_);
    show->add_option("campaign", campaign_show_.name, "Name, e.g. c3")
        ->required()
        ->type_name("NAME");
    show->footer(
        std::string("State, what it waits for or why it failed, what it measures and how far it\n"
                    "is, and the model it publishes.\n\n"
                    "Exit codes: 0, 2 no such campaign, 4 no server, 6 no answer in time.\n") +
        kServiceOptions);

    CLI::App* cancel = leaf(*campaign, "cancel", "Stop a campaign; its samples stay", cancel_);
    cancel->add_option("campaign", cancel_.name, "Name, e.g. c3")->required()->type_name("NAME");
    cancel->footer(
        std::string("Exit codes: 0 cancelled (also when it was already), 9 it has ended.\n") +
        kServiceOptions);

    CLI::App* points = leaf(*campaign, "points", "List what a campaign measures", points_);
    points->add_option("campaign", points_.name, "Name, e.g. c3")->required()->type_name("NAME");
    points->add_option("--experiment", points_.experiment, "Only points of this one")
        ->type_name("NAME");
    points->add_option("--variant", points_.variant, "Only points of this one")->type_name("NAME");
    points
        ->add_option("--param", points_.params,
                     "Only points with this value of a parameter; may be repeated")
        ->type_name("NAME=VALUE")
        ->check([](const std::string& text) {
          return text.find('=') == std::string::npos ? "'" + text + "' is not NAME=VALUE"
                                                     : std::string();
        });
    points->add_option("--limit", points_.limit, "At most so many")
        ->type_name("N")
        ->transform(whole_number(1, 1'000'000))
        ->capture_default_str();
    points->footer(
        std::string(
            "In the order of the plan. RUNS are the finished ones that have tried it, MEDIAN\n"
            "is over them, WITHIN half of its 95 % interval relative to it. Values of\n"
            "parameters are written as 'campaign export' writes them.\n\n"
            "Exit codes: 0, 2 no such campaign, 4 no server.\n") +
        kServiceOptions);

    CLI::App* export_samples =
        leaf(*campaign, "export", "Write every raw sample as JSON lines", export_);
    export_samples->add_option("campaign", export_.name, "Name, e.g. c3")
        ->required()
        ->type_name("NAME");
    export_samples
        ->add_option("-o,--output", export_.output,
                     "File to write, - for standard output (default)")
        ->type_name("FILE");
    export_samples->footer(
        std::string(
            "One series per line: the point, the run, all values in the metric's unit, and\n"
            "whether it is an orphan (stored, but under an old fence, so never fitted). A file\n"
            "is written completely or not at all.\n\n"
            "Exit codes: 0, 2 no such campaign, 4 no server, or the output cannot be written.\n") +
        kServiceOptions);

    CLI::App* replay =
        leaf(*campaign, "replay", "Measure recorded samples again, to compare strategies", replay_);
    replay
        ->add_option("file", replay_.file,
                     "What 'campaign export' wrote, plain or by zstd; - for standard input")
        ->required()
        ->type_name("FILE");
    replay->add_option("--strategy", replay_.strategy, "Only this one (default: all)")
        ->type_name("NAME")
        ->check(one_of({"race", "halving", "random", "grid"}));
    replay
        ->add_option("--share", replay_.share,
                     "Of the recording's seconds of measuring, what all but grid may take")
        ->type_name("SHARE")
        ->transform(share())
        ->default_str("15%");
    replay
        ->add_option("--prior", replay_.prior,
                     "A recording of another machine: a race begins with what was nearly the "
                     "fastest there")
        ->type_name("FILE");
    replay->add_option("--seed", replay_.seed, "Of chance")
        ->type_name("N")
        ->transform(whole_number_from<uint64_t>(0));
    replay->footer(
        "Needs no server. Which alternatives (algorithms of collective operations, methods and\n"
        "sizes of transfers of many regions, variants of kernels) would have been chosen: race\n"
        "as campaigns that race do, halving gives up the slower half after each run, random\n"
        "measures points by chance, grid all of them. WITHIN 3 % of the best are so many\n"
        "choices; SLOWER BY is the geometric mean of all.\n\n"
        "Exit codes: 0, 2 no such file or no recording.\n");
  }

  void define_model() {
    CLI::App* model = app_.add_subcommand("model", "Look at tuned models and fetch them");
    model->require_subcommand(1);
    model->fallthrough();
    model->footer(
        "Examples:\n"
        "  stripline model list\n"
        "  stripline model fetch tcp\n");

    CLI::App* list = leaf(*model, "list", "List models, or the versions of one", model_list_);
    list->add_option("model", model_list_.model, "List the versions of this model, newest first")
        ->type_name("NAME");
    list->footer(
        std::string("Without NAME each model with its fabric and latest version; with NAME its\n"
                    "versions with their states, labels, campaigns, and what was found of them.\n\n"
                    "Exit codes: 0, 2 no such model, 4 no server, 6 no answer in time.\n") +
        kServiceOptions);

    CLI::App* show =
        leaf(*model, "show", "Show a model's parameters with their intervals", model_show_);
    show->add_option("model", model_show_.source, "A model file, or a name: tcp, tcp@2")
        ->required()
        ->type_name("FILE|NAME");
    show->footer(
        std::string("Intervals are at 95 % over runs. '>=' marks a lower bound. With --json the\n"
                    "model file's content on one line.\n\n"
                    "Exit codes: 0, 2 no such model, 3 malformed file, 4 no server.\n") +
        kServiceOptions);

    CLI::App* fetch = leaf(*model, "fetch", "Fetch a model as a file", fetch_);
    fetch
        ->add_option("model", fetch_.name,
                     "Name, with a version or a label or without: tcp, tcp@2, tcp@stable")
        ->required()
        ->type_name("NAME[@VERSION|@LABEL]");
    fetch
        ->add_option("-o,--output", fetch_.output,
                     "File to write, - for standard output (default: NAME.stripline.json)")
        ->type_name("FILE");
    fetch->footer(
        std::string(
            "The file is checked before it replaces an older one, and never half written. One\n"
            "that is current already is left alone. A file that is no model is not replaced.\n\n"
            "Exit codes: 0 fetched or current, 2 no such model, 3 what came is damaged, 4 no\n"
            "server, 9 the file exists and is something else.\n") +
        kServiceOptions);

    publishing_.define(app_, *model, command_.action);
    feedback_.define(app_, command_.action);
    reports_.define(app_, *model, command_.action);
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
          if constexpr (std::is_same_v<Chosen, CampaignRun>) {
            take_file(action);
            action.model = model_name_;
            resolve(action.model, model_resource);
            action.only_nodes = nodes_;
            for (std::string& node : action.only_nodes) resolve(node, node_resource);
          } else if constexpr (std::is_same_v<Chosen, CampaignWatch> ||
                               std::is_same_v<Chosen, CampaignShow> ||
                               std::is_same_v<Chosen, CampaignCancel> ||
                               std::is_same_v<Chosen, CampaignPoints> ||
                               std::is_same_v<Chosen, CampaignExport>) {
            resolve(action.name, campaign_resource);
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

  // The options of `campaign run` that its file says and the command line does not.
  void take_file(CampaignRun& action) {
    if (!action.file.empty()) {
      const auto settings = read_toml_settings(action.file);
      if (!settings.ok()) {
        failure_ = settings.error();
        return;
      }
      for (const TomlSetting& setting : *settings) {
        if (const Status taken = take(setting); !taken.ok()) {
          failure_ = taken.error();
          return;
        }
      }
      action = run_;
    }
    if (action.fabrics.empty()) {
      failure_ =
          Error(ErrorCode::invalid_argument,
                "--fabric is required, here or in a file; see 'stripline campaign run --help'");
    } else if (action.fabrics.size() > 1 && !model_name_.empty()) {
      failure_ = Error(ErrorCode::invalid_argument,
                       "each fabric has a model of its own; leave --model out, or name one fabric");
    }
  }

  Status take(const TomlSetting& setting) {
    std::vector<std::string> known;
    for (CLI::Option* option : run_app_->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (name == "help") continue;
        if (name == setting.name)
          return option->count() > 0 ? Status() : set_option(*option, setting);
        known.push_back(name);
      }
    }
    return Error(ErrorCode::invalid_argument,
                 setting.place + ": there is no such option" + guess_of_name(setting.name, known));
  }

  CLI::App app_;
  CLI::App* run_app_ = nullptr;
  Command command_;
  std::optional<Error> failure_;
  CampaignRun run_;
  CampaignWatch watch_;
  CampaignList campaign_list_;
  CampaignShow campaign_show_;
  CampaignCancel cancel_;
  CampaignPoints points_;
  CampaignReplay replay_;
  CampaignExport export_;
  ModelList model_list_;
  ModelShow model_show_;
  ModelFetch fetch_;
  PublishingGrammar publishing_;
  FeedbackGrammar feedback_;
  ExplainGrammar explain_;
  NodeGrammar nodes_grammar_;
  ReportGrammar reports_;
  AccessGrammar access_;
  ShowVersion version_;
  std::vector<std::string> nodes_;
  std::string model_name_;
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
  if (word && helpers().contains(arguments[*word])) {
    const std::string& name = arguments[*word];
    if (*word != 0) {
      return usage_error("options of '" + name + "' come after it; see 'stripline " + name +
                         " --help'");
    }
    ExecHelper helper;
    helper.program = "stripline-" + name;
    helper.arguments.assign(arguments.begin() + 1, arguments.end());
    Parsed parsed;
    parsed.command.emplace();
    parsed.command->action = std::move(helper);
    return parsed;
  }
  std::vector<std::string> today = arguments;
  std::ranges::transform(today, today.begin(), todays_name);
  return Grammar().parse(today);
}

}  // namespace stripline::cli
