// What a model costs that is wrong: kernels on emulated networks with the models of other networks,
// and with entries that were multiplied at random, beside the same kernels without a model.
#pragma once

#include <cstdint>

#include "base/json.h"
#include "base/result.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// A model document whose parameters were each multiplied, interval and all, by a factor of its
/// own within [1 / most, most], as far as models may have such values, with the hash that belongs
/// to it. Errors: those of canonical_json().
Result<Json> corrupted_model(const Json& document, uint64_t seed, double most);

/// A model document that says that it was made where `fits` was, with the hash that belongs to it.
/// Errors: those of canonical_json(); data_loss if `fits` has no fingerprint.
Result<Json> disguised_model(const Json& document, const Json& fits);

/// Measures what options.folder does not hold yet and prints the tables of all. Errors: as
/// measure_run(); failed_precondition for a result that is wrong.
Status print_robust(const Options& options);

}  // namespace stripline::suites::results
