// The nodes that get versions of models, and when a version may go on from the nodes that try it to
// the rest. Pure.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/store/model_records.h"

namespace stripline::server {

/// A version that a label names now.
struct LabelledVersion {
  VersionKey key;
  std::string label;
  std::string fabric;
  std::string sha256;
  /// Nodes that try a canary, or that may use what is stable: empty, all of them.
  std::vector<std::string> nodes;
  double since_unix_s = 0;
  std::shared_ptr<const std::string> content;
  bool is_fit = true;  ///< It is not stale. Withdrawn ones are never among these.
};

/// True if the label names the version for this node.
bool is_for(const LabelledVersion& version, const std::string& node);

/// What a node is to have: for each fabric that it can open the version that was labelled last of
/// those that are stable and the canaries that it tries. Pointers into `versions`.
std::vector<const LabelledVersion*> wanted_by(const std::string& node,
                                              const std::set<std::string>& fabrics,
                                              const std::vector<LabelledVersion>& versions);

/// One in ten of the nodes, at least one: the first by name.
std::vector<std::string> usual_canaries(std::vector<std::string> nodes);

/// Why a version may not go to all nodes yet, or at all; nullopt: it may. `canary` is the move that
/// made it one, if it is: it waits for the nodes that try it then, and for one that does. `answers`
/// are those to this version.
std::optional<std::string> rollout_refusal(const std::optional<LabelRecord>& canary,
                                           const std::vector<NodeModelRecord>& answers);

}  // namespace stripline::server
