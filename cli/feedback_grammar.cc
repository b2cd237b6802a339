#include "cli/grammar_parts.h"
#include "cli/grammars.h"

namespace stripline::cli {

void define_feedback(CLI::App& app, Action& result) {
  CLI::App* feedback =
      app.add_subcommand("feedback", "What runs report about the models that they used");
  feedback->require_subcommand(1);
  feedback->fallthrough();
  const auto send =
      leaf_command<FeedbackSend>(*feedback, "send", "Hand a report of a run to the server", result);
  add_required(send.command, "file", send->file, "What 'stripline run --report FILE' has written",
               "FILE");
  end_help(send.command,
           "The report names the model by its hash; the server keeps the last 500 of a version.\n"
           "'stripline run --report agent' needs no such command: the node's agent sends it.\n\n"
           "Exit codes: 0, 2 no such file, or no version there has the hash, 3 no report, 4 no\n"
           "server, 6 no answer in time.\n");
  const auto list = leaf_command<FeedbackList>(*feedback, "list",
                                               "What runs have reported, the newest first", result);
  add_required(list.command, "model", list->name,
               "Name, of all versions, or with one: tcp, tcp@2, tcp@stable",
               "NAME[@VERSION|@LABEL]");
  add_value(*list.command, "--limit", list->limit, "Number of most recent reports to print", "N")
      ->transform(count())
      ->capture_default_str();
  end_help(list.command,
           "For each run: the places of the program that took the longest, how often the decision\n"
           "there was carried out, what the model predicted of one execution and what was "
           "measured,\n"
           "what the baseline took where the guard has timed both, and whether the guard has\n"
           "given up the decision for it.\n\n"
           "Exit codes: 0, 2 no such model or version, 4 no server, 6 no answer in time.\n");
}

}  // namespace stripline::cli
