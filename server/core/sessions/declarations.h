// What agents say of their experiments, read once for all agents that say the same: those of one
// release do, to the byte.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "server/problem.h"

namespace stripline::server {

struct Declared {
  std::vector<experiment::Experiment> experiments;
  std::set<std::pair<std::string, int64_t>> versions;  ///< Name and version of each.
};

/// Thread-safe.
class Declarations {
 public:
  /// The experiments of a Hello. Problems: INVALID_FIELD for what is no declaration or exceeds a
  /// limit (docs/service-errors.md).
  Answer<std::shared_ptr<const Declared>> read(const std::vector<std::string>& texts);

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const Declared>> known_;  // by the hash of the texts
};

}  // namespace stripline::server
