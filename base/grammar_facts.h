// What manuals and completion read of a grammar of CLI11, which answers some of it in one string
// for people. For the sources beside it: manuals, completion, and messages about command lines.
#pragma once

#include <string>
#include <vector>

#include "base/command_line_fwd.h"

namespace stripline {

/// The type of an option's value, taken apart: "B:{core, none}" is B, one of core and none;
/// "HOST:PORT" is all name.
struct ValueType {
  std::string name;                  ///< empty: of a flag, or a list of words alone
  std::vector<std::string> choices;  ///< empty: any value
};
ValueType value_type_of(const CLI::Option& option);

/// True if a value follows as a word of its own. Flags may have one behind '='.
bool takes_value(const CLI::Option& option);

/// The options of the command and, if it falls through, of those above it; without positionals.
std::vector<const CLI::Option*> options_of(const CLI::App& command);

/// The positionals of the command, in order.
std::vector<const CLI::Option*> positionals_of(const CLI::App& command);

/// The commands directly below this one that help shows: those without a group are for programs.
std::vector<const CLI::App*> commands_of(const CLI::App& command);

/// The names of an option with their dashes, long ones first.
std::vector<std::string> names_of(const CLI::Option& option);

}  // namespace stripline
