// The planner of collective.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include "optimizer/plan/collective.h"
#include "optimizer/plan/mechanism.h"

namespace stripline::plan {

/// A collective operation, as it is asked about.
struct AskedCollective {
  model::CollectiveOperation operation = model::CollectiveOperation::allreduce;
  uint32_t ranks = 2;
  uint64_t bytes = 8;    ///< as model::CollectiveRequest
  bool in_node = false;  ///< likewise
  bool crowded = false;  ///< likewise
  static constexpr Fact kFacts{};
  Surroundings surroundings;
  bool operator==(const AskedCollective&) const = default;

  model::CollectiveRequest request() const { return {operation, ranks, bytes, in_node, crowded}; }
};

struct CollectivePlan {
  const model::CollectiveAlgorithm algorithm = model::CollectiveAlgorithm::binomial;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< rules do not say
};

struct CollectiveMechanism : AsAsked<AskedCollective> {
  using Plan = CollectivePlan;
  using Candidate = model::CollectiveAlgorithm;
  using Record = plan::Record<Candidate, Candidate>;
  using Model = CompiledModel;
  using Costs = CollectivePlanner;
  static constexpr Words kWords = {
      .command = "collective",
      .help = "A collective operation of a team (<stripline/team.h>)",
      .example = "--operation allreduce --ranks 64 --bytes 64KiB",
      .no_model =
          "the model has no rule for it, or all ranks are on one node, of which models do "
          "not speak: the algorithm follows sizes of the literature",
      .scope = {Scope::Decider::group, Scope::Until::call},
      .sized_by = "bytes of the data, of a rank's vector or of a block",
      // Without `automatic`.
      .methods = std::span(model::kCollectiveAlgorithmNames).subspan(1),
      .variants = model::kCollectiveOperationNames};

  static std::span<const Field<Request>> fields();
  static const CollectivePlanner* costs_of(const CompiledModel& model) {
    return &model.collectives();
  }
  static Plan plan(const Request& request, const CollectivePlanner* planner, Record& record);
  static Plan unfold(const Request&, Candidate algorithm) { return {algorithm}; }
  static void show(const Request& request, const Plan& plan, Row& row);
};

}  // namespace stripline::plan
