// The versions of models that nodes are to have, and what they have answered to their offers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "proto/agent_protocol/messages.h"
#include "server/core/models/known_models.h"
#include "server/store/store.h"

namespace stripline::server {

/// What a node has of models, and what it was offered in its session.
struct NodeModels {
  std::map<std::string, std::string> has;     ///< By fabric, as in Hello.
  uint64_t offered = 0;                       ///< How often labels had moved at the last offers.
  std::map<std::string, std::string> offers;  ///< The last version of each fabric.
};

/// A model that a node is to have.
struct NodeModelView {
  VersionKey key;
  std::string label;
  std::string fabric;
  std::optional<NodeModelRecord> answer;  ///< Nullopt: there is none yet.
  std::string unfit = {};                 ///< Why it should not be used any more; empty: it may.
};

/// Thread-safe.
class ModelRegistry {
 public:
  /// `store` must outlive it.
  explicit ModelRegistry(Store& store) : store_(store) {}

  /// Reads what is stored. Errors: the store's.
  Status recover();
  /// A label has moved, or a version is withdrawn: reads that again. Errors: the store's.
  Status refresh();

  /// Models that nodes are not offered, because something is stored of them that cannot be read:
  /// what, by their names.
  std::map<std::string, std::string> unreadable();
  /// Versions that a label names, and that do not hold any more.
  size_t count_stale();
  /// What nodes have answered to the offer of a version.
  std::vector<NodeModelRecord> answers_to(const VersionKey& version);
  /// What a node is to have, and what it has answered.
  std::vector<NodeModelView> models_of(const NodeRecord& node);
  /// The node is forgotten.
  void forget(const std::string& node);

  /// What to tell a node since the last call for its session: versions that it is to have, and
  /// those that it is not to use any more. What an agent has rejected it is offered again in its
  /// next session, and when a label is moved: what prevented it may be gone.
  std::vector<ServerMessage> offers_to(const std::string& node,
                                       const std::set<std::string>& fabrics, NodeModels& models);
  /// Stores the answer to an offer, and says what to tell the node then. Errors: the store's.
  Result<std::vector<ServerMessage>> take_answer(const std::string& node,
                                                 const std::set<std::string>& fabrics,
                                                 NodeModels& models, const ModelAck& ack);

 private:
  void take(KnownModels known) STRIPLINE_REQUIRES(mutex_);
  bool has_rejected(const std::string& node, const LabelledVersion& version) const
      STRIPLINE_REQUIRES(mutex_);
  std::string unfit_here(const std::string& node, const std::string& sha256) const
      STRIPLINE_REQUIRES(mutex_);
  void add_withdrawals(const std::string& node, const std::vector<const LabelledVersion*>& wanted,
                       NodeModels& models, std::vector<ServerMessage>& messages) const
      STRIPLINE_REQUIRES(mutex_);

  Store& store_;
  Mutex mutex_;
  KnownModels known_ STRIPLINE_GUARDED_BY(mutex_);
  uint64_t labels_moved_ STRIPLINE_GUARDED_BY(mutex_) = 0;  // how often they were read
  std::map<std::pair<std::string, std::string>, NodeModelRecord> answers_
      STRIPLINE_GUARDED_BY(mutex_);  // by node and name of the version
};

}  // namespace stripline::server
