#include "optimizer/model/sections/pack.h"

#include <string>
#include <utility>

#include "base/quantity.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

std::string pack_text(const TunedModel& model) {
  if (!model.pack) return {};
  ParameterTable table("span");
  for (const auto& [name, points] :
       {std::pair("pack", &model.pack->pack), std::pair("unpack", &model.pack->unpack)}) {
    for (const PackPoint& point : *points) {
      const std::string span = bytes_text(point.span_bytes);
      table.add(span, std::string(name) + ", per region", point.region_s, time_text);
      table.add(span, std::string(name) + ", per byte", point.s_per_byte, seconds_per_byte_text);
    }
  }
  return table.titled("packing of regions");
}

}  // namespace

Section pack_section() {
  const auto points =
      curve(object<PackPoint>("pack_point",
                              {required("span_bytes", &PackPoint::span_bytes, bytes()),
                               required("region_s", &PackPoint::region_s, seconds()),
                               required("s_per_byte", &PackPoint::s_per_byte, seconds_per_byte())}),
            {[](const PackPoint& a, const PackPoint& b) { return a.span_bytes < b.span_bytes; },
             "spans must ascend", ".span_bytes"});
  const auto form = object<PackModel>(nullptr, {defaulted("pack", &PackModel::pack, points),
                                                defaulted("unpack", &PackModel::unpack, points)});
  // Copies of data that stay in a cache of 1 MiB, and of others.
  return {optional("pack", &TunedModel::pack, form), pack_text,
          [](TunedModel& model) {
            model.pack =
                PackModel{{{64 << 10, example_parameter(8e-9), example_parameter(0.2e-9)},
                           {2 << 20, example_parameter(20e-9), example_parameter(0.5e-9)}},
                          {{64 << 10, example_parameter(9e-9), example_parameter(0.2e-9)},
                           {2 << 20, example_parameter(25e-9), example_parameter(0.6e-9)}}};
          },
          "transfers of many regions"};
}

}  // namespace stripline::model
