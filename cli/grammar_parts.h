// What the grammars of the commands have in common. For the files of this folder.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/command_line.h"
#include "cli/command.h"

namespace stripline::cli {

/// The end of every help.
inline constexpr const char* kServiceOptions =
    "\nOptions of every command: --server, --timeout, --json; see 'stripline --help'.\n";

/// Ends the help of a command that calls a server.
inline void end_help(CLI::App* command, const std::string& text) {
  command->footer(text + kServiceOptions);
}

/// For Option::transform(): numbers from 0 and from 1 on that uint32_t holds.
inline CLI::Validator amount() { return whole_number_from<uint32_t>(0); }
inline CLI::Validator count() { return whole_number_from<uint32_t>(1); }

/// A command without subcommands, and what its options set, which lives as long as it.
template <typename Chosen>
struct Leaf {
  CLI::App* command;
  Chosen* chosen;
  Chosen* operator->() const { return chosen; }
};

/// Adds one with these defaults. Choosing it makes what its options have set the `result`, which
/// must outlive the parsing.
template <typename Chosen>
Leaf<Chosen> leaf_command(CLI::App& parent, const std::string& name, const std::string& description,
                          Action& result, Chosen defaults = {}) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->fallthrough();
  const auto chosen = std::make_shared<Chosen>(std::move(defaults));
  command->callback([chosen, &result] { result = *chosen; });
  return {command, chosen.get()};
}

/// The same for an `action` of the caller's, which must outlive the parsing, too.
template <typename Chosen>
CLI::App* leaf_command(CLI::App& parent, const std::string& name, const std::string& description,
                       const Chosen& action, Action& result) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->fallthrough();
  command->callback([&action, &result] { result = action; });
  return command;
}

}  // namespace stripline::cli
