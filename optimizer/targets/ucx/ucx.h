// UCX 1.13: the descriptor, and ucx.conf. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/target.h"

namespace stripline::targets::ucx {

const Target& target();

/// "NAME=VALUE" with full names (UCX_...), comments from '#' or ';' at the beginning of a line.
/// Errors: data_loss, with the line, for anything else and for a name that comes twice; also for
/// sections ("[NAME]"), whose settings 1.13 applies without looking at their conditions.
Result<std::vector<Setting>> read_conf(std::string_view text, std::string_view what);

/// Reads back as the same settings. Errors: invalid_argument for a name or a value that such a file
/// cannot hold.
Result<std::string> write_conf(const std::vector<Setting>& settings,
                               const std::vector<std::string>& comments);

}  // namespace stripline::targets::ucx
