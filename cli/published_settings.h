// Settings of another runtime that a server has, for commands of `stripline export`, which take
// files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace stripline::cli {

/// The arguments of a program. Where it is stripline-tune, and they name a version in place of a
/// file ("export", "install", "openmpi-shm@stable"), that is fetched, and named by a descriptor
/// that stays open for the program that this process becomes. All others are left as they are.
/// Errors: those of find_file(); failed_precondition for a version that holds a model;
/// resource_exhausted.
Result<std::vector<std::string>> with_published_settings(const Global& global,
                                                         const ExecHelper& command);

}  // namespace stripline::cli
