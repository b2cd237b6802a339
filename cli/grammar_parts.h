// What the grammars of the commands have in common. For the files of this folder.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/command.h"

namespace stripline::cli {

/// The end of every help.
inline constexpr const char* kServiceOptions =
    "\nOptions of every command: --server, --timeout, --json; see 'stripline --help'.\n";

/// Transforms the text of an option into another one, or says why not.
template <typename Function>
CLI::Validator converts(Function convert) {
  return {[convert](std::string& text) {
            const auto value = convert(text);
            if (!value.ok()) return value.error().message();
            text = *value;
            return std::string();
          },
          ""};
}

/// Accepts whole numbers from 1 on. (CLI11's own check quotes the largest double at the user.)
CLI::Validator is_count();

/// "1MiB" as bytes, "500ms" as seconds; for converts().
Result<std::string> bytes_as_text(const std::string& text);
Result<std::string> seconds_as_text(const std::string& text);

/// A command without subcommands. Choosing it makes `action`, whose members are its options, the
/// `result`; both must outlive the parsing.
template <typename Chosen>
CLI::App* leaf_command(CLI::App& parent, const std::string& name, const std::string& description,
                       const Chosen& action, Action& result) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->fallthrough();
  command->callback([&action, &result] { result = action; });
  return command;
}

}  // namespace stripline::cli
