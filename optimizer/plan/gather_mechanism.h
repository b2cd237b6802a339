// The planner of gather.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include <string>
#include <string_view>

#include "optimizer/plan/gather.h"
#include "optimizer/plan/path_mechanism.h"

namespace stripline::plan {

struct GatherMechanism : PathMechanism<GatherRequest, GatherDecision, GatherMethod> {
  using Record = GatherRecord;
  static constexpr Words kWords = {.command = "gather",
                                   .help =
                                       "Elements of a distributed array that a rank needs "
                                       "(<stripline/gather.h>)",
                                   .example = "--elements 4000 --span 64KiB",
                                   .baseline = "the method that is taken without a model",
                                   .no_model =
                                       "the model does not hold puts and packing, so elements are "
                                       "packed unless they lie side by side",
                                   .scope = {.until = Scope::Until::inspection},
                                   .sized_by = "bytes that a rank needs of another one",
                                   .methods = methods_of(kGatherMethodNames, kGatherMethods),
                                   .table = {{"elements", "64,256,1024,4096,16384,65536"},
                                             {"span", "512KiB,2MiB,8MiB,32MiB"},
                                             {{{"readers", "1,16"}, {"runs", "1,64"}}}}};

  static std::span<const Field<Request>> fields();
  static Result<Request> request_of(const Request& asked);

  // Decisions, by choose().
  static bool knows(const CompiledPath* path) { return path != nullptr; }
  /// The path if it holds what this request is predicted from; else null.
  static const CompiledPath* known(const Request& request, const CompiledPath* path) {
    if (path == nullptr || request.by_stores) return path;
    return path->vis.has(Direction::put) ? path : nullptr;
  }
  static GatherMethod baseline(const Request& request) {
    return request.runs == 1 && request.besides == 0 ? GatherMethod::bound : GatherMethod::pack;
  }
  template <typename Visit>
  static void each_candidate(const Request& request, const Visit& visit) {
    const auto try_out = [&](GatherMethod method) {
      if (allows(request, method)) visit(method);
    };
    if (request.node_ranks > 1) return try_out(GatherMethod::share);
    if (request.runs > 1) try_out(GatherMethod::bound);
    if (!request.by_stores) try_out(GatherMethod::broadcast);
    // Through the network it asks for what the owner sends unasked otherwise, which pays where gets
    // have a shorter protocol than puts of that size: if one get is all that it takes.
    const bool one_piece = request.runs == 1 && request.vectors == 1 && request.besides == 0;
    if (request.by_stores || one_piece) try_out(GatherMethod::pull);
    // No rank waits for the answer to a put of a copy.
    if (one_piece && request.surroundings.flag_with_data && !request.by_stores)
      try_out(GatherMethod::pack);
  }
  // Its sources are those of messages where stores reach, too: readers that pull are notified.
  static double seconds(const Request& request, const CompiledPath& path, GatherMethod method,
                        const Ends& ends) {
    return predict_gather(request, path, method, ends);
  }

  // Explanations.
  static Plan plan(const Request& request, const CompiledPath* path, Record& record) {
    return plan_gather(request, path, record);
  }
  static void show(const Request& request, const Plan& plan, Row& row);
  static std::string brief(const Plan& plan, std::string_view why) {
    return std::string(to_string(plan.method)) + ", " + std::string(why);
  }
};
static_assert(Tried<GatherMechanism>);

}  // namespace stripline::plan
