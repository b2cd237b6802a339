#include "server/core/models/rollout.h"

#include <algorithm>

#include "server/core/models/model_gate.h"

namespace stripline::server {
namespace {

constexpr size_t kCanaryShare = 10;

}  // namespace

bool is_for(const LabelledVersion& version, const std::string& node) {
  const bool is_named = std::ranges::find(version.nodes, node) != version.nodes.end();
  return is_named || (version.label == kStableLabel && version.nodes.empty());
}

std::vector<const LabelledVersion*> wanted_by(const std::string& node,
                                              const std::set<std::string>& fabrics,
                                              const std::vector<LabelledVersion>& versions) {
  std::map<std::string, const LabelledVersion*> wanted;
  for (const LabelledVersion& version : versions) {
    if (!fabrics.contains(version.fabric) || !is_for(version, node)) continue;
    const LabelledVersion*& chosen = wanted[version.fabric];
    if (chosen == nullptr || version.since_unix_s >= chosen->since_unix_s) chosen = &version;
  }
  std::vector<const LabelledVersion*> list;
  for (const auto& [fabric, version] : wanted) list.push_back(version);
  return list;
}

std::vector<std::string> usual_canaries(std::vector<std::string> nodes) {
  std::ranges::sort(nodes);
  nodes.resize((nodes.size() + kCanaryShare - 1) / kCanaryShare);
  return nodes;
}

std::optional<std::string> rollout_refusal(const std::optional<LabelRecord>& canary,
                                           const std::vector<NodeModelRecord>& answers) {
  for (const NodeModelRecord& answer : answers) {
    if (!answer.applied) return node_name(answer.node) + " rejected it: " + answer.reason;
  }
  if (!canary) return std::nullopt;
  if (canary->nodes.empty()) {
    return "no node tries it: no agent that takes models was connected when it became canary; "
           "make it canary again when one is, or do without a trial: "
           "'stripline model rollback --label canary' ends it";
  }
  for (const std::string& node : canary->nodes) {
    const bool answered = std::ranges::any_of(
        answers, [&](const NodeModelRecord& answer) { return answer.node == node; });
    if (!answered) {
      return node_name(node) +
             ", which tries it, has not answered yet; 'stripline rollout status' shows who has";
    }
  }
  return std::nullopt;
}

}  // namespace stripline::server
