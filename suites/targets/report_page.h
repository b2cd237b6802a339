// A page about a run of tuning, for whoever decides about its settings. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "suites/targets/bundle.h"

namespace stripline::suites::tune {

/// One HTML document that needs nothing else: how it ended, gains as a map of cells, knobs by what
/// they do, what was left out and why, guidelines, validation and proof, a sentence for each rule,
/// and the files. Errors: data_loss for a record that is not JSON, or lacks what every one has.
Result<std::string> report_page(const Bundle& bundle);

}  // namespace stripline::suites::tune
