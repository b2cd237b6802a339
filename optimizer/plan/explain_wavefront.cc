#include "optimizer/plan/explain_wavefront.h"

#include <algorithm>

#include "base/quantity.h"
#include "optimizer/plan/explain_text.h"

namespace stripline::plan {
namespace {

using detail::time_text;

class Recorder : public WavefrontSink {
 public:
  Recorder(const WavefrontRequest& request, const StripCosts* costs, WavefrontExplanation& out)
      : request_(request), costs_(costs), out_(out) {}

  void considered(uint32_t pieces, const WavefrontTime& predicted) override {
    const auto at = [&](cost::Corner corner) {
      return predict_wavefront(request_, *costs_, pieces, corner).sweep_s;
    };
    out_.alternatives.push_back({pieces, request_.lines * request_.line_bytes / pieces, predicted,
                                 at(cost::Corner::low), at(cost::Corner::high)});
  }
  void sensitivity(Source source, double gain_loss) override {
    out_.sensitivities.push_back({source, gain_loss});
  }

 private:
  const WavefrontRequest& request_;
  const StripCosts* costs_;
  WavefrontExplanation& out_;
};

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
  if (request.nic_ranks > 1) {
    out += ", " + std::to_string(request.nic_ranks) + " ranks sharing a NIC";
  }
  if (request.served_between_pieces) out += ", served between pieces";
  return out +
         (request.flag_with_data ? ", flags travel with their data" : ", flags follow their data");
}

}  // namespace

WavefrontExplanation explain(const WavefrontRequest& request, const StripCosts* costs) {
  WavefrontExplanation e;
  e.request = request;
  Recorder recorder(request, costs, e);
  e.plan = explain_wavefront(request, costs, recorder);
  e.has_model = e.plan.reason != Reason::no_model;
  if (!e.has_model) return e;
  e.overhead_s = costs->strip_overhead(cost::Corner::nominal);
  e.minimum_gain = costs->minimum_gain();
  const auto add_entry = [&](uint64_t bytes) {
    e.entries.push_back({bytes, costs->put().at(bytes)});
  };
  add_entry(e.alternatives.front().piece_bytes);
  if (fastest(e).pieces > 1) add_entry(fastest(e).piece_bytes);
  if (!request.flag_with_data) add_entry(kWavefrontFlagBytes);
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
  if (!e.sensitivities.empty()) {
    out += "the gain may be smaller by, if a parameter errs within its interval:\n";
    for (const WavefrontExplanation::Sensitivity& s : e.sensitivities) {
      out += "    " + std::string(to_string(s.source)) + ": " + detail::percent_text(s.gain_loss) +
             "\n";
    }
  }
  out += "model entries, of puts:\n";
  for (const WavefrontExplanation::Entry& entry : e.entries) {
    out += "    " +
           detail::entry_text(entry.bytes, entry.message, e.request.served_between_pieces) + "\n";
  }
  return out + "    overhead per piece " + time_text(e.overhead_s) + "\n";
}

Json to_json(const WavefrontExplanation& e) {
  Json json = {{"lines", e.request.lines},
               {"line_bytes", e.request.line_bytes},
               {"compute_s", e.request.compute_s},
               {"stages", e.request.stages},
               {"all_busy", e.request.all_busy},
               {"nic_ranks", e.request.nic_ranks},
               {"flag_with_data", e.request.flag_with_data},
               {"served_between_pieces", e.request.served_between_pieces},
               {"plan",
                {{"pieces", e.plan.pieces},
                 {"reason", to_string(e.plan.reason)},
                 {"predicted_s", e.plan.predicted_s},
                 {"baseline_s", e.plan.baseline_s},
                 {"gain_low", e.plan.gain_low}}},
               {"why", reason_text(e)}};
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
  json["sensitivities"] = Json::array();
  for (const WavefrontExplanation::Sensitivity& s : e.sensitivities) {
    json["sensitivities"].push_back({{"source", to_string(s.source)}, {"gain_loss", s.gain_loss}});
  }
  json["entries"] = Json::array();
  for (const WavefrontExplanation::Entry& entry : e.entries) {
    json["entries"].push_back(
        detail::entry_json(entry.bytes, entry.message, e.request.served_between_pieces));
  }
  return json;
}

}  // namespace stripline::plan
