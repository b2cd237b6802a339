// What manuals and completion read of a grammar of CLI11, which answers some of it in one string
// for people. For base/man_page.cc and base/bash_completion.cc.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace stripline {

/// The type of an option's value, taken apart: "B:{core, none}" is B, one of core and none.
struct ValueType {
  std::string name;                  ///< empty: of a flag, or a list of words alone
  std::vector<std::string> choices;  ///< empty: any value
};
ValueType value_type_of(const CLI::Option& option);

/// True if a value follows as a word of its own. Flags may have one behind '='.
bool takes_value(const CLI::Option& option);

/// Those of the command and, if it falls through, of the commands above it: without positionals.
std::vector<const CLI::Option*> options_of(const CLI::App& command);

std::vector<const CLI::Option*> positionals_of(const CLI::App& command);

std::vector<const CLI::App*> commands_of(const CLI::App& command);

/// With dashes, long names first.
std::vector<std::string> names_of(const CLI::Option& option);

}  // namespace stripline
