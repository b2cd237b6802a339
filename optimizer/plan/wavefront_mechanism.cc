#include "optimizer/plan/wavefront_mechanism.h"

#include <algorithm>

namespace stripline::plan {
namespace {

using Stage = WavefrontRequest;

constexpr std::array<std::string_view, 2> kKinds = {"multipartition", "pipeline"};

constexpr Field<Stage> kind_field() {
  return {{.name = "kind",
           .option = "--kind",
           .phrase = ", {}",
           .help = "multipartition: every rank has a part of each stage; pipeline: each stage is "
                   "another rank's",
           .unit = Unit::choice,
           .always = true,
           .choices = kKinds},
          [](const Stage& stage) -> FieldValue { return kKinds[stage.all_busy ? 0 : 1]; },
          [](Stage& stage, const FieldValue& kind) {
            stage.all_busy = std::get<std::string_view>(kind) == kKinds[0];
          }};
}

}  // namespace

std::span<const Field<Stage>> WavefrontMechanism::fields() {
  static constexpr std::array<Field<Stage>, 5> kFields = {
      field<Stage, &Stage::stages>("stages", "--stages", "sweep of {} stages",
                                   "Stages of the sweep, one after the other")
          .from(1)
          .required(),
      field<Stage, &Stage::lines>("lines", "--lines", ", each of {} lines",
                                  "Lines of a stage, of which none needs a later one")
          .within(1, kMostNumber)
          .required(),
      bytes<Stage, &Stage::line_bytes>("line_bytes", "--line-bytes", " of {}",
                                       "What a line leaves for the next stage")
          .required(),
      field<Stage, &Stage::compute_s>("compute_s", "--compute", " and {} of computation",
                                      "Computation of all lines of a stage, e.g. 100us")
          .required(),
      kind_field(),
  };
  return kFields;
}

Result<Stage> WavefrontMechanism::request_of(const Stage& asked) {
  if (asked.lines > kMostExtent / std::max<uint64_t>(asked.line_bytes, 1)) {
    return Error(ErrorCode::invalid_argument,
                 "a stage leaves more than 16 TiB, which no segment has; take "
                 "fewer --lines, or smaller --line-bytes");
  }
  return asked;
}

Stage WavefrontMechanism::asked_of(const Stage& request) {
  Stage asked = request;
  asked.stages = std::max(request.stages, 1U);
  return asked;
}

void WavefrontMechanism::show(const Stage& request, const WavefrontPlan& plan, Row& row) {
  row.number("pieces", plan.pieces, plan.pieces == 1 ? "{} piece" : "{} pieces")
      .bytes("piece_bytes", request.lines * request.line_bytes / plan.pieces, " of {}");
}

void WavefrontMechanism::add_to(Explanation::Alternative& alternative, const Stage& request,
                                const StripCosts& costs, uint32_t pieces) {
  const auto at = [&](cost::Corner corner) {
    return predict_wavefront(request, costs, pieces, corner);
  };
  const WavefrontTime time = at(cost::Corner::nominal);
  alternative.interval = {at(cost::Corner::low).sweep_s, at(cost::Corner::high).sweep_s};
  alternative.more.seconds("first_s", time.first_s, ", F {}")
      .seconds("busy_s", time.busy_s, ", B {}")
      .seconds("step_s", time.step_s);
}

void WavefrontMechanism::add_to(Explained<WavefrontMechanism>& e, const Stage& request,
                                const StripCosts* costs) {
  if (!e.has_times) return;
  const auto add_put = [&](uint64_t bytes, const char* what) {
    e.entries.push_back(
        entry_row(bytes, costs->put().at(bytes), request.surroundings.target_polls_only).say(what));
  };
  const uint64_t bytes = request.lines * request.line_bytes;
  add_put(bytes, ", of a put");
  if (e.record.best) add_put(bytes / e.record.best->candidate, ", of a put");
  if (!request.surroundings.flag_with_data) {
    add_put(kWavefrontFlagBytes, ", of the flag that follows a put");
  }
  e.model.seconds("overhead_s", costs->strip_overhead(cost::Corner::nominal),
                  "overhead per piece {}");
}

}  // namespace stripline::plan
