// The planner of product.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/perturbed.h"
#include "optimizer/plan/product.h"

namespace stripline::plan {

struct ProductMechanism : AsAsked<ProductRequest> {
  using Plan = ProductPlan;
  using Candidate = ProductMethod;
  using Record = ProductRecord;
  using Model = CompiledPath;
  using Costs = CompiledPath;
  static constexpr Words kWords = {
      .command = "product",
      .help = "Products of a sparse matrix with vectors (<stripline/sparse_matrix.h>)",
      .example = "--rows 100000 --own-entries 680000 --entries 20000 --elements 4000 --owners 6",
      .baseline = "what the number of rows and owners suggests",
      .no_model = "nothing is known of what rows and copies take, so their numbers decide",
      .scope = {.until = Scope::Until::inspection},
      .sized_by = "bytes of the entries of a rank",
      .methods = kProductMethodNames};

  static std::span<const Field<Request>> fields();
  static Result<Request> request_of(const Request& asked);
  static const CompiledPath* costs_of(const CompiledPath& path) { return &path; }

  // Decisions, by choose().
  // Without puts no one knows what there is time for while elements are in flight.
  static bool knows(const CompiledPath* path) {
    return path != nullptr && path->vis.has(Direction::put);
  }
  static ProductMethod baseline(const Request& request) { return usual_product(request); }
  template <typename Visit>
  static void each_candidate(const Request& request, const Visit& visit) {
    for (size_t i = 0; i < kProductMethodNames.size(); ++i) {
      const auto method = static_cast<ProductMethod>(i);
      if (method != baseline(request) && allows(request, method)) visit(method);
    }
  }
  static double seconds(const Request& request, const CompiledPath& path, ProductMethod method,
                        const Ends& ends) {
    return predict_product(request, path, method, ends);
  }
  template <typename Visit>
  static void each_source(const Request&, const Visit& visit) {
    for (const Source source : detail::kMessageSources) visit(source);
    visit(Source::regions);
    visit(Source::compute);
  }
  static double margin(const Request&, const CompiledPath* path) {
    return path->strip.minimum_gain();
  }
  static Plan unfold(const Request&, ProductMethod method, const Verdict& verdict = {}) {
    return {method, verdict.reason, verdict.predicted_s, verdict.baseline_s, verdict.gain_low};
  }

  // Explanations.
  static Plan plan(const Request& request, const CompiledPath* path, Record& record) {
    return plan_product(request, path, record);
  }
  static void show(const Request&, const Plan& plan, Row& row) {
    row.word("method", to_string(plan.method), "{}");
  }
};
static_assert(Tried<ProductMechanism>);

}  // namespace stripline::plan
