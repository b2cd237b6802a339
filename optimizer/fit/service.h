// The service levels of a network, from streams between many nodes at once (micro.load).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "optimizer/model/sections/service_levels.h"

namespace stripline::fit {

struct ServiceFit {
  /// Absent without levels of more than two nodes.
  std::optional<model::ServiceModel> model;
  std::vector<std::size_t> used;      ///< indices of the series that went in, ascending
  std::vector<std::string> rejected;  ///< why a series was left out, one sentence each
};

/// Times over those of the fewest and nearest nodes of the same size, which have the network to
/// themselves, within each run; per run, then over the runs. Distances are counted in switches
/// where any were measured so, else by the nodes' numbers. What cannot be fitted is named in
/// `notes`.
ServiceFit fit_service(std::span<const experiment::SampleSeries> series, double confidence,
                       std::vector<std::string>& notes);

}  // namespace stripline::fit
