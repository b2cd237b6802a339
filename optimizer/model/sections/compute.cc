#include "optimizer/model/sections/compute.h"

#include "base/quantity.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

Form<ComputeModel> compute_form() {
  const auto points = curve(
      object<ComputePoint>("footprint", {required("bytes", &ComputePoint::bytes, bytes()),
                                         required("seconds_per_element",
                                                  &ComputePoint::seconds_per_element, seconds())}),
      {[](const ComputePoint& a, const ComputePoint& b) { return a.bytes < b.bytes; },
       "footprints must ascend", ".bytes"});
  std::vector<Member<ComputeModel>> members;
  for (const ComputePrimitive& primitive : kComputePrimitives) {
    members.push_back(defaulted(primitive.name, primitive.points, points));
  }
  return object<ComputeModel>(nullptr, members);
}

std::string compute_text(const TunedModel& model) {
  if (!model.compute) return {};
  ParameterTable table("footprint");
  for (const ComputePrimitive& primitive : kComputePrimitives) {
    for (const ComputePoint& point : *model.compute.*primitive.points) {
      table.add(point.bytes == 0 ? "none" : bytes_text(point.bytes), primitive.what,
                point.seconds_per_element, time_text);
    }
  }
  return table.titled("compute, per element");
}

}  // namespace

Section compute_section() {
  return {optional("compute", &TunedModel::compute, compute_form()), compute_text,
          [](TunedModel& model) {
            const auto at = [](uint64_t bytes, double seconds) {
              return ComputePoint{bytes, example_parameter(seconds)};
            };
            model.compute = ComputeModel{{at(4096, 1.0e-9), at(65536, 1.1e-9)},
                                         {at(65536, 2.5e-9), at(4 << 20, 3.0e-9)},
                                         {at(4096, 1.5e-9)},
                                         {at(4 << 20, 6.0e-9)},
                                         {at(0, 2.0e-9)}};
          },
          "loops"};
}

}  // namespace stripline::model
