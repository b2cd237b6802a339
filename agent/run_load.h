// What else the node's host does while a run measures, for the run's facts (agents.proto,
// AssignmentUpdate): looked at before its ranks start and after they have ended, never between.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/host_load.h"

namespace stripline::agent {

class RunLoad {
 public:
  /// A run is about to start.
  void begin();

  /// All its ranks have ended and are reaped: "load.average", "load.running" and "load.processors"
  /// of its begin; "load.in_use" and "load.own", processors kept busy since by all, and by children
  /// of this process; "load.stolen", a share. Empty where the host does not say it.
  std::map<std::string, std::string> facts() const;

 private:
  std::optional<HostLoad> load_;
  std::optional<ProcessorTimes> times_;
  double children_s_ = 0;
  double begun_s_ = 0;
};

}  // namespace stripline::agent
