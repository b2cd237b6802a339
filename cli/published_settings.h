// Settings of another runtime that a server has, for commands of `stripline export`, which take
// files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace stripline::cli {

/// The arguments of stripline-tune, where these name a version in place of a file ("export",
/// "install", "openmpi-shm@stable"): it is fetched, and named by a descriptor that stays open for
/// the program that this process becomes. All others are left as they are. Errors: those of
/// find_file(); failed_precondition for a version that holds a model; resource_exhausted.
Result<std::vector<std::string>> with_published_settings(const Global& global,
                                                         std::vector<std::string> arguments);

}  // namespace stripline::cli
