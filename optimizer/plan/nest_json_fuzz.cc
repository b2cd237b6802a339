// Nests are written by people: whatever the bytes, reading them ends with a value or an error, and
// what was accepted is planned, explained, and survives writing and reading.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/nest_json.h"
#include "optimizer/plan/nest_mechanism.h"

namespace {

using stripline::plan::StripCosts;
using stripline::plan::VisCosts;

// Bounds the time of an input: each alternative is a plan.
constexpr uint64_t kMostSteps = 1 << 16;

void explain_it(stripline::plan::NestRequest request) {
  static const auto kModel = stripline::model::example_model();
  static const auto& kPath = kModel.network.at("inter-node");
  static const StripCosts kStrip(kPath, kModel.compute, kModel.strip);
  static const VisCosts kVis(kPath, stripline::model::example_pack(), nullptr);
  uint64_t iterations = 1;
  for (uint32_t loop = 0; loop < request.nest.depth; ++loop) {
    iterations *= request.nest.counts[loop];
  }
  if (iterations > kMostSteps) return;
  for (auto& link : request.links) {
    if (link.in_reach) continue;
    link.strip = &kStrip;
    link.vis = &kVis;
  }
  const auto explanation = stripline::plan::explain(request);
  if (!stripline::canonical_json(to_json(explanation)).ok()) std::abort();
  if (to_text(explanation).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto nest = stripline::plan::parse_nest(text, "input");
  if (!nest.ok()) return 0;
  const auto written = to_json(nest->request);
  const auto again = stripline::plan::parse_nest(written.dump(), "written");
  if (!again.ok() || to_json(again->request) != written) std::abort();
  explain_it(nest->request);
  return 0;
}
