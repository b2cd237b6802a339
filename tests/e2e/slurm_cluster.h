// A Slurm cluster of one node, this host: munged, slurmctld and slurmd of Debian with a
// configuration, ports, keys and state of their own. Gone with its object, or with the test's
// process.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/processes.h"

namespace stripline::e2e {

class SlurmCluster {
 public:
  /// Starts the daemons and waits until the node is idle. What went wrong is in failure().
  SlurmCluster();
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  /// Why a cluster cannot be tried here (packages, rights); empty if it can.
  static std::string missing();

  /// Why it does not run, with the daemons' logs; empty if it does.
  const std::string& failure() const { return failure_; }

  /// What the daemons have logged.
  std::string log() const;

  /// `srun ARGUMENTS...` to its end, at most 30 s.
  Finished srun(const std::vector<std::string>& arguments,
                const std::map<std::string, std::string>& environment = {}) const;

  /// The same, started.
  Program start_srun(const TempFolder& folder, const std::vector<std::string>& arguments) const;

 private:
  void write_configuration() const;

  TempFolder folder_;
  std::string failure_;
  std::optional<Program> munged_;
  std::optional<Program> controller_;
  std::optional<Program> node_;
};

}  // namespace stripline::e2e
