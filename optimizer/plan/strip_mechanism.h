// The planner of strip.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/strip.h"

namespace stripline::plan {

/// "A, 16 steps"; "B, 16 steps, 2 ahead": of loops and nests.
std::string brief_schedule(Schedule schedule, Reason reason, uint64_t steps, uint32_t window);

struct StripMechanism {
  using Request = StripRequest;
  using Asked = Request;
  using Plan = StripPlan;
  using Candidate = StripCandidate;
  using Record = StripRecord;
  using Model = CompiledPath;
  using Costs = StripCosts;
  static constexpr Words kWords = {
      .command = "loop",
      .help = "A loop that goes through remote data (strip_for)",
      .example = "--bytes 512KiB --fp-ops 2 --local-refs 1",
      .baseline = "the vectorised loop",
      .no_model =
          "the model does not hold this operation and its overhead, so the loop is vectorised",
      .sized_by = "bytes that are moved",
      .table = {{"bytes",
                 "4KiB,8KiB,16KiB,32KiB,64KiB,128KiB,256KiB,512KiB,1MiB,2MiB,4MiB,8MiB,16MiB,32MiB,"
                 "64MiB"},
                {"compute", "2us,5us,10us,20us,50us,100us,200us,500us,1ms,2ms,5ms,10ms"},
                {{{"direction", "get,put"}}}}};

  static Request usual();
  static std::span<const Field<Request>> fields();
  static Result<Request> request_of(const Request& asked);
  /// Without what is not looked at where the computation is known.
  static Request asked_of(const Request& request);
  static const StripCosts* costs_of(const CompiledPath& path) { return &path.strip; }

  static Plan plan(const Request& request, const StripCosts* costs, Record& record) {
    return plan_strip(request, costs, record);
  }
  static double margin(const Request&, const StripCosts* costs) { return costs->minimum_gain(); }
  static Plan unfold(const Request& request, const Candidate& candidate) {
    return force_strip(request, nullptr, candidate);
  }
  static void show(const Request& request, const Plan& plan, Row& row);
  static std::string brief(const Plan& plan, std::string_view /*why*/) {
    return brief_schedule(plan.schedule, plan.reason, plan.count, plan.burst);
  }
  static void show_pruned(const StripPruned& pruned, Row& row) {
    row.bytes("strip_bytes", pruned.strip_bytes, "strips of {}");
  }
  static void add_to(Explanation::Alternative& alternative, const Request& request,
                     const StripCosts& costs, const Candidate& candidate) {
    alternative.interval = {predict_strip(request, costs, candidate, cost::Corner::low),
                            predict_strip(request, costs, candidate, cost::Corner::high)};
  }
  /// What the site's guard compares a plan that vectorises with (tie_of_strip()), the computation,
  /// and the model's entries.
  static void add_to(Explained<StripMechanism>& explained, const Request& request,
                     const StripCosts* costs);
};

}  // namespace stripline::plan
