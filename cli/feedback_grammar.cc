#include "cli/feedback_grammar.h"

#include "cli/grammar_parts.h"

namespace stripline::cli {

void FeedbackGrammar::define(CLI::App& app, Action& result) {
  CLI::App* feedback = app.add_subcommand("feedback", "What runs report about the models that they used");
  feedback->require_subcommand(1);
  feedback->fallthrough();
  CLI::App* send =
      leaf_command(*feedback, "send", "Hand a report of a run to the server", send_, result);
  add_required(send, "file", send_.file, "What 'stripline run --report FILE' has written", "FILE");
  end_help(send,
           "The report names the model by its hash; the server keeps the last 500 of a version.\n"
           "'stripline run --report agent' needs no such command: the node's agent sends it.\n\n"
           "Exit codes: 0, 2 no such file, or no version there has the hash, 3 no report, 4 no\n"
           "server, 6 no answer in time.\n");
  CLI::App* list =
      leaf_command(*feedback, "list", "What runs have reported, the newest first", list_, result);
  add_required(list, "model", list_.name,
               "Name, of all versions, or with one: tcp, tcp@2, tcp@stable",
               "NAME[@VERSION|@LABEL]");
  list->add_option("--limit", list_.limit, "Number of most recent reports to print")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  end_help(list,
           "For each run: the places of the program that took the longest, how often the decision\n"
           "there was carried out, what the model predicted of one execution and what was "
           "measured,\n"
           "what the baseline took where the guard has timed both, and whether the guard has\n"
           "given up the decision for it.\n\n"
           "Exit codes: 0, 2 no such model or version, 4 no server, 6 no answer in time.\n");
}

}  // namespace stripline::cli
