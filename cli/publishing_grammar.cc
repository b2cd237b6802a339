#include "cli/publishing_grammar.h"

#include "cli/grammar_parts.h"

namespace stripline::cli {

void PublishingGrammar::define(CLI::App& app, CLI::App& model, Action& result) {
  CLI::App* validate =
      leaf_command(model, "validate", "Judge a version by campaigns that it was not fitted to",
                   validate_, result);
  add_required(validate, "model", validate_.name,
               "Name, with a version or a label: tcp@2, tcp@canary", "NAME[@VERSION|@LABEL]");
  validate
      ->add_option("--campaign", validate_.campaigns,
                   "Whose points judge it; may be repeated (default: show what is known)")
      ->type_name("NAME");
  end_help(validate,
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
  CLI::App* check = leaf_command(
      model, "check", "See whether the network is still as a version says", check_, result);
  add_required(check, "model", check_.name, "Name, with a version or a label: tcp@2, tcp@stable",
               "NAME[@VERSION|@LABEL]");
  check
      ->add_option("--campaign", check_.campaign,
                   "Compare what this one measured (default: measure now)")
      ->type_name("NAME");
  check->add_flag("--rollback", check_.rollback,
                  "If the version is stale and stable, the label goes back, or ends");
  end_help(
      check,
      "Sentinels, blocking gets and puts, are measured when nodes are free, in two runs, and\n"
      "compared with the version's intervals. Where most lie more than 10 % outside twice in "
      "a\n"
      "row, the version is marked STALE. The server does so by itself for what is stable, by "
      "its\n"
      "setting --sentinel-interval.\n\n"
      "Exit codes: 0 also where it is stale, 2 no such version or campaign, 4 no server or no\n"
      "nodes, 6 no answer in time.\n");
  define_labels(model, result);

  CLI::App* rollout = app.add_subcommand("rollout", "Which nodes have which models");
  rollout->require_subcommand(1);
  rollout->fallthrough();
  CLI::App* status = leaf_command(*rollout, "status", "What nodes are to have, and have answered",
                                  rollout_, result);
  status->add_option("model", rollout_.model, "Only versions of this model")->type_name("NAME");
  end_help(status,
           "A line for each node and network: the version, the label by which the node is to\n"
           "have it, and APPLIED, REJECTED with the reason, or PENDING. With --json the nodes\n"
           "as 'stripline nodes' gives them.\n\n"
           "Exit codes: 0, 4 no server, 6 no answer in time.\n");

  CLI::App* import =
      leaf_command(model, "import", "Publish a model file as a new version", import_, result);
  add_required(import, "file", import_.file, "The model file", "FILE");
  import->add_option("--model", import_.model, "The model to publish (default: as the file says)")
      ->type_name("NAME");
  end_help(import,
           "Nothing has validated the new version: 'model validate' does.\n\n"
           "Exit codes: 0, 2 no such file, 3 malformed file, 4 no server, 6 no answer in time,\n"
           "9 the model describes another fabric.\n");

  CLI::App* withdraw = leaf_command(
      model, "withdraw", "Say that a version is not to be used any more", withdraw_, result);
  add_required(withdraw, "model", withdraw_.name, "Name and version: tcp@2", "NAME@VERSION");
  withdraw->add_option("--reason", withdraw_.reason, "Why, for those who have it already")
      ->type_name("TEXT")
      ->capture_default_str();
  end_help(withdraw,
           "'model fetch NAME' then takes the newest version that is not withdrawn. The version\n"
           "itself stays: it is listed with the reason, and 'model fetch NAME@VERSION' gets it.\n"
           "A label that names it does so until 'model rollback'. Files that were fetched before\n"
           "are not changed; nodes to which it was pushed drop it.\n\n"
           "Exit codes: 0, 2 no such version, 4 no server, 6 no answer in time.\n");
}

void PublishingGrammar::define_labels(CLI::App& model, Action& result) {
  CLI::App* promote =
      leaf_command(model, "promote", "Let a label name a version", promote_, result);
  add_required(promote, "model", promote_.name, "Name and version: tcp@2, or tcp@canary",
               "NAME@VERSION");
  promote->add_option("--label", promote_.label, "stable or canary")
      ->required()
      ->type_name("LABEL")
      ->check(one_of({"stable", "canary"}));
  promote
      ->add_option("--node", promote_.nodes,
                   "Which tries a canary; may be repeated (default: one in ten)")
      ->type_name("NAME");
  promote
      ->add_option("--unjudged", promote_.unjudged,
                   "Why a version that nothing has judged gets the label; the audit trail has it")
      ->type_name("REASON");
  end_help(
      promote,
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

  CLI::App* rollback = leaf_command(
      model, "rollback", "Let a label name the version of before again", rollback_, result);
  add_required(rollback, "model", rollback_.name, "Name of the model: tcp", "NAME");
  rollback->add_option("--label", rollback_.label, "stable or canary")
      ->type_name("LABEL")
      ->check(one_of({"stable", "canary"}))
      ->capture_default_str();
  end_help(rollback,
           "Versions that were withdrawn or are stale are passed over.\n\n"
           "Exit codes: 0, 2 no such model, 4 no server, 6 no answer in time, 9 there is no\n"
           "version to go back to.\n");
}

}  // namespace stripline::cli
