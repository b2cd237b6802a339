#include "optimizer/model/sections/strip.h"

#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

std::string strip_text(const TunedModel& model) {
  if (!model.strip) return {};
  ParameterTable table("");
  table.add("", "overhead per strip", model.strip->strip_overhead_s, time_text);
  table.add("", "minimum gain", model.strip->minimum_gain, share_text);
  table.add("", "longer than its parts", model.strip->composition_doubt, share_text);
  table.add("", "longer, as a nest", model.strip->nest_composition_doubt, share_text);
  table.add("", "longer, among others", model.strip->others_doubt, share_text);
  return table.titled("strip-mined loops");
}

}  // namespace

Section strip_section() {
  const auto form = object<StripModel>(
      nullptr, {optional("strip_overhead_s", &StripModel::strip_overhead_s, seconds()),
                optional("minimum_gain", &StripModel::minimum_gain, gain()),
                optional("composition_doubt", &StripModel::composition_doubt, gain(),
                         "what strips may take longer than their parts"),
                optional("nest_composition_doubt", &StripModel::nest_composition_doubt, gain(),
                         "what nests may take longer than their parts"),
                optional("others_doubt", &StripModel::others_doubt, gain(),
                         "what a loop may take longer among those of other ranks")});
  return {optional("strip", &TunedModel::strip, form), strip_text,
          [](TunedModel& model) {
            model.strip = StripModel{example_parameter(0.1e-6), example_parameter(0.02, 0),
                                     example_parameter(0.03), example_parameter(0.05),
                                     example_parameter(0.15)};
          },
          "loops, sweeps"};
}

}  // namespace stripline::model
