// The planner of fine.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include "optimizer/plan/fine.h"
#include "optimizer/plan/path_mechanism.h"

namespace stripline::plan {

struct FineMechanism : PathMechanism<FineRequest, FinePlan, FineMethod> {
  using Record = FineRecord;
  static constexpr Words kWords = {
      .command = "fine",
      .help = "Single reads and writes in a region (<stripline/fine.h>)",
      .example = "--reads 3000 --boxes 200 --box-bytes 400 --bursts 100 --writes 50 --compute 2ms",
      .notes = "Every rank is taken to do the same.\n",
      .baseline = "waiting for each access",
      .no_model =
          "the model does not hold puts and gets: reads of neighbours are fetched together, "
          "nothing is waited for, and the program compares that with waiting for each "
          "access",
      .scope = {.until = Scope::Until::site},
      .sized_by = "bytes of the reads and writes of a region",
      .methods = kFineMethodNames};

  static std::span<const Field<Request>> fields();
  static Result<Request> request_of(const Request& asked);

  // Decisions, by choose().
  static bool knows(const CompiledPath* path) {
    return path != nullptr && path->vis.has(Direction::put) && path->vis.has(Direction::get);
  }
  static FineMethod baseline(const Request&) { return FineMethod::blocking; }
  static FineMethod without_model(const Request&) { return FineMethod::boxes; }
  template <typename Visit>
  static void each_candidate(const Request& request, const Visit& visit) {
    for (size_t i = 0; i < kFineMethodNames.size(); ++i) {
      const auto method = static_cast<FineMethod>(i);
      const bool needs_others = method == FineMethod::single || method == FineMethod::lists;
      if (method == baseline(request) || (request.at_once && needs_others)) continue;
      visit(method);
    }
  }
  static double seconds(const Request& request, const CompiledPath& path, FineMethod method,
                        const Ends& ends) {
    return predict_fine(request, path, method, ends);
  }

  // Explanations.
  static Plan plan(const Request& request, const CompiledPath* path, Record& record) {
    return plan_fine(request, path, record);
  }
};
static_assert(Tried<FineMechanism>);

}  // namespace stripline::plan
