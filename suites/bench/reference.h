// The reference of all experiments, for `stripline-bench list` and docs/experiments.md.
#pragma once

#include <string>

#include "base/json.h"

namespace stripline::suites::bench {

/// For a terminal.
std::string reference_text();
/// docs/experiments.md.
std::string reference_markdown();
/// An array of declarations.
Json reference_json();

}  // namespace stripline::suites::bench
