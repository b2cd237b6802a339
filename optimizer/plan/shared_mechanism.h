// The planner of shared_update.h for points in order, as the frame of decisions sees it
// (mechanism.h). What the machine takes is known from the model; where it does not know the team,
// the program measures, and what it found is part of what is asked.
#pragma once

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/shared_update.h"

namespace stripline::plan {

struct SharedRequest {
  SpreadRequest spread;
  model::SharedPlacement placement = model::SharedPlacement::package;
  model::CellType type = model::CellType::integer8;
  SharedCosts costs;  ///< as usual(): the model's, if it knows the team
  static constexpr Fact kFacts{};
  Surroundings surroundings;
  bool operator==(const SharedRequest&) const = default;

  SharedTeam team() const;
};

struct SharedPlan {
  const SharedStrategy strategy = SharedStrategy::atomic;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;
  const double baseline_s = 0;
  const double gain_low = 0;  ///< what was measured has no interval
  /// Epochs until points are sorted again, unless it is seen sooner how fast they move; 0: never.
  const uint64_t sort_interval = 0;
};

/// The plan by these costs: the fastest strategy that the budget permits. Pure, allocates nothing.
SharedPlan plan_shared(const SpreadRequest& request, const SharedCosts& costs) noexcept;
/// The plan of a strategy that a guard has carried out.
SharedPlan guarded_shared(const SpreadRequest& request, const SharedCosts& costs,
                          SharedStrategy strategy) noexcept;

struct SharedMechanism : AsAsked<SharedRequest> {
  using Plan = SharedPlan;
  using Candidate = SharedStrategy;
  using Record = plan::Record<Candidate, Candidate>;
  using Model = CompiledModel;
  using Costs = CompiledModel;
  static constexpr Words kWords = {
      .command = "shared",
      .help =
          "Points that spread over cells that all workers of a node update "
          "(<stripline/shared_updates.h>)",
      .example = "--workers 8 --updates 1000000 --cells 16777216 --own 98",
      .notes =
          "What the machine takes is the model's, if it knows the team and its cells; else the "
          "program measures, and options give it.\n",
      .baseline = "updates that compete for their cells",
      .no_model = "nothing is known of the machine, so updates compete for their cells",
      .scope = {Scope::Decider::group, Scope::Until::inspection},
      .sized_by = "bytes of all cells",
      .methods = kSharedStrategyNames,
      .table = {{"updates", "1024,4096,16384,65536,262144,1048576,4194304"},
                {"workers", "2,8,32,128"},
                {{{"cells", "65536,16777216"}, {"own", "50,98"}}}}};

  static Request usual();
  static std::span<const Field<Request>> fields();
  static const CompiledModel* costs_of(const CompiledModel& model) { return &model; }
  static Plan plan(const Request& request, const CompiledModel* model, Record& record);
  static Plan unfold(const Request&, Candidate strategy) { return {strategy}; }
  /// What counts for a request: the model's costs, or those that it was given.
  static SharedCosts costs_of_team(const Request& request, const CompiledModel* model);
  static void show(const Request&, const Plan& plan, Row& row) {
    row.word("strategy", to_string(plan.strategy), "{}");
  }
  /// When points are sorted again.
  static void add_to(Explained<SharedMechanism>& explained, const Request& request,
                     const CompiledModel* model);
};

}  // namespace stripline::plan
