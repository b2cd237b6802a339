// The planners of single.h as the frame of decisions sees them (mechanism.h).
#pragma once

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/single.h"

namespace stripline::plan {

/// What the three have in common; `Of` has fields(), kWords and decide().
template <typename Of, typename RequestOf, typename PlanOf>
struct SingleMechanism : AsAsked<RequestOf> {
  using Request = RequestOf;
  using Plan = PlanOf;
  using Candidate = std::remove_const_t<decltype(Plan::method)>;
  using Record = plan::Record<Candidate, Candidate>;
  using Model = CompiledModel;
  using Costs = SingleCosts;

  static const SingleCosts* costs_of(const CompiledModel& model) { return &model.single(); }
  static Plan plan(const Request& request, const SingleCosts* costs, Record& /*record*/) {
    return Of::decide(request, costs == nullptr ? SingleCosts() : *costs);
  }
  static Plan unfold(const Request&, Candidate method) { return {method}; }
  static void show(const Request&, const Plan& plan, Row& row) {
    row.word("method", to_string(plan.method), "{}");
  }
};

struct AtomicMechanism : SingleMechanism<AtomicMechanism, AtomicRequest, AtomicPlan> {
  static constexpr Words kWords = {
      .command = "atomic",
      .help = "Atomic operations of a domain (<stripline/atomic.h>)",
      .example = "--mapped",
      .no_model =
          "the model does not say: those that may wait for each other travel together, and "
          "the provider carries out others",
      .scope = {Scope::Decider::group, Scope::Until::job},
      .sized_by = "bytes of a variable",
      .methods = kAtomicMethodNames};
  static std::span<const Field<AtomicRequest>> fields();
  static Plan decide(const Request& request, const SingleCosts& costs) {
    return plan_atomic(request, costs);
  }
};

struct PutMechanism : SingleMechanism<PutMechanism, PutRequest, PutPlan> {
  static constexpr Words kWords = {
      .command = "put",
      .help = "A put of contiguous memory (rput, rput_nbi, rput_buffered)",
      .example = "--bytes 64 --implicit",
      .no_model =
          "the model does not say, so puts without a handle of up to 64 bytes travel "
          "together, and buffered ones of up to 64 KiB are copied",
      .scope = {.until = Scope::Until::call},
      .methods = kPutMethodNames,
      .settings = "put_combining.max_put_bytes and buffered_put.max_bytes in STRIPLINE_TUNING"};
  static std::span<const Field<PutRequest>> fields();
  static Plan decide(const Request& request, const SingleCosts& costs) {
    return plan_put(request, costs);
  }
};

struct ProgressMechanism : SingleMechanism<ProgressMechanism, ProgressRequest, ProgressPlan> {
  static constexpr Words kWords = {
      .command = "progress",
      .help = "Who serves the peers of a rank while its program computes",
      .example = "--calls 1000 --missed 4 --waited 20ms",
      .no_model = "the model does not say what a thread costs, so what was seen over TCP decides",
      .scope = {.until = Scope::Until::job},
      .methods = kProgressMethodNames,
      .settings = "STRIPLINE_PROGRESS"};
  static std::span<const Field<ProgressRequest>> fields();
  static Plan decide(const Request& request, const SingleCosts& costs) {
    return plan_progress(request, costs);
  }
};

}  // namespace stripline::plan
