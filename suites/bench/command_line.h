// What the programs that measure check of their command lines and of their output.
#pragma once

#include <string>

#include "base/result.h"

namespace stripline::suites::bench {

/// Why `text` is not a duration in seconds above zero, as a validator of CLI11 says it; empty if it
/// is one. CLI11's own checks of ranges let "nan" pass.
std::string check_seconds(const std::string& text);

/// Whether a file can be written there, asked before hours of measuring. Errors: unavailable.
Status check_writable(const std::string& file);

/// Flushes standard output. Errors: unavailable if anything that was printed is lost.
Status flush_output();

}  // namespace stripline::suites::bench
