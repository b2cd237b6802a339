#include "cli/campaign_grammar.h"

#include <filesystem>
#include <functional>
#include <variant>
#include <vector>

#include "base/toml_settings.h"
#include "cli/grammar_parts.h"
#include "cli/names.h"
#include "optimizer/experiment/tuning.h"

namespace stripline::cli {
namespace {

void take_name(CLI::App& command, std::string& name) {
  add_required(&command, "campaign", name, "Name, e.g. c3", "NAME");
}

// The option of a member of what a campaign is asked for, by the member's type.
class FieldOption {
 public:
  FieldOption(CLI::App& command, CampaignRun& run, const campaign::SpecField& field)
      : command_(command), run_(run), field_(field) {}

  void operator()(bool campaign::Spec::*member) {
    command_.add_flag(field_.option, run_.*member, field_.help);
  }
  void operator()(std::string campaign::Spec::*member) {
    // A campaign of each.
    if (member == &campaign::Spec::fabric) return words(add(run_.fabrics)->allow_extra_args(false));
    words(add(run_.*member));
  }
  void operator()(std::vector<std::string> campaign::Spec::*member) {
    words(add(run_.*member)->allow_extra_args(false));
  }
  void operator()(uint32_t campaign::Spec::*member) { add(run_.*member)->transform(count()); }
  void operator()(uint64_t campaign::Spec::*member) {
    add(run_.*member)->transform(whole_number_from<uint64_t>(0));
  }
  void operator()(double campaign::Spec::*member) {
    const bool is_time = field_.quantity == campaign::Quantity::seconds;
    add(run_.*member)->transform(is_time ? time_within(kTimeLimits) : share());
  }
  void operator()(campaign::Effort campaign::Spec::*member) {
    run_.*member = campaign::Effort::budgeted;
    words(add_word([&run = run_, member](const std::string& text) {
            run.*member = text == "full" ? campaign::Effort::full : campaign::Effort::budgeted;
          })->default_str("budgeted"));
  }
  void operator()(campaign::WhenBusy campaign::Spec::*member) {
    words(add_word([&run = run_, member](const std::string& text) {
      run.*member = campaign::when_busy_from_string(text).value_or(campaign::WhenBusy::wait);
    }));
  }

 private:
  template <typename Value>
  CLI::Option* add(Value& value) {
    return add_value(command_, field_.option, value, field_.help, field_.value);
  }
  CLI::Option* add_word(const std::function<void(const std::string&)>& take) {
    return command_.add_option_function<std::string>(field_.option, take, field_.help)
        ->type_name(field_.value);
  }
  void words(CLI::Option* option) {
    if (!field_.choices.empty()) option->check(one_of(field_.choices));
  }

  CLI::App& command_;
  CampaignRun& run_;
  const campaign::SpecField& field_;
};

// What a campaign measures, for how long, and what becomes of it.
void define_request(CLI::App& command, CampaignRun& run) {
  add_value(command, "file", run.file,
            "TOML file with what options leave open; keys are their names without dashes", "FILE");
  for (const campaign::SpecField& field : campaign::spec_fields()) {
    std::visit(FieldOption(command, run, field), field.member);
  }
  command
      .add_option_function<std::string>(
          "--target",
          [&run](const std::string& target) {
            run.fabrics.push_back(experiment::tuning_fabric(target));
          },
          "Tune another runtime, e.g. openmpi, on a node whose agent allows it, in place of a "
          "fabric")
      ->type_name("TARGET");
}

// The options that the file says and the command line does not.
Status take(CLI::App& command, const TomlSetting& setting) {
  std::vector<std::string> known;
  for (CLI::Option* option : command.get_options()) {
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

// `bound` is what the command's options write to.
Status complete_request(CLI::App& command, const CampaignRun& bound, CampaignRun& request) {
  if (!bound.file.empty()) {
    const auto settings = read_toml_settings(bound.file);
    if (!settings.ok()) {
      // A network without its option is taken for a file.
      const char* const hint = bound.fabrics.empty() ? "; a network is named by --fabric" : "";
      return Error(settings.error().code(), settings.error().message() + hint);
    }
    for (const TomlSetting& setting : *settings) {
      STRIPLINE_RETURN_IF_ERROR(take(command, setting));
    }
    request = bound;
  }
  if (request.fabrics.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "--fabric or --target is required, here or in a file; see 'stripline campaign " +
                     command.get_name() + " --help'");
  }
  if (request.fabrics.size() > 1 && !request.model.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "each fabric has a model of its own; leave --model out, or name one fabric");
  }
  return {};
}

}  // namespace

CampaignRun& request_of(CampaignRun& run) { return run; }
CampaignRun& request_of(CampaignEstimate& estimate) { return estimate.request; }
CampaignRun& request_of(CampaignExportPlan& plan) { return plan.request; }

Status CampaignGrammar::complete(CampaignRun& run) {
  return complete_request(*run_command_, run_, run);
}

Status CampaignGrammar::complete(CampaignEstimate& estimate) {
  return complete_request(*estimate_command_, estimate_.request, estimate.request);
}

// A file of this name comes first.
Status CampaignGrammar::complete(CampaignExportPlan& plan) {
  const std::string& written = plan.request.file;
  const auto name = campaign_resource(written);
  if (!written.empty() && name.ok() && !std::filesystem::exists(written)) {
    plan.name = *name;
    return {};
  }
  STRIPLINE_RETURN_IF_ERROR(
      complete_request(*export_plan_command_, export_plan_.request, plan.request));
  if (plan.request.fabrics.size() == 1) return {};
  return Error(ErrorCode::invalid_argument, "a plan is of one fabric; write one for each");
}

void CampaignGrammar::define(CLI::App& app, Action& result) {
  CLI::App* campaign = app.add_subcommand("campaign", "Measure a fabric and publish its model");
  campaign->require_subcommand(1);
  campaign->fallthrough();
  campaign->footer(
      "A campaign measures a fabric on a group of nodes in several runs of fresh processes, fits "
      "a\n"
      "model and publishes it as a new version.\n\n"
      "Example:\n"
      "  stripline campaign run --fabric tcp --effort full\n");
  define_requests(*campaign, result);
  define_views(*campaign, result);
  define_comparison(*campaign, result);
  define_changes(*campaign, result);
  define_samples(*campaign, result);
  define_offline(*campaign, result);
}

void CampaignGrammar::define_requests(CLI::App& campaign, Action& result) {
  CLI::App* run = leaf_command(campaign, "run", "Start a campaign and watch it", run_, result);
  run_command_ = run;
  define_request(*run, run_);
  run->add_flag("--detach", run_.detach, "Return once it is queued");
  run->add_flag("--validate-only", run_.validate_only, "Check the request; start nothing");
  end_help(run,
           "Shows its progress until the model is published. Ctrl-C stops watching, not the\n"
           "campaign: 'campaign watch' continues, 'campaign cancel' ends it.\n\n"
           "Exit codes: 0 done, 1 failed, 2 wrong request, 4 no server or not enough nodes,\n"
           "6 server gone for longer than --timeout, 7 cancelled, or Ctrl-C.\n\n"
           "Examples:\n"
           "  stripline campaign run --fabric tcp\n"
           "  stripline campaign run --fabric emulated:opteron-vapi --effort full --model "
           "opteron\n"
           "  stripline campaign run --fabric tcp --experiment micro.latency --detach\n"
           "  stripline campaign run --target openmpi --tune-ranks 2,4,8\n"
           "  stripline campaign run weekly.toml\n");

  CLI::App* estimate = leaf_command(
      campaign, "estimate", "Say what a campaign would take; start nothing", estimate_, result);
  estimate_command_ = estimate;
  define_request(*estimate, estimate_.request);
  end_help(estimate,
           "How many points and runs, seconds and node-seconds it would take, within what its\n"
           "medians would be known, and what speaks against it: by the pace and the width of the\n"
           "last campaign like it, or, where there is none, by what the plan allows. Takes the\n"
           "options and files of 'campaign run'.\n\n"
           "Exit codes: 0, 2 wrong request, 4 no server or not enough nodes.\n\n"
           "Examples:\n"
           "  stripline campaign estimate --fabric tcp --effort full\n"
           "  stripline campaign estimate weekly.toml\n");
}

void CampaignGrammar::define_views(CLI::App& campaign, Action& result) {
  const auto watch =
      leaf_command<CampaignWatch>(campaign, "watch", "Follow a campaign until it ends", result);
  add_required(watch.command, "campaign", watch->name, "Name, e.g. c3", "NAME");
  end_help(watch.command,
           "Starts with what has happened so far, and continues where it was when the server\n"
           "restarts. Ctrl-C stops the watching, not the campaign.\n\n"
           "Exit codes: 0 done, 1 failed, 2 no such campaign, 4 no server, 6 server gone\n"
           "for longer than --timeout, 7 cancelled, or Ctrl-C.\n");

  const auto list =
      leaf_command<CampaignList>(campaign, "list", "List campaigns, newest first", result);
  add_value(*list.command, "--limit", list->limit, "Maximum number of entries to print", "N")
      ->transform(count())
      ->capture_default_str();
  end_help(list.command,
           "DONE is the share of the measuring that is done, MODEL the version published.\n"
           "States: QUEUED (waits for nodes), RUNNING, PAUSED, DRAINING (is cancelled\n"
           "after its running run), FITTING, SUCCEEDED, FAILED, CANCELLED.\n\n"
           "Exit codes: 0, 4 no server, 6 no answer in time.\n");

  const auto show = leaf_command<CampaignShow>(campaign, "show", "Show one campaign", result);
  add_required(show.command, "campaign", show->name, "Name, e.g. c3", "NAME");
  end_help(show.command,
           "State, what it waits for or why it failed, what it measures and how far it\n"
           "is, and the model it publishes.\n\n"
           "Exit codes: 0, 2 no such campaign, 4 no server, 6 no answer in time.\n");

  const auto points =
      leaf_command<CampaignPoints>(campaign, "points", "List what a campaign measures", result);
  add_required(points.command, "campaign", points->name, "Name, e.g. c3", "NAME");
  add_value(*points.command, "--experiment", points->experiment, "Only points of this one", "NAME");
  add_value(*points.command, "--variant", points->variant, "Only points of this one", "NAME");
  add_value(*points.command, "--param", points->params,
            "Only points with this value of a parameter; may be repeated", "NAME=VALUE")
      ->check([](const std::string& text) {
        return text.find('=') == std::string::npos ? "'" + text + "' is not NAME=VALUE"
                                                   : std::string();
      });
  add_value(*points.command, "--limit", points->limit, "Maximum number of entries to print", "N")
      ->transform(whole_number(1, 1'000'000))
      ->capture_default_str();
  end_help(points.command,
           "In the order of the plan. RUNS are the finished ones that have tried it, MEDIAN\n"
           "is over them, WITHIN half of its 95 % interval relative to it. Values of\n"
           "parameters are written as 'campaign export' writes them.\n\n"
           "Exit codes: 0, 2 no such campaign, 4 no server.\n");
}

void CampaignGrammar::define_comparison(CLI::App& campaign, Action& result) {
  const auto compare = leaf_command<CampaignCompare>(
      campaign, "compare", "Say where one was faster than another", result);
  add_required(compare.command, "baseline", compare->baseline, "Name, e.g. c3", "A");
  add_required(compare.command, "candidate", compare->candidate, "What is compared with it", "B");
  add_value(*compare.command, "--margin", compare->margin,
            "Times are equivalent that surely differ by no more (default: 5%)", "SHARE")
      ->transform(share());
  add_value(*compare.command, "--false-discoveries", compare->false_discoveries,
            "Share of the points called FASTER or SLOWER that may be so by chance "
            "(default: 5%)",
            "SHARE")
      ->transform(share());
  compare.command->add_flag("--all", compare->all, "List also the points that do not differ");
  end_help(compare.command,
           "Says of each point whether B is FASTER or SLOWER than A, EQUIVALENT, INCONCLUSIVE, or\n"
           "INCOMPARABLE, where one does not have it or measures something else by its name\n"
           "(ranks, clock, version of the experiment). B/A is the ratio of their times with its\n"
           "95 % interval, over runs.\n"
           "With --json a line for each point.\n\n"
           "Exit codes: 0, 2 no such campaign, 4 no server.\n\n"
           "Example:\n"
           "  stripline campaign compare c3 c4\n");
}

void CampaignGrammar::define_changes(CLI::App& campaign, Action& result) {
  constexpr const char* kRole =
      "Needs the role operator, or\npublisher for the campaign of another user.\n\n";
  const auto cancel =
      leaf_command<CampaignCancel>(campaign, "cancel", "Stop a campaign; its samples stay", result);
  take_name(*cancel.command, cancel->name);
  cancel.command->add_flag("--drain", cancel->drain, "Let the active run end first");
  cancel.command->footer(
      std::string("No model is made of it; 'campaign retry' takes it up again. ") + kRole +
      "Exit codes: 0 cancelled (also when it was already), 2 no such campaign, 9 it has "
      "ended.\n" +
      kServiceOptions);

  const auto pause =
      leaf_command<CampaignPause>(campaign, "pause", "Start no run until it is resumed", result);
  take_name(*pause.command, pause->name);
  pause.command->footer(std::string("The active run goes on to its end, and other campaigns get "
                                    "the nodes. Also\nacross restarts of the server. ") +
                        kRole +
                        "Exit codes: 0 (also when it is paused), 2 no such campaign, 9 it has " +
                        "ended.\n" + kServiceOptions);

  const auto resume =
      leaf_command<CampaignResume>(campaign, "resume", "Go on with a paused campaign", result);
  take_name(*resume.command, resume->name);
  resume.command->footer(
      std::string(kRole) +
      "Exit codes: 0 (also when it is not paused), 2 no such campaign, 9 it has " + "ended.\n" +
      kServiceOptions);

  const auto retry = leaf_command<CampaignRetry>(
      campaign, "retry", "Go on with one that failed or was cancelled", result);
  take_name(*retry.command, retry->name);
  for (const campaign::SpecField& field : campaign::spec_fields()) {
    if (field.retry_help == nullptr) continue;
    double& budget = retry->budgets.*std::get<double campaign::Spec::*>(field.member);
    add_value(*retry.command, field.option, budget, field.retry_help, field.value)
        ->transform(time_within(kTimeLimits));
  }
  retry.command->add_flag("--detach", retry->detach, "Return once it is queued");
  retry.command->footer(
      std::string("Runs that have finished count; the others are made again, and the model is\n"
                  "fitted again. Shows its progress as 'campaign run' does. ") +
      kRole +
      "Exit codes: those of 'campaign run', and 9 where it has not ended or succeeded, or its\n"
      "budget is used up.\n" +
      kServiceOptions);

  const auto remove = leaf_command<CampaignDelete>(campaign, "delete",
                                                   "Forget a campaign with its samples", result);
  take_name(*remove.command, remove->name);
  remove.command->footer(
      std::string("For good: 'campaign export' writes them first. Not while it goes on, and not "
                  "one to\nwhich a version of a model was fitted. ") +
      kRole + "Exit codes: 0, 2 no such campaign, 9 it goes on or is needed.\n" + kServiceOptions);
}

void CampaignGrammar::define_samples(CLI::App& campaign, Action& result) {
  const auto export_samples = leaf_command<CampaignExport>(
      campaign, "export", "Write every raw sample as JSON lines", result);
  add_required(export_samples.command, "campaign", export_samples->name, "Name, e.g. c3", "NAME");
  add_value(*export_samples.command, "-o,--output", export_samples->output,
            "File to write, - for standard output (default)", "FILE");
  end_help(export_samples.command,
           "One series per line: the point, the run, all values in the metric's unit, and\n"
           "whether it is an orphan (stored, but under an old fence, so never fitted). A file\n"
           "is written completely or not at all.\n\n"
           "Exit codes: 0, 2 no such campaign, 4 no server, or the output cannot be written.\n");

  const auto replay = leaf_command<CampaignReplay>(
      campaign, "replay", "Measure recorded samples again, to compare strategies", result);
  add_required(replay.command, "file", replay->file,
               "What 'campaign export' wrote, plain or by zstd; - for standard input", "FILE");
  add_value(*replay.command, "--strategy", replay->strategy, "Only this one (default: all)", "NAME")
      ->check(one_of({"race", "straddle", "halving", "random", "grid"}));
  add_value(*replay.command, "--share", replay->share,
            "Share of the recording's seconds of measuring that all but grid may take", "SHARE")
      ->transform(share())
      ->default_str("15%");
  add_value(*replay.command, "--prior", replay->prior,
            "A recording of another machine: a race begins with what was nearly the fastest "
            "there",
            "FILE");
  add_value(*replay.command, "--seed", replay->seed, "Random seed", "N")
      ->transform(whole_number_from<uint64_t>(0));
  replay.command->footer(
      "Needs no server. Which alternatives (algorithms of collective operations, methods and\n"
      "sizes of transfers of many regions, variants of kernels) would have been chosen: race\n"
      "measures all and drops what is slower, straddle begins with every other size and goes\n"
      "on where a Gaussian process is not certain, halving gives up the slower half after each "
      "run, random\n"
      "measures points by chance, grid all of them. WITHIN 3 % of the best is the number\n"
      "of such choices; SLOWER BY is the geometric mean of all.\n\n"
      "Exit codes: 0, 2 no such file or no recording.\n");
}

void CampaignGrammar::define_offline(CLI::App& campaign, Action& result) {
  CLI::App* plan =
      leaf_command(campaign, "export-plan", "Write a plan that is measured without a server",
                   export_plan_, result);
  export_plan_command_ = plan;
  define_request(*plan, export_plan_.request);
  plan->get_option("file")->description(
      "A campaign's name, whose plan it is, or a TOML file as of 'campaign run'");
  plan->add_option("-o,--output", export_plan_.output, "File to write, - for standard output")
      ->required()
      ->type_name("FILE");
  add_value(*plan, "--description", export_plan_.description,
            "What 'stripline-worker --describe' prints on a node that will measure, where "
            "no such node is connected",
            "FILE");
  end_help(
      plan,
      "For nodes that reach no server, under sbatch, say: the plan is measured there, and\n"
      "what it has brought is imported. Takes the options of 'campaign run', or the plan of a\n"
      "campaign that there is.\n\n"
      "Exit codes: 0, 2 wrong request, 4 no server, not enough nodes, or the file cannot be\n"
      "written.\n\n"
      "Examples:\n"
      "  stripline campaign export-plan weekly.toml -o plan.json\n"
      "  stripline campaign run-plan plan.json -o results.jsonl   # on the nodes\n"
      "  stripline campaign import results.jsonl\n");

  // Carried out by stripline-bench, with the arguments as they are (parse.cc), unless options of
  // this program stand before its name.
  campaign.add_subcommand("run-plan", "Measure such a plan, without a server")->callback([&result] {
    result = ExecHelper{"stripline-bench", {"run-plan"}};
  });

  const auto take = leaf_command<CampaignImport>(
      campaign, "import", "Make a campaign of what 'run-plan' wrote", result);
  add_required(take.command, "file", take->file, "What 'campaign run-plan' wrote, plain or by zstd",
               "FILE");
  take.command->add_flag("--detach", take->detach, "Return once its model is being fitted");
  end_help(take.command,
           "The campaign has its samples as if agents had sent them, and its model is the "
           "same. A file\nthat was imported before is the same campaign. Needs the role "
           "publisher.\n\nExit codes: those of 'campaign run', and 3 where the file is "
           "damaged or was changed.\n");
}

}  // namespace stripline::cli
