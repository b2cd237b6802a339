// What else the hosts of a run did while it measured, from what the agents there saw. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/store/store.h"

namespace stripline::server {

/// The family of facts that agents add to those of a run: "load.average" and "load.running" as it
/// began (base/host_load.h), and while it lasted "load.in_use" and "load.own", how many processors
/// everybody and the ranks of the node kept busy, and "load.stolen", the share of processor time
/// that other guests took; "load.processors". They describe a moment: no fingerprint has them.
inline constexpr const char* kLoadFamily = "load";

/// Load of the host that was the busiest.
struct RunLoad {
  uint32_t run = 0;
  std::string node;    ///< on that host
  double average = 0;  ///< load average as the run began
  double running = 0;  ///< tasks of others that ran or waited then
  double in_use = 0;   ///< processors that were kept busy while it measured
  double others = 0;   ///< of these, by others than its ranks
  double stolen = 0;   ///< share of processor time that was stolen meanwhile
  uint32_t processors = 0;

  /// True if the ranks had to share processors with others: these were used up and others had a
  /// part of them that shows, or another guest had.
  bool busy() const;
};

/// nullopt if no agent has said anything. `nodes` are those of one run.
std::optional<RunLoad> load_of_run(std::span<const AttemptFacts> nodes);

/// The same of each run, in the order of runs.
std::vector<RunLoad> loads_of_runs(std::span<const AttemptFacts> nodes);

/// "load 8.1 on nodes/a, where others kept 1.2 of 2 processors busy".
std::string run_load_text(const RunLoad& load);

}  // namespace stripline::server
