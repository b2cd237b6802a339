#include "cli/grammar_parts.h"
#include "cli/grammars.h"

namespace stripline::cli {
namespace {

void define_labels(CLI::App& model, Action& result) {
  const auto promote =
      leaf_command<ModelPromote>(model, "promote", "Let a label name a version", result);
  add_required(promote.command, "model", promote->name, "Name and version: tcp@2, or tcp@canary",
               "NAME@VERSION");
  promote.command->add_option("--label", promote->label, "stable or canary")
      ->required()
      ->type_name("LABEL")
      ->check(one_of({"stable", "canary"}));
  add_value(*promote.command, "--node", promote->nodes,
            "Which tries a canary; may be repeated (default: one in ten)", "NAME");
  add_value(*promote.command, "--unjudged", promote->unjudged,
            "Why a version that nothing has judged gets the label; the audit trail has it",
            "REASON");
  end_help(
      promote.command,
      "'model fetch NAME@stable' gets what the label names. A version passes if it is\n"
      "validated, neither withdrawn nor stale, and its decisions do not surely take more than\n"
      "1 % longer than those of the stable one on the same problems; a provisional one may be\n"
      "canary alone. One that was not judged passes with --unjudged REASON, one that failed\n"
      "its validation does not. Else the figures are said. Agents are offered what is stable, "
      "those of some nodes what is canary; a version\n"
      "that a node has rejected, or that a canary's node has not answered to, does not become\n"
      "stable: 'stripline rollout status'.\n\n"
      "Exit codes: 0, 2 no such version, 4 no server, 6 no answer in time, 9 it does not "
      "pass.\n\n"
      "Examples:\n"
      "  stripline model promote tcp@3 --label canary\n"
      "  stripline model promote tcp@canary --label stable\n");

  const auto rollback = leaf_command<ModelRollback>(
      model, "rollback", "Let a label name the version of before again", result);
  add_required(rollback.command, "model", rollback->name, "Name of the model: tcp", "NAME");
  add_value(*rollback.command, "--label", rollback->label, "stable or canary", "LABEL")
      ->check(one_of({"stable", "canary"}))
      ->capture_default_str();
  end_help(rollback.command,
           "Versions that were withdrawn or are stale are passed over.\n\n"
           "Exit codes: 0, 2 no such model, 4 no server, 6 no answer in time, 9 there is no\n"
           "version to go back to.\n");
}

}  // namespace

void define_publishing(CLI::App& app, CLI::App& model, Action& result) {
  const auto validate = leaf_command<ModelValidate>(
      model, "validate", "Judge a version by campaigns that it was not fitted to", result);
  add_required(validate.command, "model", validate->name,
               "Name, with a version or a label: tcp@2, tcp@canary", "NAME[@VERSION|@LABEL]");
  add_value(*validate.command, "--campaign", validate->campaigns,
            "Whose points judge it; may be repeated (default: show what is known)", "NAME");
  end_help(validate.command,
           "For blocking gets and puts the times that it predicts are compared with what was\n"
           "measured (error); for transfers of many regions and collective operations the time of\n"
           "the method that it chooses, with that of the fastest measured one (regret). A version\n"
           "is VALIDATED if the mean error is at most 20 % and the mean regret at most 10 %. Every "
           "fit\n"
           "is judged so already, on a quarter of its own points, which a second fit leaves out.\n"
           "Without --campaign: the state of the version, the last validation, and what the fit\n"
           "found.\n\n"
           "Exit codes: 0 also where it did not do well, 2 no such version or campaign, 4 no "
           "server,\n"
           "6 no answer in time.\n\n"
           "Examples:\n"
           "  stripline model validate tcp@3\n"
           "  stripline model validate tcp@3 --campaign c8\n");
  const auto check = leaf_command<ModelCheck>(
      model, "check", "See whether the network is still as a version says", result);
  add_required(check.command, "model", check->name,
               "Name, with a version or a label: tcp@2, tcp@stable", "NAME[@VERSION|@LABEL]");
  add_value(*check.command, "--campaign", check->campaign,
            "Compare what this one measured (default: measure now)", "NAME");
  check.command->add_flag("--rollback", check->rollback,
                          "If the version is stale and stable, the label goes back, or ends");
  end_help(
      check.command,
      "Sentinels, blocking gets and puts, are measured when nodes are free, in two runs, and\n"
      "compared with the version's intervals. Where most lie more than 10 % outside twice in "
      "a\n"
      "row, the version is marked STALE. The server does so by itself for what is stable, by "
      "its\n"
      "setting --sentinel-interval, and validates stable settings of other runtimes again.\n\n"
      "Exit codes: 0 also where it is stale, 2 no such version or campaign, 4 no server or no\n"
      "nodes, 6 no answer in time.\n");
  define_labels(model, result);

  CLI::App* rollout = app.add_subcommand("rollout", "Which nodes have which models");
  rollout->require_subcommand(1);
  rollout->fallthrough();
  const auto status = leaf_command<RolloutStatus>(
      *rollout, "status", "What nodes are to have, and have answered", result);
  add_value(*status.command, "model", status->model, "Only versions of this model", "NAME");
  end_help(status.command,
           "A line for each node and network: the version, the label by which the node is to\n"
           "have it, and APPLIED, REJECTED with the reason, or PENDING. With --json the nodes\n"
           "as 'stripline nodes' gives them.\n\n"
           "Exit codes: 0, 4 no server, 6 no answer in time.\n");

  const auto publish =
      leaf_command<ModelImport>(model, "import", "Publish a model file as a new version", result);
  add_required(publish.command, "file", publish->file, "The model file", "FILE");
  add_value(*publish.command, "--model", publish->model,
            "The model to publish (default: as the file says)", "NAME");
  end_help(publish.command,
           "Nothing has validated the new version: 'model validate' does.\n\n"
           "Exit codes: 0, 2 no such file, 3 malformed file, 4 no server, 6 no answer in time,\n"
           "9 the model describes another fabric.\n");

  const auto withdraw = leaf_command<ModelWithdraw>(
      model, "withdraw", "Say that a version is not to be used any more", result,
      ModelWithdraw{"", "withdrawn on request"});
  add_required(withdraw.command, "model", withdraw->name, "Name and version: tcp@2",
               "NAME@VERSION");
  add_value(*withdraw.command, "--reason", withdraw->reason, "Why, for those who have it already",
            "TEXT")
      ->capture_default_str();
  end_help(withdraw.command,
           "'model fetch NAME' then takes the newest version that is not withdrawn. The version\n"
           "itself stays: it is listed with the reason, and 'model fetch NAME@VERSION' gets it.\n"
           "A label that names it does so until 'model rollback'. Files that were fetched before\n"
           "are not changed; nodes to which it was pushed drop it.\n\n"
           "Exit codes: 0, 2 no such version, 4 no server, 6 no answer in time.\n");
}

}  // namespace stripline::cli
