#include "optimizer/cost/pack_costs.h"

namespace stripline::cost {

PackCosts::PackCosts(const model::PackModel& pack)
    : pack_(compile(pack.pack)), unpack_(compile(pack.unpack)) {}

std::array<PackCosts::Curves, kCorners> PackCosts::compile(
    const std::vector<model::PackPoint>& points) {
  std::array<Curves, kCorners> curves;
  for (size_t corner = 0; corner < kCorners; ++corner) {
    std::vector<CurveValue> region;
    std::vector<CurveValue> byte;
    for (const model::PackPoint& point : points) {
      const auto at = static_cast<Corner>(corner);
      region.push_back({point.span_bytes, at_corner(point.region_s, at)});
      byte.push_back({point.span_bytes, at_corner(point.s_per_byte, at)});
    }
    curves[corner] = {OctaveTable(region), OctaveTable(byte)};
  }
  return curves;
}

}  // namespace stripline::cost
