// The planner of nest.h as the frame of decisions sees it (mechanism.h). Nests are asked for by
// documents (nest_json.h) in place of options.
#pragma once

#include <string>
#include <string_view>

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/nest.h"

namespace stripline::plan {

/// A nest as a command line says it. Its surroundings are members of the document.
struct AskedNest {
  std::string nest;  ///< a file, or the document itself, which begins with '{'
  static constexpr Fact kFacts{};
  Surroundings surroundings;
  bool operator==(const AskedNest&) const = default;
};

struct NestMechanism {
  using Request = NestRequest;
  using Asked = AskedNest;
  using Plan = NestPlan;
  using Candidate = NestCandidate;
  using Record = NestRecord;
  using Model = CompiledModel;
  using Costs = CompiledModel;  // which the links of a request point to
  static const Words kWords;

  static AskedNest usual() { return {}; }
  static std::span<const Field<AskedNest>> fields();
  static AskedNest asked_of(const NestRequest& request);
  static Result<Explanation> answer(const AskedNest& asked, const CompiledModel& model);

  static Plan plan(const Request& request, const CompiledModel* /*costs*/, Record& record) {
    return plan_nest(request, record);
  }
  static double margin(const Request& request, const CompiledModel* costs);
  static Plan unfold(const Request& request, const Candidate& candidate) {
    return unfold_nest(request, candidate);
  }
  static void describe(const Request& request, Row& row);
  static void show(const Request& request, const Plan& plan, Row& row);
  static std::string brief(const Plan& plan, std::string_view why);
  static void show_pruned(const NestPruned& pruned, Row& row);
  /// The loops that the nest cannot be cut at, the computation, and the model's entries for the
  /// contiguous tiles of the plan.
  static void add_to(Explained<NestMechanism>& explained, const Request& request,
                     const CompiledModel* costs);
};

/// What the request points to lives at least as long as the explanation.
inline Explained<NestMechanism> explain(const NestRequest& request) {
  return explain<NestMechanism>(request, nullptr);
}

}  // namespace stripline::plan
