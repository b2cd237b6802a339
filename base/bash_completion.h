// Completion of a program's command line in bash, written from its grammar: commands, options, and
// the values that an option names.
#pragma once

#include <string>

#include "base/command_line_fwd.h"
#include "base/man_page.h"

namespace stripline {

/// A file to be sourced, which needs nothing but bash (4.3 or later). Where a delegate takes over,
/// it reads the file of that program, which is expected beside it under the program's name,
/// wherever the shell has gone since.
std::string bash_completion(const CLI::App& program, const Delegates& delegates = {});

}  // namespace stripline
