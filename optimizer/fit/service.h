// The service levels of a network, from streams between many nodes at once (micro.load).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/sample_table.h"
#include "optimizer/model/sections/service_levels.h"

namespace stripline::fit {

/// Times over those of the fewest and nearest nodes of the same size, which have the network to
/// themselves, within each run; per run, then over the runs. Distances are counted in switches
/// where any were measured so, else by the nodes' numbers. What cannot be fitted is named in
/// `notes`. nullopt without levels of more than two nodes.
std::optional<model::ServiceModel> fit_service(const SampleTable& table, double confidence,
                                               std::vector<std::string>& notes);

}  // namespace stripline::fit
