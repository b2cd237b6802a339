// The planner of bulk.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include "optimizer/plan/bulk.h"
#include "optimizer/plan/path_mechanism.h"

namespace stripline::plan {

struct BulkMechanism : PathMechanism<BulkRequest, BulkPlan, BulkMethod> {
  using Record = BulkRecord;
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

  // Explanations.
  static Plan plan(const Request& request, const CompiledPath* path, Record& record) {
    return plan_bulk(request, path, record);
  }
};
static_assert(Tried<BulkMechanism>);

}  // namespace stripline::plan
