// libfabric 1.17: the descriptor. Its settings are environment variables (environment_file.h).
// Pure.
#pragma once

#include "optimizer/targets/target.h"

namespace stripline::targets::libfabric {

const Target& target();

}  // namespace stripline::targets::libfabric
