// The planner of updates that the workers of a node share (shared_update.h), as the frame of
// decisions sees it (mechanism.h): of points in order, and of updates in no order. What the machine
// takes is known from the model; where it does not know the team, the program measures, and what it
// found is part of what is asked.
#pragma once

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/shared_update.h"
#include "optimizer/plan/strip_costs.h"

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

/// A decision. Seconds are of an epoch.
struct SharedPlan {
  const SharedStrategy strategy = SharedStrategy::atomic;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;
  const double baseline_s = 0;  ///< of updates that compete for their cells
  const double gain_low = 0;    ///< as StripPlan's; what was measured has no interval
  /// Epochs until points are sorted again, unless it is seen sooner how fast they move; 0: never.
  const uint64_t sort_interval = 0;
};

/// The fastest strategy that the request permits, if it is surely faster than updates that compete
/// for their cells. `known`: the model's section; may be null. Pure, allocates nothing.
SharedPlan plan_shared(const SharedRequest& request,
                       const model::SharedUpdateModel* known) noexcept;
/// Updates that compete for their cells, as a guard has them carried out in place of another plan.
SharedPlan baseline_of_shared(const SharedRequest& request,
                              const model::SharedUpdateModel* known) noexcept;

/// To whole percents, as commands have shares.
double in_whole_percents(double share);

struct SharedMechanism : AsAsked<SharedRequest> {
  using Plan = SharedPlan;
  using Candidate = SharedStrategy;
  using Record = plan::Record<Candidate, Candidate>;
  using Model = CompiledModel;
  using Costs = model::SharedUpdateModel;
  static constexpr Words kWords = {
      .command = "shared",
      .help =
          "Updates of cells that all workers of a node reach, of points or in no order "
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
  static const Costs* costs_of(const CompiledModel& model);

  // Decisions, by choose(). What is not in the model is in the request.
  static bool knows(const Costs*) { return true; }
  static Candidate baseline(const Request& request) {
    return request.spread.competing == Competing::locked ? Candidate::locked : Candidate::atomic;
  }
  template <typename Visit>
  static void each_candidate(const Request& request, const Visit& visit) {
    for (size_t i = 0; i < kSharedStrategyNames.size(); ++i) {
      const auto strategy = static_cast<Candidate>(i);
      if (strategy != baseline(request)) visit(strategy);
    }
  }
  static double seconds(const Request& request, const Costs& known, Candidate strategy,
                        const Ends& ends);
  template <typename Visit>
  static void each_source(const Request& request, const Visit& visit) {
    if (request.costs != usual().costs) return;  // what was measured has no interval
    visit(Source::latency);
    visit(Source::compute);
  }
  /// What an update takes on a replica says nothing of what an atomic one does. A line that another
  /// worker has changed takes both the same.
  static bool errs_apart(const Request&, const Costs&, Candidate, Candidate, Source source) {
    return source == Source::compute;
  }
  static double margin(const Request&, const Costs*) { return kDefaultMinimumGain; }
  static Plan unfold(const Request& request, Candidate strategy, const Verdict& verdict = {}) {
    return {strategy,
            verdict.reason,
            verdict.predicted_s,
            verdict.baseline_s,
            verdict.gain_low,
            first_sort_interval(request.spread.sort_s, verdict.predicted_s)};
  }

  // Explanations.
  static Plan plan(const Request& request, const Costs* known, Record& record);
  static void show(const Request&, const Plan& plan, Row& row) {
    row.word("strategy", to_string(plan.strategy), "{}");
  }
  /// When points are sorted again.
  static void add_to(Explained<SharedMechanism>& explained, const Request& request,
                     const Costs* known);
};
static_assert(Tried<SharedMechanism>);

}  // namespace stripline::plan
