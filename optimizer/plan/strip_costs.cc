#include "optimizer/plan/strip_costs.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace stripline::plan {
namespace {

// micro.compute and the experiments on buffers go through doubles.
constexpr double kElementBytes = sizeof(double);

using Tables = std::array<cost::OctaveTable, cost::kCorners>;

template <typename Point>
Tables compile(const std::vector<Point>& points, model::Parameter Point::*parameter, double scale) {
  Tables tables;
  for (size_t corner = 0; corner < cost::kCorners; ++corner) {
    std::vector<cost::CurveValue> values;
    values.reserve(points.size());
    for (const Point& point : points) {
      values.push_back({point.bytes, scale * cost::at_corner(point.*parameter,
                                                             static_cast<cost::Corner>(corner))});
    }
    tables[corner] = cost::OctaveTable(values);
  }
  return tables;
}

const std::vector<model::BufferPoint>& buffers_of(const model::PathModel& path) {
  static const std::vector<model::BufferPoint> none;
  return path.get ? path.get->buffers : none;
}

// Where latencies alone have been measured, overheads are within them, and more operations would
// seem to cost nothing.
bool tells_overheads(const std::optional<model::OperationModel>& operation) {
  return operation && std::ranges::all_of(operation->segments, [](const model::Segment& segment) {
           return segment.o_base_s.has_value();
         });
}

}  // namespace

StripCosts::StripCosts(const model::PathModel& path,
                       const std::optional<model::ComputeModel>& compute,
                       const std::optional<model::StripModel>& strip,
                       const std::optional<model::ServiceModel>& service)
    : has_get_(tells_overheads(path.get)),
      has_put_(tells_overheads(path.put)),
      get_(path.get.value_or(model::OperationModel{})),
      put_(path.put.value_or(model::OperationModel{})),
      get_load_(service ? cost::LoadCosts(service->get) : cost::LoadCosts()),
      put_load_(service ? cost::LoadCosts(service->put) : cost::LoadCosts()),
      compute_(compute.value_or(model::ComputeModel{})),
      has_buffers_(!buffers_of(path).empty()),
      retire_into_(compile(buffers_of(path), &model::BufferPoint::retire_s_per_byte, 1)),
      first_read_(compile(buffers_of(path), &model::BufferPoint::read_s_per_byte, 1)),
      reuse_(compile(compute ? compute->red_in : std::vector<model::ComputePoint>{},
                     &model::ComputePoint::seconds_per_element, 1 / kElementBytes)) {
  if (!strip) return;
  if (strip->strip_overhead_s) {
    for (size_t corner = 0; corner < cost::kCorners; ++corner) {
      strip_overhead_[corner] =
          cost::at_corner(*strip->strip_overhead_s, static_cast<cost::Corner>(corner));
    }
  }
  const auto take = [](const std::optional<model::Parameter>& parameter, double& value) {
    if (parameter) value = parameter->value;
  };
  take(strip->minimum_gain, minimum_gain_);
  take(strip->composition_doubt, composition_);
  take(strip->nest_composition_doubt, nest_composition_);
  take(strip->others_doubt, others_);
}

}  // namespace stripline::plan
