#include "optimizer/plan/explain_vis.h"

#include <array>
#include <limits>

#include "base/quantity.h"
#include "optimizer/plan/explain_text.h"
#include "optimizer/plan/fields_json.h"

namespace stripline::plan {
namespace {

using detail::format;
using detail::time_text;

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

constexpr uint64_t kMostNumber = uint64_t{1} << 53;  // of which a double loses none
constexpr uint64_t kAnyBytes = std::numeric_limits<uint64_t>::max();
constexpr std::array<std::string_view, 2> kDirections = {"get", "put"};
constexpr std::array<std::string_view, kComputeClasses> kClasses = {"communication_only", "light",
                                                                    "heavy"};

using Vis = VisRequest;
constexpr std::array<Field<Vis>, 10> kFields = {
    field<Vis, &Vis::direction>({.name = "direction",
                                 .option = "--direction",
                                 .help = "Of the transfers",
                                 .unit = Unit::choice,
                                 .choices = kDirections}),
    field<Vis, &Vis::regions>({.name = "regions",
                               .option = "--regions",
                               .help = "Contiguous remote pieces",
                               .least = 1,
                               .most = kMostNumber,
                               .required = true}),
    field<Vis, &Vis::region_bytes>({.name = "region_bytes",
                                    .option = "--region-bytes",
                                    .help = "Bytes of each; the mean for lists",
                                    .unit = Unit::bytes,
                                    .least = 1,
                                    .most = kAnyBytes,
                                    .required = true}),
    field<Vis, &Vis::extent_bytes>(
        {.name = "extent_bytes",
         .option = "--extent",
         .help = "From the first byte of all regions to the last (default: by --stride)",
         .unit = Unit::bytes,
         .least = 1,
         .most = kAnyBytes}),
    field<Vis, &Vis::local_regions>({.name = "local_regions",
                                     .option = "--local-regions",
                                     .help = "Contiguous local pieces",
                                     .least = 1,
                                     .most = kMostNumber}),
    field<Vis, &Vis::compute>({.name = "compute",
                               .option = "--class",
                               .help = "What the program computes meanwhile",
                               .unit = Unit::choice,
                               .choices = kClasses}),
    field<Vis, &Vis::bounding_box_allowed>({.name = "bounding_box_allowed",
                                            .option = "--bounding-box",
                                            .help = "Gets may read what lies between the regions",
                                            .unit = Unit::flag}),
    field<Vis, &Vis::iov_limit>({.name = "iov_limit",
                                 .option = "--iov-limit",
                                 .help = "Remote pieces that one operation of the network takes",
                                 .least = 1}),
    field<Vis, &Vis::peers>({.name = "peers",
                             .option = "--peers",
                             .help = "Ranks that this rank has such transfers with at once",
                             .least = 1}),
    field<Vis, &Vis::signalled>({.name = "signalled",
                                 .option = "--signal",
                                 .help = "The put raises a flag at the target when its data are "
                                         "visible",
                                 .unit = Unit::flag}),
};

}  // namespace

template <>
std::span<const Field<VisRequest>> fields_of() {
  return kFields;
}

template <>
VisRequest usual_request() {
  VisRequest usual;
  usual.max_buffer_bytes = kUsualBoxBytes;
  usual.medium_bytes = kLandingSlotBytes;
  usual.message_bytes = kUsualMessageBytes;
  return usual;
}

VisExplanation explain(const VisRequest& request, const VisCosts* costs) {
  VisExplanation e;
  e.request = request;
  VisRecord record;
  e.plan = plan_vis(request, costs, record);
  for (const auto& alternative : record.alternatives) {
    e.alternatives.push_back(alternative.candidate);
  }
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
    out += request.surroundings.flag_with_data
               ? ", until the target sees a flag that the network takes along"
               : ", until the target sees a flag that follows";
  }
  if (request.peers > 1) out += ", with " + std::to_string(request.peers) + " ranks at once";
  out += surroundings_text(request.surroundings, VisRequest::kFacts);
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
  Json json = {{"plan",
                {{"method", to_string(e.plan.method)},
                 {"reason", to_string(e.plan.reason)},
                 {"window", e.plan.window},
                 {"chunk_bytes", e.plan.chunk_bytes}}},
               {"why", reason_text(e)},
               {"excluded", Json::array()}};
  add_fields(json, e.request);
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
