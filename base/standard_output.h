// Tells whether what a program prints arrives.
#pragma once

#include "base/result.h"

namespace stripline {

/// Flushes standard output. Errors: unavailable if anything that was printed is lost, as on a full
/// disk; a result that did not reach its reader is none.
Status flush_standard_output();

}  // namespace stripline
