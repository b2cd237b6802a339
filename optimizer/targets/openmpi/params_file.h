// mca-params.conf of Open MPI 4.1: a strict reader and a writer. Open MPI reads
// $HOME/.openmpi/mca-params.conf, then SYSCONF/openmpi-mca-params.conf, of which the first to name
// a parameter counts; SYSCONF/openmpi-mca-params-override.conf beats all others, the environment
// (OMPI_MCA_NAME) and the command line included. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/target.h"

namespace stripline::targets::openmpi {

/// "name = value" lines; comments from "#" or "//" at the beginning of a line, and from "/*" to
/// "*/". Errors: data_loss, with the line, for anything else, a name that comes twice, and a value
/// with a '#' or "/*", which Open MPI takes as part of the value.
Result<std::vector<Setting>> read_params(std::string_view text, std::string_view what);

/// Reads back as the same settings. Errors: invalid_argument for a name or a value that such a file
/// cannot hold.
Result<std::string> write_params(const std::vector<Setting>& settings,
                                 const std::vector<std::string>& comments);

}  // namespace stripline::targets::openmpi
