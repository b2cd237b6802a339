// A server that is left alone for long, while its agents measure and everybody else does what he
// can.
#pragma once

#include "tests/load/loaded_server.h"

namespace stripline::load {

/// Prints the figures of soak.h, and returns kExitOk if all that are asked for are met.
int run_soak(const LoadOptions& options);

}  // namespace stripline::load
