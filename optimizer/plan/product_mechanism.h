// The planner of product.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include "optimizer/plan/path_mechanism.h"
#include "optimizer/plan/product.h"

namespace stripline::plan {

struct ProductMechanism : PathMechanism<ProductRequest, ProductPlan, ProductMethod> {
  using Record = ProductRecord;
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
  static void each_source(const Request& request, const Visit& visit) {
    PathMechanism::each_source(request, visit);
    visit(Source::compute);
  }

  // Explanations.
  static Plan plan(const Request& request, const CompiledPath* path, Record& record) {
    return plan_product(request, path, record);
  }
};
static_assert(Tried<ProductMechanism>);

}  // namespace stripline::plan
