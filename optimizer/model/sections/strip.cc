#include "optimizer/model/sections/strip.h"

#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

std::string strip_text(const TunedModel& model) {
  if (!model.strip) return {};
  ParameterTable table("");
  table.add("", "overhead per strip", model.strip->strip_overhead_s, time_text);
  table.add("", "minimum gain", model.strip->minimum_gain, share_text);
  return table.titled("strip-mined loops");
}

}  // namespace

Section strip_section() {
  const auto form = object<StripModel>(
      nullptr, {optional("strip_overhead_s", &StripModel::strip_overhead_s, seconds()),
                optional("minimum_gain", &StripModel::minimum_gain, gain())});
  return {optional("strip", &TunedModel::strip, form), strip_text,
          [](TunedModel& model) {
            model.strip = StripModel{example_parameter(0.1e-6), example_parameter(0.02, 0)};
          },
          "loops, sweeps"};
}

}  // namespace stripline::model
