// The planner of shared_update.h for points in order, as the frame of decisions sees it
// (mechanism.h). What the machine takes is measured when updates are set up, and part of what is
// asked.
#pragma once

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/shared_update.h"

namespace stripline::plan {

struct SharedRequest {
  SpreadRequest spread;
  SharedCosts costs;
  static constexpr Fact kFacts{};
  Surroundings surroundings;
  bool operator==(const SharedRequest&) const = default;
};

struct SharedPlan {
  const SharedStrategy strategy = SharedStrategy::atomic;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;
  const double baseline_s = 0;
  const double gain_low = 0;  ///< what was measured has no interval
};

struct SharedMechanism {
  using Request = SharedRequest;
  using Asked = Request;
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
          "What the machine takes is measured by the program, and given by options; the model "
          "is not asked.\n",
      .baseline = "updates that compete for their cells",
      .no_model = "nothing is known of the machine, so updates compete for their cells",
      .scope = {Scope::Decider::group, Scope::Until::inspection},
      .methods = kSharedStrategyNames,
      .settings = "SharedUpdatesOptions::force"};

  static Request usual();
  static std::span<const Field<Request>> fields();
  static Result<Request> request_of(const Request& asked) { return asked; }
  static Request asked_of(const Request& request) { return request; }
  static const CompiledModel* costs_of(const CompiledModel& model) { return &model; }
  static Plan plan(const Request& request, const CompiledModel* model, Record& record);
  static Plan unfold(const Request&, Candidate strategy) { return {strategy}; }
  static void show(const Request&, const Plan& plan, Row& row) {
    row.word("strategy", to_string(plan.strategy), "{}");
  }
};

}  // namespace stripline::plan
