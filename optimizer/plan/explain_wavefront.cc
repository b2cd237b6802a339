#include "optimizer/plan/explain_wavefront.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/quantity.h"
#include "optimizer/plan/explain_text.h"
#include "optimizer/plan/fields_json.h"

namespace stripline::plan {
namespace {

using detail::time_text;

const WavefrontExplanation::Alternative& fastest(const WavefrontExplanation& e) {
  return *std::ranges::min_element(
      e.alternatives, {}, [](const auto& alternative) { return alternative.time.sweep_s; });
}

std::string reason_text(const WavefrontExplanation& e) {
  if (!e.has_model) {
    return "the model does not hold puts and their overhead, so a stage goes in one piece";
  }
  if (e.plan.reason == Reason::no_faster_plan) {
    return "no larger number of pieces is predicted to be faster than one";
  }
  return detail::reason_text(
      e.plan.reason, {e.plan.baseline_s, fastest(e).time.sweep_s, e.plan.gain_low, e.minimum_gain});
}

std::string pieces_text(uint32_t pieces) {
  return std::to_string(pieces) + (pieces == 1 ? " piece" : " pieces");
}

std::string request_text(const WavefrontRequest& request) {
  std::string out = "stage of " + std::to_string(request.lines) + " lines of " +
                    exact_bytes_text(request.line_bytes) + ", " +
                    exact_bytes_text(request.lines * request.line_bytes) + " in all, computation " +
                    time_text(request.compute_s) + "\nsweep of " + std::to_string(request.stages) +
                    " stages, " +
                    (request.all_busy ? "every rank has a part of each" : "each is another rank's");
  return out + surroundings_text(request.surroundings, WavefrontRequest::kFacts) +
         (request.surroundings.flag_with_data ? ", flags travel with their data"
                                              : ", flags follow their data");
}

using Stage = WavefrontRequest;
constexpr std::array<std::string_view, 2> kKinds = {"multipartition", "pipeline"};

constexpr Field<Stage> kind_field() {
  return {{.name = "kind",
           .option = "--kind",
           .help = "multipartition: every rank has a part of each stage; pipeline: each stage is "
                   "another rank's",
           .unit = Unit::choice,
           .choices = kKinds},
          [](const Stage& stage) -> FieldValue { return kKinds[stage.all_busy ? 0 : 1]; },
          [](Stage& stage, const FieldValue& kind) {
            stage.all_busy = std::get<std::string_view>(kind) == kKinds[0];
          }};
}

constexpr std::array<Field<Stage>, 5> kFields = {
    field<Stage, &Stage::stages>({.name = "stages",
                                  .option = "--stages",
                                  .help = "Stages of the sweep, one after the other",
                                  .least = 1,
                                  .required = true}),
    field<Stage, &Stage::lines>({.name = "lines",
                                 .option = "--lines",
                                 .help = "Lines of a stage, of which none needs a later one",
                                 .least = 1,
                                 .most = uint64_t{1} << 53,
                                 .required = true}),
    field<Stage, &Stage::line_bytes>({.name = "line_bytes",
                                      .option = "--line-bytes",
                                      .help = "What a line leaves for the next stage",
                                      .unit = Unit::bytes,
                                      .most = std::numeric_limits<uint64_t>::max(),
                                      .required = true}),
    field<Stage, &Stage::compute_s>({.name = "compute_s",
                                     .option = "--compute",
                                     .help = "Computation of all lines of a stage, e.g. 100us",
                                     .unit = Unit::seconds,
                                     .required = true}),
    kind_field(),
};

}  // namespace

template <>
std::span<const Field<WavefrontRequest>> fields_of() {
  return kFields;
}

template <>
WavefrontRequest usual_request() {
  return {};
}

WavefrontExplanation explain(const WavefrontRequest& request, const StripCosts* costs) {
  WavefrontExplanation e;
  e.request = request;
  WavefrontRecord record;
  e.plan = plan_wavefront(request, costs, record);
  e.has_model = e.plan.reason != Reason::no_model;
  if (!e.has_model) return e;
  for (const auto& [pieces, predicted_s] : record.alternatives) {
    const auto at = [&](cost::Corner corner) {
      return predict_wavefront(request, *costs, pieces, corner);
    };
    e.alternatives.push_back({pieces, request.lines * request.line_bytes / pieces,
                              at(cost::Corner::nominal), at(cost::Corner::low).sweep_s,
                              at(cost::Corner::high).sweep_s});
  }
  e.sensitivities = std::move(record.sensitivities);
  e.overhead_s = costs->strip_overhead(cost::Corner::nominal);
  e.minimum_gain = costs->minimum_gain();
  const auto add_entry = [&](uint64_t bytes) {
    e.entries.push_back({bytes, costs->put().at(bytes)});
  };
  add_entry(e.alternatives.front().piece_bytes);
  if (fastest(e).pieces > 1) add_entry(fastest(e).piece_bytes);
  if (!request.surroundings.flag_with_data) add_entry(kWavefrontFlagBytes);
  return e;
}

std::string to_text(const WavefrontExplanation& e) {
  std::string out = request_text(e.request) + "\nplan: " + pieces_text(e.plan.pieces);
  if (e.has_model) {
    out += ", sweep predicted " + time_text(e.plan.predicted_s) + ", in one piece " +
           time_text(e.plan.baseline_s);
  }
  out += "\nwhy: " + reason_text(e) + "\n";
  if (!e.has_model) return out;
  out += "alternatives (the first piece is at the next stage after F, a rank is busy for B):\n";
  for (const WavefrontExplanation::Alternative& a : e.alternatives) {
    out += (a.pieces == e.plan.pieces ? "  * " : "    ") + pieces_text(a.pieces) + " of " +
           exact_bytes_text(a.piece_bytes) + ": " + time_text(a.time.sweep_s) + " [" +
           time_text(a.low_s) + ", " + time_text(a.high_s) + "], F " + time_text(a.time.first_s) +
           ", B " + time_text(a.time.busy_s) + "\n";
  }
  out += detail::sensitivities_text(e.sensitivities);
  out += "model entries, of puts:\n";
  for (const WavefrontExplanation::Entry& entry : e.entries) {
    out +=
        "    " +
        detail::entry_text(entry.bytes, entry.message, e.request.surroundings.target_polls_only) +
        "\n";
  }
  return out + "    overhead per piece " + time_text(e.overhead_s) + "\n";
}

Json to_json(const WavefrontExplanation& e) {
  Json json = {{"plan", detail::verdict_json(e.plan)}, {"why", reason_text(e)}};
  json["plan"]["pieces"] = e.plan.pieces;
  add_fields(json, e.request);
  if (!e.has_model) return json;
  json["minimum_gain"] = e.minimum_gain;
  json["overhead_s"] = e.overhead_s;
  json["alternatives"] = Json::array();
  for (const WavefrontExplanation::Alternative& a : e.alternatives) {
    json["alternatives"].push_back({{"pieces", a.pieces},
                                    {"piece_bytes", a.piece_bytes},
                                    {"first_s", a.time.first_s},
                                    {"busy_s", a.time.busy_s},
                                    {"step_s", a.time.step_s},
                                    {"sweep_s", a.time.sweep_s},
                                    {"low_s", a.low_s},
                                    {"high_s", a.high_s}});
  }
  json["sensitivities"] = detail::sensitivities_json(e.sensitivities);
  json["entries"] = Json::array();
  for (const WavefrontExplanation::Entry& entry : e.entries) {
    json["entries"].push_back(
        detail::entry_json(entry.bytes, entry.message, e.request.surroundings.target_polls_only));
  }
  return json;
}

}  // namespace stripline::plan
