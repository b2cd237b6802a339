// The algorithm of a collective operation: the one that a model says was fastest for
// this operation, number of ranks and size, else the default. Models know networks: ranks that are
// all on one node take the default for that.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/model/collective.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::plan {

/// The rules of a model, in the form in which they are looked up. A value.
class CollectivePlanner {
 public:
  CollectivePlanner() = default;  ///< without a model: the defaults
  /// `model` satisfies model::validate().
  explicit CollectivePlanner(const model::CollectiveModel& model);

  /// What a rule of the model says; none where there is no rule.
  std::optional<model::CollectiveAlgorithm> rule_for(
      const model::CollectiveRequest& request) const noexcept;
  /// The algorithm for a request, one of model::algorithms_of(). Every rank that asks the same of
  /// the same model gets the same. Pure, allocates nothing; O(rules of the operation).
  model::CollectiveAlgorithm choose(const model::CollectiveRequest& request) const noexcept;

 private:
  struct Rule {
    uint64_t from_bytes;
    uint64_t to_bytes;
    uint32_t min_ranks;
    uint32_t max_ranks;
    model::CollectiveAlgorithm algorithm;
  };
  std::array<std::vector<Rule>, model::kCollectiveOperations> rules_;
};

}  // namespace stripline::plan
