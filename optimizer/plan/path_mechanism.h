// What mechanisms have in common whose costs are those of a path as a whole. For the files of this
// folder.
#pragma once

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/perturbed.h"

namespace stripline::plan {

/// Base of a mechanism (mechanism.h) whose plan is a candidate and the verdict on it. It has what
/// the mechanism does not declare itself.
template <typename RequestOf, typename PlanOf, typename CandidateOf>
struct PathMechanism : AsAsked<RequestOf> {
  using Request = RequestOf;
  using Plan = PlanOf;
  using Candidate = CandidateOf;
  using Model = CompiledPath;
  using Costs = CompiledPath;

  static const CompiledPath* costs_of(const CompiledPath& path) { return &path; }
  template <typename Visit>
  static void each_source(const Request&, const Visit& visit) {
    for (const Source source : detail::kMessageSources) visit(source);
    visit(Source::regions);
  }
  static double margin(const Request&, const CompiledPath* path) {
    return path->strip.minimum_gain();
  }
  static Plan unfold(const Request&, Candidate candidate, const Verdict& verdict = {}) {
    return {candidate, verdict.reason, verdict.predicted_s, verdict.baseline_s, verdict.gain_low};
  }
  static void show(const Request&, const Plan& plan, Row& row) {
    row.word("method", to_string(plan.method), "{}");
  }
};

}  // namespace stripline::plan
