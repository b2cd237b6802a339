// What is installed beside a program for those who call it, written by the program itself: manual
// pages and completion. cmake/StriplineTargets.cmake asks every program that users start for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/command_line_fwd.h"
#include "base/man_page.h"

namespace stripline {

/// The first of these arguments, "--write-manual FOLDER SECTION", makes a program write its manual
/// and end. The help leaves it out.
inline constexpr const char* kWriteManual = "--write-manual";

/// Writes FOLDER/man/manSECTION/NAME.SECTION and FOLDER/bash-completion/completions/NAME and
/// returns the exit code, if the arguments (without the program's name) ask for it; nullopt: they
/// do not. Mistakes go to standard error.
std::optional<int> write_manual_if_asked(const CLI::App& program,
                                         const std::vector<std::string>& arguments,
                                         const Delegates& delegates = {});

}  // namespace stripline
