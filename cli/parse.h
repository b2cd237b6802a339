// The command line: its grammar, its help and its mistakes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace stripline::cli {

/// What to do, or what to print and with which code to exit: help goes to standard output with
/// code 0, a mistake to standard error with kExitUsage.
struct Parsed {
  std::optional<Command> command;
  std::string out;
  std::string err;
  int exit_code = 0;
};

/// Reads the arguments after the program's name. Looks at the environment variable
/// STRIPLINE_SERVER.
Parsed parse_command_line(const std::vector<std::string>& arguments);

}  // namespace stripline::cli
