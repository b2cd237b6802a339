// What this node can do, as its worker tells it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline::agent {

struct Description {
  std::string version;                             ///< of the worker
  std::vector<std::string> fabrics;                ///< "tcp", "emulated:opteron-vapi"
  std::map<std::string, std::string> fingerprint;  ///< the machine's
  std::vector<std::string> experiments_json;       ///< one declaration each
  uint32_t max_ranks = 0;                          ///< that this node has room for; 0: unknown
};

/// Reads the JSON object that `stripline-worker --describe` prints. Errors: data_loss.
Result<Description> parse_description(std::string_view text);

/// Runs `worker --describe`, for at most `timeout_s`. Errors: not_found when there is no such
/// program; unavailable when it ends badly or prints something else; deadline_exceeded.
Result<Description> describe_node(const std::string& worker, double timeout_s);

}  // namespace stripline::agent
