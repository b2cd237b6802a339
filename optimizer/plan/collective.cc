#include "optimizer/plan/collective.h"

namespace stripline::plan {

CollectivePlanner::CollectivePlanner(const model::CollectiveModel& model) {
  for (const model::CollectiveRule& rule : model.rules) {
    rules_[static_cast<size_t>(rule.operation)].push_back(
        {rule.from_bytes, rule.to_bytes, rule.min_ranks, rule.max_ranks, rule.algorithm});
  }
}

std::optional<model::CollectiveAlgorithm> CollectivePlanner::rule_for(
    const model::CollectiveRequest& request) const noexcept {
  if (request.in_node) return std::nullopt;  // campaigns measure networks
  for (const Rule& rule : rules_[static_cast<size_t>(request.operation)]) {
    if (rule.from_bytes <= request.bytes && request.bytes < rule.to_bytes &&
        rule.min_ranks <= request.ranks && request.ranks <= rule.max_ranks) {
      return rule.algorithm;
    }
  }
  return std::nullopt;
}

model::CollectiveAlgorithm CollectivePlanner::choose(
    const model::CollectiveRequest& request) const noexcept {
  const auto rule = rule_for(request);
  return rule ? *rule : model::default_collective(request);
}

}  // namespace stripline::plan
