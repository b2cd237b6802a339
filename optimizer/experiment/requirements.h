// What an experiment needs of a launch or a campaign: decided from its declaration alone, by the
// server before it plans and by `stripline bench` before it starts a rank. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "optimizer/experiment/experiment.h"

namespace stripline::experiment {

/// Where it would be measured.
struct Surroundings {
  uint32_t ranks = 1;
  std::string fabric;  ///< "tcp", "emulated:opteron-vapi"
};

/// What an experiment needs beside ranks, by the factors and variants of the catalogue that it has.
struct Requirements {
  bool same_node = false;        ///< paths between ranks of one node: factor::kSameNode
  bool nodes = false;            ///< as many nodes as factor::kNodes says
  bool progress_thread = false;  ///< a thread that serves ranks: variant::kThread
  bool processors = false;       ///< those of the machine: factor::kWorkers
};
Requirements requirements_of(const Experiment& experiment);

/// True if the fabric is an emulated network: one that stands between all ranks, also of one node,
/// and that no thread can serve.
bool is_emulated(const std::string& fabric);

/// Why the experiment cannot be measured there at all, as a sentence that names it and says what to
/// do; nullopt if it can. Single points may still be refused where they run, for what only the
/// ranks know.
std::optional<std::string> unmet_requirement(const Experiment& experiment,
                                             const Surroundings& surroundings);

}  // namespace stripline::experiment
