// Load estimation on the emulated fat tree: loops of many ranks that share its links, planned with
// the service levels of the model and without them (Iancu et al., section 6.2 and FT-NLE).
#pragma once

#include "base/result.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// Measures, as far as options.folder does not hold it: a campaign between two nodes, streams
/// between up to 64, and the kernels at 4 to 64 ranks; prints the table. Errors: as measure_run().
Status print_load(const Options& options);

}  // namespace stripline::suites::results
