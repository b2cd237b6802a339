#include "cli/explain_grammar.h"

#include <string>

#include "cli/explain_options.h"

namespace stripline::cli {

void ExplainGrammar::define(CLI::App& app, Action& result) {
  CLI::App* explain =
      app.add_subcommand("explain", "Say how a program's communication would run, and why");
  explain->require_subcommand(0, 1);
  explain->fallthrough();
  explain->add_flag("--list", lists_,
                    "Print all kinds of decision, who decides, and what may be forced");
  explain->callback([this, explain, &result] {
    if (lists_) {
      result = ExplainList{};
    } else if (explain->get_subcommands().empty()) {
      throw CLI::RequiredError::Subcommand(1);
    }
  });
  std::string footer =
      "Runs the planners of the runtime with a tuned model, and shows every alternative with its\n"
      "predicted time, the parameters that matter, and the margin. 'stripline run --trace' writes\n"
      "these commands for what a program does.\n\n"
      "Examples:\n"
      "  stripline explain --list\n";
  const auto define_one = [&]<plan::Mechanism M>(Explain<M>& command) {
    explain_command(*explain, command)->callback([&command, &result] { result = command; });
    footer += std::string("  stripline explain ") + M::kWords.command + " tcp.stripline.json " +
              M::kWords.example + "\n";
  };
  std::apply([&](auto&... command) { (define_one(command), ...); }, commands_);
  explain->footer(footer);
}

}  // namespace stripline::cli
