#include "optimizer/plan/explain_vis.h"

#include "base/quantity.h"
#include "optimizer/plan/explain_text.h"

namespace stripline::plan {
namespace {

using detail::format;
using detail::time_text;

class Recorder : public VisSink {
 public:
  explicit Recorder(VisExplanation& out) : out_(out) {}
  void considered(const VisCandidate& candidate, double model_s, double residual, double low,
                  double high) override {
    out_.alternatives.push_back({candidate, model_s, residual, low, high});
  }

 private:
  VisExplanation& out_;
};

std::string way_text(const VisRequest& request, VisMethod method, uint32_t window,
                     uint64_t chunk_bytes) {
  std::string out(to_string(method));
  if (method == VisMethod::packed) {
    out += ", chunks of " + exact_bytes_text(chunk_bytes);
    if (vis_lands(request, chunk_bytes)) out += " that land";
  }
  if (method != VisMethod::bounding_box) out += ", window " + std::to_string(window);
  return out;
}

std::string reason_text(const VisExplanation& e) {
  if (!e.has_model) {
    return e.plan.method == VisMethod::packed
               ? "the model does not hold what it takes; small regions are packed without one"
               : "the model does not hold what it takes; regions are moved one by one without one";
  }
  if (e.alternatives.size() < 2) return "no other method is possible";
  const std::string runner_up = std::string(to_string(e.plan.runner_up)) + ", the next, takes " +
                                time_text(e.plan.runner_up_s);
  if (!e.plan.uncertain) return "the fastest; " + runner_up;
  return "which of the two fastest is faster is not known, and this one loses least if the model "
         "errs; " +
         runner_up;
}

}  // namespace

VisExplanation explain(const VisRequest& request, const VisCosts* costs) {
  VisExplanation e;
  e.request = request;
  Recorder recorder(e);
  e.plan = explain_vis(request, costs, recorder);
  e.has_model = e.plan.reason != Reason::no_model;
  for (size_t i = 0; i < kVisMethods; ++i) {
    const auto method = static_cast<VisMethod>(i);
    if (!vis_allowed(request, method)) e.excluded.push_back(method);
  }
  return e;
}

std::string to_text(const VisExplanation& e) {
  const VisRequest& request = e.request;
  std::string out =
      std::string(to_string(request.direction)) + " of " + std::to_string(request.regions) +
      " regions of " + exact_bytes_text(request.region_bytes) + " within " +
      exact_bytes_text(request.extent_bytes) + ", " + std::string(to_string(request.compute));
  if (request.signalled) {
    out += request.flag_with_data ? ", until the target sees a flag that the network takes along"
                                  : ", until the target sees a flag that follows";
  }
  if (request.peers > 1) out += ", with " + std::to_string(request.peers) + " ranks at once";
  if (request.service_delay_s > 0) {
    out += ", peers answer after " + time_text(request.service_delay_s);
  }
  out += "\nplan: " + way_text(request, e.plan.method, e.plan.window, e.plan.chunk_bytes);
  if (e.has_model) out += ", predicted " + time_text(e.plan.predicted_s);
  out += "\nwhy: " + reason_text(e) + "\n";
  if (!e.alternatives.empty()) out += "alternatives:\n";
  for (const VisExplanation::Alternative& a : e.alternatives) {
    out += (a.candidate.method == e.plan.method ? "  * " : "    ") +
           way_text(request, a.candidate.method, a.candidate.window, a.candidate.chunk_bytes) +
           ": " + time_text(a.predicted_s()) + " (cost model " + time_text(a.model_s) +
           ", measured to take " + format("%.3g", a.residual) + " [" +
           format("%.3g", a.residual_low) + ", " + format("%.3g", a.residual_high) +
           "] times as long)\n";
  }
  for (const VisMethod method : e.excluded) {
    out += "    " + std::string(to_string(method)) + ": not possible here\n";
  }
  return out;
}

Json to_json(const VisExplanation& e) {
  const VisRequest& request = e.request;
  Json json = {{"direction", to_string(request.direction)},
               {"regions", request.regions},
               {"region_bytes", request.region_bytes},
               {"extent_bytes", request.extent_bytes},
               {"local_regions", request.local_regions},
               {"compute", to_string(request.compute)},
               {"peers", request.peers},
               {"service_delay_s", request.service_delay_s},
               {"signalled", request.signalled},
               {"flag_with_data", request.flag_with_data},
               {"plan",
                {{"method", to_string(e.plan.method)},
                 {"reason", to_string(e.plan.reason)},
                 {"window", e.plan.window},
                 {"chunk_bytes", e.plan.chunk_bytes}}},
               {"why", reason_text(e)},
               {"excluded", Json::array()}};
  for (const VisMethod method : e.excluded) json["excluded"].push_back(to_string(method));
  if (!e.has_model) return json;
  json["plan"]["predicted_s"] = e.plan.predicted_s;
  json["plan"]["runner_up"] = to_string(e.plan.runner_up);
  json["plan"]["runner_up_s"] = e.plan.runner_up_s;
  json["plan"]["uncertain"] = e.plan.uncertain;
  json["alternatives"] = Json::array();
  for (const VisExplanation::Alternative& a : e.alternatives) {
    json["alternatives"].push_back({{"method", to_string(a.candidate.method)},
                                    {"window", a.candidate.window},
                                    {"chunk_bytes", a.candidate.chunk_bytes},
                                    {"model_s", a.model_s},
                                    {"residual", a.residual},
                                    {"residual_low", a.residual_low},
                                    {"residual_high", a.residual_high}});
  }
  return json;
}

}  // namespace stripline::plan
