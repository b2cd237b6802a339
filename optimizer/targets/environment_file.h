// A file of environment variables for the targets that read nothing else: lines that a shell reads
// (`. FILE`), with nothing in them that a shell would expand. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/target.h"

namespace stripline::targets {

/// "export NAME=VALUE" and "NAME=VALUE", comments from '#' at the beginning of a line, and empty
/// lines. Values may be in single or double quotes, which they need when they have other characters
/// than letters, digits and "_./:,+-^@%=". Errors: data_loss, with the line, for anything else, a
/// name that comes twice, and "$", "`", "\" and quotes within a value; also for carriage returns.
Result<std::vector<Setting>> read_environment(std::string_view text, std::string_view what);

/// Reads back as the same settings. Errors: invalid_argument for a name or a value that such a file
/// cannot hold.
Result<std::string> write_environment(const std::vector<Setting>& settings,
                                      const std::vector<std::string>& comments);

/// Names by the rules of POSIX shells.
bool is_variable_name(std::string_view name);

/// Errors: invalid_argument for a setting that is not one of the target's knobs, or a value that
/// the knob does not take.
Status check_settings(const Target& target, const std::vector<Setting>& settings);

}  // namespace stripline::targets
