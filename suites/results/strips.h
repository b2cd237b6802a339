// Strip-mining by the model against exhaustive search, as in chapter 5 of W.-Y. Chen, "Optimizing
// PGAS Programs for Cluster Architectures" (2007), on emulated networks.
#pragma once

#include "base/result.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// Measures what options.folder does not hold of strip_cells() and of the loops of quality_cells()
/// with many ranks, which it shares with print_scale(), and prints the tables of all. Errors: as
/// measure_rows(); invalid_argument for a choice of networks or models that means none.
Status print_strips(const Options& options);

}  // namespace stripline::suites::results
