#include "cli/grammar_parts.h"
#include "cli/grammars.h"

namespace stripline::cli {

void define_operations(CLI::App& app, CLI::App& model, Action& result) {
  const auto fit =
      leaf_command<ModelFit>(model, "fit", "Fit a version to what campaigns have measured", result);
  add_required(fit.command, "model", fit->model, "The model to publish, e.g. tcp", "NAME");
  fit.command->add_option("--campaign", fit->campaigns, "A campaign to fit; may be repeated")
      ->required()
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_value(*fit.command, "--without", fit->without,
            "A run that is left out, e.g. c3/2 for run 2 of c3; may be repeated", "RUN")
      ->allow_extra_args(false);
  fit.command->add_flag("--detach", fit->detach, "Return once it is stored");
  end_help(
      fit.command,
      "Takes one campaign or several that have ended and measured the same fabric; their runs\n"
      "count together. It is an operation: Ctrl-C ends the waiting, a restart of the server\n"
      "does not end it, and 'operation show' tells what became of it. Needs the role\n"
      "publisher.\n\n"
      "Exit codes: 0 published, 1 nothing could be fitted, 2 no such campaign or run, 4 no\n"
      "server, 7 Ctrl-C, or it was cancelled, 9 a campaign has not ended, or the model is "
      "another fabric's.\n\n"
      "Example:\n"
      "  stripline model fit tcp --campaign c3 --campaign c7 --without c7/2\n");

  CLI::App* operation = app.add_subcommand("operation", "What takes longer than a command");
  operation->require_subcommand(1);
  operation->fallthrough();
  const auto list =
      leaf_command<OperationList>(*operation, "list", "List operations, newest first", result);
  add_value(*list.command, "--limit", list->limit, "Maximum number of entries to print", "N")
      ->transform(count())
      ->capture_default_str();
  end_help(list.command,
           "The server keeps the last 1,000.\n\n"
           "Exit codes: 0, 4 no server, 6 no answer in time.\n");
  const auto show = leaf_command<OperationShow>(
      *operation, "show", "Show how far one is, or what became of it", result);
  add_required(show.command, "operation", show->name, "Name, e.g. o3", "NAME");
  show.command->add_flag("--wait", show->wait, "Until it has ended");
  end_help(show.command,
           "What has succeeded is shown with what its fit found, a line each.\n\n"
           "Exit codes: 0, 1 it failed, 2 no such operation, 4 no server, 7 it was cancelled.\n");
  const auto cancel =
      leaf_command<OperationCancel>(*operation, "cancel", "End one that has not ended", result);
  add_required(cancel.command, "operation", cancel->name, "Name, e.g. o3", "NAME");
  end_help(cancel.command,
           "Nothing comes of it. Needs the role publisher.\n\n"
           "Exit codes: 0, 2 no such operation, 4 no server, 9 it has ended otherwise.\n");
}

}  // namespace stripline::cli
