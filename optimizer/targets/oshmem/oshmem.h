// OpenSHMEM: Open MPI's, and Sandia's: the descriptor. Its settings are environment variables
// (environment_file.h). Pure.
#pragma once

#include "optimizer/targets/target.h"

namespace stripline::targets::oshmem {

const Target& target();

}  // namespace stripline::targets::oshmem
