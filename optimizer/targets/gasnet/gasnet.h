// GASNet-EX 2025.8: the descriptor. Its settings are environment variables (environment_file.h).
// Concluded from its sources and documents: no version has been tried.
// Pure.
#pragma once

#include "optimizer/targets/target.h"

namespace stripline::targets::gasnet {

const Target& target();

}  // namespace stripline::targets::gasnet
