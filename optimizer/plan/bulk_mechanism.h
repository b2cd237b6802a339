// The planner of bulk.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include "optimizer/plan/bulk.h"
#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/perturbed.h"

namespace stripline::plan {

struct BulkMechanism : AsAsked<BulkRequest> {
  using Plan = BulkPlan;
  using Candidate = BulkMethod;
  using Record = BulkRecord;
  using Model = CompiledPath;
  using Costs = CompiledPath;
  static constexpr Words kWords = {
      .command = "bulk",
      .help = "Blocking puts and gets between two barriers (<stripline/bulk.h>)",
      .example = "--puts 60 --put-bytes 16K --gets 60 --get-bytes 16K --compute 2ms --lead 1ms",
      .notes = "Every rank is taken to do the same.\n",
      .baseline = "waiting for each call",
      .no_model =
          "the model does not hold puts and gets: nothing is waited for, and the program "
          "compares that with waiting for each call",
      .scope = {.until = Scope::Until::site},
      .sized_by = "bytes of the puts and gets of a phase",
      .methods = kBulkMethodNames};

  static std::span<const Field<Request>> fields();
  static Result<Request> request_of(const Request& asked);
  static const CompiledPath* costs_of(const CompiledPath& path) { return &path; }

  // Decisions, by choose().
  static bool knows(const CompiledPath* path) {
    return path != nullptr && path->vis.has(Direction::put) && path->vis.has(Direction::get);
  }
  static BulkMethod baseline(const Request&) { return BulkMethod::blocking; }
  static BulkMethod without_model(const Request& request) { return usual_bulk(request); }
  template <typename Visit>
  static void each_candidate(const Request& request, const Visit& visit) {
    for (size_t i = 0; i < kBulkMethodNames.size(); ++i) {
      const auto method = static_cast<BulkMethod>(i);
      if (method != baseline(request) && allows(request, method)) visit(method);
    }
  }
  static double seconds(const Request& request, const CompiledPath& path, BulkMethod method,
                        const Ends& ends) {
    return predict_bulk(request, path, method, ends);
  }
  template <typename Visit>
  static void each_source(const Request&, const Visit& visit) {
    for (const Source source : detail::kMessageSources) visit(source);
    visit(Source::regions);
  }
  static double margin(const Request&, const CompiledPath* path) {
    return path->strip.minimum_gain();
  }
  static Plan unfold(const Request&, BulkMethod method, const Verdict& verdict = {}) {
    return {method, verdict.reason, verdict.predicted_s, verdict.baseline_s, verdict.gain_low};
  }

  // Explanations.
  static Plan plan(const Request& request, const CompiledPath* path, Record& record) {
    return plan_bulk(request, path, record);
  }
  static void show(const Request&, const Plan& plan, Row& row) {
    row.word("method", to_string(plan.method), "{}");
  }
};
static_assert(Tried<BulkMechanism>);

}  // namespace stripline::plan
