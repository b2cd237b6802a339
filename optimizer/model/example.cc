#include "optimizer/model/example.h"

#include "optimizer/model/sections.h"

namespace stripline::model {

Parameter example_parameter(double value, double relative_half_width) {
  return {value,
          value * (1 - relative_half_width),
          value * (1 + relative_half_width),
          12,
          2400,
          "wls-per-run+t",
          false};
}

TunedModel full_example() {
  TunedModel model;
  for (const Section& section : sections()) section.example(model);
  model.unknown_sections["later"] = R"({"boundary":[1,2.5]})";
  return model;
}

}  // namespace stripline::model
