// What this node can do, as its worker tells it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::agent {

/// What a rank takes.
struct RankMemory {
  uint64_t segment_bytes = 0;
  std::map<std::string, uint64_t> runtime_bytes;  ///< beside its segment, by fabric
  uint64_t peer_bytes = 0;                        ///< for each other rank of the job
};

struct Description {
  std::string version;                              ///< of the worker
  std::vector<std::string> fabrics;                 ///< "tcp", "emulated:opteron-vapi"
  std::map<std::string, std::string> fingerprint;   ///< the machine's
  std::vector<std::string> experiments_json;        ///< one declaration each
  std::vector<experiment::Experiment> experiments;  ///< the same, read
  uint32_t max_ranks = 0;                           ///< that this node has room for; 0: unknown
  std::optional<RankMemory> memory;                 ///< nullopt: unknown, or not to be looked at
};

/// Reads the JSON object that `stripline-worker --describe` prints. Errors: data_loss.
Result<Description> parse_description(std::string_view text);

/// Runs `worker --describe`, for at most `timeout_s`; `profiles` are files of further emulated
/// networks, with their paths. Errors: not_found when there is no such
/// program; unavailable when it ends badly or prints something else; deadline_exceeded.
Result<Description> describe_node(const std::string& worker, double timeout_s,
                                  const std::vector<std::string>& profiles = {});

}  // namespace stripline::agent
