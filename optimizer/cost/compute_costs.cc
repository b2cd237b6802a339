#include "optimizer/cost/compute_costs.h"

#include <algorithm>

#include "optimizer/cost/log2_of.h"

namespace stripline::cost {

ComputeCosts::Curve ComputeCosts::compile(const std::vector<model::ComputePoint>& points) {
  Curve curve;
  for (const model::ComputePoint& point : points) {
    curve.bytes.push_back(point.bytes);
    curve.log2_bytes.push_back(log2_of(point.bytes));
  }
  for (const Corner corner : {Corner::nominal, Corner::low, Corner::high}) {
    for (const model::ComputePoint& point : points) {
      curve.seconds.push_back(at_corner(point.seconds_per_element, corner));
    }
  }
  return curve;
}

double ComputeCosts::Curve::at(uint64_t size, Corner corner) const {
  const size_t count = bytes.size();
  if (count == 0) return 0;
  const double* values = seconds.data() + static_cast<size_t>(corner) * count;
  size_t right = 0;
  while (right < count && bytes[right] < size) ++right;
  if (right == count) return values[count - 1];
  if (right == 0 || bytes[right] == size) return values[right];
  const double left_log2 = log2_bytes[right - 1];
  const double weight =
      (quick_log2(static_cast<double>(size)) - left_log2) / (log2_bytes[right] - left_log2);
  return values[right - 1] + weight * (values[right] - values[right - 1]);
}

ComputeCosts::ComputeCosts(const model::ComputeModel& compute)
    : red_in_(compile(compute.red_in)),
      red_out_(compile(compute.red_out)),
      vec_in_(compile(compute.vec_in)),
      vec_out_(compile(compute.vec_out)),
      alu_(compile(compute.alu)) {}

double ComputeCosts::red_in(uint64_t bytes, Corner corner) const {
  return red_in_.at(bytes, corner);
}
double ComputeCosts::red_out(uint64_t bytes, Corner corner) const {
  return red_out_.at(bytes, corner);
}
double ComputeCosts::vec_in(uint64_t bytes, Corner corner) const {
  return vec_in_.at(bytes, corner);
}
double ComputeCosts::vec_out(uint64_t bytes, Corner corner) const {
  return vec_out_.at(bytes, corner);
}
double ComputeCosts::alu(Corner corner) const { return alu_.at(0, corner); }

double ComputeCosts::seconds_per_element(const LoopClass& loop, const LoopShape& shape,
                                         Corner corner) const {
  return red_out(shape.remote_bytes, corner) + seconds_beside_first_read(loop, shape, corner);
}

double ComputeCosts::seconds_beside_first_read(const LoopClass& loop, const LoopShape& shape,
                                               Corner corner) const {
  const uint32_t pairs = loop.n_local_ref / 2;
  const uint32_t single = loop.n_local_ref % 2;
  double per_sweep = 0;
  if (pairs > 0) per_sweep += pairs * vec_in(shape.local_bytes, corner);
  if (single > 0) per_sweep += single * red_in(shape.local_bytes, corner);

  const uint64_t absorbed = uint64_t{1} + pairs + single;  // one operation per primitive
  const uint64_t beside = uint64_t{1} + loop.n_local_ref + loop.n_fp_alu;
  const uint64_t left_over = (loop.n_fp_alu > absorbed ? loop.n_fp_alu - absorbed : 0) +
                             (loop.n_int_alu > beside ? loop.n_int_alu - beside : 0);
  if (left_over > 0) {
    const double throughput = vec_in(0, corner);
    const double latency = alu(corner);
    per_sweep +=
        static_cast<double>(left_over) * (throughput > 0 ? std::min(throughput, latency) : latency);
  }
  if (loop.n_div > 0) per_sweep += loop.n_div * alu(corner);

  const uint32_t sweeps = std::max<uint32_t>(shape.sweeps, 1);
  const double again = sweeps > 1 ? (sweeps - 1) * red_in(shape.remote_bytes, corner) : 0;
  return again + sweeps * per_sweep;
}

}  // namespace stripline::cost
