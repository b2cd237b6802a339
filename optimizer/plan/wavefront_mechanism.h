// The planner of wavefront.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include <string>
#include <string_view>

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/perturbed.h"
#include "optimizer/plan/wavefront.h"

namespace stripline::plan {

struct WavefrontMechanism : AsAsked<WavefrontRequest> {
  using Plan = WavefrontPlan;
  using Candidate = uint32_t;  // pieces
  using Record = WavefrontRecord;
  using Model = CompiledPath;
  using Costs = StripCosts;
  static constexpr Words kWords = {
      .command = "sweep",
      .help = "The stages of a sweep over ranks (<stripline/wavefront.h>)",
      .example = "--stages 8 --lines 64 --line-bytes 640 --compute 50us --kind pipeline",
      .baseline = "one piece",
      .no_model = "the model does not hold puts and their overhead, so a stage goes in one piece",
      .legend = " (the first piece is at the next stage after F, a rank is busy for B)",
      .sized_by = "bytes that a stage leaves",
      .number = "pieces"};

  static std::span<const Field<Request>> fields();
  static Result<Request> request_of(const Request& asked);
  static Request asked_of(const Request& request);
  static const StripCosts* costs_of(const CompiledPath& path) { return &path.strip; }

  // Decisions, by choose().
  static bool knows(const StripCosts* costs) { return costs != nullptr && costs->has_put(); }
  static uint32_t baseline(const Request&) { return 1; }
  template <typename Visit>
  static void each_candidate(const Request& request, const Visit& visit) {
    // Most stages gain all there is with two pieces, and what more of them add changes slowly.
    for (const uint32_t pieces :
         {2U, 3U, 4U, 6U, 8U, 12U, 16U, 24U, 32U, 48U, kMostWavefrontPieces}) {
      if (pieces <= request.lines) visit(pieces);
    }
  }
  static double seconds(const Request& request, const StripCosts& costs, uint32_t pieces,
                        const Ends& ends);
  template <typename Visit>
  static void each_source(const Request& request, const Visit& visit) {
    for (const Source source : detail::kMessageSources) visit(source);
    if (request.surroundings.target_polls_only) visit(Source::serve);
    visit(Source::overhead);
  }
  static double margin(const Request&, const StripCosts* costs) { return costs->minimum_gain(); }
  static Plan unfold(const Request&, uint32_t pieces, const Verdict& verdict = {}) {
    return {pieces, verdict.reason, verdict.predicted_s, verdict.baseline_s, verdict.gain_low};
  }

  // Explanations.
  static Plan plan(const Request& request, const StripCosts* costs, Record& record) {
    return plan_wavefront(request, costs, record);
  }
  static void show(const Request& request, const Plan& plan, Row& row);
  static std::string brief(const Plan& plan, std::string_view why) {
    return std::to_string(plan.pieces) + (plan.pieces == 1 ? " piece, " : " pieces, ") +
           std::string(why);
  }
  static void add_to(Explanation::Alternative& alternative, const Request& request,
                     const StripCosts& costs, uint32_t pieces);
  static void add_to(Explained<WavefrontMechanism>& explained, const Request& request,
                     const StripCosts* costs);
};
static_assert(Tried<WavefrontMechanism>);

}  // namespace stripline::plan
