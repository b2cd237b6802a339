// Nodes as operators see them, and what they do with them (fleet.proto).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "server/core/campaigns/campaign_steps.h"
#include "server/core/core_state.h"
#include "server/core/models/model_registry.h"
#include "server/problem.h"

namespace stripline::server {

/// A node as users see it.
struct NodeView {
  NodeRecord record;
  bool connected = false;
  /// When its session began or, without one, when it was heard of last.
  double since_unix_s = 0;
  bool installing = false;       ///< Settings of another runtime.
  std::string assignment;        ///< Name of what it works on, or empty.
  std::string quarantine;        ///< Why no run is given to it now; empty: there is no reason.
  std::optional<NodeHold> hold;  ///< It gets no new runs.
  std::vector<NodeModelView> models = {};
};

/// Thread-safe.
class Fleet {
 public:
  /// All must outlive it.
  Fleet(CoreState& state, CampaignSteps& steps, ModelRegistry& models)
      : state_(state), steps_(steps), models_(models) {}

  /// Reads which nodes are held. Errors: the store's.
  Status recover();

  /// By name, from the first after `after` on.
  Answer<std::vector<NodeView>> nodes(const std::string& after, size_t limit);
  /// Problems: NODE_NOT_FOUND.
  Answer<NodeView> node(const std::string& name);
  /// It gets no new runs, whoever connects from it. Problems: NODE_NOT_FOUND, INVALID_FIELD.
  Answer<NodeView> hold_node(const NodeHold& hold);
  /// It gets runs again. Problems: NODE_NOT_FOUND.
  Answer<NodeView> release_node(const std::string& name, const std::string& actor);
  /// Problems: NODE_NOT_FOUND, NODE_CONNECTED.
  Answer<bool> remove_node(const std::string& name, const std::string& actor);

 private:
  NodeView view_of(NodeRecord record) STRIPLINE_REQUIRES(state_.mutex);
  Status hold_if_known(const NodeHold& hold) STRIPLINE_EXCLUDES(state_.mutex);

  CoreState& state_;
  CampaignSteps& steps_;
  ModelRegistry& models_;
};

}  // namespace stripline::server
