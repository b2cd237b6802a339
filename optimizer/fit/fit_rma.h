// From times of single operations carried out in several ways to the section `rma` of a model.
// What replaces a default must be surely faster: noise changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/rma_samples.h"
#include "optimizer/model/rma_model.h"

namespace stripline::fit {

/// The way of atomic operations. Messages, if their time relative to the provider's, in the
/// geometric mean over the numbers in flight and paired by run, lies below 1 at `confidence`; else
/// the provider. nullopt where there is nothing to choose between, or fewer than two runs measured
/// both, which `notes` then says.
std::optional<model::AtomicModel> fit_atomic(const RmaSamples& samples, double confidence,
                                             std::vector<std::string>& notes);

/// All members; nullopt if there is none.
std::optional<model::RmaModel> fit_rma(const RmaSamples& samples, double confidence,
                                       std::vector<std::string>& notes);

}  // namespace stripline::fit
