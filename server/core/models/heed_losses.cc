#include "server/core/models/heed_losses.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/core/models/measured_loss.h"
#include "server/core/models/model_actions.h"
#include "server/core/models/model_gate.h"
#include "server/core/models/sentinels.h"

namespace stripline::server {
namespace {

// A report has up to 128 KiB, and each that comes is compared with this many others.
constexpr size_t kReportsLookedAt = 20;
constexpr size_t kNodesAtOnce = 500;

Result<std::vector<NodeGroup>> nodes_with(Store& store, const std::string& fabric) {
  std::vector<NodeGroup> all;
  std::string after;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto page, store.nodes(after, kNodesAtOnce));
    for (const NodeRecord& node : page) {
      after = node.name;
      if (std::ranges::find(node.fabrics, fabric) == node.fabrics.end()) continue;
      all.push_back({node.name, node.cluster});
    }
    if (page.size() < kNodesAtOnce) return all;
  }
}

// The label names the version only for nodes that are left.
Status restrict_label(Store& store, const LabelRecord& label, std::vector<std::string> left,
                      Changes changes) {
  const std::string name = version_name(label.key);
  changes.labels.push_back({label.key, label.label, label.place + 1, std::string(Sentinels::kActor),
                            unix_seconds(), std::move(left)});
  changes.audit.push_back({0, unix_seconds(), std::string(Sentinels::kActor),
                           "withdraw " + label.label + " where runs lost", name});
  return store.apply(changes);
}

}  // namespace

Answer<bool> heed_losses(Coordinator& coordinator, Store& store, const VersionKey& key) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto moves, store.labels(key.model));
  const LabelRecord* label = nullptr;
  for (const std::string_view name : {kStableLabel, kCanaryLabel}) {
    const LabelRecord* const current = current_of(moves, name);
    if (label == nullptr && current != nullptr && current->key == key) label = current;
  }
  if (label == nullptr) return false;
  STRIPLINE_ASSIGN_OR_RETURN(const auto reports, store.feedback(key, 0, kReportsLookedAt));
  const auto loss = measured_loss(reports, label->time_unix_s);
  if (!loss) return false;
  STRIPLINE_ASSIGN_OR_RETURN(const auto model, store.model(key.model));
  STRIPLINE_ASSIGN_OR_RETURN(const auto nodes, nodes_with(store, model->fabric));
  spdlog::warn("{} loses: {}", version_name(key), loss->why);
  Changes changes;
  changes.lost.push_back({key, loss->why, unix_seconds()});
  // Only nodes that have the version by this label. A label for no nodes would be one for all.
  std::vector<std::string> left = elsewhere(*loss, nodes);
  std::erase_if(left, [&](const std::string& node) {
    return !label->nodes.empty() && std::ranges::find(label->nodes, node) == label->nodes.end();
  });
  const bool is_stable = label->label == kStableLabel;
  if (is_stable && !left.empty()) {
    changes.staled_in_use.push_back({key, "", unix_seconds()});
    STRIPLINE_RETURN_IF_ERROR(restrict_label(store, *label, left, std::move(changes)));
    coordinator.offer_models();
    return true;
  }
  changes.staled.push_back({key, "runs lost time with it: " + loss->why, unix_seconds()});
  STRIPLINE_RETURN_IF_ERROR(retire_lost(coordinator, store, *label, std::move(changes)));
  return true;
}

}  // namespace stripline::server
